/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of a ring that keeps the newest (perfio/ring.h), made useful: put in the order
 * of time, and the time they span. Their trailers are those of format/record.h.
 */
#ifndef RECORDER_NEWESTRING_H
#define RECORDER_NEWESTRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/buf.h"
#include "perfio/ring.h"

struct newestring {
	size_t records, bytes;
	uint64_t first_ns, last_ns; /* 0: nothing there */
	bool more; /* older ones have been overwritten since the last look */
};

/* With the events that write into it disabled: appends the records since the last
 * pio_newest_taken(), the oldest first, leaving out those older than from_ns, but for the last
 * one before it (a switch that tells who ran then). 0 or b->err. */
int newestring_copy(const struct pio_newest *r, uint64_t from_ns, struct fmt_buf *b,
		    struct newestring *ret);

/* The same for records that pio_newest_peek() gave, or a copy of them; more: as it said. */
int newestring_turn(const struct iovec *v, int nr, bool more, uint64_t from_ns, struct fmt_buf *b,
		    struct newestring *ret);

/* What the ring holds now. Unless it stands still, events go on writing into it, and what they
 * are about to overwrite is left out. */
void newestring_look(const struct pio_newest *r, bool still, struct newestring *ret);

#endif
