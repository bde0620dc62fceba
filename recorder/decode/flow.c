/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/decode/flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/decode/flow_priv.h"

/* A packet has at most 47 conditional branches (a long TNT). Code that comes to one place
 * more often than that without using up a packet is a loop that nothing ends; and so many
 * direct branches in a row have no program. */
#define REPEATS_MAX 64
#define QUIET_MAX   (1u << 16)
#define TSC_BITS  56 /* of a TSC packet; Intel SDM vol. 3, 33.4.2.11 */
#define NO_END	  1  /* in place of a status */

/* One way through bytes of trace. */
struct way {
	const uint8_t *p;
	size_t len;
	uint64_t limit; /* bytes from here on are the next segment's */
	bool to_end;	/* no segment follows: stop with the last packet */
	bool dry;	/* count instructions, nothing else */

	uint64_t insns;
	int status; /* how it ended, and at which instruction */
	uint64_t ip;
	bool failed; /* with an error, not counted yet */
	struct decode_error error;
	struct decode_missing missing;
};

int flow_new(struct flow *ret, const struct flow_setup *s)
{
	*ret = (struct flow){ .s = s };
	return spaces_new(&ret->spaces, s->tasks, s->images);
}

void flow_done(struct flow *f)
{
	spaces_free(f->spaces);
	free(f->thread);
	free(f->error);
	free(f->missing);
	*f = (struct flow){ 0 };
}

static void give(struct flow *f)
{
	if (!f->err)
		f->err = flow_count(f, f->who.pid, f->who.tid, f->insns);
	f->sum->insns += f->insns;
	f->insns = 0;
}

static void find_who(struct flow *f)
{
	const struct queue *q = f->seg->q;
	struct tasks_who who = { TASKS_NONE, TASKS_NONE };

	f->who_until = UINT64_MAX;
	if (q->cpu != QUEUES_NONE)
		who = tasks_on_cpu(f->s->tasks, q->cpu, f->now, &f->who_until);
	/* perf 4.14 names the task that it follows from cpu to cpu, too. */
	if (who.tid == TASKS_NONE && q->tid != QUEUES_NONE) {
		who.tid = q->tid;
		who.pid = tasks_pid(f->s->tasks, q->tid, f->now);
	}
	if (who.tid == f->who.tid && who.pid == f->who.pid)
		return;
	give(f);
	f->who = who;
}

/* Who runs now, and what lies in its memory. */
static void find_place(struct flow *f)
{
	struct pt_image *image = NULL;

	find_who(f);
	if (!f->err)
		f->err = spaces_at(f->spaces, f->who.pid, f->now, &image,
				   &f->space_until);
	if (!f->err && pt_blk_set_image(f->d, image) < 0)
		f->err = -ENOMEM;
	f->until = f->who_until < f->space_until ? f->who_until : f->space_until;
}

static uint64_t to_ns(const struct flow_setup *s, uint64_t tsc)
{
	uint64_t rest = tsc & ((UINT64_C(1) << s->shift) - 1);

	return s->zero + (tsc >> s->shift) * s->mult + ((rest * s->mult) >> s->shift);
}

/* A packet has not all bits of the TSC: the rest is that of the time when the bytes were
 * read, or one less. */
static uint64_t whole_tsc(const struct flow *f, uint64_t tsc)
{
	const uint64_t mask = (UINT64_C(1) << TSC_BITS) - 1;
	uint64_t whole = (f->reference & ~mask) | (tsc & mask);

	if (whole > f->reference && whole - f->reference > mask / 2 && whole > mask)
		whole -= mask + 1;
	return whole;
}

static void set_time(struct flow *f, uint64_t tsc, bool dry)
{
	uint64_t now, before = f->now;

	if (!f->s->timed)
		return;
	now = f->now = to_ns(f->s, whole_tsc(f, tsc));
	if (!dry) {
		if (!f->sum->has_time || now < f->sum->first_time)
			f->sum->first_time = now;
		if (!f->sum->has_time || now > f->sum->last_time)
			f->sum->last_time = now;
		f->sum->has_time = true;
	}
	if (now < before || now >= f->until)
		find_place(f);
}

static int take_events(struct flow *f, const struct way *w, int status)
{
	struct pt_event ev;

	while (!f->err && status >= 0 && (status & pts_event_pending)) {
		status = pt_blk_event(f->d, &ev, sizeof(ev));
		if (status < 0)
			break;
		if (ev.type == ptev_overflow && !w->dry)
			f->sum->overflows++;
		if (ev.has_tsc)
			set_time(f, ev.tsc, w->dry);
	}
	return status;
}

static void count(struct flow *f, struct way *w, const struct pt_block *b)
{
	w->insns += b->ninsn;
	if (!w->dry)
		f->insns += b->ninsn;
	if (b->ninsn)
		w->ip = b->end_ip;
}

/* Does the block lead on, as far as can be told? Blocks end at direct branches, too; the place
 * that is looked out for is another one ever more rarely (R. P. Brent, An improved Monte Carlo
 * factorization algorithm, BIT 20). */
static bool leads_on(struct flow *f, const struct pt_block *b)
{
	uint64_t offset;

	if (pt_blk_get_offset(f->d, &offset) >= 0 && offset != f->offset) {
		f->offset = offset;
		f->quiet = 0;
		return true;
	}
	f->quiet++;
	if (b->ip == f->mark && ++f->repeats > REPEATS_MAX)
		return false;
	if (!(f->quiet & (f->quiet - 1))) {
		f->mark = b->ip;
		f->repeats = 0;
	}
	return f->quiet <= QUIET_MAX;
}

/* From a PSB up to an error or the end. */
static int run(struct flow *f, struct way *w, int status)
{
	bool on;

	for (;;) {
		struct pt_block b = { .ninsn = 0 };

		status = take_events(f, w, status);
		if (f->err || status < 0 || (w->to_end && (status & pts_eos)))
			return status;
		status = pt_blk_next(f->d, &b, sizeof(b));
		count(f, w, &b);
		on = leads_on(f, &b);
		if (status < 0)
			return status;
		if (!on)
			return -DECODE_STUCK;
		if ((status & pts_eos) && !b.ninsn && !(status & pts_event_pending))
			return status;
	}
}

static void commit(struct flow *f, struct way *w)
{
	if (w->failed && !w->dry && !f->err) {
		f->sum->errors++;
		f->err = flow_blame(f, &w->error);
		if (!f->err && w->missing.errors)
			f->err = flow_miss(f, &w->missing);
	}
	w->failed = false;
}

static void fail(struct flow *f, struct way *w, int status)
{
	uint64_t *hole = spaces_hole(f->spaces), at = f->seg->from + f->offset;
	const struct queue_piece *p = queue_piece_at(f->seg->q, at);

	commit(f, w);
	w->failed = true;
	w->missing = (struct decode_missing){ 0 };
	if (status == -pte_nomap && *hole) {
		w->ip = *hole;
		w->missing.errors = 1;
		w->missing.first_ip = w->ip;
		w->missing.image = spaces_find(f->spaces, w->ip);
	}
	*hole = 0;
	w->error = (struct decode_error){
		.code = -status, .n = 1, .idx = f->seg->q->idx, .offset = at,
		.file_at = UINT64_MAX, .ip = w->ip, .has_time = f->s->timed,
		.time = f->now, .pid = f->who.pid, .tid = f->who.tid,
	};
	if (p->file_at != UINT64_MAX && at - p->at <= p->len)
		w->error.file_at = p->file_at + (at - p->at);
}

/* Bytes from an error to where decoding goes on. */
static void lose(struct flow *f, const struct way *w, uint64_t from, uint64_t to)
{
	if (to > w->limit)
		to = w->limit;
	if (!w->dry && from < to)
		f->sum->skipped += to - from;
}

static void enter(struct flow *f, const struct way *w)
{
	uint64_t tsc;

	f->quiet = 0;
	if (pt_blk_time(f->d, &tsc, NULL, NULL) >= 0)
		set_time(f, tsc, w->dry);
	/* Also the decoder is new, and an error may have had to do with the place. */
	if (!f->err)
		find_place(f);
}

static void walk(struct flow *f, struct way *w)
{
	uint64_t at = 0, last = UINT64_MAX, lost = UINT64_MAX;
	int status;

	w->status = NO_END;
	while (!f->err) {
		status = pt_blk_sync_forward(f->d);
		if (status == -pte_eos || pt_blk_get_sync_offset(f->d, &at) < 0 ||
		    at == last)
			break;
		lose(f, w, lost, at);
		lost = UINT64_MAX;
		last = f->offset = at;
		if (at >= w->limit)
			return;
		if (status >= 0) {
			enter(f, w);
			if (!f->err)
				status = run(f, w, status);
		}
		w->status = status;
		if (status >= 0 || status == -pte_eos)
			return;
		fail(f, w, status);
		lost = f->offset;
	}
	lose(f, w, lost, w->limit);
}

static int go(struct flow *f, struct way *w)
{
	struct pt_config c = f->s->config;

	c.begin = (uint8_t *)(uintptr_t)w->p;
	c.end = c.begin + w->len;
	f->d = pt_blk_alloc_decoder(&c);
	if (!f->d)
		return -ENOMEM;
	walk(f, w);
	pt_blk_free_decoder(f->d);
	f->d = NULL;
	return f->err;
}

/* What the next segment will find is taken off this one. */
static int take_off_next(struct flow *f, struct way *w)
{
	struct way next = { .p = w->p + w->limit, .len = f->seg->beyond,
			    .limit = UINT64_MAX, .dry = true };
	int err = go(f, &next);

	if (err || w->status != next.status || w->ip != next.ip)
		return err;
	f->insns -= next.insns < f->insns ? next.insns : f->insns;
	w->failed = false;
	return 0;
}

int flow_run(struct flow *f, const struct flow_segment *seg, struct flow_sum *sum)
{
	struct way w = { .p = seg->p, .len = seg->len + seg->beyond, .limit = seg->len,
			 .to_end = !seg->beyond };
	int err;

	f->seg = seg;
	f->sum = sum;
	f->err = 0;
	f->insns = 0;
	f->reference = queue_piece_at(seg->q, seg->from)->reference;
	f->now = UINT64_MAX;
	if (f->s->timed && f->reference)
		f->now = to_ns(f->s, f->reference);
	err = go(f, &w);
	if (!err && seg->beyond)
		err = take_off_next(f, &w);
	commit(f, &w);
	give(f);
	return err ? err : f->err;
}
