/* SPDX-License-Identifier: Apache-2.0 */
/* The first walk over a recording: which queues and streams it has, its clock, its images. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/event.h"
#include "format/le.h"
#include "recorder/export/walk_priv.h"
#include "recorder/log.h"

enum {
	FAULTS_SAID = 16,
};

static void say_fault(struct export *x, const struct fmt_reader *r, uint64_t at,
		      const char *what)
{
	if (x->faults++ < FAULTS_SAID)
		log_err(0, "'%s' at byte %" PRIu64 " (0x%" PRIx64 "): expected %s",
			input_path_of(x->in, r), at, at, what);
}

/* ---- queues ---- */

static void on_packet(void *ctx, enum fmt_pt_kind kind, uint64_t at, unsigned size)
{
	struct export_queue *q = ctx;
	uint64_t ns;

	(void)size;
	if (kind == FMT_PT_PSB) {
		q->psb = at;
		q->in_psb = true;
	} else if (kind == FMT_PT_PSBEND) {
		q->in_psb = false;
	} else if (kind == FMT_PT_TSC && q->in_psb) {
		q->in_psb = false;
		ns = export_ns(q->x, export_whole_tsc(q->walk.last_tsc, q->upper));
		if (ns <= q->x->o->from) {
			q->has_from = true;
			q->from = q->psb;
		} else if (ns > q->x->o->to && !q->has_to) {
			q->has_to = true;
			q->to = q->psb;
			q->ends = ns;
		}
	}
}

static void take_loose(struct export *x, struct export_queue *q, struct export_piece *p)
{
	uint64_t last;

	export_piece_tscs(p, q->upper);
	if (p->has_tsc) {
		if (!q->has_tsc || p->first_tsc < q->first_tsc)
			q->first_tsc = p->first_tsc;
		if (!q->has_tsc || p->last_tsc > q->last_tsc)
			q->last_tsc = p->last_tsc;
		q->has_tsc = true;
	}
	if (!x->o->windowed || !q->chosen || !export_piece_within(x, p))
		return;
	last = export_timed(x) && p->has_tsc ? export_ns(x, p->last_tsc) : UINT64_MAX;
	if (last > x->until)
		x->until = last;
}

/* A chunk is padded to 8 bytes, so the next one may begin up to 7 bytes before it ends. */
static bool goes_on(const struct export_queue *q, uint64_t offset)
{
	return !q->pieces || (offset <= q->end && q->end - offset < 8);
}

static void take_chunk(struct export *x, struct export_queue *q, const struct fmt_rec *rec,
		       const struct export_piece *p)
{
	uint64_t offset = le_get(rec->p + FMT_AUXTRACE_AT_OFFSET, 8);

	if (!goes_on(q, offset)) {
		q->gaps++;
		fmt_ptwalk_gap(&q->walk);
	}
	q->end = offset + p->len;
	q->walk.packet = x->o->windowed && export_timed(x) ? on_packet : NULL;
	q->walk.ctx = q; /* rows move */
	q->x = x;
	if (x->has_pt)
		fmt_ptwalk_feed(&q->walk, p->p, p->len);
}

static bool wanted(const struct export *x, uint32_t cpu)
{
	const struct pio_cpus *c = &x->o->cpus;

	return !c->n || (cpu < PIO_CPU_MAX && pio_cpus_has(c, (int)cpu));
}

static int take_trace(struct export *x, const struct export_seen *s, struct export_piece *p,
		      uint32_t key)
{
	bool sample = s->rec->type == FMT_REC_SAMPLE, full;
	struct export_queue *q;

	if (sample && key == EXPORT_NONE) {
		x->homeless++;
		return 0;
	}
	q = export_row(&x->queues, sizeof(*q), key, &full);
	if (!q)
		return full ? -E2BIG : -ENOMEM;
	if (!q->pieces) {
		q->cpu = p->cpu;
		q->tid = p->tid;
		q->chosen = wanted(x, q->cpu);
		q->loose = sample || (x->has_pt && x->pt.snapshot_mode);
	}
	if (!sample)
		q->upper = le_get(s->rec->p + FMT_AUXTRACE_AT_REFERENCE, 8);
	if (q->loose)
		take_loose(x, q, p);
	else
		take_chunk(x, q, s->rec, p);
	q->pieces++;
	q->bytes += p->len;
	return 0;
}

/* ---- streams ---- */

static void count(struct export_stream *to, const struct export_seen *s)
{
	const struct fmt_rec *rec = s->rec;
	uint64_t flags;

	to->records++;
	to->bytes += rec->size;
	if (s->when.has_time && s->when.time) {
		if (!to->has_time || s->when.time < to->first)
			to->first = s->when.time;
		if (!to->has_time || s->when.time > to->last)
			to->last = s->when.time;
		to->has_time = true;
	}
	if (rec->type == FMT_REC_LOST && rec->size >= FMT_LOST_AT_LOST + 8)
		to->lost += le_get(rec->p + FMT_LOST_AT_LOST, 8);
	if (rec->type == FMT_REC_LOST_SAMPLES && rec->size >= FMT_LOST_SAMPLES_AT_LOST + 8)
		to->lost_samples += le_get(rec->p + FMT_LOST_SAMPLES_AT_LOST, 8);
	if (rec->type == FMT_REC_AUX && rec->size >= FMT_AUX_AT_FLAGS + 8) {
		flags = le_get(rec->p + FMT_AUX_AT_FLAGS, 8);
		to->truncated += !!(flags & FMT_AUX_TRUNCATED);
		to->partial += !!(flags & FMT_AUX_PARTIAL);
		to->collision += !!(flags & FMT_AUX_COLLISION);
	}
}

/* As whether queues are of cpus or threads may be known late, both are counted. */
static int count_in(struct export *x, struct export_table *t, enum export_kind kind,
		    bool known, uint32_t key, const struct export_seen *s)
{
	struct export_stream *row = NULL;
	bool full = true;

	if (known && key != EXPORT_NONE)
		row = export_row(t, sizeof(*row), key, &full);
	if (!row && !full)
		return -ENOMEM;
	if (!row)
		return 0;
	row->kind = kind;
	row->chosen = kind == EXPORT_THREAD || wanted(x, key);
	count(row, s);
	return 0;
}

static int take_record(struct export *x, const struct export_seen *s)
{
	const struct fmt_when *w = &s->when;
	int err;

	if (export_synthesised(w) || (!w->has_time && !w->has_cpu && !w->has_tid)) {
		count(&x->head, s);
		return 0;
	}
	err = count_in(x, &x->cpus, EXPORT_CPU, w->has_cpu, w->cpu, s);
	return err ? err : count_in(x, &x->tids, EXPORT_THREAD, w->has_tid, w->tid, s);
}

/* ---- all of it ---- */

static void take_info(struct export *x, const struct export_seen *s)
{
	const struct fmt_rec *rec = s->rec;
	int err;

	if (rec->size < FMT_AUXTRACE_INFO_AT_TYPE + 4)
		return;
	x->aux_type = le_get32(rec->p + FMT_AUXTRACE_INFO_AT_TYPE);
	err = fmt_get_pt_info(&x->pt, rec->p, rec->size);
	x->has_pt = !err;
	x->pt.filter = NULL;
	if (err == -EBADMSG)
		say_fault(x, s->r, rec->at, "ten words of Intel PT in AUXTRACE_INFO");
}

static int on_record(void *ctx, const struct export_seen *s)
{
	struct export *x = ctx;
	struct export_piece p;
	struct image *image;
	uint32_t key;
	int err;

	if (export_trace_of(x, s, &p, &key))
		return take_trace(x, s, &p, key);
	if (s->rec->type == FMT_REC_AUXTRACE_INFO)
		take_info(x, s);
	else if (s->rec->type == FMT_REC_ID_INDEX)
		return auxsample_take_ids(&x->ids, s->rec);
	err = images_take(x->images, s->rec, &image);
	if (!err)
		err = tasks_take(x->tasks, s->r, s->rec, image);
	if (err || s->rec->type >= FMT_REC_USER_START || s->rec->type == FMT_REC_SAMPLE)
		return err;
	return take_record(x, s);
}

static void find_pt_event(struct export *x)
{
	const struct fmt_reader *r = &x->in->r;

	for (size_t i = 0; x->has_pt && i < r->nr_events; i++) {
		const struct fmt_reader_event *e = &r->events[i];

		if (fmt_attr_type(e->attr, e->attr_size) == x->pt.pmu_type) {
			x->pt_event = e;
			return;
		}
	}
}

/* Whether queues are of threads: what AUXTRACE_INFO says, or what they look like. */
static bool by_thread(const struct export *x)
{
	if (x->has_pt)
		return !x->pt.per_cpu_mmaps;
	for (size_t i = 0; i < x->queues.nr; i++)
		if (export_queue_at(x, i)->cpu != EXPORT_NONE)
			return false;
	return x->queues.nr;
}

static void end_queue(struct export *x, struct export_queue *q)
{
	uint64_t last;

	if (q->loose)
		return;
	fmt_ptwalk_end(&q->walk);
	q->nr_psb = q->walk.n[FMT_PT_PSB];
	q->has_tsc = q->walk.has_tsc;
	q->first_tsc = export_whole_tsc(q->walk.first_tsc, q->upper);
	q->last_tsc = export_whole_tsc(q->walk.last_tsc, q->upper);
	if (!q->has_to)
		q->to = q->bytes;
	else if (!q->has_from && q->to == q->walk.first_psb)
		q->from = q->to; /* all of it is later */
	if (!x->o->windowed || !q->chosen || q->from == q->to)
		return;
	last = q->has_to ? q->ends :
	       q->has_tsc && export_timed(x) ? export_ns(x, q->last_tsc) : UINT64_MAX;
	if (last == UINT64_MAX)
		log_warn("queue %u has no time stamps: all of it is kept", q->idx);
	if (last > x->until)
		x->until = last;
}

static int settle(struct export *x)
{
	bool any = false;
	int err;

	find_pt_event(x);
	x->by_thread = by_thread(x);
	if (x->o->cpus.n && x->by_thread)
		return log_err(0, "'%s' has a queue for each thread, none for a cpu",
			       x->o->path), -EINVAL;
	for (size_t i = 0; i < x->queues.nr; i++)
		end_queue(x, export_queue_at(x, i));
	for (size_t i = 0; i < x->cpus.nr && x->o->cpus.n; i++)
		any |= ((struct export_stream *)x->cpus.rows)[i].chosen;
	for (size_t i = 0; i < x->queues.nr && x->o->cpus.n; i++)
		any |= export_queue_at(x, i)->chosen;
	if (x->o->cpus.n && !any)
		return log_err(-ENOENT, "'%s' has nothing of these cpus", x->o->path);
	if (x->homeless)
		log_warn("%" PRIu64 " AUX samples are left out: no ID_INDEX tells their queue",
			 x->homeless);
	err = images_take_feature(x->images, &x->in->r);
	if (!err)
		err = images_find(x->images);
	return err ? log_err(err, "cannot look for the images of '%s'", x->o->path) : 0;
}

int export_survey(struct export *x)
{
	int err;

	x->aux_type = EXPORT_NONE;
	x->ids = AUXSAMPLE_IDS_INIT;
	x->until = x->o->windowed ? x->o->to : UINT64_MAX;
	x->head = (struct export_stream){ .key = EXPORT_NONE, .kind = EXPORT_HEAD };
	x->rest = (struct export_stream){ .key = EXPORT_NONE, .kind = EXPORT_REST };
	x->others = (struct export_stream){ .key = EXPORT_NONE, .kind = EXPORT_OTHERS };
	err = images_new(&x->images, x->in->dir, x->o->images);
	if (!err)
		images_beside(x->images, x->in->path);
	if (!err)
		err = tasks_new(&x->tasks);
	if (!err)
		err = export_each(x, on_record, say_fault, x);
	if (err == -E2BIG)
		log_err(0, "'%s' has more than %d queues", x->o->path, EXPORT_ROWS_MAX);
	else if (err)
		input_cannot(x->in, err);
	if (err)
		return err;
	tasks_sort(x->tasks);
	return settle(x);
}

void export_done(struct export *x)
{
	images_free(x->images);
	tasks_free(x->tasks);
	free(x->queues.rows);
	free(x->cpus.rows);
	free(x->tids.rows);
	auxsample_ids_done(&x->ids);
	outset_done(&x->out);
}
