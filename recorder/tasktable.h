/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a flight recorder must know to make its rings readable: the processes, threads and
 * mappings at the moment of the oldest byte that any ring still holds (the horizon), and
 * every record about them since then.
 *
 * Fed with the records of the tracking event as they are drained, and with the head records
 * of what ran before. Records newer than the horizon wait as they are; as the horizon moves
 * they are applied, in the order of their times, to a table of processes, where what has
 * ended leaves nothing behind. A snapshot is then the table as synthesised records (time 0)
 * and the waiting ones unchanged: a process that started hours ago is there, and so is one
 * that has exited since.
 *
 * Memory is bounded: beyond `limit` bytes the horizon is moved on by force, the oldest
 * waiting records first, and what even so finds no room is left out; both are counted.
 */
#ifndef RECORDER_TASKTABLE_H
#define RECORDER_TASKTABLE_H

#include <stddef.h>
#include <stdint.h>

#include "format/abi.h"
#include "format/record.h"

struct tasktable; /* opaque */

/* The types of records that say something about tasks, mappings or kernel code (bit n: type n). */
#define TASKTABLE_TYPES \
	(UINT64_C(1) << FMT_REC_MMAP | UINT64_C(1) << FMT_REC_MMAP2 | \
	 UINT64_C(1) << FMT_REC_COMM | UINT64_C(1) << FMT_REC_FORK | \
	 UINT64_C(1) << FMT_REC_EXIT | UINT64_C(1) << FMT_REC_NAMESPACES | \
	 UINT64_C(1) << FMT_REC_KSYMBOL | UINT64_C(1) << FMT_REC_BPF_EVENT | \
	 UINT64_C(1) << FMT_REC_TEXT_POKE)

int tasktable_new(struct tasktable **ret, size_t limit); /* 0 or -ENOMEM */
void tasktable_free(struct tasktable *t);		 /* NULL is fine */

/* A whole record, `size` bytes, header first, with a trailer of format/record.h. Types other
 * than those are passed over. Time 0 counts as older than any horizon. 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int tasktable_add(struct tasktable *t, const uint8_t *rec, size_t size);
/* The same for records that we made: whole ones. */
__attribute__((warn_unused_result))
int tasktable_add_all(struct tasktable *t, const struct fmt_buf *records);

/* No ring holds anything older than `horizon` (ns) any more. 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int tasktable_forget(struct tasktable *t, uint64_t horizon);

/* Hand out all there is: first the table, as tasks that were found running: records of time 0
 * and id 0, or, behind others in a file, with the time and id of `stamp`; then what waits, in the
 * order of time. A value of put other than 0 ends it and is returned. */
__attribute__((warn_unused_result))
int tasktable_emit(struct tasktable *t, const struct fmt_trailer *stamp,
		   int (*put)(void *ctx, const uint8_t *rec, size_t n), void *ctx);
/* All up to that moment has been told in the file at hand. With a stamp, the forks of tasks that
 * are older are not told again: perf would make new tasks of them, and go on decoding the trace of
 * a thread by the mappings of the old one. */
void tasktable_told(struct tasktable *t, uint64_t ns);

struct tasktable_stats {
	size_t processes, threads, maps; /* in the table */
	size_t waiting;			 /* records newer than the horizon */
	size_t bytes, most_bytes;	 /* of memory: now, and at most so far */
	uint64_t horizon;
	uint64_t forced;  /* records applied early for want of room */
	uint64_t dropped; /* records left out for want of room */
};
void tasktable_stats(const struct tasktable *t, struct tasktable_stats *ret);

#endif
