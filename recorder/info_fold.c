/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/info.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/event.h"
#include "format/le.h"

void info_fault(struct info *i, uint64_t at, const char *fmt, ...)
{
	struct info_fault *f;
	va_list ap;

	if (i->nr_faults < INFO_FAULTS_MAX) {
		f = &i->faults[i->nr_faults];
		f->at = at;
		va_start(ap, fmt);
		vsnprintf(f->expected, sizeof(f->expected), fmt, ap);
		va_end(ap);
	}
	i->nr_faults++;
}

/* The place of key, or where it belongs. */
static size_t place(const struct info_table *t, uint32_t key)
{
	size_t lo = 0, hi = t->nr, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->rows[mid].key < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct info_row *insert(struct info_table *t, size_t at, uint32_t key)
{
	struct info_row *rows = t->rows;

	if (!(t->nr & (t->nr - 1))) { /* full at every power of two */
		rows = realloc(rows, (t->nr ? 2 * t->nr : 1) * sizeof(*rows));
		if (!rows)
			return NULL;
		t->rows = rows;
	}
	memmove(rows + at + 1, rows + at, (t->nr - at) * sizeof(*rows));
	t->nr++;
	rows[at] = (struct info_row){ .key = key, .cpu = INFO_NONE, .tid = INFO_NONE };
	return rows + at;
}

/* The row of key, made when there is none yet. NULL: no memory. */
static struct info_row *row(struct info_table *t, uint32_t key)
{
	if (t->last < t->nr && t->rows[t->last].key == key)
		return t->rows + t->last;
	t->last = place(t, key);
	if (t->last < t->nr && t->rows[t->last].key == key)
		return t->rows + t->last;
	if (key == INFO_NONE || t->nr >= INFO_ROWS_MAX) {
		t->rest.key = t->rest.cpu = t->rest.tid = INFO_NONE;
		return &t->rest;
	}
	return insert(t, t->last, key);
}

static const struct info_row *find(const struct info_table *t, uint32_t key)
{
	size_t at = place(t, key);

	return at < t->nr && t->rows[at].key == key ? t->rows + at : NULL;
}

static void add_gaps(struct info_gaps *g, uint64_t flags)
{
	g->truncated += !!(flags & FMT_AUX_TRUNCATED);
	g->partial += !!(flags & FMT_AUX_PARTIAL);
	g->collision += !!(flags & FMT_AUX_COLLISION);
}

static int fold_auxtrace(struct info *i, const struct fmt_rec *rec)
{
	struct info_row *q = row(&i->queues, le_get32(rec->p + FMT_AUXTRACE_AT_IDX)), *c;
	uint32_t cpu = le_get32(rec->p + FMT_AUXTRACE_AT_CPU);

	if (!q)
		return -ENOMEM;
	if (!q->n && q != &i->queues.rest) {
		q->tid = le_get32(rec->p + FMT_AUXTRACE_AT_TID);
		q->cpu = cpu;
	}
	q->n++;
	q->bytes += rec->payload_len;
	c = row(&i->cpus, cpu);
	return c ? 0 : -ENOMEM;
}

/* A flag belongs to the queue of the AUX record's cpu, or thread; the queue's own record
 * may come later, so the two are joined at the end. */
static int fold_aux(struct info *i, const struct fmt_rec *rec, const struct fmt_when *w,
		    struct info_row *cpu)
{
	uint64_t flags = le_get(rec->p + FMT_AUX_AT_FLAGS, 8);
	struct info_row *t;

	if (!(flags & (FMT_AUX_TRUNCATED | FMT_AUX_PARTIAL | FMT_AUX_COLLISION)))
		return 0;
	add_gaps(&i->gaps, flags);
	add_gaps(&cpu->gaps, flags);
	t = row(&i->tids, w->has_tid ? w->tid : INFO_NONE);
	if (!t)
		return -ENOMEM;
	add_gaps(&t->gaps, flags);
	return 0;
}

static void fold_time(struct info *i, uint64_t ns)
{
	if (!i->has_time || ns < i->first_ns)
		i->first_ns = ns;
	if (!i->has_time || ns > i->last_ns)
		i->last_ns = ns;
	i->has_time = true;
}

static int fold_kernel(struct info *i, const struct fmt_reader *r,
		       const struct fmt_rec *rec)
{
	static const uint8_t body[] = {
		[FMT_REC_LOST] = FMT_LOST_AT_LOST + 8,
		[FMT_REC_LOST_SAMPLES] = FMT_LOST_SAMPLES_AT_LOST + 8,
		[FMT_REC_AUX] = FMT_AUX_AT_FLAGS + 8,
	};
	struct fmt_when w = { 0 };
	struct info_row *cpu;
	uint64_t n;
	bool real;

	if (fmt_reader_when(r, rec, &w) == -EBADMSG)
		info_fault(i, rec->at, "a record with room for its sample_id fields");
	/* Time 0 marks what perf made up itself: its cpu says nothing. */
	real = !w.has_time || w.time;
	if (w.has_time && real)
		fold_time(i, w.time);
	cpu = row(&i->cpus, w.has_cpu && real ? w.cpu : INFO_NONE);
	if (!cpu)
		return -ENOMEM;
	cpu->n++;
	if (rec->type < sizeof(body) && rec->size < body[rec->type]) {
		info_fault(i, rec->at, "a record of %u bytes or more", body[rec->type]);
		return 0;
	}
	if (rec->type == FMT_REC_LOST) {
		n = le_get(rec->p + FMT_LOST_AT_LOST, 8);
		i->lost_records += n;
		cpu->records += n;
	} else if (rec->type == FMT_REC_LOST_SAMPLES) {
		n = le_get(rec->p + FMT_LOST_SAMPLES_AT_LOST, 8);
		i->lost_samples += n;
		cpu->samples += n;
	} else if (rec->type == FMT_REC_AUX) {
		return fold_aux(i, rec, &w, cpu);
	}
	return 0;
}

static int fold_record(struct info *i, const struct fmt_reader *r,
		       const struct fmt_rec *rec)
{
	struct info_row *t;

	if (rec->inflated) {
		*(rec->type < INFO_TYPES ? &i->inflated[rec->type] : &i->inflated_others) += 1;
	} else if (rec->type < INFO_TYPES) {
		i->types[rec->type]++;
	} else {
		t = row(&i->others, rec->type);
		if (!t)
			return -ENOMEM;
		t->n++;
	}
	if (rec->type < FMT_REC_USER_START)
		return fold_kernel(i, r, rec);
	if (rec->type == FMT_REC_AUXTRACE)
		return fold_auxtrace(i, rec);
	if (rec->type == FMT_REC_AUXTRACE_INFO &&
	    rec->size >= FMT_AUXTRACE_INFO_AT_TYPE + 4) {
		i->has_aux_info = true;
		i->aux_type = le_get32(rec->p + FMT_AUXTRACE_INFO_AT_TYPE);
	}
	return 0;
}

static void join_gaps(struct info *i)
{
	for (size_t k = 0; k < i->queues.nr; k++) {
		struct info_row *q = i->queues.rows + k;
		bool per_cpu = q->cpu != INFO_NONE;
		const struct info_row *from = per_cpu ? find(&i->cpus, q->cpu) :
							find(&i->tids, q->tid);

		if (from)
			q->gaps = from->gaps;
	}
}

/* What a reader has to say when its walk is over. */
static int ended(struct info *i, const struct fmt_reader *r)
{
	if (r->odd_what)
		info_fault(i, r->odd_at, "%s", r->odd_what);
	/* The part of a payload that is there is trace all the same. */
	return r->cut.p ? fold_record(i, r, &r->cut) : 0;
}

static int walk(struct info *i, struct input *in)
{
	struct fmt_reader *r = &in->r, *at = r;
	struct fmt_rec rec;
	int got, err = 0;

	do {
		got = input_next(in, &rec, &at);
		if (at != r)
			err = ended(i, r);
		r = at;
		if (err || (got < 0 && !r->bad_what))
			return err ? err : got;
		if (got > 0)
			err = fold_record(i, r, &rec);
		else if (got < 0)
			info_fault(i, r->bad_at, "%s", r->bad_what);
		if (r == &in->r)
			i->whole_to = r->at;
	} while (got && !err);
	return err ? err : ended(i, r);
}

int info_fold(struct info *ret, struct input *in)
{
	struct info i = { .whole_to = in->r.data_offset };
	uint64_t end = in->r.data_end; /* of an interrupted recording: moves back */
	int err = walk(&i, in);

	if (err) {
		info_done(&i);
		return err;
	}
	if (end < in->r.data_end)
		end = in->r.data_end; /* of a stream: has come since */
	i.not_walked = end - i.whole_to;
	join_gaps(&i);
	*ret = i;
	return 0;
}

void info_done(struct info *i)
{
	free(i->others.rows);
	free(i->queues.rows);
	free(i->cpus.rows);
	free(i->tids.rows);
	*i = (struct info){ 0 };
}
