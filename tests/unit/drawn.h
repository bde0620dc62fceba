/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers drawn at random, the same in each run, for instructions that are held against the CPU. */
#ifndef TESTS_UNIT_DRAWN_H
#define TESTS_UNIT_DRAWN_H

#include <stddef.h>
#include <stdint.h>

extern uint64_t drawn_seed;

uint64_t drawn(void);
unsigned drawn_below(unsigned n);
/* What is near the edges of some size, or anything. */
uint64_t drawn_number(void);
/* n, a multiple of eight, bytes of those. */
void drawn_bytes(void *to, size_t n);

#endif
