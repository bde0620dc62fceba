/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AUX records, by which the kernel announces trace, against AUXTRACE records, which have
 * it.
 *
 * Both give places in the endless stream of a queue, so both become sets of ranges, and
 * the sets are compared at the end: one AUXTRACE may hold what several AUX records
 * announced, or half of one. An AUXTRACE is padded to whole words, so differences below 8
 * bytes are none.
 *
 * Of snapshots nothing is compared: an AUX record with OVERWRITE announces the whole
 * buffer each time, and what is saved of it is the recorder's choice.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "format/abi.h"
#include "format/event.h"
#include "format/le.h"
#include "recorder/check_priv.h"

enum { PADDING = 8 };

/* A queue of a thread is known by that thread, one of a cpu by the idx that ID_INDEX ties
 * ids to, or else by the cpu. */
enum key { BY_IDX, BY_CPU, BY_TID };

static struct check_queue *queue(struct check *c, enum key by, uint32_t v)
{
	return check_row(c, &c->aux.queues, (uint64_t)by << 56 | v);
}

static struct check_queue *queue_of_aux(struct check *c, const struct check_rec *cr)
{
	const struct check_id *id = check_map_find(&c->ids, cr->w.id);

	if (!cr->has_when)
		return NULL;
	if (c->aux.per_thread)
		return cr->w.has_tid ? queue(c, BY_TID, cr->w.tid) : NULL;
	if (c->ids.n)
		return id ? queue(c, BY_IDX, (uint32_t)id->idx) : NULL;
	return cr->w.has_cpu ? queue(c, BY_CPU, cr->w.cpu) : NULL;
}

static struct check_queue *queue_of_trace(struct check *c, const struct fmt_rec *rec)
{
	uint32_t cpu = le_get32(rec->p + FMT_AUXTRACE_AT_CPU);

	if (c->aux.per_thread)
		return queue(c, BY_TID, le_get32(rec->p + FMT_AUXTRACE_AT_TID));
	if (c->ids.n)
		return queue(c, BY_IDX, le_get32(rec->p + FMT_AUXTRACE_AT_IDX));
	if (cpu == UINT32_MAX)
		c->aux.mixed = true; /* per thread, and nothing says whose AUX is whose */
	return queue(c, BY_CPU, cpu);
}

static void tell(struct check *c, struct check_queue *q, struct check_extents *x,
		 uint64_t from, uint64_t len)
{
	int err;

	if (q->spoilt)
		return;
	err = check_extents_add(x, from, from + len);
	if (err == -ENOMEM)
		c->err = err;
	if (err == -ENOSPC) {
		q->spoilt = true;
		check_find(c, CHECK_LIMIT, CHECK_NOWHERE, "fewer, or not all is judged",
			   "more than %d pieces of trace in queue %" PRIu32,
			   CHECK_EXTENTS_MAX, q->idx);
	}
}

/* Does the record speak of trace that no stream can have? */
static bool impossible(struct check *c, const struct fmt_rec *rec, uint64_t offset,
		       uint64_t size)
{
	char type[24];

	if (fmt_can_hold(offset, size))
		return false;
	check_find(c, CHECK_ODD, rec->at, "an offset and a size that a stream can have",
		   "a record %s of %" PRIu64 " bytes at offset %#" PRIx64,
		   check_type(rec->type, type), size, offset);
	return true;
}

/* Each flag is a gap of its own kind. */
static void flags(struct check *c, const struct check_rec *cr, uint64_t f)
{
	const uint64_t known = FMT_AUX_TRUNCATED | FMT_AUX_OVERWRITE | FMT_AUX_PARTIAL |
			       FMT_AUX_COLLISION | FMT_AUX_PMU_FORMAT_TYPE_MASK;
	static const struct {
		uint64_t flag;
		enum check_kind kind;
		const char *name, *why;
	} gaps[] = {
		{ FMT_AUX_TRUNCATED, CHECK_AUX_TRUNCATED, "TRUNCATED",
		 "the buffer was full" },
		{ FMT_AUX_PARTIAL, CHECK_AUX_PARTIAL, "PARTIAL", "the trace has gaps" },
		{ FMT_AUX_COLLISION, CHECK_AUX_COLLISION, "COLLISION",
		 "another trace was taken at the time" },
	};

	for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++)
		if (f & gaps[i].flag)
			check_find(c, gaps[i].kind, cr->rec->at, "none",
				   "an AUX record with %s: %s", gaps[i].name,
				   gaps[i].why);
	if (f & ~known)
		check_find(c, CHECK_AUX_FLAGS, cr->rec->at, "flags that are known",
			   "an AUX record with flags %#" PRIx64, f & ~known);
}

void check_aux(struct check *c, const struct check_rec *cr)
{
	const struct fmt_rec *rec = cr->rec;
	uint64_t f = le_get64(rec->p + FMT_AUX_AT_FLAGS);
	uint64_t offset = le_get64(rec->p + FMT_AUX_AT_OFFSET);
	uint64_t size = le_get64(rec->p + FMT_AUX_AT_OFFSET + 8);
	struct check_queue *q;

	if (f & ~FMT_AUX_PMU_FORMAT_TYPE_MASK)
		flags(c, cr, f);
	q = queue_of_aux(c, cr);
	if (!q)
		return;
	if (!q->nr_aux++)
		q->aux_at = rec->at;
	if (f & FMT_AUX_OVERWRITE)
		q->overwrite = true;
	else if (!impossible(c, rec, offset, size))
		tell(c, q, &q->announced, offset, size);
}

/* Where no reader looks for trace: perf takes its place from the file that `data` is, and
 * from the record that carries it. */
static bool hidden(struct check *c, const struct fmt_rec *rec)
{
	if (rec->inflated)
		check_find(c, CHECK_HIDDEN_TRACE, rec->at,
			   "trace outside of COMPRESSED records",
			   "an AUXTRACE record in one, where no reader finds it");
	else if (c->part)
		check_find(c, CHECK_HIDDEN_TRACE, rec->at, "trace in the file 'data'",
			   "an AUXTRACE record, which no reader finds there");
	else
		return false;
	return true;
}

static void begin_queue(struct check_queue *q, const struct fmt_rec *rec)
{
	q->idx = le_get32(rec->p + FMT_AUXTRACE_AT_IDX);
	q->tid = le_get32(rec->p + FMT_AUXTRACE_AT_TID);
	q->cpu = le_get32(rec->p + FMT_AUXTRACE_AT_CPU);
	q->at = rec->at;
}

/* All trace of a cpu or thread has one idx, and an idx one cpu or thread. */
static void mixed(struct check *c, const struct check_queue *q, const struct fmt_rec *rec)
{
	uint32_t idx = le_get32(rec->p + FMT_AUXTRACE_AT_IDX);
	uint32_t tid = le_get32(rec->p + FMT_AUXTRACE_AT_TID);
	uint32_t cpu = le_get32(rec->p + FMT_AUXTRACE_AT_CPU);
	char expected[CHECK_EXPECTED_MAX];

	if (idx == q->idx && cpu == q->cpu && tid == q->tid)
		return;
	snprintf(expected, sizeof(expected),
		 "queue %" PRIu32 ", cpu %d, thread %d as before", q->idx, (int)q->cpu,
		 (int)q->tid);
	check_find(c, CHECK_MIXED_QUEUE, rec->at, expected,
		   "trace of queue %" PRIu32 ", cpu %d, thread %d", idx, (int)cpu,
		   (int)tid);
}

static void follows(struct check *c, const struct check_queue *q,
		    const struct fmt_rec *rec, uint64_t offset)
{
	bool again = c->aux.snapshot || q->overwrite;
	char expected[CHECK_EXPECTED_MAX];

	if (q->nr_trace < 2 || offset >= q->next || q->next - offset < PADDING)
		return;
	snprintf(expected, sizeof(expected), "stream offset %#" PRIx64 " or more",
		 q->next);
	check_find(c, again ? CHECK_AUX_AGAIN : CHECK_AUX_OVERLAP, rec->at, expected,
		   "trace of queue %" PRIu32 " from offset %#" PRIx64
		   " on, which was there before",
		   q->idx, offset);
}

void check_auxtrace(struct check *c, const struct check_rec *cr)
{
	const struct fmt_rec *rec = cr->rec;
	uint64_t offset, size;
	struct check_queue *q;

	if (hidden(c, rec))
		return;
	c->aux.nr_trace++;
	if (!c->aux.nr_info)
		check_find(c, CHECK_NO_AUX_INFO, rec->at,
			   "an AUXTRACE_INFO record before it", "an AUXTRACE record");
	q = queue_of_trace(c, rec);
	if (!q)
		return;
	if (!q->nr_trace++)
		begin_queue(q, rec);
	mixed(c, q, rec);
	offset = le_get64(rec->p + FMT_AUXTRACE_AT_SIZE + 8);
	size = le_get64(rec->p + FMT_AUXTRACE_AT_SIZE);
	if (impossible(c, rec, offset, size) && !fmt_can_hold(offset, rec->payload_len))
		return;
	follows(c, q, rec, offset);
	/* Of a torn payload this many bytes are there. */
	if (offset + rec->payload_len > q->next)
		q->next = offset + rec->payload_len;
	tell(c, q, &q->present, offset, rec->payload_len);
}

static bool sampling(const struct fmt_reader *r)
{
	for (size_t i = 0; i < r->nr_events; i++)
		if (fmt_attr_sample_type(r->events[i].attr, r->events[i].attr_size) &
		    FMT_SAMPLE_AUX)
			return true;
	return false;
}

static void gaps(struct check *c, const struct check_queue *q)
{
	struct check_extents holes = { 0 };
	uint64_t first = 0, n;
	int err = check_extents_holes(&q->present, &holes);

	if (err) {
		c->err = err;
		return;
	}
	/* What was announced is absent, and told of as that. */
	n = check_extents_minus(&holes, &q->announced, PADDING, &first);
	check_extents_done(&holes);
	if (!n)
		return;
	check_find(c, CHECK_AUX_GAP, q->at, "trace that goes on where it stopped",
		   "%" PRIu64 " bytes missing in queue %" PRIu32
		   ", from stream offset %#" PRIx64 " on",
		   n, q->idx, first);
	check_sum(c, CHECK_AUX_GAP, n);
}

static void absent(struct check *c, const struct check_queue *q)
{
	static const char *const whose[] = {
		[BY_IDX] = "queue",
		[BY_CPU] = "the queue of cpu",
		[BY_TID] = "the queue of thread",
	};
	uint64_t first = 0;
	uint64_t n = check_extents_minus(&q->announced, &q->present, PADDING, &first);

	if (!n)
		return;
	check_find(c, CHECK_AUX_ABSENT, q->aux_at, "all trace that AUX records announce",
		   "%" PRIu64 " bytes absent in %s %u, from stream offset %#" PRIx64 " on", n,
		   whose[q->key >> 56], (unsigned)q->key, first);
	check_sum(c, CHECK_AUX_ABSENT, n);
}

static void unannounced(struct check *c, const struct check_queue *q)
{
	uint64_t first = 0;
	uint64_t n = check_extents_minus(&q->present, &q->announced, PADDING, &first);

	if (!n)
		return;
	check_find(c, CHECK_AUX_UNANNOUNCED, q->at, "AUX records that announce all of it",
		   "%" PRIu64 " bytes of queue %" PRIu32
		   " that none does, from stream offset %#" PRIx64 " on",
		   n, q->idx, first);
	check_sum(c, CHECK_AUX_UNANNOUNCED, n);
}

void check_aux_end(struct check *c)
{
	const struct check_aux *a = &c->aux;

	if (a->snapshot || a->mixed || sampling(c->r))
		return;
	for (size_t i = 0; i < a->queues.n && !c->err; i++) {
		const struct check_queue *q = check_map_at(&a->queues, i);

		if (q->overwrite || q->spoilt)
			continue;
		absent(c, q);
		gaps(c, q);
		unannounced(c, q);
	}
}

void check_aux_done(struct check_aux *a)
{
	for (size_t i = 0; i < a->queues.n; i++) {
		struct check_queue *q = check_map_at(&a->queues, i);

		check_extents_done(&q->announced);
		check_extents_done(&q->present);
	}
	check_map_done(&a->queues);
}
