/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/session.h"

#include <errno.h>

#include "format/abi.h"
#include "format/record.h"
#include "recorder/log.h"

static void disable_all(struct session *s)
{
	for (size_t i = 0; i < s->set.nr_ev; i++)
		if (!s->set.ev[i].missing && pio_evset_disable(&s->set, i))
			log_debug("cannot disable '%s'", s->set.ev[i].name);
	s->off_ns = session_now();
}

/* The kernel's own count of records it had no room for at a place; *ret_id: an event that
 * lost some. */
static uint64_t lost_at(const struct session *s, size_t place, uint64_t *ret_id)
{
	uint64_t all = 0, lost;

	for (size_t i = 0; i < s->set.nr_ev; i++)
		for (size_t j = 0; j < s->set.ev[i].nr_fd; j++) {
			const struct pio_event *e = &s->set.ev[i];

			if (e->fd[j].place != place || pio_event_lost(&s->set, e, j, &lost))
				continue;
			all += lost;
			if (lost)
				*ret_id = e->fd[j].id;
		}
	return all;
}

/* Records that the kernel dropped and had no room to say so: its own count, less what the
 * LOST records told (and, of a cpu that had been away, what was told then). */
void closing_place_losses(struct session *s, size_t place)
{
	const struct pio_place *p = &s->set.place[place];
	struct fmt_trailer t = { .pid = UINT32_MAX, .tid = (uint32_t)p->tid,
				 .cpu = (uint32_t)p->cpu, .time = s->ledger.last_ns };
	struct ledger_row *row = ledger_row(&s->ledger, place, p->cpu, p->tid);
	uint64_t all = lost_at(s, place, &t.id), told;

	if (!row)
		return;
	told = row->lost - row->lost_before;
	if (all > told) {
		row->lost += all - told;
		ledger_count(&s->ledger, FMT_REC_LOST);
		fmt_put_lost(&s->buf, t.id, all - told, &t);
	}
	row->lost_before = row->lost;
}

static void put_late_losses(struct session *s)
{
	for (size_t place = 0; place < s->set.nr_place; place++)
		closing_place_losses(s, place);
}

/* What the rings still hold when the output has failed is lost too, and counted. */
static void count_undrained(struct session *s)
{
	struct ledger scratch = { 0 };
	struct ledger_row *row = ledger_row(&scratch, 0, -1, -1);
	struct iovec v[2];

	for (size_t i = 0; row && i < s->set.nr_place; i++)
		if (ledger_walk(&scratch, row, v, pio_ring_peek(&s->set.place[i].ring, v),
				NULL))
			break;
	s->ledger.given_up += scratch.records;
	ledger_done(&scratch);
}

/* The loss stands in the file as well, when the room that the last round left takes it. */
static void put_given_up(struct session *s)
{
	struct fmt_trailer t = { .pid = UINT32_MAX, .tid = UINT32_MAX,
				 .time = s->ledger.last_ns, .id = s->events[0].ids[0] };

	if (!s->ledger.given_up || s->out.fd < 0)
		return;
	fmt_put_lost(&s->buf, t.id, s->ledger.given_up, &t);
	if (drain_put(s) || fmt_writer_round(&s->writer, true))
		log_debug("no room for the LOST record");
}

static void count_soft(struct session *s)
{
	struct soft_stats st;

	if (!s->source.soft)
		return;
	soft_stats(s->source.soft, &st);
	s->ledger.dropped = st.dropped;
	s->ledger.unexplained = st.unexplained;
	s->ledger.refused = st.refused;
	s->ledger.untold = st.untold;
}

/* Without a snapshot there is no file. */
static void close_flight(struct session *s)
{
	trigger_last(s, s->cfg->snapshot_at_exit);
	if (s->flight.begun) {
		put_late_losses(s);
		if (!s->write_err)
			s->write_err = drain_put(s);
		recfile_end(s);
	} else if (s->write_err) {
		recfile_explain(s);
	}
}

void closing_file(struct session *s)
{
	log_status(NULL);
	disable_all(s);
	if (s->flight.table) {
		count_soft(s);
		close_flight(s);
		return;
	}
	if (!s->write_err) {
		(void)drain_round(s, true, true);
		put_late_losses(s);
		if (!s->write_err)
			s->write_err = softswitch_put_counts(s);
	} else {
		count_undrained(s);
		if (!s->out.stream)
			put_given_up(s);
	}
	count_soft(s);
	recfile_end(s);
}
