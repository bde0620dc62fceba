/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes at all described field by field: as a file, or as an attr and the records of its
 * event. What is visited is well formed and lies in the record.
 */
#include <stdbool.h>

#include "format/abi.h"
#include "format/fields.h"
#include "format/le.h"
#include "tests/fuzz/fuzz.h"

enum { ATTR_SIZE = 128, DEPTH_MAX = 8, RECORDS_MAX = 4000, NAMES_MAX = 96 };

struct visit {
	const uint8_t *p; /* what is described */
	size_t len;
	unsigned depth, n;
	bool list[DEPTH_MAX + 1];
	const char *names[NAMES_MAX]; /* at the top */
	unsigned nr_names;
	uint64_t sum;
};

/* No two fields of a record have one name. */
static void note_name(struct visit *v, const char *name)
{
	for (unsigned i = 0; i < v->nr_names; i++)
		expect(strcmp(v->names[i], name));
	if (v->nr_names < NAMES_MAX)
		v->names[v->nr_names++] = name;
}

static void look_at_bytes(struct visit *v, const struct fmt_field *f)
{
	if (!f->len)
		return;
	expect(f->p >= v->p && f->len <= v->len);
	expect((size_t)(f->p - v->p) <= v->len - f->len);
	if (f->kind == FMT_AS_TEXT)
		expect(!memchr(f->p, 0, f->len));
	v->sum = fuzz_sum(v->sum, f->p, f->len);
}

static void look_at_flags(struct visit *v, const struct fmt_field *f)
{
	const struct fmt_flag *at = f->flags;
	uint64_t left = f->v;
	const char *name;

	for (unsigned i = 0; (name = fmt_flags_next(&at, &left)); i++) {
		expect(*name && i < 64);
		v->sum = fuzz_sum(v->sum, name, strlen(name));
	}
	expect(!(left & ~f->v)); /* nothing that was not there */
}

static void visit(void *ctx, const struct fmt_field *f)
{
	struct visit *v = ctx;

	v->n++;
	v->sum = fuzz_sum(v->sum, &f->v, sizeof(f->v));
	if (f->kind == FMT_AS_END) {
		expect(v->depth && !f->name);
		v->depth--;
		return;
	}
	expect(!f->name == v->list[v->depth]);
	if (f->name)
		expect(*f->name && !strpbrk(f->name, " =\""));
	if (f->name && !v->depth)
		note_name(v, f->name);
	if (f->kind == FMT_AS_LIST || f->kind == FMT_AS_GROUP) {
		expect(v->depth < DEPTH_MAX);
		v->list[++v->depth] = f->kind == FMT_AS_LIST;
	} else if (f->kind == FMT_AS_TEXT || f->kind == FMT_AS_BYTES) {
		look_at_bytes(v, f);
	} else if (f->kind == FMT_AS_FLAGS) {
		look_at_flags(v, f);
	} else {
		expect(f->kind <= FMT_AS_WORD && (!f->word || *f->word));
	}
}

static void describe(const struct fmt_reader *r, const struct fmt_rec *rec)
{
	struct fmt_rec copy = *rec;
	uint8_t *p = fuzz_copy(rec->p, rec->size);
	struct visit v = { .p = p, .len = rec->size }, again = v;
	int event = fmt_reader_event_of(r, rec);
	struct fmt_fit fit;

	copy.p = p;
	if (rec->payload)
		copy.payload = p + rec->size; /* not to be looked at */
	fit = fmt_fields(r, &copy, event, visit, &v);
	expect(!v.depth && v.n);
	expect(fit.left <= rec->size - FMT_REC_HEADER_SIZE);
	/* Of a type without a description the trailer alone is looked for. */
	expect(fit.known || !fit.missing || !strcmp(fit.missing, "sample_id"));
	fit = fmt_fields(r, &copy, event, visit, &again);
	expect(again.n == v.n && again.sum == v.sum);
	/* Of an event that is not known. */
	again = (struct visit){ .p = p, .len = rec->size };
	fit = fmt_fields(r, &copy, -1, visit, &again);
	expect(!again.depth && fit.left <= rec->size - FMT_REC_HEADER_SIZE);
	free(p);
}

static void walk(struct fmt_reader *r)
{
	struct fmt_rec rec;

	for (unsigned i = 0; i < RECORDS_MAX && fmt_reader_next(r, &rec) > 0; i++)
		describe(r, &rec);
	for (size_t i = 0; i < r->nr_events && i < 100; i++) {
		struct visit v = { .p = r->events[i].attr, .len = r->events[i].attr_size };

		fmt_attr_fields(v.p, v.len, visit, &v);
		expect(!v.depth);
	}
}

/* The first bytes are an attr, the rest records of its event, in a pipe. */
static void as_attr_and_records(const uint8_t *data, size_t size)
{
	size_t attr = size < ATTR_SIZE ? size : ATTR_SIZE;
	size_t head = FMT_PIPE_HEADER_SIZE + FMT_REC_HEADER_SIZE + ATTR_SIZE + 8;
	size_t len = head + size - attr;
	uint8_t *p = calloc(1, len), *at = p + FMT_PIPE_HEADER_SIZE;
	struct fmt_reader r;

	expect(p);
	le_put(p + FMT_HDR_MAGIC, FMT_MAGIC, 8);
	le_put(p + FMT_HDR_SIZE, FMT_PIPE_HEADER_SIZE, 8);
	le_put(at, FMT_REC_HEADER_ATTR, 4);
	le_put(at + FMT_REC_AT_SIZE, FMT_REC_HEADER_SIZE + ATTR_SIZE + 8, 2);
	if (attr)
		memcpy(at + FMT_REC_HEADER_SIZE, data, attr);
	le_put(at + FMT_REC_HEADER_SIZE + FMT_ATTR_AT_SIZE, ATTR_SIZE, 4);
	if (size > attr)
		memcpy(p + head, data + attr, size - attr);
	expect(!fmt_reader_open(&r, p, len));
	walk(&r);
	fmt_reader_done(&r);
	free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fmt_reader r;

	if (fmt_reader_open(&r, data, size))
		as_attr_and_records(data, size);
	else
		walk(&r);
	fmt_reader_done(&r);
	return 0;
}
