/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/stops.h"

#include <stdlib.h>

enum { FIRST_ROOM = 1024 };

void soft_stops_add(struct soft_stops *s, pid_t tid, uint64_t ticks)
{
	size_t cap = s->cap ? 2 * s->cap : FIRST_ROOM;
	struct soft_stop *v = s->v;

	if (s->n == s->cap) {
		v = realloc(s->v, cap * sizeof(*v));
		if (!v)
			return;
		s->v = v;
		s->cap = cap;
	}
	v[s->n++] = (struct soft_stop){ .ticks = ticks, .tid = tid };
}

void soft_stops_done(struct soft_stops *s)
{
	free(s->v);
	*s = (struct soft_stops){ 0 };
}
