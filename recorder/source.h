/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One idea of a source of trace bytes. Draining, the ledger and the summary see queues of
 * bytes, wherever they come from:
 *
 *   kernel  queue i is the AUX area of place i of the event set
 *   soft    queue i belongs to the i-th thread that the tracer ever saw
 *   none    no queues
 */
#ifndef RECORDER_SOURCE_H
#define RECORDER_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "perfio/evset.h"
#include "perfio/soft/soft.h"

struct source {
	struct pio_evset *set; /* borrowed; its rings have AUX areas, or NULL */
	struct soft *soft;     /* owned, or NULL */
	struct soft_filter *filter; /* owned: what `soft` filters by, or NULL */
};

struct source_chunk {
	uint64_t offset; /* of the first byte, in the queue's endless stream */
	int cpu;	 /* -1: a thread's queue */
	pid_t pid, tid;	 /* tid -1: a cpu's queue */
	struct iovec v[2];
	int nv;		 /* 0: nothing new */
	bool began;	 /* soft: these are the queue's first bytes in this file */
	uint64_t began_ticks;
	/* soft: where its thread runs; whose the first bytes are */
	uint32_t on_cpu, on_pid, on_tid;
};

size_t source_nr_queues(const struct source *s);
/* What is new in queue i; `last` also fetches what would wait for more to come. */
void source_peek(struct source *s, size_t i, bool last, struct source_chunk *ret);
/* The same of a queue that was looked at; began is left as it is there. */
struct source_chunk source_of_queue(const struct soft_queue *q);
void source_release(struct source *s, size_t i);
/* The trace's clock, now. */
uint64_t source_ticks(const struct source *s);
void source_done(struct source *s);

#endif
