/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only place that prints messages: "auxrec: " and one line on stderr, lower case, no
 * full stop, subjects in quotes. Libraries return codes; the program finds the words here.
 */
#ifndef RECORDER_LOG_H
#define RECORDER_LOG_H

#include <stdbool.h>

/* Set once by option parsing: -1 errors only, 0 normal, 1 and up verbose. */
extern int log_level;

/* "auxrec: TEXT: strerror(-err)"; err may be 0 for no reason to add. Returns err. */
__attribute__((format(printf, 2, 3))) int log_err(int err, const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void log_warn(const char *fmt, ...);
/* Printed unless --quiet. */
__attribute__((format(printf, 1, 2))) void log_info(const char *fmt, ...);
/* Printed with -v. */
__attribute__((format(printf, 1, 2))) void log_debug(const char *fmt, ...);
/* A second line of an error: what to do about it, indented. */
__attribute__((format(printf, 1, 2))) void log_hint(const char *fmt, ...);

/* A line that was asked for, as it is. */
void log_text(const char *line);

/* A line that is overwritten in place, on a terminal only; NULL erases it. Any other
 * message erases it first. */
void log_status(const char *line);
/* Is stderr a terminal, and are we not quiet? */
bool log_has_status(void);

#endif
