/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes at all through the reader: as a file, as a stream that arrives in pieces, as a
 * part of a directory, and as bare records.
 */
#include <errno.h>

#include "format/abi.h"
#include "format/reader.h"
#include "tests/fuzz/fuzz.h"

/* zstd can make 32 KiB of one byte; what a walk sees of such a file is bounded here. */
enum { TURNS_MAX = 20000 };

struct seen {
	uint64_t outer, inflated, sum, end, odd;
	int last;
};

static void ask_record(const struct fmt_reader *r, const struct fmt_rec *rec)
{
	struct fmt_when w;
	int event = fmt_reader_event_of(r, rec), err = fmt_reader_when(r, rec, &w);

	expect(event >= -1 && event < (int)r->nr_events);
	expect(!err || err == -ENOENT || err == -EBADMSG);
	expect(rec->size >= FMT_REC_HEADER_SIZE);
	fmt_record_name(rec->type);
}

static void outer_record(const struct fmt_reader *r, const struct fmt_rec *rec,
			 struct seen *s)
{
	expect(rec->at >= s->end && rec->at + rec->size + rec->payload_len == r->at);
	expect(r->at <= r->len && r->at <= r->data_end);
	expect(rec->p == r->p + rec->at);
	expect(!rec->payload || rec->payload == rec->p + rec->size);
	s->end = r->at;
	s->outer++;
	if (rec->payload_len)
		s->sum = fuzz_sum(s->sum, rec->payload, 1);
}

static struct seen walk(struct fmt_reader *r)
{
	struct seen s = { .end = r->data_offset };
	struct fmt_rec rec = { 0 };
	uint64_t at = 0, inner = 0;

	for (unsigned i = 0; i < TURNS_MAX; i++) {
		s.last = fmt_reader_next(r, &rec);
		if (s.last <= 0)
			break;
		ask_record(r, &rec);
		s.sum = fuzz_sum(s.sum, rec.p, rec.size);
		if (!rec.inflated) {
			outer_record(r, &rec, &s);
			at = rec.at;
			continue;
		}
		/* Behind the record that held it, and behind the one before. */
		expect(rec.at == at && rec.inner_at >= inner);
		inner = rec.inner_at + rec.size;
		s.inflated++;
	}
	expect(s.outer <= r->len / FMT_REC_HEADER_SIZE);
	if (s.last < 0)
		expect(r->bad_what && r->bad_at <= r->len);
	else
		expect(!r->bad_what);
	if (s.last < 0) /* the cursor stays */
		expect(fmt_reader_next(r, &rec) == s.last);
	expect(!r->odd_what == !r->nr_odd);
	s.odd = r->nr_odd;
	return s;
}

static void expect_same(struct seen a, struct seen b)
{
	expect(a.outer == b.outer && a.inflated == b.inflated && a.sum == b.sum);
	expect(a.last == b.last && a.odd == b.odd);
}

static void ask_features(const struct fmt_reader *r)
{
	const uint8_t *p;
	const char *s;
	uint64_t n;
	int err;

	for (unsigned k = 0; k < 260; k++) {
		err = fmt_reader_feature(r, (enum fmt_feat)k, &p, &n);
		expect(!err || err == -ENOENT || err == -EBADMSG);
		if (!err)
			expect(n <= r->len && p >= r->p && p + n <= r->p + r->len);
		s = fmt_reader_feature_str(r, (enum fmt_feat)k);
		if (s)
			expect(!err && strlen(s) < n);
		s = fmt_reader_feature_list(r, (enum fmt_feat)k, 2);
		if (s)
			expect(!err && strlen(s) < n);
	}
	for (size_t i = 0; i < r->nr_events; i++) {
		const struct fmt_reader_event *e = r->events + i;

		expect(e->attr_size >= 64 && e->attr_size <= 144);
		fuzz_sum(0, e->attr, e->attr_size);
		fuzz_sum(0, e->ids, 8 * e->nr_ids);
		if (e->name)
			expect(strlen(e->name) < r->len);
	}
}

/* ---- the same bytes, arriving in pieces ---- */

struct stream {
	uint8_t *p;
	uint64_t len, there, step;
};

static int more(void *ctx, uint64_t want, uint64_t *len)
{
	struct stream *s = ctx;

	while (s->there < want && s->there < s->len) {
		s->there += s->step < s->len - s->there ? s->step : s->len - s->there;
		fuzz_show(s->p, s->there);
	}
	*len = s->there;
	return 0;
}

static void as_stream(const uint8_t *data, size_t size, const struct seen *whole)
{
	struct stream s = { .p = fuzz_copy(data, size), .len = size };
	struct fmt_reader r;
	int err;

	s.step = 1 + size % 61;
	fuzz_hide(s.p, size);
	err = fmt_reader_open_stream(&r, s.p, more, &s);
	if (err)
		expect(!whole && r.bad_what);
	else
		expect(whole);
	if (whole)
		expect_same(*whole, walk(&r));
	fmt_reader_done(&r);
	fuzz_show(s.p, size);
	free(s.p);
}

/* The data section alone, as directories hold it. */
static void as_part(const struct fmt_reader *r, struct seen whole)
{
	struct fmt_reader part;
	struct seen s;

	if (r->pipe)
		return;
	expect(!fmt_reader_open_part(&part, r, r->p + r->data_offset,
				     r->data_end - r->data_offset));
	s = walk(&part);
	expect(s.outer == whole.outer && s.inflated == whole.inflated);
	expect(s.sum == whole.sum);
	fmt_reader_done(&part);
}

static void as_bare(const uint8_t *data, size_t size)
{
	struct fmt_reader r;
	struct seen s;

	expect(!fmt_reader_open_bare(&r, size * 0x9e3779b1u, data, size));
	s = walk(&r);
	fmt_reader_rewind(&r);
	expect_same(s, walk(&r));
	fmt_reader_done(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *p = fuzz_copy(data, size);
	struct fmt_reader r;
	struct seen s;
	int err = fmt_reader_open(&r, p, size);

	if (err) {
		expect(err == -EBADMSG || err == -ENODATA || err == -ENOTSUP);
		expect(r.bad_what && r.bad_at <= size && !r.events);
		as_bare(p, size);
		/* What is no file is no stream either. */
		as_stream(data, size, NULL);
	} else {
		s = walk(&r);
		ask_features(&r);
		fmt_reader_rewind(&r);
		expect_same(s, walk(&r));
		as_part(&r, s);
		if (r.pipe)
			as_stream(data, size, &s);
	}
	fmt_reader_done(&r);
	free(p);
	return 0;
}
