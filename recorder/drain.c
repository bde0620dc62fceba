/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A round hands every byte that is there to the writer, straight from the rings: a walk to
 * count and to complete MMAP2 records, one write for all rings together, then the release. An
 * AUX area comes before its ring: its head is read before the data head, so that the AUX record
 * of every byte written is in this round or an earlier one. Through a pipe that is also the
 * order a reader needs: trace before the records whose time makes it decode.
 */
#include "recorder/session.h"

#include <errno.h>
#include <string.h>

#include "format/abi.h"
#include "format/record.h"
#include "recorder/complete.h"
#include "recorder/log.h"

int drain_put(struct session *s)
{
	int err = s->buf.err;

	if (!err && s->buf.len)
		err = fmt_writer_put(&s->writer, &s->buf);
	fmt_buf_reset(&s->buf);
	return err;
}

static struct ledger_row *place_row(struct session *s, size_t i)
{
	const struct pio_place *p = &s->set.place[i];

	return ledger_row(&s->ledger, i, p->cpu, p->tid);
}

/* Queues of the kernel are its places; the software source's come behind them. */
static struct ledger_row *queue_row(struct session *s, size_t i, const struct source_chunk *c)
{
	size_t row = s->source.soft ? s->set.nr_place + i : i;

	return ledger_row(&s->ledger, row, c->cpu, c->tid);
}

static size_t chunk_bytes(const struct source_chunk *c)
{
	size_t n = 0;

	for (int i = 0; i < c->nv; i++)
		n += c->v[i].iov_len;
	return n;
}

/* What a kernel would have said about these bytes. */
static int put_aux_records(struct session *s, size_t i, const struct source_chunk *c, size_t bytes)
{
	struct fmt_trailer t = {
		.pid = c->on_pid,
		.tid = c->on_tid,
		.cpu = c->on_cpu,
		.id = s->pt_id + (c->cpu < 0 ? 0 : i),
	};

	if (c->began) {
		t.time = session_time(s, c->began_ticks);
		ledger_time(&s->ledger, t.time);
		fmt_put_itrace_start(&s->buf, t.pid, t.tid, &t);
		ledger_count(&s->ledger, FMT_REC_ITRACE_START);
	}
	t.time = session_time(s, source_ticks(&s->source));
	ledger_time(&s->ledger, t.time);
	fmt_put_aux(&s->buf, c->offset, bytes, 0, &t);
	ledger_count(&s->ledger, FMT_REC_AUX);
	return drain_put(s);
}

int drain_chunk(struct session *s, size_t i, const struct source_chunk *c)
{
	size_t bytes = chunk_bytes(c);
	struct ledger_row *row = queue_row(s, i, c);
	struct fmt_auxtrace a = {
		.offset = c->offset,
		.reference = source_ticks(&s->source),
		.idx = (uint32_t)i,
		.tid = (uint32_t)c->tid,
		.cpu = (uint32_t)c->cpu,
	};
	int err = row ? fmt_writer_aux(&s->writer, &a, c->v, c->nv) : -ENOMEM;

	if (err)
		return err;
	row->aux_bytes += bytes;
	row->aux_chunks++;
	return s->source.soft ? put_aux_records(s, i, c, bytes) : 0;
}

static int put_chunk(struct session *s, size_t i, const struct source_chunk *c)
{
	int err = drain_chunk(s, i, c);

	if (!err)
		source_release(&s->source, i);
	return err;
}

/* A queue of the software source holds more than what one look at it shows. */
static int drain_queue(struct session *s, size_t i, bool last)
{
	struct source_chunk c;
	int err = 0;

	do {
		source_peek(&s->source, i, last, &c);
		if (c.nv)
			err = put_chunk(s, i, &c);
	} while (c.nv && !err);
	return err;
}

int drain_queue_whole(struct session *s, size_t i)
{
	return drain_queue(s, i, true);
}

/* The ring's bytes become spans: counted, and with their MMAP2 records completed. */
static int walk_ring(struct session *s, size_t i, struct ledger_row *row,
		     const struct iovec *v, int n)
{
	const struct pio_place *p = &s->set.place[i];
	struct complete c = {
		.sys = s->sys,
		.fileids = s->fileids,
		.dsos = s->dsos,
		.spans = &s->spans,
		.aux_base = p->ring.overwrite ? 0 : p->aux_base,
		.table = s->rotation.table,
		.fold = s->switches.fold,
		.folded = &s->switches.taken,
		.on = s->rotation.table && s->source.set && p->cpu >= 0 ? &row->on : NULL,
	};
	const struct ledger_visit visit = complete_visit(&c);
	int err;

	s->switches.taken = 0;
	spans_ring(&s->spans, v, n);
	err = ledger_walk(&s->ledger, row, v, n, &visit);
	ledger_uncount(&s->ledger, FMT_REC_SWITCH, s->switches.taken);
	return err ? err : spans_ring_end(&s->spans);
}

/* One place: its AUX area is written, its ring becomes spans of the round. The kernel stops an
 * AUX event whose area is full and leaves it to us to go on: that is noted. */
static int gather_place(struct session *s, size_t i, bool last)
{
	struct ledger_row *row = place_row(s, i), before;
	struct pio_ring *ring = &s->set.place[i].ring;
	struct source_chunk c = { 0 };
	struct iovec v[2];
	int n, err = 0;

	if (!row)
		return -ENOMEM;
	before = *row;
	rotation_halt(s, i);
	if (s->source.set)
		source_peek(&s->source, i, last, &c);
	n = pio_ring_peek(ring, v);
	rotation_go_on(s, i);
	if (c.nv)
		err = put_chunk(s, i, &c);
	row = &s->ledger.row[i];
	if (!err && n)
		err = walk_ring(s, i, row, v, n);
	if (!err && s->source.set)
		s->stalled[i] = row->truncated != before.truncated ||
				row->lost != before.lost || ring->aux_full;
	return err;
}

static void release_place(struct session *s, size_t i, bool last)
{
	int err;

	if (pio_ring_pending(&s->set.place[i].ring))
		pio_ring_release(&s->set.place[i].ring);
	if (!s->source.set || !s->stalled[i] || !s->enabled || last)
		return;
	err = pio_evset_restart(&s->set, 0, i);
	if (err)
		s->run_err = report_stuck(s, i, err, ": its AUX area was full");
}

/* Behind all rings, the switches that stay: counted as if a ring had given them. */
static int put_switches(struct session *s)
{
	struct fmt_buf *kept = &s->switches.kept;
	struct iovec v;
	int err = softswitch_end(s);

	if (err || !kept->len)
		return err;
	v = (struct iovec){ kept->data, kept->len };
	err = ledger_walk(&s->ledger, &s->ledger.row[0], &v, 1, NULL);
	return err ? err : spans_add(&s->spans, kept->data, kept->len);
}

static int round_of_all(struct session *s, bool marker, bool last)
{
	size_t queues = s->source.soft ? source_nr_queues(&s->source) : 0;
	struct iovec alone[1]; /* the marker of a round without spans */
	int err = 0;

	softswitch_begin(s);
	spans_reset(&s->spans);
	for (size_t i = 0; i < queues && !err; i++)
		err = drain_queue(s, i, last);
	for (size_t i = 0; i < s->set.nr_place && !err; i++)
		err = gather_place(s, i, last);
	if (!err)
		err = put_switches(s);
	if (!err)
		err = softcode_round(s);
	if (!err)
		err = fmt_writer_round_spans(&s->writer, s->spans.n ? s->spans.v : alone,
					     (int)s->spans.n, marker);
	softcode_told(s);
	for (size_t i = 0; i < s->set.nr_place && !err; i++)
		release_place(s, i, last);
	return err;
}

int drain_failed(struct session *s, int err)
{
	uint64_t dropped = 0;

	s->write_err = err;
	if (!fmt_writer_rollback(&s->writer, &dropped))
		s->ledger.rolled_back += dropped;
	return err;
}

int drain_round(struct session *s, bool marker, bool last)
{
	const struct ledger before = s->ledger;
	int err;

	if (s->write_err)
		return s->write_err;
	err = round_of_all(s, marker, last);
	if (s->source.soft)
		soft_round(s->source.soft);
	if (!err && s->rotation.table)
		err = tasktable_forget(s->rotation.table, before.last_ns);
	if (!err)
		return 0;
	err = drain_failed(s, err);
	/* What was taken back out of the file does not count as recorded; it is in the rings
	 * still, where closing.c counts it as lost. */
	s->ledger.records = before.records;
	memcpy(s->ledger.by_type, before.by_type, sizeof(before.by_type));
	return err;
}
