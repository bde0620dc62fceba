/* SPDX-License-Identifier: Apache-2.0 */
/* One line of a message, made piece by piece. What does not fit is left out. */
#ifndef RECORDER_LINE_H
#define RECORDER_LINE_H

#include <stdarg.h>
#include <stddef.h>

struct line {
	size_t n;
	char s[760]; /* twelve causes of loss with twenty digits each */
};

/* A zeroed struct line is an empty one. */
__attribute__((format(printf, 2, 3))) void line_add(struct line *l, const char *fmt, ...);
__attribute__((format(printf, 2, 0))) void line_vadd(struct line *l, const char *fmt,
						     va_list ap);
/* Control characters, as names from a file or a process may have them, become '?'. */
void line_make_safe(struct line *l);

#endif
