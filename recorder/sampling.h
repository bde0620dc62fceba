/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling events of -e (cpu-clock, cycles:u ...), and AUX-area sampling: with --aux-sample the
 * AUX area is overwritten all the time, and each sample takes its newest bytes along instead of
 * the area being written as a whole. The kernel demands that the sampling event be a member of
 * the AUX event's group (perf_event_open(2), aux_sample_size).
 */
#ifndef RECORDER_SAMPLING_H
#define RECORDER_SAMPLING_H

#include <stdbool.h>

#include "recorder/plan.h"

enum {
	SAMPLING_AUX_DEFAULT = 4096,	/* bytes of AUX area in a sample: perf's default, */
	SAMPLING_AUX_MAX = 60 << 10,	/* and what perf leaves of a 64 KiB record */
	SAMPLING_FREQ_DEFAULT = 4000,	/* samples per second: perf's default */
};

/* A step of plan_make(): do the options go together? 0 or an exit status after a message. */
int sampling_check(const struct plan *p);
/* Adds the sampling events that are members of the AUX event's group, or those that are not. */
int sampling_add(struct plan *p, bool members);

#endif
