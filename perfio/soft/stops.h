/* SPDX-License-Identifier: Apache-2.0 */
/* The moments at which traced threads stood still for us, in order, until somebody took them. */
#ifndef PERFIO_SOFT_STOPS_H
#define PERFIO_SOFT_STOPS_H

#include "perfio/soft/soft.h"

struct soft_stops {
	struct soft_stop *v;
	size_t n, cap;
};

/* Without memory it is not noted, and its switches are taken for the thread's own. */
void soft_stops_add(struct soft_stops *s, pid_t tid, uint64_t ticks);
void soft_stops_done(struct soft_stops *s);

#endif
