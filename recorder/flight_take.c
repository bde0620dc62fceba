/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot. All places are stopped, then copied and let go one by one, then written:
 * trace, the tasks, and the records.
 */
#include "recorder/flight.h"

#include <errno.h>
#include <string.h>

#include "format/ptcut.h"
#include "format/record.h"
#include "recorder/line.h"
#include "recorder/log.h"
#include "recorder/session.h"
#include "recorder/units.h"

/* ---- the file ---- */

static int learn_again(void *ctx, const uint8_t *rec, size_t n)
{
	return tasktable_add(ctx, rec, n);
}

/* What this file has not been told yet. The table itself goes back as far as the rings, for files
 * that tell all. */
static int put_later_tasks(struct session *s)
{
	const struct flight *f = &s->flight;
	struct fmt_trailer now = { .id = s->events[0].ids[0] };
	struct tasktable_stats st;
	struct tasktable *t;
	int err = tasktable_new(&t, FLIGHT_TABLE_LIMIT);

	if (err)
		return err;
	tasktable_stats(f->table, &st);
	now.time = st.horizon > f->told_ns ? st.horizon : f->told_ns;
	err = tasktable_emit(f->table, NULL, learn_again, t);
	if (!err)
		err = tasktable_forget(t, now.time);
	tasktable_told(t, f->told_ns);
	if (!err)
		err = tasktable_emit(t, &now, recfile_put_task, s);
	tasktable_free(t);
	return err;
}

/* The first snapshot of a file finds what runs as any recording does, at time 0. Later ones
 * tell it again as it was when they begin. */
static int put_tasks(struct session *s)
{
	int err = s->flight.begun ? put_later_tasks(s) :
				    tasktable_emit(s->flight.table, NULL, recfile_put_task, s);

	return err ? err : drain_put(s);
}

static int begin_file(struct session *s)
{
	return s->flight.begun ? 0 : recfile_begin(s);
}

static int tell_tasks(struct session *s)
{
	int err = put_tasks(s);

	if (!err && !s->flight.begun)
		err = fmt_put_finished_init(&s->buf);
	if (!err)
		err = drain_put(s);
	s->flight.begun |= !err;
	return err;
}

/* The next snapshot begins with a PSB, behind the last instruction of this one, and tells the tasks
 * as they are now. */
static int put_soft(struct session *s)
{
	int err = 0;

	if (s->source.soft && !s->flight.own)
		soft_divide(s->source.soft);
	for (size_t i = 0; s->source.soft && i < source_nr_queues(&s->source) && !err; i++)
		err = flight_queue(s, i);
	if (s->source.soft && !s->flight.own)
		s->flight.until_ns = session_time(s, source_ticks(&s->source));
	return err;
}

/* Behind the tasks, the records that the rings had, counted like all that is written. */
static int put_records(struct session *s)
{
	struct flight *f = &s->flight;
	struct ledger_row *row = ledger_row(&s->ledger, 0, s->set.place[0].cpu,
					    s->set.place[0].tid);
	struct iovec v[3]; /* with room for the marker */
	int n = 0, err = row ? 0 : -ENOMEM;

	if (f->late.len)
		v[n++] = (struct iovec){ f->late.data, f->late.len };
	if (f->records.len)
		v[n++] = (struct iovec){ f->records.data, f->records.len };
	if (!err)
		err = ledger_walk(&s->ledger, row, v, n, NULL);
	return err ? err : fmt_writer_round_spans(&s->writer, v, n, true);
}

/* ---- the places ---- */

/* From when on the trace of the place can be read, and there are switches with it. */
static void find_span(const struct session *s, struct flight_place *p)
{
	const struct flight_hold *h = &p->hold;
	const struct fmt_time_conv *c = &s->conv;
	uint64_t ticks = p->frozen_ticks, begin;

	p->frozen_at = 0;
	p->trace_at = p->both_at = 0;
	if (!c->cap_time_zero || !c->mult || !fmt_pt_begin(h->trace, h->nr_trace, &begin))
		return;
	p->frozen_at = session_time(s, ticks);
	p->trace_at = session_time(s, ticks - fmt_pt_ago(ticks, begin));
	if (p->records.records)
		p->both_at = p->records.first_ns > p->trace_at ? p->records.first_ns : p->trace_at;
}

static int put_newest(struct session *s, size_t i)
{
	struct flight_place *p = &s->flight.place[i];
	const struct flight_hold *h = &p->hold;
	struct newestring *n = &p->records;
	int err;

	err = newestring_turn(h->records, h->nr_records, h->more, s->flight.from_ns,
			      &s->flight.records, n);
	ledger_time(&s->ledger, n->first_ns);
	ledger_time(&s->ledger, n->last_ns);
	if (s->set.place[i].newest.meta)
		window_see_records(s, n);
	if (!err && !s->flight.own && n->last_ns > s->flight.until_ns)
		s->flight.until_ns = n->last_ns;
	return err;
}

static int put_place(struct session *s, size_t i)
{
	struct flight_place *p = &s->flight.place[i];
	uint64_t pause = p->hold.copied ? p->pause_ns : 0;
	int err = 0;

	p->hold.aux.reference = p->frozen_ticks;
	p->hold.aux.pause_ns = pause < UINT32_MAX ? (uint32_t)pause : UINT32_MAX;
	if (s->set.place[i].ring.meta && s->source.set)
		err = flight_area(s, &p->hold);
	if (!err)
		err = put_newest(s, i);
	find_span(s, p);
	return err;
}

/* What keeps a cpu from going on is the end of the recording, not of the snapshot. */
static void thaw(struct session *s, size_t i)
{
	int err = flight_thaw(s, i);

	if (!s->run_err)
		s->run_err = err;
}

/* Copy as many as there is room for, and let them go on. The first is taken in any case: as it
 * is. Returns where the next begin. */
static size_t hold_places(struct session *s, size_t from, bool go_on)
{
	size_t i = from;

	s->flight.room.used = 0;
	do {
		flight_hold(s, i, go_on);
		if (s->flight.place[i].hold.copied)
			thaw(s, i);
	} while (++i < s->set.nr_place && (!go_on || flight_fits(s, i)));
	return i;
}

static int put_places(struct session *s, size_t from, size_t end, bool go_on)
{
	int err = 0;

	for (size_t i = from; i < end; i++) {
		if (!err)
			err = put_place(s, i);
		if (go_on && !s->flight.place[i].hold.copied)
			thaw(s, i);
	}
	return err;
}

static size_t freeze_and_hold(struct session *s, bool go_on)
{
	struct sched old = flight_hurry();
	size_t end;

	flight_freeze_all(s);
	end = hold_places(s, 0, go_on);
	flight_calm(&old);
	return end;
}

/* After an error, too, for the cpus run again behind it. */
static int take_places(struct session *s, bool go_on)
{
	size_t i = freeze_and_hold(s, go_on), from = 0;
	int err, put;

	window_begin(s);
	err = begin_file(s);
	if (!err)
		err = put_soft(s);
	if (!err)
		err = flight_put_kept(s);
	for (;;) {
		put = put_places(s, from, i, go_on);
		if (!err)
			err = put;
		if (i == s->set.nr_place)
			return err;
		from = i;
		i = hold_places(s, from, go_on);
	}
}

static int take(struct session *s, bool go_on)
{
	struct flight *f = &s->flight;
	int err, taken;

	fmt_buf_reset(&f->records);
	fmt_buf_reset(&f->late);
	taken = take_places(s, go_on);
	flight_room_leave(s);
	err = flight_drain_frozen(s);
	if (!err)
		err = taken;
	if (!err)
		err = tell_tasks(s);
	if (!err && s->switches.fold)
		err = softswitch_put_newest(s, &f->records);
	return err ? err : put_records(s);
}

/* ---- the words ---- */

static void say_place(const struct session *s, size_t i)
{
	const struct pio_place *p = &s->set.place[i];
	const struct flight_place *f = &s->flight.place[i];
	const struct newestring *n = &f->records;
	struct line line = { 0 };
	char time[16];

	if (p->cpu >= 0)
		line_add(&line, "cpu %d:", p->cpu);
	else
		line_add(&line, "thread %d:", (int)p->tid);
	if (f->trace_at)
		line_add(&line, " trace of the last %s,",
			 units_time(f->frozen_at - f->trace_at, time));
	if (n->records)
		line_add(&line, " %zu records over %s,", n->records,
			 units_time(n->last_ns - n->first_ns, time));
	else
		line_add(&line, " no switches,");
	if (f->both_at)
		line_add(&line, " both for the last %s,",
			 units_time(f->frozen_at - f->both_at, time));
	if (f->pause_ns)
		line_add(&line, " stood still for %s", units_time(f->pause_ns, time));
	else
		line_add(&line, " and does not go on");
	log_debug("  %s", line.s);
}

/* The shortest span for which some cpu has trace and switches. */
static void say_least(const struct session *s)
{
	const struct flight_place *least = NULL;
	size_t short_of = 0;
	char time[16];

	for (size_t i = 0; i < s->set.nr_place; i++) {
		const struct flight_place *f = &s->flight.place[i];

		if (!f->both_at)
			continue;
		if (!least || f->frozen_at - f->both_at < least->frozen_at - least->both_at)
			least = f;
		short_of += f->records.more && f->both_at > f->trace_at;
	}
	if (!least)
		return;
	log_info("  trace with its switches: of each cpu at least the last %s",
		 units_time(least->frozen_at - least->both_at, time));
	if (short_of)
		log_info("  on %zu of them the trace reaches back further than the switches",
			 short_of);
}

static void say(const struct session *s, const char *why, uint64_t took_ns)
{
	const struct flight *f = &s->flight;
	char all[16], pause[16], skew[16];

	units_time(took_ns, all);
	units_time(f->skew_ns, skew);
	if (f->pause_ns)
		log_info("snapshot %u (%s): taken in %s, no cpu stood still for longer than %s "
			 "(all within %s)", f->taken, why, all, units_time(f->pause_ns, pause),
			 skew);
	else
		log_info("snapshot %u (%s): taken in %s (all cpus stopped within %s)", f->taken,
			 why, all, skew);
	for (size_t i = 0; i < s->set.nr_place; i++)
		if (s->set.place[i].ring.meta && !s->source.soft)
			say_place(s, i);
	say_least(s);
	window_end(s);
}

int flight_take(struct session *s, bool go_on, const char *why)
{
	struct flight *f = &s->flight;
	uint64_t began = session_now();
	int err;

	if (s->write_err || !s->on_ns)
		return s->write_err;
	if (s->cfg->max_snapshots && !f->own)
		return flight_take_next(s, go_on, why);
	f->pause_ns = 0;
	err = take(s, go_on);
	if (err)
		return drain_failed(s, err);
	f->taken++;
	if (f->pause_ns > f->max_pause_ns)
		f->max_pause_ns = f->pause_ns;
	err = recfile_publish(s);
	if (!f->own) {
		f->unnamed = err;
		f->told_ns = f->until_ns;
	}
	if (err)
		return err;
	say(s, why, session_now() - began);
	return 0;
}
