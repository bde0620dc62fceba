/* SPDX-License-Identifier: Apache-2.0 */
/* What is overwritten at a place stops, and goes on. */
#include "recorder/flight.h"

#include "recorder/log.h"
#include "recorder/session.h"

/* The group of the trace, or of the switches, and what else is overwritten. The software source's
 * trace stands still by itself while we are here, and of the switches none may be missed. */
static bool is_frozen(const struct session *s, size_t ev)
{
	const struct pio_event *e = &s->set.ev[ev];

	return !e->missing && ((!ev && !s->source.soft) || (e->newest && !e->leader));
}

void flight_freeze(struct session *s, size_t i)
{
	struct flight_place *p = &s->flight.place[i];

	p->frozen_ns = session_now();
	p->frozen_ticks = source_ticks(&s->source);
	p->pause_ns = 0;
	for (size_t k = 0; k < s->set.nr_ev; k++)
		if (is_frozen(s, k) && pio_evset_disable_place(&s->set, k, i))
			log_debug("cannot stop '%s' of place %zu", s->set.ev[k].name, i);
}

/* One thread stops them, one after the other, each by an interrupt. A thread on each cpu would have
 * to wait for its turn, on a busy machine for milliseconds, while others stand still. */
void flight_freeze_all(struct session *s)
{
	uint64_t began = session_now();

	for (size_t i = 0; i < s->set.nr_place; i++)
		flight_freeze(s, i);
	s->flight.skew_ns = session_now() - began;
}

struct sched flight_hurry(void)
{
	struct sched_param now = { .sched_priority = 1 };
	struct sched old = { .policy = sched_getscheduler(0) };

	old.changed = (old.policy == SCHED_OTHER || old.policy == SCHED_BATCH) &&
		      !sched_getparam(0, &old.param) && !sched_setscheduler(0, SCHED_FIFO, &now);
	return old;
}

void flight_calm(const struct sched *old)
{
	if (old->changed && sched_setscheduler(0, old->policy, &old->param))
		log_warn("still running with real-time priority");
}

int flight_thaw(struct session *s, size_t i)
{
	struct flight_place *f = &s->flight.place[i];
	int err = 0;

	for (size_t k = 0; k < s->set.nr_ev && !err; k++)
		if (is_frozen(s, k))
			err = pio_evset_enable_place(&s->set, k, i);
	f->pause_ns = session_now() - f->frozen_ns;
	if (f->pause_ns > s->flight.pause_ns)
		s->flight.pause_ns = f->pause_ns;
	return err ? report_stuck(s, i, err, " behind a snapshot") : 0;
}
