/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event's data ring, and its AUX area where it has one (perf_event_open(2), "MMAP
 * layout"). The only place that touches the shared head and tail words.
 *
 * Bytes are handed out as at most two spans inside the mapping; nothing is copied. The
 * order that loses nothing: peek AUX, peek data, write both away, release both. AUX head
 * must be read before data head, so that the AUX record of every byte handed out is in the
 * data spans of the same round or an earlier one. Nothing is given back to the kernel before
 * the caller has it safe.
 */
#ifndef PERFIO_RING_H
#define PERFIO_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "perfio/sys.h"

struct perf_event_mmap_page;

struct pio_ring {
	const struct pio_sys *sys;
	int fd; /* borrowed: the event the ring belongs to */
	struct perf_event_mmap_page *meta;
	uint8_t *data;
	size_t data_len, map_len;
	uint64_t head, tail; /* of the data ring; head as last peeked */
	uint8_t *aux;
	size_t aux_len;
	uint64_t aux_head, aux_tail;
	bool aux_full;	  /* as last peeked: the kernel had no whole page left */
	bool overwrite;	  /* the AUX area keeps the newest bytes instead of all */
	bool aux_wrapped; /* overwrite: it has been full once */
};
#define PIO_RING_INIT (struct pio_ring){ .fd = -1 }

/*
 * A ring that keeps the newest records: of an event with attr.write_backward, mapped
 * read-only. The kernel writes each record in front of the one before it and never stops,
 * so a walk from the head forward meets whole records, the newest first, until one that has
 * been overwritten in part. (A read-only ring that is written forward keeps the newest bytes
 * too, but where its oldest record begins cannot be known.)
 */
struct pio_newest {
	const struct pio_sys *sys;
	int fd; /* borrowed */
	struct perf_event_mmap_page *meta;
	const uint8_t *data;
	size_t data_len, map_len;
	uint64_t seen; /* head at the last look: what lies behind it was handed out then */
};
#define PIO_NEWEST_INIT (struct pio_newest){ .fd = -1 }

/* Map 1 + 2^n pages for fd; data_len must be 2^n pages. 0 or what mmap said:
 * -EPERM/-ENOMEM over the memlock budget, -EINVAL. */
__attribute__((warn_unused_result))
int pio_ring_map(struct pio_ring *ret, const struct pio_sys *sys, int fd, size_t data_len);
/* Give the same descriptor an AUX area of aux_len bytes (2^n pages). Full trace: writable, and
 * the kernel stops at the reader's tail. overwrite: read-only, and the kernel never stops.
 * 0, -EOPNOTSUPP the PMU has none, -EPERM/-ENOMEM as above. */
__attribute__((warn_unused_result))
int pio_ring_map_aux(struct pio_ring *r, size_t aux_len, bool overwrite);
void pio_ring_done(struct pio_ring *r);

/* New bytes since the last release, up to the head of now: the number of spans (0..2), none
 * of a ring that is not mapped. */
int pio_ring_peek(struct pio_ring *r, struct iovec v[2]);
int pio_ring_peek_aux(struct pio_ring *r, struct iovec v[2]);
/* Give back everything the last peek handed out. */
void pio_ring_release(struct pio_ring *r);
/* The kernel is told whole pages only: with a tail inside a page, Intel PT's driver can set its
 * STOP mark behind the head, and a lap of unread trace is overwritten without a word (Linux 6.1,
 * arch/x86/events/intel/pt.c, pt_buffer_reset_markers(): less than a page free, across a page's
 * end, gives npages 0; read in the source). */
void pio_ring_release_aux(struct pio_ring *r);
/* Overwrite mode, with the event disabled: what the area holds, the oldest byte first, as
 * spans (0..2). The kernel's head is then a position inside the area; *ret_offset is the first
 * span's position in a stream that counts on, as perf's AUXTRACE.offset does (laps between two
 * snapshots cannot be seen and are not counted). Nothing is to be released. */
int pio_ring_snapshot(struct pio_ring *r, struct iovec v[2], uint64_t *ret_offset);
/* Overwrite mode, while trace is being written: how much the area holds, to a page. */
size_t pio_ring_fill(const struct pio_ring *r);
/* Bytes not yet released, without looking at the kernel again. */
size_t pio_ring_pending(const struct pio_ring *r);

/* Map 1 + 2^n pages for fd, read-only. 0 or as pio_ring_map. */
__attribute__((warn_unused_result))
int pio_newest_map(struct pio_newest *ret, const struct pio_sys *sys, int fd,
		   size_t data_len);
void pio_newest_done(struct pio_newest *r);
/* Where the kernel wrote last; counts down. */
uint64_t pio_newest_head(const struct pio_newest *r);
/* Does the ring hold anything that pio_newest_peek has not handed out yet? */
bool pio_newest_any(const struct pio_newest *r);
/* With every event that writes into it disabled: the records since the last
 * pio_newest_taken(), the newest first, as spans (0..2). The last one may have been
 * overwritten in part: it goes beyond the spans. *ret_more: there had been more, older ones. */
int pio_newest_peek(const struct pio_newest *r, struct iovec v[2], bool *ret_more);
/* What is there now has been handed out. */
void pio_newest_taken(struct pio_newest *r);

/* TSC to perf time, from the page under its seqlock; false when the kernel has none
 * (cap_user_time_zero unset, or mult 0), with *ret zeroed. */
struct pio_time_conv {
	uint64_t zero, cycles, mask;
	uint32_t mult;
	uint16_t shift;
	bool cap_zero, cap_short;
};
bool pio_ring_time_conv(const struct pio_ring *r, struct pio_time_conv *ret);

#endif
