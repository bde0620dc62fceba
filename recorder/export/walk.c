/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over a recording: what trace and which stream each record is; the filters. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "recorder/export/walk_priv.h"

/* ---- tables ---- */

static uint32_t key_at(const struct export_table *t, size_t size, size_t i)
{
	uint32_t key;

	memcpy(&key, (const char *)t->rows + i * size, sizeof(key));
	return key;
}

void *export_find(struct export_table *t, size_t size, uint32_t key)
{
	size_t lo = 0, hi = t->nr, mid;

	if (t->last < t->nr && key_at(t, size, t->last) == key)
		return (char *)t->rows + t->last * size;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (key_at(t, size, mid) < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	t->last = lo;
	if (lo == t->nr || key_at(t, size, lo) != key)
		return NULL;
	return (char *)t->rows + lo * size;
}

void *export_row(struct export_table *t, size_t size, uint32_t key, bool *ret_full)
{
	char *row = export_find(t, size, key);
	void *rows;

	*ret_full = !row && t->nr == EXPORT_ROWS_MAX;
	if (row || *ret_full)
		return row;
	if (!(t->nr & (t->nr - 1))) { /* full at every power of two */
		rows = realloc(t->rows, (t->nr ? 2 * t->nr : 1) * size);
		if (!rows)
			return NULL;
		t->rows = rows;
	}
	row = (char *)t->rows + t->last * size;
	memmove(row + size, row, (t->nr - t->last) * size);
	t->nr++;
	memset(row, 0, size);
	memcpy(row, &key, sizeof(key));
	return row;
}

/* ---- records ---- */

static void tell(struct export *x, const struct fmt_reader *r, const char *what, uint64_t at,
		 void (*fault)(struct export *x, const struct fmt_reader *r, uint64_t at,
			       const char *what))
{
	if (what && fault)
		fault(x, r, at, what);
}

int export_each(struct export *x, int (*on)(void *ctx, const struct export_seen *s),
		void (*fault)(struct export *x, const struct fmt_reader *r, uint64_t at,
			      const char *what),
		void *ctx)
{
	struct fmt_reader *r = &x->in->r, *from = r;
	struct fmt_rec rec;
	struct export_seen s;
	int got, err = 0;

	do {
		got = input_next(x->in, &rec, &from);
		if (from != r || !got) {
			tell(x, r, r->odd_what, r->odd_at, fault);
			s = (struct export_seen){ .r = r, .rec = &r->cut };
			/* The part of a payload that is there is trace all the same. */
			if (r->cut.p)
				err = on(ctx, &s);
		}
		r = from;
		if (got < 0 && !r->bad_what)
			return got;
		if (got < 0)
			tell(x, r, r->bad_what, r->bad_at, fault);
		if (got <= 0 || err)
			continue;
		s = (struct export_seen){ .r = r, .rec = &rec };
		if (fmt_reader_when(r, &rec, &s.when))
			s.when = (struct fmt_when){ .event = -1 };
		err = on(ctx, &s);
	} while (got && !err);
	return err;
}

/* ---- trace ---- */

bool export_trace_of(struct export *x, const struct export_seen *s,
		     struct export_piece *ret, uint32_t *ret_key)
{
	const struct fmt_rec *rec = s->rec;
	const struct auxsample_id *id;
	struct export_piece p = { .file_at = rec->at };
	size_t len;

	if (rec->type == FMT_REC_AUXTRACE && rec->payload) {
		p.p = rec->payload;
		p.len = rec->payload_len;
		p.cpu = le_get32(rec->p + FMT_AUXTRACE_AT_CPU);
		p.tid = le_get32(rec->p + FMT_AUXTRACE_AT_TID);
		*ret_key = le_get32(rec->p + FMT_AUXTRACE_AT_IDX);
	} else if (auxsample_trace(s->r, rec, s->when.event, &p.p, &len)) {
		p.len = len;
		id = auxsample_owner(&x->ids, s->when.id);
		p.cpu = id ? id->cpu : EXPORT_NONE;
		p.tid = id ? id->tid : EXPORT_NONE;
		p.has_time = s->when.has_time;
		p.time = s->when.time;
		*ret_key = id ? id->idx : EXPORT_NONE;
	}
	*ret = p;
	return p.len;
}

uint64_t export_whole_tsc(uint64_t tsc, uint64_t upper)
{
	const uint64_t span = UINT64_C(1) << 56;
	uint64_t v = (upper & ~(span - 1)) | tsc;

	if (!upper)
		return tsc;
	if (v > upper && v - upper > span / 2 && v >= span)
		return v - span;
	if (v < upper && upper - v > span / 2)
		return v + span;
	return v;
}

uint64_t export_ns(const struct export *x, uint64_t tsc)
{
	unsigned shift = x->pt.time_shift & 63;
	uint64_t rest = tsc & ((UINT64_C(1) << shift) - 1);

	return x->pt.time_zero + (tsc >> shift) * x->pt.time_mult +
	       ((rest * x->pt.time_mult) >> shift);
}

void export_piece_tscs(struct export_piece *p, uint64_t upper)
{
	struct fmt_ptwalk w = { 0 };

	fmt_ptwalk_feed(&w, p->p, p->len);
	fmt_ptwalk_end(&w);
	p->has_tsc = w.has_tsc;
	p->first_tsc = export_whole_tsc(w.first_tsc, upper);
	p->last_tsc = export_whole_tsc(w.last_tsc, upper);
}

bool export_piece_within(const struct export *x, const struct export_piece *p)
{
	const struct export_opts *o = x->o;

	if (!o->windowed || (!p->has_time && !(export_timed(x) && p->has_tsc)))
		return true;
	if (export_timed(x) && p->has_tsc)
		return export_ns(x, p->first_tsc) <= o->to &&
		       export_ns(x, p->last_tsc) >= o->from;
	return p->time >= o->from && p->time <= o->to;
}

/* ---- within the filters ---- */

struct walk {
	struct export *x;
	const struct export_sink *sink;
	uint64_t *pieces, *bytes; /* passed so far, by queue */
};

/* Of a queue that goes on from piece to piece: what lies within the window. */
static void cut(struct export_piece *p, const struct export_queue *q)
{
	uint64_t from = q->from > p->offset ? q->from - p->offset : 0;
	uint64_t to = q->to > p->offset ? q->to - p->offset : 0;

	if (to > p->len)
		to = p->len;
	p->len = from < to ? to - from : 0;
	p->p += from;
	p->offset += from;
}

static int walk_trace(struct walk *w, const struct export_seen *s, struct export_piece *p,
		      uint32_t key)
{
	struct export_queue *q = export_find(&w->x->queues, sizeof(*q), key);
	size_t i;

	if (!q)
		return 0;
	i = (size_t)(q - export_queue_at(w->x, 0));
	p->q = q;
	p->number = w->pieces[i]++;
	p->offset = w->bytes[i];
	w->bytes[i] += p->len;
	if (!q->chosen)
		return 0;
	if (!q->loose)
		cut(p, q);
	else
		export_piece_tscs(p, s->rec->type == FMT_REC_AUXTRACE ?
				     le_get(s->rec->p + FMT_AUXTRACE_AT_REFERENCE, 8) : 0);
	if (!p->len || (q->loose && !export_piece_within(w->x, p)))
		return 0;
	return w->sink->trace(w->sink->ctx, p);
}

/* Does it tell of processes, mappings or kernel code, whatever cpu it happened on? */
static bool tells_of_all(uint32_t type)
{
	switch (type) {
	case FMT_REC_MMAP:
	case FMT_REC_MMAP2:
	case FMT_REC_COMM:
	case FMT_REC_FORK:
	case FMT_REC_EXIT:
	case FMT_REC_NAMESPACES:
	case FMT_REC_KSYMBOL:
	case FMT_REC_BPF_EVENT:
	case FMT_REC_CGROUP:
	case FMT_REC_TEXT_POKE:
		return true;
	}
	return false;
}

static struct export_stream *stream_of(struct export *x, const struct export_seen *s)
{
	const struct fmt_when *w = &s->when;
	struct export_table *t = x->by_thread ? &x->tids : &x->cpus;
	bool known = x->by_thread ? w->has_tid : w->has_cpu;
	struct export_stream *row;

	if (export_synthesised(w) || (!known && !w->has_time))
		return &x->head;
	row = known ? export_find(t, sizeof(*row), x->by_thread ? w->tid : w->cpu) : NULL;
	if (!row)
		return &x->rest;
	if (row->chosen)
		return row;
	return tells_of_all(s->rec->type) ? &x->others : NULL;
}

static int on_record(void *ctx, const struct export_seen *s)
{
	struct walk *w = ctx;
	struct export_stream *to;
	struct export_piece p;
	uint32_t key;

	if (export_trace_of(w->x, s, &p, &key))
		return key == EXPORT_NONE && s->rec->type == FMT_REC_SAMPLE ? 0 :
		       walk_trace(w, s, &p, key);
	if (s->rec->type >= FMT_REC_USER_START || s->rec->type == FMT_REC_SAMPLE)
		return 0;
	if (s->when.has_time && s->when.time > w->x->until)
		return 0;
	to = stream_of(w->x, s);
	return to ? w->sink->record(w->sink->ctx, s->rec, &s->when, to) : 0;
}

int export_walk(struct export *x, const struct export_sink *sink)
{
	struct walk w = { .x = x, .sink = sink };
	int err = -ENOMEM;

	w.pieces = calloc(x->queues.nr + 1, sizeof(*w.pieces));
	w.bytes = calloc(x->queues.nr + 1, sizeof(*w.bytes));
	if (w.pieces && w.bytes) {
		input_rewind(x->in);
		err = export_each(x, on_record, NULL, &w);
	}
	free(w.pieces);
	free(w.bytes);
	return err;
}
