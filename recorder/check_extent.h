/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes of a stream were told of: a bounded, sorted list of ranges that do not
 * touch. */
#ifndef RECORDER_CHECK_EXTENT_H
#define RECORDER_CHECK_EXTENT_H

#include <stddef.h>
#include <stdint.h>

enum { CHECK_EXTENTS_MAX = 65536 };

struct check_extent {
	uint64_t from, to; /* from < to */
};
struct check_extents {
	struct check_extent *e; /* owned */
	size_t n;
};

/* Adds [from, to); an empty range is none. 0, -ENOMEM, -ENOSPC: too many ranges. */
__attribute__((warn_unused_result))
int check_extents_add(struct check_extents *x, uint64_t from, uint64_t to);
/* Bytes of a that are not in b, in pieces of `least` bytes and more; *ret_first, when
 * there are any, is the first of them. */
uint64_t check_extents_minus(const struct check_extents *a, const struct check_extents *b,
			     uint64_t least, uint64_t *ret_first);
/* The ranges between those of x. The same errors. */
__attribute__((warn_unused_result))
int check_extents_holes(const struct check_extents *x, struct check_extents *ret);
void check_extents_done(struct check_extents *x);

#endif
