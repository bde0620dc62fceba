/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packets of each queue, as its AUXTRACE records and AUX samples pass: nothing is kept but
 * the few bytes of a packet that goes on in the next record.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format/abi.h"
#include "format/auxtrace.h"
#include "format/le.h"
#include "recorder/auxsample.h"
#include "recorder/decode/packets.h"
#include "recorder/dump.h"
#include "recorder/log.h"

enum { QUEUES_MAX = 8192, PADDING_MAX = 7 };

struct pqueue {
	uint32_t idx;
	bool begun;
	uint64_t end; /* of the last piece, in the AUX stream */
	const struct fmt_reader *from; /* of the last piece: the file or a part; NULL: raw */
	struct packets *k;
	struct dump *d;
};

struct pqueues {
	struct dump *d;
	struct pqueue **q; /* by idx */
	size_t nr;
	bool any;      /* there is trace, be it of a queue that is shown or not */
	bool snapshot; /* pieces are snapshots: each begins anew */
	uint64_t left_out;
	struct auxsample_ids ids;
	uint64_t homeless; /* samples of ids that ID_INDEX does not tell */
};

static void show_packet(void *ctx, const struct packet *p)
{
	struct pqueue *q = ctx;
	struct dline *l = &q->d->line;

	dline_begin(l, p->file_at, p->size, p->name);
	dump_show_part(q->d, q->from);
	dline_num(l, "queue", FMT_AS_DEC, q->idx);
	dline_num(l, "offset", FMT_AS_HEX, p->at);
	if (*p->text)
		dline_text(l, "payload", p->text);
	if (q->d->last_ip && p->has_ip)
		dline_num(l, "ip", FMT_AS_HEX, p->ip);
	dline_end(l);
}

/* Where idx is, or belongs. */
static size_t place(const struct pqueues *v, uint32_t idx)
{
	size_t lo = 0, hi = v->nr, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (v->q[mid]->idx < idx)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* NULL: too many, or -ENOMEM in *err. */
static struct pqueue *queue_of(struct pqueues *v, uint32_t idx, int *err)
{
	size_t at = place(v, idx);
	struct pqueue *q, **all;

	if (at < v->nr && v->q[at]->idx == idx)
		return v->q[at];
	if (v->nr >= QUEUES_MAX)
		return NULL;
	*err = -ENOMEM;
	all = reallocarray(v->q, v->nr + 1, sizeof(*all));
	if (!all)
		return NULL;
	v->q = all;
	q = calloc(1, sizeof(*q));
	if (!q)
		return NULL;
	q->idx = idx;
	q->d = v->d;
	if (packets_new(&q->k, show_packet, q)) {
		free(q);
		return NULL;
	}
	memmove(all + at + 1, all + at, (v->nr - at) * sizeof(*all));
	all[at] = q;
	v->nr++;
	*err = 0;
	return q;
}

static void queues_free(struct pqueues *v)
{
	for (size_t i = 0; i < v->nr; i++) {
		packets_free(v->q[i]->k);
		free(v->q[i]);
	}
	free(v->q);
	auxsample_ids_done(&v->ids);
}

/* Does a piece that begins at `offset` go on where the queue's last one ended? The bytes
 * that a recorder adds to fill a word are not trace: the next piece begins before them. */
static int go_on(const struct pqueues *v, struct pqueue *q, uint64_t offset)
{
	if (!q->begun)
		return 0;
	if (!v->snapshot && offset <= q->end && q->end - offset <= PADDING_MAX) {
		packets_take_back(q->k, (size_t)(q->end - offset));
		return 0;
	}
	return packets_gap(q->k);
}

static int take_trace(struct pqueues *v, const struct fmt_reader *from,
		      const struct fmt_rec *rec)
{
	uint32_t idx = le_get32(rec->p + FMT_AUXTRACE_AT_IDX);
	uint64_t offset = le_get(rec->p + FMT_AUXTRACE_AT_OFFSET, 8);
	struct pqueue *q;
	int err = 0;

	v->any = true;
	if (!rec->payload ||
	    !dump_filter_queue(&v->d->filter, le_get32(rec->p + FMT_AUXTRACE_AT_CPU),
			       le_get32(rec->p + FMT_AUXTRACE_AT_TID)))
		return 0;
	q = queue_of(v, idx, &err);
	if (!q) {
		v->left_out++;
		return err;
	}
	err = go_on(v, q, offset);
	q->from = from;
	if (!err)
		err = packets_feed(q->k, rec->payload, rec->payload_len,
				   rec->at + rec->size);
	q->begun = true;
	q->end = offset + rec->payload_len;
	return err;
}

/* A SAMPLE of no AUX event is none of ours. What is in one stands for itself: it may overlap
 * with the last one of its queue, or leave bytes out. */
static int take_sample(struct pqueues *v, const struct fmt_reader *from,
		       const struct fmt_rec *rec)
{
	const struct auxsample_id *id;
	struct fmt_when when;
	struct pqueue *q;
	const uint8_t *p;
	size_t len;
	int err = 0;

	if (!auxsample_trace(from, rec, fmt_reader_event_of(from, rec), &p, &len) ||
	    fmt_reader_when(from, rec, &when))
		return 0;
	v->any = true;
	id = auxsample_owner(&v->ids, when.id);
	v->homeless += !id;
	if (!id || !dump_filter_queue(&v->d->filter, id->cpu, id->tid))
		return 0;
	q = queue_of(v, id->idx, &err);
	if (!q) {
		v->left_out++;
		return err;
	}
	if (q->begun)
		err = packets_gap(q->k);
	q->from = from;
	if (!err)
		err = packets_feed(q->k, p, len,
				   rec->at + (rec->inflated ? 0 : (uint64_t)(p - rec->p)));
	q->begun = true;
	return err;
}

/* Trace of another kind has no packets that this knows. */
static int take_info(struct pqueues *v, const struct fmt_rec *rec)
{
	struct fmt_pt_info pt;
	uint32_t kind;
	const char *name;

	if (rec->size < FMT_AUXTRACE_INFO_AT_TYPE + 4)
		return 0;
	kind = le_get32(rec->p + FMT_AUXTRACE_INFO_AT_TYPE);
	name = fmt_auxtrace_name(kind);
	if (kind != FMT_AUXTRACE_INTEL_PT) {
		out_flush(&v->d->out);
		return log_err(0, "'%s' has trace of kind %s (%" PRIu32 "), not Intel PT",
			       v->d->in->path, name ? name : "unknown", kind),
		       -ENOTSUP;
	}
	if (!fmt_get_pt_info(&pt, rec->p, rec->size))
		v->snapshot = pt.snapshot_mode;
	return 0;
}

static int take(struct pqueues *v, const struct fmt_reader *from, const struct fmt_rec *rec)
{
	switch (rec->type) {
	case FMT_REC_SAMPLE:
		return take_sample(v, from, rec);
	case FMT_REC_ID_INDEX:
		return auxsample_take_ids(&v->ids, rec);
	case FMT_REC_AUXTRACE_INFO:
		return take_info(v, rec);
	case FMT_REC_AUXTRACE:
		return rec->inflated ? 0 : take_trace(v, from, rec);
	default:
		return 0;
	}
}

static int walk(struct pqueues *v)
{
	struct dump *d = v->d;
	struct fmt_reader *from = NULL;
	struct fmt_rec rec;
	int got, err = 0;

	while (!err && !d->out.err && (got = input_next(d->in, &rec, &from))) {
		if (got > 0) {
			err = take(v, from, &rec);
			continue;
		}
		if (got == -ENOMEM)
			return got;
		if (from->cut.p)
			err = take(v, from, &from->cut);
		dump_say_damage(d, from, got);
	}
	return err;
}

/* A stream that is all there is of a file. */
static int walk_raw(struct pqueues *v)
{
	struct dump *d = v->d;
	int err = 0;
	struct pqueue *q = queue_of(v, 0, &err);

	return q ? packets_feed(q->k, d->in->bytes.p, d->in->bytes.len, 0) : err;
}

int dump_packets(struct dump *d)
{
	struct pqueues v = { .d = d, .ids = AUXSAMPLE_IDS_INIT };
	int err = d->in->as.kind == INPUT_PT ? walk_raw(&v) : walk(&v);

	for (size_t i = 0; !err && i < v.nr && !d->out.err; i++)
		err = packets_end(v.q[i]->k);
	if (!err && !v.any && d->in->as.kind != INPUT_PT)
		log_warn("'%s' has no trace: there are no packets", d->in->path);
	if (v.left_out)
		log_err(0, "'%s' has more than %d queues: %" PRIu64
			" records of others are left out",
			d->in->path, QUEUES_MAX, v.left_out);
	if (v.homeless)
		log_warn("%" PRIu64 " AUX samples are left out: no ID_INDEX tells their queue",
			 v.homeless);
	queues_free(&v);
	if (err == -ENOMEM)
		return log_err(err, "cannot list the packets of '%s'", d->in->path);
	return err ? err : dump_finish(d);
}
