/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the instructions that run are traced. One of a source, for all of its threads. */
#ifndef PERFIO_SOFT_GATE_H
#define PERFIO_SOFT_GATE_H

#include "perfio/soft/filter.h"

#include <stdbool.h>
#include <stdint.h>

struct soft_gate {
	uint64_t left; /* so many more; 0: tracing has ended */
	bool paused;
	struct soft_filters filters;
};

static inline void soft_gate_init(struct soft_gate *g, const struct soft_config *c)
{
	*g = (struct soft_gate){ .paused = c->paused,
				 .left = c->max_instructions ? c->max_instructions : UINT64_MAX };
	soft_filters_init(&g->filters, c->filter, c->nr_filters);
}

/* For now. */
static inline bool soft_gate_shut(const struct soft_gate *g)
{
	return !g->left || g->paused;
}

/* One was traced. True: it was the last. */
static inline bool soft_gate_passed(struct soft_gate *g)
{
	return !--g->left;
}

#endif
