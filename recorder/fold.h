/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switches of a traced program without those that its tracer makes.
 *
 * Each ptrace stop of a thread is a pair of the kernel's records: it leaves its cpu behind the
 * trap, and is back some time after it was let go on. Such pairs are taken out. All others stay:
 * a thread waits, or somebody else got its cpu.
 *
 * Which pair it is: the one that a moment at which the tracer knows the thread to stand still
 * (perfio/soft/soft.h) lies in. That moment is later than the thread's last way back to a cpu,
 * for the trap is, and earlier than the next, for we let it go. It may be a little earlier than
 * the record of its leaving, on another cpu; but a thread that stops does not leave as one that
 * is preempted does, which in between can happen (Linux 6.1 kernel/signal.c ptrace_stop(),
 * kernel/sched/core.c __schedule(): deactivated unless preempted).
 *
 * Records come from several rings and wait here, as the stops do, until all of them are there up
 * to some time. Memory: what came since then, and a little for each thread.
 */
#ifndef RECORDER_FOLD_H
#define RECORDER_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/buf.h"

struct fold; /* opaque */

enum { FOLD_REC_SIZE = 40 }; /* of each record: a header and that trailer */
/* Time and thread of one. */
uint64_t fold_time(const uint8_t rec[FOLD_REC_SIZE]);
uint32_t fold_tid(const uint8_t rec[FOLD_REC_SIZE]);

/* A thread's, since counting began anew. */
struct fold_count {
	uint32_t pid, tid;
	uint64_t pairs; /* taken out; one of which only one half was recorded counts as well */
};

int fold_new(struct fold **ret); /* 0 or -ENOMEM */
void fold_free(struct fold *f);	 /* NULL is fine */

/* A record SWITCH, whole, with the trailer of format/record.h; it is copied. 0 or -ENOMEM; others
 * are not taken: -EINVAL. */
__attribute__((warn_unused_result))
int fold_add(struct fold *f, const uint8_t *rec, size_t size);
/* The thread stood still for its tracer, at that time of the records' clock. 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int fold_stop(struct fold *f, uint32_t tid, uint64_t ns);

/*
 * All records up to `until` are here: append what stays of them to `to`. What is younger waits for
 * the next turn. Of a thread that has left its cpu and is not back, `stands` says whether that is
 * a stop, which the tracer then has told or will tell; of the last turn, whose `until` is
 * UINT64_MAX, it is one. 0 or -ENOMEM.
 */
typedef bool fold_stands(void *ctx, uint32_t tid);
__attribute__((warn_unused_result))
int fold_turn(struct fold *f, uint64_t until, fold_stands *stands, void *ctx, struct fmt_buf *to);

/* Hand out the counts that are not 0, in no order. */
void fold_counts(const struct fold *f, void (*put)(void *ctx, const struct fold_count *c),
		 void *ctx);
/* All are 0 again. */
void fold_begin_counts(struct fold *f);

#endif
