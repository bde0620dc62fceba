/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who runs on each cpu, as far as a software trace by cpu is concerned, told as the kernel tells
 * it of a whole cpu: SWITCH_CPU_WIDE, in pairs, of the one who leaves and of the one who comes.
 *
 * There are two sources. The trace of a cpu goes on with another thread: that is the tracer's
 * doing, and the pair is made here, since threads that stand still for it leave no record that
 * stays. And the thread whose trace it is leaves the cpu by itself or for others, and comes back:
 * of that, the kernel's record of the thread becomes a pair. Process 0, thread 0 is everybody else.
 *
 * Times rise on each cpu, by a ns at least.
 */
#ifndef RECORDER_CPUSWITCH_H
#define RECORDER_CPUSWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/buf.h"

struct cpuswitch; /* opaque */

int cpuswitch_new(struct cpuswitch **ret); /* 0 or -ENOMEM */
void cpuswitch_free(struct cpuswitch *c);  /* NULL is fine */

/* A cpu, whose records have that id: 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int cpuswitch_add_cpu(struct cpuswitch *c, int cpu, uint64_t id);

/* The trace of that cpu, which was added, goes on with a thread (tid 0: with none): the one before
 * it has left at `out`, it is there from `in` on. 0 or -ENOMEM. */
struct cpuswitch_change {
	int cpu;
	uint32_t pid, tid;
	uint64_t out, in;
};
__attribute__((warn_unused_result))
int cpuswitch_change(struct cpuswitch *c, const struct cpuswitch_change *change);

/* Append what these changes, and the records SWITCH (recorder/fold.h) in `rec`, come to; both are
 * in the order of time. The changes are forgotten. 0 or to->err. */
__attribute__((warn_unused_result))
int cpuswitch_turn(struct cpuswitch *c, const uint8_t *rec, size_t len, struct fmt_buf *to);

/* A flight keeps what that came to, and forgets what is old: */

enum { CPUSWITCH_PAIR_SIZE = 96 }; /* the two records of a pair follow each other */

/* The first n bytes of such pairs are to be forgotten. Some of them stay, moved to the front: those
 * that tell whose the trace of a cpu is from a time on, which `from` has for each cpu in the order
 * in which they were added, and of each cpu the last one before that. How many bytes stay; *mark,
 * a place within the n bytes or behind them, moves along. */
size_t cpuswitch_forget(struct cpuswitch *c, uint8_t *rec, size_t n, const uint64_t *from,
			size_t *mark);
/* n bytes of pairs are about to be written, behind all that the recording's file has; beside: into
 * one that has none. As some were forgotten, who leaves may not be whom the file has on the cpu:
 * now it is. How many bytes there are then. */
size_t cpuswitch_join(struct cpuswitch *c, uint8_t *rec, size_t n, bool beside);
size_t cpuswitch_nr_cpus(const struct cpuswitch *c);

#endif
