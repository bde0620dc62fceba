/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/window.h"

#include <stdlib.h>
#include <time.h>

#include "format/ptcut.h"
#include "recorder/log.h"
#include "recorder/session.h"
#include "recorder/units.h"

enum {
	/* An area that is overwritten may be passed once between two looks, not more. */
	SLICES = 10,
	SLICE_NS = 10 * 1000000,
};

static void wait_ns(long ns)
{
	const struct timespec t = { .tv_nsec = ns };

	(void)nanosleep(&t, NULL);
}

static int switch_all(struct session *s, bool on)
{
	int err, first = 0;

	for (size_t i = 0; i < s->set.nr_ev; i++) {
		if (!s->plan.start_late[i] || s->set.ev[i].missing)
			continue;
		err = on ? pio_evset_enable(&s->set, i) : pio_evset_disable(&s->set, i);
		first = first ? first : err;
	}
	return first;
}

/* What has gone into the place's rings so far. Its events are disabled. */
static void look(struct pio_place *p, uint64_t *trace, uint64_t *records)
{
	struct iovec v[2];
	uint64_t offset;

	(void)pio_ring_snapshot(&p->ring, v, &offset);
	*trace = p->ring.aux_head;
	*records = 0 - pio_newest_head(&p->newest);
}

static uint64_t per_second(uint64_t bytes, uint64_t ns)
{
	return ns ? (uint64_t)((double)bytes * (double)NS_PER_S / (double)ns) : 0;
}

bool window_measure(struct session *s)
{
	struct plan *p = &s->plan;
	uint64_t ns = 0, trace = 0, records = 0, began, t, r;
	int err = 0;

	if (!s->cfg->window_ns || s->cfg->follow || p->source == SOURCE_SOFT)
		return false;
	for (int i = 0; i < SLICES && !err; i++) {
		began = session_now();
		err = switch_all(s, true);
		wait_ns(SLICE_NS);
		ns += session_now() - began;
		if (!err)
			err = switch_all(s, false);
		for (size_t k = 0; k < s->set.nr_place; k++)
			look(&s->set.place[k], &t, &r);
	}
	if (err) {
		log_warn("cannot measure how fast rings fill: taking what is usual");
		return false;
	}
	for (size_t k = 0; k < s->set.nr_place; k++) {
		look(&s->set.place[k], &t, &r);
		trace = t > trace ? t : trace;
		records = r > records ? r : records;
	}
	s->window.measured = true;
	p->rate_trace = per_second(trace, ns);
	p->rate_records = per_second(records, ns);
	return true;
}

static uint64_t holds(uint64_t len, uint64_t rate)
{
	return rate ? (uint64_t)((double)len * (double)NS_PER_S / (double)rate) : UINT64_MAX;
}

static void say_one(const struct session *s, const char *what, uint64_t len, uint64_t rate)
{
	char size[16], speed[16], time[16], window[16];

	if (!len)
		return;
	log_info("window of %s: %s of %s for %s, which is %s a second, %s",
		 units_time(s->cfg->window_ns, window), units_bytes(len, size), what,
		 holds(len, rate) == UINT64_MAX ? "ever" : units_time(holds(len, rate), time),
		 units_bytes(rate, speed),
		 s->window.measured ? "as measured" : "as is assumed");
	if (holds(len, rate) < s->cfg->window_ns)
		log_warn("that is less than was asked for: the memlock budget or the largest ring "
			 "do not take more");
}

void window_say(const struct session *s)
{
	const struct plan *p = &s->plan;

	if (!s->cfg->window_ns)
		return;
	if (p->source == SOURCE_SOFT) {
		say_one(s, "trace of each thread", plan_flight_len(p), p->rate_trace);
		return;
	}
	say_one(s, "trace per ring", p->aux_len, p->rate_trace);
	say_one(s, "records per ring", p->newest_len, p->rate_records);
}

/* ---- snapshots ---- */

static bool asked(const struct session *s)
{
	return s->cfg->window_ns && !s->flight.from_ns && s->window.now_ns;
}

void window_begin(struct session *s)
{
	s->window.rings = s->window.short_of = 0;
	s->window.now_ns = s->cfg->window_ns ? trigger_now(s) : 0;
}

void window_see_records(struct session *s, const struct newestring *n)
{
	struct window *w = &s->window;

	if (!asked(s))
		return;
	w->rings++;
	w->short_of += n->more && w->now_ns - n->first_ns < s->cfg->window_ns;
}

void window_see_trace(struct session *s, const struct iovec *v, int n, bool whole)
{
	struct window *w = &s->window;
	uint64_t ticks;

	if (!asked(s) || !session_ticks(s, w->now_ns - s->cfg->window_ns, &ticks))
		return;
	w->rings++;
	w->short_of += !whole && !fmt_pt_cut(v, n, ticks);
}

void window_end(const struct session *s)
{
	const struct window *w = &s->window;
	char window[16];

	if (!asked(s) || !w->rings)
		return;
	units_time(s->cfg->window_ns, window);
	if (w->short_of)
		log_warn("%zu of %zu rings hold less than the window of %s", w->short_of, w->rings,
			 window);
	else
		log_info("  the window of %s is covered (rings: %zu)", window, w->rings);
}
