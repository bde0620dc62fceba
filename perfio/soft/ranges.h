/* SPDX-License-Identifier: Apache-2.0 */
/* A set of addresses, of whole pages. */
#ifndef PERFIO_SOFT_RANGES_H
#define PERFIO_SOFT_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct soft_range {
	uint64_t begin, end;
};

/* { 0 } is empty. In order of addresses, with gaps between them. */
struct soft_ranges {
	struct soft_range *v;
	size_t nr, cap;
	bool all; /* there was no memory to tell them apart: all addresses are in */
};

void soft_ranges_done(struct soft_ranges *r);
/* The pages that [begin, end) touches are in, or out. */
void soft_ranges_add(struct soft_ranges *r, uint64_t begin, uint64_t end);
void soft_ranges_drop(struct soft_ranges *r, uint64_t begin, uint64_t end);
/* Is any of [begin, end) in? */
bool soft_ranges_meet(const struct soft_ranges *r, uint64_t begin, uint64_t end);
/* `to`, which is empty, is the same. */
void soft_ranges_copy(struct soft_ranges *to, const struct soft_ranges *from);

#endif
