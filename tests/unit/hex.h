/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden bytes that a person can read beside the specification.
 *
 * Text is hex digits in pairs, in any grouping; 'abc' stands for its characters, and a pair
 * followed by [N] for N such bytes:
 *
 *	hex_expect(b.data, b.len,
 *		   "03000000 0020 3800"	 type 3 COMM, misc exec, size 56
 *		   "'sh' 00[6]");	 name, padded to 8
 */
#ifndef TESTS_HEX_H
#define TESTS_HEX_H

#include <stddef.h>
#include <stdint.h>

/* The bytes that text stands for; exits when text is not well formed or longer than max. */
size_t hex_bytes(uint8_t *ret, size_t max, const char *text);

/* Fails the test, naming the first byte that differs. */
void hex_expect(const void *got, size_t len, const char *text);

#endif
