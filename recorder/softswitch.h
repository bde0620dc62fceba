/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The context switches of a program that the software source traces: those that the tracer
 * makes do not go into the file (recorder/fold.h), they are counted there. Of a trace by cpu
 * they become switches of the cpus (recorder/cpuswitch.h).
 */
#ifndef RECORDER_SOFTSWITCH_H
#define RECORDER_SOFTSWITCH_H

#include <stdint.h>

#include "format/buf.h"
#include "recorder/cpuswitch.h"
#include "recorder/fold.h"

struct session;

struct softswitch {
	struct fold *fold;	/* NULL: there are none to record */
	struct cpuswitch *cpus; /* NULL: they stay those of threads */
	struct fmt_buf ours;	/* by cpu: the threads' switches of the round at hand */
	struct fmt_buf kept;	/* of the round at hand; of a flight: the newest */
	size_t told;		/* bytes of that which the file at hand has */
	size_t keep;		/* of a flight: so many bytes at least, */
	size_t older;		/* and of what came before, what tells whose the trace is */
	uint64_t taken;		/* out of the ring at hand */
	uint64_t until;		/* all rings reach up to there: when this round began */
	uint64_t pairs;		/* that were left out, as far as files were told */
};

/* 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int softswitch_setup(struct session *s);
void softswitch_done(struct session *s);
/* Around the looking into all rings: 0 or -ENOMEM. End: what stays is in `kept`. */
void softswitch_begin(struct session *s);
__attribute__((warn_unused_result)) int softswitch_end(struct session *s);
/* Flight: those that the snapshot at hand is to have, and the counts as below, go behind what is in
 * `to`. 0 or to->err. */
__attribute__((warn_unused_result))
int softswitch_put_newest(struct session *s, struct fmt_buf *to);
/* A record READ into s->buf for each thread of which pairs were folded: since the file before this
 * one, or, in a file beside the recording's, since the recording began. 0 or -errno. */
__attribute__((warn_unused_result)) int softswitch_put_counts(struct session *s);

#endif
