/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace of a snapshot from some moment on (--pre): it begins at a PSB, the last one that is not
 * later. Where the TSC cannot be compared with records, trace is kept whole.
 */
#include "recorder/flight.h"

#include <errno.h>

#include "format/ptcut.h"
#include "recorder/session.h"

/* The TSC at from_ns. False: not to be told. */
static bool from_ticks(const struct session *s, uint64_t *ret)
{
	return s->flight.from_ns && session_ticks(s, s->flight.from_ns, ret);
}

static int skip(struct iovec v[2], int n, size_t cut)
{
	if (n && cut >= v[0].iov_len) {
		cut -= v[0].iov_len;
		v[0] = v[1];
		n--;
	}
	if (n) {
		v[0].iov_base = (uint8_t *)v[0].iov_base + cut;
		v[0].iov_len -= cut;
	}
	return n;
}

int flight_area(struct session *s, struct flight_hold *h)
{
	uint64_t from;

	window_see_trace(s, h->trace, h->nr_trace, h->whole);
	if (from_ticks(s, &from)) {
		size_t cut = fmt_pt_cut(h->trace, h->nr_trace, from);

		h->aux.offset += cut;
		h->nr_trace = skip(h->trace, h->nr_trace, cut);
	}
	return snapshot_put(s, &h->aux, h->trace, h->nr_trace);
}

/* A queue of the software source is many small pieces. In snapshots perf takes each for a trace of
 * its own, to be entered at a PSB: they become one. */
static int gather(struct session *s, size_t i, struct source_chunk *first, struct fmt_buf *b)
{
	struct source_chunk c;

	for (;;) {
		source_peek(&s->source, i, true, &c);
		if (!c.nv)
			return b->err;
		if (!b->len)
			*first = c;
		for (int k = 0; k < c.nv; k++)
			fmt_put(b, c.v[k].iov_base, c.v[k].iov_len);
		if (b->err)
			return b->err;
		source_release(&s->source, i);
	}
}

/* For a file of its own it stays in the queue; the copy ends with the last instruction. */
static int copy(struct session *s, size_t i, struct source_chunk *first, struct fmt_buf *b)
{
	struct soft_queue q;
	size_t n = soft_queue_kept(s->source.soft, i, &q);
	uint8_t end[SOFT_END_MAX];

	*first = source_of_queue(&q);
	first->began = true;
	fmt_put_zero(b, n);
	if (!b->err)
		(void)soft_queue_copy(s->source.soft, i, q.offset, b->data, n);
	if (n)
		fmt_put(b, end, soft_queue_end(s->source.soft, i, end));
	return b->err;
}

int flight_queue(struct session *s, size_t i)
{
	struct source_chunk c = { 0 };
	struct fmt_buf b = { 0 };
	uint64_t from;
	bool whole = !from_ticks(s, &from);
	size_t cut;
	int err;

	err = s->flight.own ? copy(s, i, &c, &b) : gather(s, i, &c, &b);
	if (!err && b.len) {
		c.v[0] = (struct iovec){ b.data, b.len };
		c.nv = 1;
		window_see_trace(s, c.v, 1, !c.offset);
		cut = whole ? 0 : fmt_pt_cut(c.v, 1, from);
		c.offset += cut;
		c.nv = skip(c.v, 1, cut);
		err = drain_chunk(s, i, &c);
	}
	fmt_buf_done(&b);
	return err;
}
