/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/line.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

void line_vadd(struct line *l, const char *fmt, va_list ap)
{
	const size_t room = sizeof(l->s) - l->n;
	int n = vsnprintf(l->s + l->n, room, fmt, ap);

	if (n > 0)
		l->n += (size_t)n < room ? (size_t)n : room - 1;
}

void line_add(struct line *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line_vadd(l, fmt, ap);
	va_end(ap);
}

void line_make_safe(struct line *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (iscntrl((unsigned char)l->s[i]))
			l->s[i] = '?';
}
