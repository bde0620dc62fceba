/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long tracing takes: ticks of the CPU's TSC while threads run in user space for us, also while
 * they stand there and wait for us. What all of them sleep is not in it, nor is what threads take
 * that run untraced.
 */
#ifndef PERFIO_SOFT_PACE_H
#define PERFIO_SOFT_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: nothing is traced yet. */
struct soft_pace {
	bool on;
	uint64_t since, instructions; /* when that began, and how many had run then */
	uint64_t ticks;		      /* of all times that are over */
};

/* A thread has stopped. */
void soft_pace_go(struct soft_pace *p, uint64_t instructions);
/* All threads sleep, or are let go: how many instructions have run until now. A time in which none
 * was traced does not count. */
void soft_pace_halt(struct soft_pace *p, uint64_t instructions);
/* Up to now. */
uint64_t soft_pace_ticks(const struct soft_pace *p, uint64_t instructions);

#endif
