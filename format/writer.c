/* SPDX-License-Identifier: Apache-2.0 */
#include "format/writer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/head.h"
#include "format/le.h"
#include "format/writer_priv.h"

/* Where the ids of an event lie in the file, and how many are claimed. */
struct fmt_id_list {
	uint64_t at;
	size_t n, room;
};

void fmt_writer_init(struct fmt_writer *w, const struct fmt_sink *sink, bool pipe)
{
	*w = (struct fmt_writer){ .sink = *sink, .pipe = pipe };
}

void fmt_writer_done(struct fmt_writer *w)
{
	free(w->index);
	free(w->ids);
	fmt_buf_done(&w->scratch);
	fmt_zip_free(w->zip);
	*w = (struct fmt_writer){ .sink = w->sink, .pipe = w->pipe };
}

int fmt_writer_zip(struct fmt_writer *w, int level)
{
	return fmt_zip_new(&w->zip, level);
}

uint32_t fmt_writer_zip_ratio(const struct fmt_writer *w)
{
	const struct fmt_zipped *z = &w->zipped;

	return z->out ? (uint32_t)((z->in + z->out / 2) / z->out) : 0;
}

static uint64_t total(const struct iovec *v, int n)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += v[i].iov_len;
	return sum;
}

static struct iovec span(const void *p, size_t n)
{
	return (struct iovec){ .iov_base = (void *)(uintptr_t)p, .iov_len = n };
}

/* The sink may change v, so the length is taken first. */
int fmt_writer_append(struct fmt_writer *w, struct iovec *v, int n)
{
	uint64_t len = total(v, n);

	if (w->failed || !len)
		return w->failed;
	w->failed = w->sink.append(w->sink.ctx, v, n);
	if (!w->failed)
		w->pos += len;
	return w->failed;
}

int fmt_writer_append_scratch(struct fmt_writer *w)
{
	struct iovec v = span(w->scratch.data, w->scratch.len);

	return w->scratch.err ? w->scratch.err : fmt_writer_append(w, &v, 1);
}

int fmt_writer_patch(struct fmt_writer *w, uint64_t at, uint64_t value)
{
	uint8_t le[8];

	le_put(le, value, sizeof(le));
	w->failed = w->sink.patch(w->sink.ctx, at, le, sizeof(le));
	if (w->failed)
		w->unsure = true;
	return w->failed;
}

int fmt_writer_sync(struct fmt_writer *w)
{
	if (w->sink.sync)
		w->failed = w->sink.sync(w->sink.ctx);
	return w->failed;
}

static void commit(struct fmt_writer *w)
{
	w->valid = w->pos;
	w->valid_index = w->nr_index;
	w->valid_zipped = w->zipped;
	w->dirty = false;
}

static int note_ids(struct fmt_writer *w, const struct fmt_event *ev, size_t nr_ev)
{
	struct fmt_id_list *ids = realloc(w->ids, (nr_ev + 1) * sizeof(*ids));
	uint64_t at = FMT_HEADER_SIZE;

	if (!ids)
		return -ENOMEM;
	w->ids = ids;
	for (size_t i = 0; i < nr_ev; i++) {
		ids[i] = (struct fmt_id_list){ at, ev[i].nr_ids, ev[i].room };
		at += 8 * (ev[i].nr_ids + ev[i].room);
	}
	return 0;
}

static const uint8_t zeros[8];

static int begin_stream(struct fmt_writer *w, const struct fmt_event *ev, size_t nr_ev,
			const struct fmt_features *f)
{
	const struct fmt_features none = { 0 };
	struct fmt_buf *b = &w->scratch;
	struct iovec v[3];
	int err;

	f = f ? f : &none;
	err = fmt_put_stream_head(b, ev, nr_ev, f);
	if (err)
		return err;
	v[0] = span(b->data, b->len);
	if (!f->tracing_data)
		return fmt_writer_append(w, v, 1);
	v[1] = span(f->tracing_data, f->tracing_data_len);
	v[2] = span(zeros, -f->tracing_data_len & 7);
	return fmt_writer_append(w, v, 3);
}

static int begin_file(struct fmt_writer *w, const struct fmt_event *ev, size_t nr_ev)
{
	int err = note_ids(w, ev, nr_ev);

	if (err)
		return err;
	w->entry = (nr_ev ? fmt_event_attr_size(ev) : FMT_ATTR_SIZE) + FMT_SECTION_SIZE;
	for (size_t i = 0; i < nr_ev; i++)
		if (fmt_event_attr_size(&ev[i]) + FMT_SECTION_SIZE != w->entry)
			return -EINVAL;
	fmt_put_file_head(&w->scratch, ev, nr_ev, w->entry - FMT_SECTION_SIZE);
	return fmt_writer_append_scratch(w);
}

int fmt_writer_begin(struct fmt_writer *w, const struct fmt_event *ev, size_t nr_ev,
		     const struct fmt_features *f)
{
	int err;

	fmt_buf_reset(&w->scratch);
	err = w->pipe ? begin_stream(w, ev, nr_ev, f) : begin_file(w, ev, nr_ev);
	if (err)
		return err;
	w->nr_events = nr_ev;
	w->data_offset = w->pipe ? FMT_PIPE_HEADER_SIZE : w->pos;
	commit(w);
	return 0;
}

uint64_t fmt_writer_attrs_at(const struct fmt_writer *w)
{
	return w->data_offset - w->nr_events * w->entry;
}

int fmt_writer_add_id(struct fmt_writer *w, size_t i, uint64_t id)
{
	const uint64_t size_at = fmt_writer_attrs_at(w) + (i + 1) * w->entry - 8;
	struct fmt_id_list *l;
	int err;

	if (w->failed || w->pipe)
		return w->failed ? w->failed : -ESPIPE;
	assert(i < w->nr_events);
	l = &w->ids[i];
	if (!l->room)
		return -ENOSPC;
	err = fmt_writer_patch(w, l->at + 8 * l->n, id);
	if (!err)
		err = fmt_writer_patch(w, size_at, 8 * (l->n + 1));
	if (err)
		return err;
	l->n++;
	l->room--;
	return 0;
}

/* Bytes of the data section. */
static int append_data(struct fmt_writer *w, struct iovec *v, int n)
{
	uint64_t before = w->pos;
	int err = fmt_writer_append(w, v, n);

	if (w->pos != before)
		w->dirty = true;
	return err;
}

int fmt_writer_put(struct fmt_writer *w, const struct fmt_buf *records)
{
	struct iovec v = span(records->data, records->len);

	return records->err ? records->err : append_data(w, &v, 1);
}

int fmt_writer_spans(struct fmt_writer *w, const struct iovec *v, int n)
{
	struct iovec copy[2];

	assert(n >= 0 && n <= 2);
	for (int i = 0; i < n; i++)
		copy[i] = v[i];
	return append_data(w, copy, n);
}

/* Room for one more entry, taken before anything is written: an AUXTRACE record that the
 * index does not name would be passed over by readers. */
static int reserve_index(struct fmt_writer *w)
{
	size_t cap = w->cap_index ? 2 * w->cap_index : 256;
	struct fmt_aux_index *p;

	if (w->pipe || w->nr_index < w->cap_index)
		return 0;
	p = realloc(w->index, cap * sizeof(*p));
	if (!p)
		return -ENOMEM;
	w->index = p;
	w->cap_index = cap;
	return 0;
}

static void index_aux(struct fmt_writer *w, uint64_t at)
{
	if (!w->pipe)
		w->index[w->nr_index++] = (struct fmt_aux_index){
			.file_offset = at,
			.size = FMT_AUXTRACE_RECORD_SIZE,
		};
}

int fmt_writer_mark_aux(struct fmt_writer *w)
{
	int err = reserve_index(w);

	if (!err)
		index_aux(w, w->pos);
	return err;
}

void fmt_writer_resume(struct fmt_writer *w, uint64_t data_offset, uint64_t data_size)
{
	w->data_offset = data_offset;
	w->pos = data_offset + data_size;
	commit(w);
}

int fmt_writer_resume_aux(struct fmt_writer *w, uint64_t file_offset)
{
	int err = reserve_index(w);

	if (err)
		return err;
	index_aux(w, file_offset);
	w->valid_index = w->nr_index;
	return 0;
}

int fmt_writer_aux(struct fmt_writer *w, const struct fmt_auxtrace *a,
		   const struct iovec *v, int n)
{
	uint64_t at = w->pos, len = total(v, n);
	struct fmt_auxtrace rec = *a;
	struct iovec out[4];
	int err, nr = 0;

	assert(n >= 0 && n <= 2);
	if (w->failed || !len)
		return w->failed;
	err = reserve_index(w);
	if (err)
		return err;
	rec.size = len + (-len & 7);
	fmt_buf_reset(&w->scratch);
	err = fmt_put_auxtrace(&w->scratch, &rec);
	if (err)
		return err;

	out[nr++] = span(w->scratch.data, w->scratch.len);
	for (int i = 0; i < n; i++)
		out[nr++] = v[i];
	if (rec.size != len)
		out[nr++] = span(zeros, rec.size - len);
	err = append_data(w, out, nr);
	if (!err)
		index_aux(w, at);
	return err;
}

int fmt_writer_round(struct fmt_writer *w, bool marker)
{
	struct iovec v[1];

	return fmt_writer_round_spans(w, v, 0, marker);
}

/* The spans v[0..*n) become COMPRESSED records: all are appended but the last, which is v[0]
 * then, so that a round of one record still leaves in one call with its marker. */
static int append_zipped(struct fmt_writer *w, struct iovec *v, int *n)
{
	struct iovec rec = { 0 };
	size_t inflated = 0;
	int err;

	fmt_zip_feed(w->zip, v, *n);
	while (fmt_zip_more(w->zip)) {
		err = append_data(w, &rec, 1);
		if (err)
			return err;
		err = fmt_zip_next(w->zip, &rec, &inflated);
		if (err < 0)
			return err;
		w->zipped.in += inflated;
		w->zipped.out += rec.iov_len;
	}
	v[0] = rec;
	*n = 1;
	return 0;
}

int fmt_writer_round_spans(struct fmt_writer *w, struct iovec *v, int n, bool marker)
{
	int err = 0;

	if (w->failed)
		return w->failed;
	if (w->zip && n)
		err = append_zipped(w, v, &n);
	if (err)
		return err;
	if (marker && (w->dirty || total(v, n))) {
		fmt_buf_reset(&w->scratch);
		err = fmt_put_finished_round(&w->scratch);
		if (err)
			return err;
		v[n++] = span(w->scratch.data, w->scratch.len);
	}
	err = append_data(w, v, n);
	if (err)
		return err;
	if (w->pos == w->valid)
		return 0;
	err = fmt_writer_sync(w);
	if (!err && !w->pipe)
		err = fmt_writer_patch(w, FMT_HDR_DATA_SIZE, w->pos - w->data_offset);
	if (!err)
		commit(w);
	return err;
}

int fmt_writer_roll_back(struct fmt_writer *w)
{
	int err = 0;

	if (!w->sink.cut || w->complete)
		return -ESPIPE;
	if (w->unsure) {
		err = fmt_writer_patch(w, FMT_HDR_FEATURES, 0);
		if (!err)
			err = fmt_writer_patch(w, FMT_HDR_DATA_SIZE, w->valid - w->data_offset);
	}
	if (!err)
		err = w->sink.cut(w->sink.ctx, w->valid);
	w->failed = err;
	if (err)
		return err;
	w->unsure = false;
	w->pos = w->valid;
	w->nr_index = w->valid_index;
	w->zipped = w->valid_zipped;
	w->dirty = false;
	return 0;
}

int fmt_writer_rollback(struct fmt_writer *w, uint64_t *ret_dropped)
{
	uint64_t dropped = w->pos - w->valid;
	int err = w->pipe ? -ESPIPE : fmt_writer_roll_back(w);

	if (!err)
		*ret_dropped = dropped;
	return err;
}
