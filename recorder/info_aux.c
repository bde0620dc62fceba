/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AUX trace: the pieces of each queue, how they follow each other, and, where they are
 * Intel PT, what is in them.
 *
 * A recorder pads a piece with zeros to a multiple of 8. That tells only the next piece,
 * whose offset is before the end of this one: so the last 7 bytes are held until it
 * comes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "recorder/info_priv.h"

struct piece {
	uint64_t offset, size, reference;
	const uint8_t *p; /* the bytes that are there */
	uint64_t n;
};

static bool is_pt(const struct info_aux *a)
{
	return a->has_info && a->type == FMT_AUXTRACE_INTEL_PT;
}

/* Version, type and number of cpus, then whether it is a snapshot:
 * tools/perf/util/cs-etm.h. */
static bool etm_snapshot(const struct info_aux *a)
{
	const unsigned at = FMT_AUXTRACE_INFO_AT_PRIV + 16;

	return a->info_size >= at + 8 && le_get64(a->info + at);
}

int info_aux_take_info(struct info *i, const struct fmt_rec *rec)
{
	struct info_aux *a = &i->aux;
	struct fmt_pt_info pt;

	if (rec->size < FMT_AUXTRACE_INFO_AT_TYPE + 4 || a->has_info)
		return 0;
	a->info = malloc(rec->size);
	if (!a->info)
		return -ENOMEM;
	memcpy(a->info, rec->p, rec->size);
	a->info_size = rec->size;
	a->info_at = rec->at;
	a->has_info = true;
	a->type = le_get32(rec->p + FMT_AUXTRACE_INFO_AT_TYPE);
	if (a->type == FMT_AUXTRACE_CS_ETM)
		a->snapshot = a->snapshot || etm_snapshot(a);
	if (!fmt_get_pt_info(&pt, a->info, a->info_size)) {
		a->snapshot = a->snapshot || pt.snapshot_mode;
		a->per_thread = !pt.per_cpu_mmaps;
		info_conv_from_pt(i, &pt);
	}
	return 0;
}

/* Bytes of the queue, before which some may be missing. */
static void walk(struct info *i, struct info_queue *q, bool gap, const uint8_t *p,
		 uint64_t n)
{
	if (q->pt)
		info_pool_feed(i->aux.pool, q->pt, gap, p, n);
}

/* The held bytes but the last `less`. */
static void release(struct info *i, struct info_queue *q, uint64_t less)
{
	walk(i, q, false, q->held, q->nr_held - less);
	q->nr_held = 0;
}

static bool is_padding(const struct info_queue *q, uint64_t n)
{
	for (uint64_t k = 1; k <= n; k++)
		if (q->held[q->nr_held - k])
			return false;
	return true;
}

/* Trace was not kept between two pieces: since the one was read, up to the other. */
static void lose(struct info *i, struct info_queue *q, struct info_cpu *cpu,
		 const struct piece *now, uint64_t n)
{
	uint64_t from, to;
	bool timed = q->reference && now->reference &&
		     info_conv_ns(&i->conv, q->reference, &from) &&
		     info_conv_ns(&i->conv, now->reference, &to);

	q->gaps++;
	q->gap_bytes += n;
	info_loss_add(&i->loss[INFO_TRACE_GAP], n, timed ? &from : NULL);
	info_loss_add(&cpu->loss[INFO_TRACE_GAP], n, timed ? &from : NULL);
	if (timed && to > i->loss[INFO_TRACE_GAP].last_ns)
		i->loss[INFO_TRACE_GAP].last_ns = to;
	if (timed && to > cpu->loss[INFO_TRACE_GAP].last_ns)
		cpu->loss[INFO_TRACE_GAP].last_ns = to;
}

/* How the piece follows the one before it. Returns whether bytes are missing between
 * them; *skip: how many of its first bytes the queue has had. */
static bool follow(struct info *i, struct info_queue *q, struct info_cpu *cpu,
		   const struct piece *now, uint64_t *skip)
{
	uint64_t behind = q->end - now->offset;

	*skip = 0;
	if (now->offset == q->end) {
		release(i, q, 0);
		return false;
	}
	if (now->offset < q->end && behind <= q->nr_held && is_padding(q, behind)) {
		release(i, q, behind);
		return false;
	}
	release(i, q, 0);
	if (now->offset > q->end) {
		if (!i->aux.snapshot)
			lose(i, q, cpu, now, now->offset - q->end);
		return true;
	}
	if (!i->aux.snapshot) {
		q->doubled += behind < now->size ? behind : now->size;
		return true;
	}
	*skip = behind < now->n ? behind : now->n;
	q->doubled += *skip;
	return false;
}

static int add_pt(struct info *i, struct info_queue *q)
{
	if (!is_pt(&i->aux) || q->key == ROWS_REST || q->pt)
		return 0;
	if (!i->aux.pool && info_pool_new(&i->aux.pool, i->aux.mapped))
		return -ENOMEM;
	q->pt = calloc(1, sizeof(*q->pt));
	if (!q->pt)
		return -ENOMEM;
	q->pt->nr = i->aux.queues.nr;
	return 0;
}

static void add_bytes(struct info *i, struct info_queue *q, bool gap,
		      const struct piece *now, uint64_t skip)
{
	uint64_t keep = now->n - skip < sizeof(q->held) ? now->n - skip : sizeof(q->held);

	walk(i, q, gap, now->p + skip, now->n - skip - keep);
	memcpy(q->held, now->p + now->n - keep, keep);
	q->nr_held = (unsigned)keep;
	if (!q->high)
		q->high = (uint8_t)(now->reference >> 56);
	q->reference = now->reference;
	if (now->offset + now->size > q->end || !skip)
		q->end = now->offset + now->size;
}

int info_aux_take_trace(struct info *i, const struct fmt_rec *rec)
{
	struct piece now = {
		.offset = le_get64(rec->p + FMT_AUXTRACE_AT_OFFSET),
		.size = le_get64(rec->p + FMT_AUXTRACE_AT_SIZE),
		.reference = le_get64(rec->p + FMT_AUXTRACE_AT_REFERENCE),
		.p = rec->payload,
		.n = rec->payload_len,
	};
	struct info_queue *q = rows_get(&i->aux.queues,
					le_get32(rec->p + FMT_AUXTRACE_AT_IDX));
	struct info_cpu *cpu = rows_get(&i->cpus, le_get32(rec->p + FMT_AUXTRACE_AT_CPU));
	uint64_t skip = 0;
	bool gap = false;

	if (!q || !cpu)
		return -ENOMEM;
	if (!fmt_can_hold(now.offset, now.size)) {
		info_fault(i, rec->at, "an AUXTRACE record of a size that a stream can have");
		now.size = now.n;
		if (!fmt_can_hold(now.offset, now.n))
			return 0;
	}
	if (!q->n && q->key != ROWS_REST) {
		q->cpu = le_get32(rec->p + FMT_AUXTRACE_AT_CPU);
		q->tid = le_get32(rec->p + FMT_AUXTRACE_AT_TID);
		if (add_pt(i, q))
			return -ENOMEM;
	} else if (q->key == ROWS_REST) {
		q->cpu = q->tid = INFO_NONE;
	} else {
		gap = follow(i, q, cpu, &now, &skip);
	}
	q->n++;
	q->bytes += now.n;
	if (now.n && q->key != ROWS_REST)
		add_bytes(i, q, gap, &now, skip);
	return 0;
}

/* What is in a sample stands for itself: it may overlap with the last one of its queue, or
 * leave bytes out, and is no loss either way. */
int info_aux_take_sample(struct info *i, const struct fmt_reader *r, const struct fmt_rec *rec)
{
	const struct auxsample_id *id;
	struct info_queue *q;
	struct fmt_when when;
	const uint8_t *p;
	size_t len;

	if (!auxsample_trace(r, rec, fmt_reader_event_of(r, rec), &p, &len) ||
	    fmt_reader_when(r, rec, &when))
		return 0;
	id = auxsample_owner(&i->aux.ids, when.id);
	i->aux.homeless += !id;
	if (!id)
		return 0;
	q = rows_get(&i->aux.queues, id->idx);
	if (!q || (!q->n && !q->samples && add_pt(i, q)))
		return -ENOMEM;
	q->cpu = q->key == ROWS_REST ? INFO_NONE : id->cpu;
	q->tid = q->key == ROWS_REST ? INFO_NONE : id->tid;
	release(i, q, 0);
	walk(i, q, q->samples++ > 0, p, len);
	q->bytes += len;
	if (q->pt && rec->inflated)
		info_pool_wait(i->aux.pool); /* the next record takes its place */
	return 0;
}

int info_aux_raw(struct info *i, const uint8_t *p, uint64_t len)
{
	struct info_queue *q = rows_get(&i->aux.queues, INFO_NONE);

	i->aux.has_info = true;
	i->aux.type = FMT_AUXTRACE_INTEL_PT;
	if (!q || add_pt(i, q))
		return -ENOMEM;
	q->cpu = q->tid = INFO_NONE;
	q->n = 1;
	q->bytes = len;
	walk(i, q, false, p, len);
	return 0;
}

static void join_flags(struct info_aux *a, struct info_queue *q)
{
	bool per_cpu = q->cpu != INFO_NONE;
	const struct info_flagged *f = per_cpu ? rows_find(&a->by_cpu, q->cpu) :
						 rows_find(&a->by_tid, q->tid);

	if (f)
		q->flagged = *f;
}

static void join_times(struct info *i, struct info_queue *q)
{
	const struct fmt_ptwalk *w = &q->pt->walk;
	uint64_t high = (uint64_t)q->high << 56, ns;
	struct info_cpu *cpu = rows_find(&i->cpus, q->cpu);

	if (!w->has_tsc)
		return;
	if (info_conv_ns(&i->conv, high | w->first_tsc, &ns))
		info_span_add(&q->pt->time, ns);
	if (info_conv_ns(&i->conv, high | w->last_tsc, &ns))
		info_span_add(&q->pt->time, ns);
	if (!cpu || !q->pt->time.known)
		return;
	info_span_add(&cpu->trace, q->pt->time.first_ns);
	info_span_add(&cpu->trace, q->pt->time.last_ns);
}

void info_aux_end(struct info *i)
{
	struct info_aux *a = &i->aux;

	for (size_t n = 0; n < a->queues.nr; n++)
		release(i, rows_at(&a->queues, n), 0);
	if (a->pool)
		info_pool_wait(a->pool);
	for (size_t n = 0; n < a->queues.nr; n++) {
		struct info_queue *q = rows_at(&a->queues, n);

		join_flags(a, q);
		if (!q->pt)
			continue;
		fmt_ptwalk_end(&q->pt->walk);
		join_times(i, q);
	}
	rows_sort(&a->queues);
	rows_sort(&a->flags);
}

void info_aux_judge_raw(struct info *i)
{
	const struct info_queue *q = rows_at(&i->aux.queues, 0);
	const struct fmt_ptwalk *w = &q->pt->walk;

	if (!w->n[FMT_PT_PSB])
		info_fault(i, 0, "a PSB packet of Intel PT somewhere");
	else if (w->nr_bad)
		info_fault(i, w->first_bad, "a packet of Intel PT");
}

void info_aux_done(struct info_aux *a)
{
	info_pool_free(a->pool);
	for (size_t n = 0; n < a->queues.nr; n++)
		free(((struct info_queue *)rows_at(&a->queues, n))->pt);
	rows_done(&a->queues);
	rows_done(&a->flags);
	rows_done(&a->by_cpu);
	rows_done(&a->by_tid);
	auxsample_ids_done(&a->ids);
	free(a->info);
}
