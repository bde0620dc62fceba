/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/record.h"
#include "recorder/complete.h"
#include "recorder/newestring.h"
#include "recorder/ringwalk.h"
#include "recorder/session.h"

enum {
	LOOK_EVERY = 1 << 20, /* look for the horizon whenever the table grew by so much */
};

int flight_setup(struct session *s)
{
	if (!s->cfg->snapshot)
		return 0;
	flight_room_open(s);
	return tasktable_new(&s->flight.table, FLIGHT_TABLE_LIMIT);
}

void flight_done(struct session *s)
{
	tasktable_free(s->flight.table);
	free(s->flight.place);
	flight_drop_kept(s);
	flight_room_close(s);
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
		s->flight.late.len = s->flight.late_at; /* the last one tells of the freeze */
		fmt_put(&s->flight.late, rec, size);
		return s->flight.late.err;
	case FMT_REC_SWITCH: /* of the software source */
		return s->switches.fold ? fold_add(s->switches.fold, rec, size) : 0;
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
	s->flight.late_at = s->flight.late.len;
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
		struct pio_newest all = s->set.place[i].newest;
		struct newestring n;

		all.seen = 0; /* a file of its own has again what others have */
		newestring_look(&all, false, &n);
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

static int drain_all(struct session *s)
{
	int err = 0;

	softswitch_begin(s);
	for (size_t i = 0; i < s->set.nr_place && !err; i++)
		err = drain_place(s, i);
	if (!err)
		err = softcode_round(s);
	softcode_told(s);
	if (s->source.soft)
		soft_round(s->source.soft);
	return err ? err : softswitch_end(s);
}

int flight_drain(struct session *s)
{
	int err = drain_all(s);

	return err ? err : forget(s);
}

int flight_drain_frozen(struct session *s)
{
	int err;

	s->flight.freezing = true;
	err = drain_all(s);
	s->flight.freezing = false;
	return err;
}
