/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flight recording: threads that have ended keep their windows, up to a bound for all of them. Of
 * those that ended first nothing is left then but their queues' numbers, which all share one empty
 * queue: two pointers each.
 */
#include "perfio/soft/tracer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_BYTES = 4096 }; /* a queue's first chunk */

static size_t cost(const struct soft_thread *t)
{
	size_t held = t->pt.out.held;

	if (held && held < LEAST_BYTES)
		held = LEAST_BYTES;
	return sizeof(*t) + held;
}

static void bury(struct soft *s, struct soft_thread *t)
{
	s->stats.trace_bytes += t->pt.bytes;
	s->stats.dropped += t->pt.dropped;
	s->stats.forgotten += t->pt.out.held != 0;
	s->dead_bytes -= t->cost;
	s->all[t->index] = &s->nobody;
	soft_pt_done(&t->pt);
	free(t);
}

static bool make_room(struct soft *s)
{
	size_t cap = s->cap_dead ? s->cap_dead * 2 : 64;
	struct soft_thread **dead;

	if (s->dead_from > s->cap_dead / 2) { /* what was buried makes room */
		s->nr_dead -= s->dead_from;
		memmove(s->dead, s->dead + s->dead_from, s->nr_dead * sizeof(*s->dead));
		s->dead_from = 0;
	}
	if (s->nr_dead < s->cap_dead)
		return true;
	dead = reallocarray(s->dead, cap, sizeof(*dead));
	if (!dead)
		return false;
	s->dead = dead;
	s->cap_dead = cap;
	return true;
}

/* The thread that has just ended stays: whoever removed it may still look at it. */
void soft_dead_add(struct soft *s, struct soft_thread *t)
{
	if (!s->cfg.window || !make_room(s))
		return;
	s->dead[s->nr_dead++] = t;
	s->nobody.mode = SOFT_GONE;
	t->cost = cost(t);
	s->dead_bytes += t->cost;
	while (s->dead_bytes > SOFT_DEAD_WINDOWS * s->cfg.window && s->dead[s->dead_from] != t)
		bury(s, s->dead[s->dead_from++]);
}

void soft_dead_shrunk(struct soft *s, struct soft_thread *t)
{
	if (!t->cost)
		return;
	s->dead_bytes -= t->cost;
	t->cost = cost(t);
	s->dead_bytes += t->cost;
}
