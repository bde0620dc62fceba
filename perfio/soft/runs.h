/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Straight runs: instructions that a thread is certain to run one after the other, direct
 * jumps and calls among them, up to one that decides where it goes or may not be passed.
 * No instruction is twice in a run, so that an address tells how far a thread has come.
 */
#ifndef PERFIO_SOFT_RUNS_H
#define PERFIO_SOFT_RUNS_H

#include "perfio/soft/insn.h"

#include <stdbool.h>
#include <stdint.h>

struct soft_mem;

enum soft_run_end {
	SOFT_RUN_NONE,	/* there is nothing to run: the first instruction is the end */
	SOFT_RUN_STOPS, /* the kernel takes over at `end`: a system call, the program's int3 */
	SOFT_RUN_PLANT, /* needs a breakpoint at `end`, which can be planted there */
};

struct soft_run {
	uint64_t begin, end; /* `end` is not part of it */
	uint32_t gen;
	uint8_t how; /* enum soft_run_end */
	bool easy; /* all of it can be carried out: op.h, branch.h */
};

/* Longest run. */
enum { SOFT_RUN_MAX = 1 << 16 };

/* Can i be part of a run? */
bool soft_run_passes(const struct soft_insn *i);
/* Where a thread is when i, which can, has run. */
uint64_t soft_run_next(const struct soft_insn *i);
/* The run that begins with `first`. In code that can change there are none. */
void soft_run_at(struct soft_run *ret, struct soft_mem *m, const struct soft_insn *first);
/* A thread is to run it: no entry (plants.h) shall stop it. */
void soft_run_open(const struct soft_run *r, struct soft_mem *m);

#endif
