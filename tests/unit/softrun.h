/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run a program under the software source, keep what its memory held, and hold the trace
 * against the list of executed addresses by way of libipt's instruction decoder.
 */
#ifndef TESTS_UNIT_SOFTRUN_H
#define TESTS_UNIT_SOFTRUN_H

#include "perfio/soft/soft.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct softrun_region {
	pid_t pid;
	uint64_t begin, end;
	uint8_t *v;
};

struct softrun_trace {
	pid_t pid, tid;
	uint8_t *v;
	size_t n;
	uint64_t start;
};

struct softrun {
	struct soft *soft;
	char dir[64]; /* of the ip logs; temporary */
	pid_t child;
	int go; /* write end of the pipe the child waits on */
	struct softrun_trace *trace;
	size_t nr_traces;
	struct softrun_region *region;
	size_t nr_regions;
	struct soft_stats stats;
	int status; /* of the program, -1 while it is not known */
};

/* May we ptrace? Containers and hardened kernels forbid it; no fault of ours. */
bool softrun_permitted(void);
/* Fork, seize, let go. `c->ip_log` is filled in. 0 or -errno; -EPERM where ptrace is not
 * permitted. */
int softrun_begin(struct softrun *r, struct soft_config *c, char *const argv[]);
/* Run at most `stops` stops and take over trace and memory. The result of soft_run(). */
int softrun_some(struct softrun *r, unsigned stops);
/* Run to the end. 0 or -errno. */
int softrun_all(struct softrun *r);
/* Take over what is new in the queues. */
void softrun_drain(struct softrun *r, bool flush);
void softrun_end(struct softrun *r);

struct softrun_verdict {
	size_t traces, logged, decoded, differ, errors, enabled, overflows;
};

/* Decode everything. Words about the first differences go to `out` unless NULL. */
void softrun_judge(const struct softrun *r, struct softrun_verdict *ret, FILE *out);

#endif
