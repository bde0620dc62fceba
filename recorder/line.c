/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/line.h"

#include <stdarg.h>
#include <stdio.h>

void line_add(struct line *l, const char *fmt, ...)
{
	const size_t room = sizeof(l->s) - l->n;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(l->s + l->n, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		l->n += (size_t)n < room ? (size_t)n : room - 1;
}
