/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace by cpu: each thread is kept on one cpu, from its birth on, and the packets of all threads
 * of a cpu are one stream.
 *
 * Threads of a cpu take turns there as their tracer gets round to them. The stretch of the one that
 * was told last ends where it stands, as by an interrupt; then the next one's begins with a PSB+,
 * with a TSC behind the moment of the change, which is noted (soft.h). So whoever knows the
 * changes knows whose each instruction is.
 */
#ifndef PERFIO_SOFT_CPUS_H
#define PERFIO_SOFT_CPUS_H

#include "perfio/soft/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct soft;
struct soft_thread;

struct soft_cpu {
	int cpu;
	struct soft *s;
	struct soft_bytes out;
	struct soft_thread *on; /* whose packets come now, or NULL */
	uint64_t last;		/* ticks of the last change */
	bool pushed;		/* its queue was announced to the caller */
	pid_t pid, tid;		/* whose packets are the first of that, or will be */
	uint64_t start_ticks;	/* of these; 0: they are still to come */
	uint64_t dropped;
};

/* For the cpus that we may use, beginning with the one we are on: 0 or -errno. */
__attribute__((warn_unused_result))
int soft_cpus_init(struct soft *s);
void soft_cpus_done(struct soft *s);
/* t is to live on the next cpu, or on that of `o`, whose place it takes. Nothing without cpus. */
void soft_cpu_assign(struct soft *s, struct soft_thread *t);
void soft_cpu_inherit(struct soft_thread *t, struct soft_thread *o);
/* What comes are packets of t. */
void soft_cpu_take(struct soft_thread *t);
/* No more of t come. */
void soft_cpu_leave(struct soft_thread *t);
/* Of nobody: tracing pauses, and who leaves its cpu then, or comes, may not be told. */
void soft_cpus_leave(struct soft *s);
/* Packets that are written become part of the stream. */
void soft_cpu_collect(struct soft_cpu *c);
/* So of all cpus. */
void soft_cpus_collect(struct soft *s);

#endif
