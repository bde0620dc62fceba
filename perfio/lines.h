/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of a text file in the order they come, without stdio and without an allocation:
 * the tables in /proc have up to 200,000 lines, and most are looked at and dropped.
 */
#ifndef PERFIO_LINES_H
#define PERFIO_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pio_lines {
	int fd;	      /* borrowed */
	char *buf;    /* borrowed; the longest line plus its newline must fit */
	size_t cap;
	size_t pos, len;
	bool eof, dropping;
};

#define PIO_LINES(file, buffer) { .fd = (file), .buf = (buffer), .cap = sizeof(buffer) }

/* The next line, NUL in place of its newline, valid (and writable) until the next call.
 * 1; 0 at the end; -errno from read(2). Lines that do not fit are left out. */
__attribute__((warn_unused_result))
int pio_lines_next(struct pio_lines *l, char **ret, size_t *ret_len);

/* Numbers at *p, which moves behind the last digit; 0 when there is no digit. */
uint64_t pio_scan_hex(const char **p);
uint64_t pio_scan_dec(const char **p);

#endif
