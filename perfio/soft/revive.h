/* SPDX-License-Identifier: Apache-2.0 */
/* Putting right what a tracer that was killed has left behind (lifeline.h). */
#ifndef PERFIO_SOFT_REVIVE_H
#define PERFIO_SOFT_REVIVE_H

#include "perfio/soft/lifeline.h"

struct soft_revived {
	pid_t pid;
	long mended;  /* bytes of code that are the program's again */
	bool torn;    /* killed: the tracer had written half of what a thread does */
	bool stopped; /* it was, for that */
};

/* The next process that was traced, whose threads have no tracer any more: breakpoints are taken
 * out, threads that have met one go back, cpus are theirs again, and it goes on. Forgets it; false
 * when there is none left. */
bool soft_revive(struct soft_lifeline *l, struct soft_revived *ret);

#endif
