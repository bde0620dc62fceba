/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flight.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/record.h"
#include "recorder/complete.h"
#include "recorder/log.h"
#include "recorder/newestring.h"
#include "recorder/ringwalk.h"
#include "recorder/session.h"
#include "recorder/units.h"

enum {
	LOOK_EVERY = 1 << 20, /* look for the horizon whenever the table grew by so much */
};

int flight_setup(struct session *s)
{
	return s->cfg->snapshot ? tasktable_new(&s->flight.table, FLIGHT_TABLE_LIMIT) : 0;
}

void flight_done(struct session *s)
{
	tasktable_free(s->flight.table);
	flight_drop_kept(s);
	fmt_buf_done(&s->flight.records);
	fmt_buf_done(&s->flight.late);
	s->flight = (struct flight){ 0 };
}

/* ---- what tracks the tasks ---- */

static int learn(struct session *s, const uint8_t *rec, size_t size)
{
	static uint8_t copy[UINT16_MAX]; /* there is one drain */
	struct complete c = { .sys = s->sys, .fileids = s->fileids };

	return tasktable_add(s->flight.table, complete_copy(&c, rec, size, copy) ? copy : rec,
			     size);
}

static int see(struct session *s, struct ledger_row *row, const uint8_t *rec, size_t size)
{
	switch (le_get32(rec)) {
	case FMT_REC_LOST:
		if (size >= FMT_LOST_AT_LOST + 8)
			row->lost += le_get(rec + FMT_LOST_AT_LOST, 8);
		return 0;
	case FMT_REC_AUX:
		if (!s->flight.freezing)
			return 0;
		fmt_put(&s->flight.late, rec, size);
		return s->flight.late.err;
	}
	return learn(s, rec, size);
}

static int drain_place(struct session *s, size_t i)
{
	static struct ringwalk w;
	struct pio_place *p = &s->set.place[i];
	struct ledger_row *row = ledger_row(&s->ledger, i, p->cpu, p->tid);
	struct iovec v[2];
	size_t size;
	int err = 0;

	if (!row)
		return -ENOMEM;
	ringwalk_begin(&w, v, pio_ring_peek(&p->ring, v));
	for (size_t pos = 0; pos < w.total && !err; pos += size) {
		size = ringwalk_size(&w, pos);
		if (!size)
			return -EBADMSG;
		err = see(s, row, ringwalk_whole(&w, pos, size), size);
	}
	if (pio_ring_pending(&p->ring))
		pio_ring_release(&p->ring);
	return err;
}

/* The oldest record that any ring holds: older than that nothing is asked for. */
static uint64_t horizon(const struct session *s)
{
	uint64_t oldest = UINT64_MAX;

	for (size_t i = 0; i < s->set.nr_place; i++) {
		struct newestring n;

		newestring_look(&s->set.place[i].newest, &n);
		if (n.records && n.first_ns < oldest)
			oldest = n.first_ns;
	}
	return oldest == UINT64_MAX ? s->flight.until_ns : oldest;
}

static int forget(struct session *s)
{
	struct tasktable_stats st;
	int err;

	tasktable_stats(s->flight.table, &st);
	if (st.bytes < s->flight.looked_at + LOOK_EVERY)
		return 0;
	err = tasktable_forget(s->flight.table, horizon(s));
	tasktable_stats(s->flight.table, &st);
	s->flight.looked_at = st.bytes;
	return err;
}

int flight_drain(struct session *s)
{
	int err = 0;

	for (size_t i = 0; i < s->set.nr_place && !err; i++)
		err = drain_place(s, i);
	return err ? err : forget(s);
}

/* ---- the file ---- */

/* The first snapshot of a file finds what runs as any recording does, at time 0. Later ones
 * tell it again as it was when they begin. */
static int put_tasks(struct session *s)
{
	struct fmt_trailer now = { .id = s->events[0].ids[0] };
	struct tasktable_stats st;
	int err;

	if (s->flight.begun) {
		tasktable_stats(s->flight.table, &st);
		now.time = st.horizon;
	}
	err = tasktable_emit(s->flight.table, s->flight.begun ? &now : NULL, recfile_put_task, s);
	return err ? err : drain_put(s);
}

/* The head of the file, before anything is frozen for it. */
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

/* ---- a snapshot ---- */

/* The group of the trace, or of the switches, and what else is overwritten. */
static bool is_frozen(const struct session *s, size_t ev)
{
	const struct pio_event *e = &s->set.ev[ev];

	return !e->missing && (!ev || (e->newest && !e->leader));
}

void flight_freeze(struct session *s, size_t i)
{
	s->frozen_ns[i] = session_now();
	for (size_t k = 0; k < s->set.nr_ev; k++)
		if (is_frozen(s, k) && pio_evset_disable_place(&s->set, k, i))
			log_debug("cannot stop '%s' of place %zu", s->set.ev[k].name, i);
}

static void freeze(struct session *s)
{
	for (size_t i = 0; i < s->set.nr_place; i++)
		flight_freeze(s, i);
}

int flight_thaw(struct session *s, size_t i)
{
	uint64_t pause;
	int err = 0;

	for (size_t k = 0; k < s->set.nr_ev && !err; k++)
		if (is_frozen(s, k))
			err = pio_evset_enable_place(&s->set, k, i);
	pause = session_now() - s->frozen_ns[i];
	if (pause > s->flight.pause_ns)
		s->flight.pause_ns = pause;
	return err ? report_stuck(s, i, err, " behind a snapshot") : 0;
}

static void say_span(const struct session *s, size_t i, const struct newestring *n)
{
	const struct pio_place *p = &s->set.place[i];
	char what[32], took[16];

	if (p->cpu >= 0)
		snprintf(what, sizeof(what), "cpu %d", p->cpu);
	else
		snprintf(what, sizeof(what), "thread %d", (int)p->tid);
	if (!n->records)
		log_debug("  %s: no switches", what);
	else
		log_debug("  %s: %zu records over %s", what, n->records,
			  units_time(n->last_ns - n->first_ns, took));
}

static int take_newest(struct session *s, size_t i, struct newestring *n)
{
	struct pio_newest *r = &s->set.place[i].newest, all = *r;
	int err;

	all.seen = s->flight.own ? 0 : r->seen;
	err = newestring_copy(&all, s->flight.from_ns, &s->flight.records, n);
	ledger_time(&s->ledger, n->first_ns);
	ledger_time(&s->ledger, n->last_ns);
	if (r->meta)
		window_see_records(s, n);
	if (err || s->flight.own)
		return err;
	pio_newest_taken(r);
	if (n->last_ns > s->flight.until_ns)
		s->flight.until_ns = n->last_ns;
	return 0;
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

/* While the cpus stand still: areas into the file, records into memory, which is faster. */
static int take_places(struct session *s, bool go_on)
{
	int err = put_soft(s), thawed;

	if (!err)
		err = flight_put_kept(s);
	for (size_t i = 0; i < s->set.nr_place; i++) {
		struct newestring n = { 0 };

		if (!err && s->set.place[i].ring.meta && s->source.set)
			err = flight_area(s, i);
		if (!err)
			err = take_newest(s, i, &n);
		thawed = go_on ? flight_thaw(s, i) : 0;
		if (!s->run_err)
			s->run_err = thawed;
		if (!err)
			say_span(s, i, &n);
	}
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

static int take(struct session *s, bool go_on)
{
	struct flight *f = &s->flight;
	int taken, err = begin_file(s);

	if (err)
		return err;
	fmt_buf_reset(&f->records);
	fmt_buf_reset(&f->late);
	f->freezing = true;
	window_begin(s);
	freeze(s);
	err = flight_drain(s);
	f->freezing = false;
	taken = take_places(s, go_on); /* also when that failed: it lets them run again */
	if (!err)
		err = taken;
	if (!err)
		err = tell_tasks(s);
	return err ? err : put_records(s);
}

int flight_take(struct session *s, bool go_on, const char *why)
{
	struct flight *f = &s->flight;
	char all[16], pause[16];
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
	err = recfile_publish(s) ? -EIO : 0;
	if (!err && !f->own) {
		err = tasktable_forget(f->table, f->until_ns);
		tasktable_told(f->table, f->until_ns);
	}
	log_info("snapshot %u (%s): taken in %s, no cpu stood still for longer than %s", f->taken,
		 why, units_time(session_now() - began, all), units_time(f->pause_ns, pause));
	window_end(s);
	return err;
}
