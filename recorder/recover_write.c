/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what is whole as a finished file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/event.h"
#include "format/le.h"
#include "recorder/recover_priv.h"

enum {
	PIECE = 16 << 20,   /* bytes handed to the sink at once */
	GATHER = 256 << 10, /* inflated bytes that wait for more */
};

/* Records on their way to the sink: a stretch of the file, or inflated ones. */
struct flow {
	struct recover *c;
	struct fmt_writer w;
	uint64_t from, to; /* of the file, not written yet */
	struct fmt_buf inflated;
};

bool recover_is_data(const struct recover *c, const struct fmt_rec *rec)
{
	switch (rec->type) {
	case FMT_REC_COMPRESSED:
	case FMT_REC_COMPRESSED2:
		return false;
	case FMT_REC_HEADER_ATTR:
	case FMT_REC_HEADER_TRACING_DATA:
	case FMT_REC_HEADER_BUILD_ID:
		return !c->r.pipe;
	case FMT_REC_HEADER_FEATURE:
		/* In header form it says how the records were compressed. */
		return !c->r.pipe && (rec->size < 16 ||
				      le_get64(rec->p + 8) != FMT_FEAT_COMPRESSED);
	default:
		return true;
	}
}

static int flush(struct flow *f)
{
	const struct recover *c = f->c;
	struct iovec v;
	int err;

	if (f->inflated.len) {
		err = fmt_writer_put(&f->w, &f->inflated);
		fmt_buf_reset(&f->inflated);
		if (err)
			return err;
	}
	while (f->from < f->to) {
		v.iov_base = (void *)(uintptr_t)(c->p + f->from);
		v.iov_len = f->to - f->from < PIECE ? f->to - f->from : PIECE;
		err = fmt_writer_spans(&f->w, &v, 1);
		if (err)
			return err;
		f->from += v.iov_len;
		if (c->passed)
			c->passed(c->ctx, f->from);
	}
	return 0;
}

/* Bytes of the file as they are. */
static int put_stretch(struct flow *f, uint64_t at, uint64_t len)
{
	int err = 0;

	if (f->inflated.len || at != f->to || f->to - f->from >= PIECE)
		err = flush(f);
	if (err)
		return err;
	if (at != f->to)
		f->from = at;
	f->to = at + len;
	return 0;
}

static int put_inflated(struct flow *f, const struct fmt_rec *rec)
{
	int err = 0;

	if (f->from < f->to || f->inflated.len >= GATHER)
		err = flush(f);
	if (err)
		return err;
	fmt_put(&f->inflated, rec->p, rec->size);
	return f->inflated.err;
}

/* The record says what there is of its trace, which ends with PAD where a packet is cut. */
static int put_torn(struct flow *f, const struct fmt_rec *rec, unsigned blank)
{
	int err;

	fmt_put(&f->inflated, rec->p, rec->size);
	if (f->inflated.err)
		return f->inflated.err;
	le_put(f->inflated.data + FMT_AUXTRACE_AT_SIZE, rec->payload_len, 8);
	err = put_stretch(f, rec->at + rec->size, rec->payload_len - blank);
	if (err || !blank)
		return err;
	err = flush(f);
	fmt_put_zero(&f->inflated, blank);
	return err ? err : f->inflated.err;
}

static int put_trace(struct flow *f, const struct fmt_rec *rec)
{
	unsigned blank = recover_cut_packet(f->c, rec);
	int err = flush(f);

	if (!err)
		err = fmt_writer_mark_aux(&f->w);
	if (err)
		return err;
	if (rec->payload_len != le_get64(rec->p + FMT_AUXTRACE_AT_SIZE))
		return put_torn(f, rec, blank);
	return put_stretch(f, rec->at, rec->size + rec->payload_len);
}

static int put_record(struct flow *f, const struct fmt_rec *rec)
{
	if (!recover_is_data(f->c, rec))
		return 0;
	if (rec->inflated)
		return put_inflated(f, rec);
	if (rec->type == FMT_REC_AUXTRACE)
		return put_trace(f, rec);
	return put_stretch(f, rec->at, rec->size + rec->payload_len);
}

static int put_data(struct flow *f)
{
	struct fmt_rec rec;
	struct fmt_gap gap;
	int got, err = 0;

	fmt_salvage_rewind(&f->c->s);
	f->c->nr_chunks = 0;
	while (!err && (got = fmt_salvage_next(&f->c->s, &rec, &gap)) > 0)
		if (got == FMT_SALVAGE_REC)
			err = put_record(f, &rec);
	if (!err)
		err = got;
	if (!err)
		err = flush(f);
	/* Without a mark: the rounds are those of the file. */
	return err ? err : fmt_writer_round(&f->w, false);
}

/* The size that all attrs get: the largest among them. Old readers refuse more than 128
 * bytes whatever is in them, so these are left away where all of them are zero. */
static uint32_t attr_size(const struct fmt_reader *r)
{
	size_t largest = 0;
	bool used = false;

	for (size_t i = 0; i < r->nr_events; i++) {
		const struct fmt_reader_event *e = &r->events[i];

		if (e->attr_size > largest)
			largest = e->attr_size;
		for (size_t k = FMT_ATTR_SIZE; k < e->attr_size; k++)
			used = used || e->attr[k];
	}
	return (uint32_t)(largest > FMT_ATTR_SIZE && !used ? FMT_ATTR_SIZE : largest);
}

static uint64_t *copy_ids(const struct fmt_reader *r)
{
	size_t n = 0;
	uint64_t *ids;

	for (size_t i = 0; i < r->nr_events; i++)
		n += r->events[i].nr_ids;
	ids = calloc(n + 1, sizeof(*ids));
	n = 0;
	for (size_t i = 0; ids && i < r->nr_events; i++)
		for (size_t k = 0; k < r->events[i].nr_ids; k++)
			ids[n++] = le_get64(r->events[i].ids + 8 * k);
	return ids;
}

int recover_events(const struct recover *c, struct recover_own *own)
{
	const struct fmt_reader *r = &c->r;
	bool named = c->features[FMT_FEAT_EVENT_DESC].fate == RECOVER_REBUILT;
	uint32_t size = attr_size(r);
	const uint64_t *ids;

	own->events = calloc(r->nr_events + 1, sizeof(*own->events));
	own->ids = copy_ids(r);
	if (!own->events || !own->ids)
		return -ENOMEM;
	ids = own->ids;
	for (size_t i = 0; i < r->nr_events; i++) {
		const struct fmt_reader_event *from = &r->events[i];
		struct fmt_event *e = &own->events[i];

		memcpy(e->attr, from->attr, from->attr_size < size ? from->attr_size : size);
		le_put(e->attr + FMT_ATTR_AT_SIZE, size, 4);
		e->attr_size = size;
		e->ids = ids;
		e->nr_ids = from->nr_ids;
		e->name = named ? from->name : NULL;
		ids += from->nr_ids;
	}
	return 0;
}

void recover_own_done(struct recover_own *own)
{
	fmt_buf_done(&own->build_ids);
	free(own->events);
	free(own->ids);
	*own = (struct recover_own){ 0 };
}

static int write_all(struct flow *f, struct recover_own *own)
{
	struct fmt_features v;
	int err = recover_events(f->c, own);

	if (!err)
		err = fmt_writer_begin(&f->w, own->events, f->c->r.nr_events, NULL);
	if (!err)
		err = put_data(f);
	if (!err)
		err = recover_values(f->c, own, &v);
	return err ? err : fmt_writer_finish(&f->w, &v);
}

static int write_whole(struct flow *f)
{
	struct recover_own *own;
	int err;

	if (!f->c->nr_data || !f->c->r.nr_events)
		return -ENODATA;
	own = calloc(1, sizeof(*own));
	if (!own)
		return -ENOMEM;
	err = write_all(f, own);
	recover_own_done(own);
	free(own);
	return err;
}

/* A part is a stretch of records, to which the writer has nothing to add: as of a stream. */
int recover_write(struct recover *c, const struct fmt_sink *sink)
{
	struct flow f = { .c = c };
	int err;

	fmt_writer_init(&f.w, sink, c->head != NULL);
	err = c->head ? put_data(&f) : write_whole(&f);
	fmt_buf_done(&f.inflated);
	fmt_writer_done(&f.w);
	return err;
}
