/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int log_level;
static size_t status_len; /* columns that the status line on screen occupies */

bool log_has_status(void)
{
	return log_level >= 0 && isatty(STDERR_FILENO);
}

static void erase_status(void)
{
	if (status_len)
		fprintf(stderr, "\r%*s\r", (int)status_len, "");
	status_len = 0;
}

static size_t terminal_width(void)
{
	struct winsize w;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || !w.ws_col)
		return 80;
	return w.ws_col;
}

void log_status(const char *line)
{
	size_t n, width;

	if (!log_has_status())
		return;
	erase_status();
	if (!line)
		return;
	n = strlen(line);
	width = terminal_width();
	if (n >= width)
		n = width - 1; /* a line that wraps could not be erased */
	fprintf(stderr, "%.*s", (int)n, line);
	fflush(stderr);
	status_len = n;
}

__attribute__((format(printf, 2, 0)))
static void say(const char *lead, const char *fmt, va_list ap, const char *tail)
{
	erase_status();
	fputs(lead, stderr);
	vfprintf(stderr, fmt, ap);
	if (tail)
		fprintf(stderr, ": %s", tail);
	fputc('\n', stderr);
}

int log_err(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("auxrec: ", fmt, ap, err ? strerror(-err) : NULL);
	va_end(ap);
	return err;
}

void log_text(const char *line)
{
	erase_status();
	fprintf(stderr, "%s\n", line);
}

void log_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("auxrec: warning: ", fmt, ap, NULL);
	va_end(ap);
}

void log_info(const char *fmt, ...)
{
	va_list ap;

	if (log_level < 0)
		return;
	va_start(ap, fmt);
	say("auxrec: ", fmt, ap, NULL);
	va_end(ap);
}

void log_debug(const char *fmt, ...)
{
	va_list ap;

	if (log_level < 1)
		return;
	va_start(ap, fmt);
	say("auxrec: ", fmt, ap, NULL);
	va_end(ap);
}

void log_hint(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("        ", fmt, ap, NULL);
	va_end(ap);
}
