/* SPDX-License-Identifier: Apache-2.0 */
/* A handmade file and a reader over a copy of it, for the reader's tests. */
#ifndef TESTS_UNIT_READFIX_H
#define TESTS_UNIT_READFIX_H

#include "format/reader.h"
#include "tests/unit/handmade.h"

struct readfix {
	struct handmade h;
	struct fmt_reader r;
	uint8_t *copy;
};

/* cmocka's setup and teardown: *state is a struct readfix. */
int readfix_setup(void **state);
int readfix_teardown(void **state);
/* Opens the first n bytes of h, in memory of exactly that size so that a sanitizer sees
 * overreads. Returns what fmt_reader_open returns. */
int readfix_open_cut(struct readfix *f, size_t n);
int readfix_open(struct readfix *f);
/* Walks to the end, *ret_n records; what the last fmt_reader_next returned. */
int readfix_walk(struct fmt_reader *r, size_t *ret_n);

#endif
