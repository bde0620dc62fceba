/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace is parted into slices of a few megabytes. Who takes a slice decodes what begins
 * at a PSB in it, up to the first PSB behind it. The hardware makes a PSB every 64 MiB at
 * least (PSBFreq; Intel SDM vol. 3, 33.2.7.2); what has none for longer is given up.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "format/ptwalk.h"
#include "recorder/decode/decode_priv.h"

enum {
	THREADS_MAX = 256,
	BEYOND = 512, /* a PSB+ is far shorter: Intel SDM vol. 3, 33.3.7 */
};
#define SLICE	 (UINT64_C(4) << 20)
#define SLICE_MIN UINT64_C(16)
#define PSB_DIST (UINT64_C(128) << 20)

struct slice {
	size_t queue;
	uint64_t from, to, end; /* end: of the stretch */
	struct flow_sum sum;
	uint64_t covered; /* bytes of the segment that begins here */
};

struct crew {
	const struct queues *queues;
	struct slice *slice;
	size_t nr, room;
	uint64_t size; /* of a slice */
	size_t next;   /* slice to be taken */
};

struct worker {
	struct crew *crew;
	struct flow flow;
	uint8_t *buf;
	size_t room;
	int err;
	pthread_t thread;
};

/* What is at hand of a stretch: bytes [0, have) of the `left` from `at` on. */
struct view {
	const struct queue *q;
	uint64_t at;
	size_t have, left;
};

/* `want` bytes at hand, or all that are left. */
static int look(struct worker *w, struct view *v, size_t want)
{
	uint8_t *bigger;

	if (want > v->left)
		want = v->left;
	if (want <= v->have)
		return 0;
	if (want > w->room) {
		bigger = realloc(w->buf, want);
		if (!bigger)
			return -ENOMEM;
		w->buf = bigger;
		w->room = want;
	}
	v->have += queue_read(v->q, v->at + v->have, w->buf + v->have, want - v->have);
	if (v->have < want)
		v->left = v->have;
	return 0;
}

/* The first PSB at or behind `from`: *ret, or all that is left when there is none. One that
 * ends with what is at hand may be another's beginning: the last 16 bytes count. */
static int find_psb(struct worker *w, struct view *v, size_t from, size_t *ret)
{
	size_t at;
	int err;

	for (;;) {
		if (from < v->have &&
		    fmt_pt_find_psb(w->buf + from, v->have - from, &at) &&
		    (from + at + FMT_PT_PSB_SIZE < v->have || v->have == v->left)) {
			*ret = from + at;
			return look(w, v, *ret + BEYOND);
		}
		if (v->have >= v->left)
			break;
		if (v->have > from + 2 * FMT_PT_PSB_SIZE)
			from = v->have - 2 * FMT_PT_PSB_SIZE;
		err = look(w, v, v->have < v->left / 2 ? 2 * v->have : v->left);
		if (err)
			return err;
	}
	*ret = v->left;
	return 0;
}

/* How much of the PSB+ at p: up to its PSBEND, or all there is. */
static size_t psb_plus(const uint8_t *p, size_t n)
{
	struct pt_packet_decoder *d;
	struct pt_config c;
	struct pt_packet k;
	uint64_t at = 0;

	pt_config_init(&c);
	c.begin = (uint8_t *)(uintptr_t)p;
	c.end = c.begin + n;
	d = pt_pkt_alloc_decoder(&c);
	if (!d || pt_pkt_sync_set(d, 0) < 0) {
		pt_pkt_free_decoder(d);
		return n;
	}
	while (pt_pkt_next(d, &k, sizeof(k)) > 0 && k.type != ppt_psbend)
		;
	if (pt_pkt_get_offset(d, &at) < 0 || !at || at > n)
		at = n;
	pt_pkt_free_decoder(d);
	return (size_t)at;
}

static uint64_t count_psb(const uint8_t *p, size_t n)
{
	uint64_t count = 0;
	size_t at;

	for (; fmt_pt_find_psb(p, n, &at); count++) {
		p += at + FMT_PT_PSB_SIZE;
		n -= at + FMT_PT_PSB_SIZE;
	}
	return count;
}

static int decode_slice(struct worker *w, struct slice *s)
{
	struct view v = { .q = &w->crew->queues->q[s->queue], .at = s->from };
	const size_t size = (size_t)(s->to - s->from);
	struct flow_segment seg = { .q = v.q };
	size_t first, next;
	int err;

	v.left = (size_t)(s->end - s->from < PSB_DIST ? s->end - s->from : PSB_DIST);
	err = look(w, &v, size + BEYOND);
	if (err || !fmt_pt_find_psb(w->buf, v.have, &first) || first >= size)
		return err;
	err = find_psb(w, &v, size, &next);
	if (err)
		return err;
	seg.from = s->from + first;
	seg.p = w->buf + first;
	seg.len = next - first;
	if (next < v.have)
		seg.beyond = psb_plus(w->buf + next, v.have - next);
	queue_forget(v.q, s->from, size);
	s->covered = seg.len;
	s->sum.nr_psb = count_psb(seg.p, seg.len);
	return flow_run(&w->flow, &seg, &s->sum);
}

static void *work(void *ctx)
{
	struct worker *w = ctx;
	size_t i;

	while (!w->err && (i = __atomic_fetch_add(&w->crew->next, 1, __ATOMIC_RELAXED)) <
				  w->crew->nr)
		w->err = decode_slice(w, &w->crew->slice[i]);
	return NULL;
}

static int add_slices(struct crew *c, size_t queue, uint64_t from, uint64_t end)
{
	size_t n = (size_t)((end - from - 1) / c->size + 1), room = c->room;
	struct slice *all;

	while (room < c->nr + n)
		room = room ? 2 * room : 64;
	all = room > c->room ? realloc(c->slice, room * sizeof(*all)) : c->slice;
	if (!all)
		return -ENOMEM;
	c->slice = all;
	c->room = room;
	for (; from < end; from += c->size) {
		uint64_t to = end - from < c->size ? end : from + c->size;

		all[c->nr++] = (struct slice){ .queue = queue, .from = from, .to = to,
					       .end = end };
	}
	return 0;
}

static int slice_queue(struct crew *c, size_t i)
{
	const struct queue *q = &c->queues->q[i];
	uint64_t from = 0;
	int err = 0;

	for (size_t k = 1; !err && k <= q->nr; k++) {
		uint64_t end = k < q->nr ? q->piece[k].at : q->bytes;

		if ((k < q->nr && !q->piece[k].begins) || from == end)
			continue;
		err = add_slices(c, i, from, end);
		from = end;
	}
	return err;
}

static unsigned cpus(void)
{
	cpu_set_t set;

	/* More cpus than the set has room for: so many are enough. */
	if (sched_getaffinity(0, sizeof(set), &set))
		return THREADS_MAX;
	return (unsigned)CPU_COUNT(&set);
}

static int run_workers(struct worker *w, size_t n)
{
	size_t started = 1;
	int err = 0;

	/* The first one is this thread; without another it does all the work. */
	while (started < n && !pthread_create(&w[started].thread, NULL, work, &w[started]))
		started++;
	work(&w[0]);
	for (size_t i = 1; i < started; i++)
		pthread_join(w[i].thread, NULL);
	for (size_t i = 0; i < started; i++)
		err = err ? err : w[i].err;
	return err;
}

static int make_workers(struct worker *w, size_t n, struct crew *c,
			const struct flow_setup *s)
{
	int err = 0;

	for (size_t i = 0; !err && i < n; i++) {
		w[i].crew = c;
		err = flow_new(&w[i].flow, s);
	}
	return err;
}

static void add_sum(struct decode_queue *q, const struct slice *s)
{
	const struct flow_sum *x = &s->sum;

	q->skipped += x->skipped;
	q->skipped -= s->covered;
	q->nr_psb += x->nr_psb;
	q->insns += x->insns;
	q->errors += x->errors;
	q->overflows += x->overflows;
	if (!x->has_time)
		return;
	if (!q->has_time || x->first_time < q->first_time)
		q->first_time = x->first_time;
	if (!q->has_time || x->last_time > q->last_time)
		q->last_time = x->last_time;
	q->has_time = true;
}

static int sum_up(struct decode_report *ret, const struct crew *c)
{
	ret->queues = calloc(c->queues->nr + 1, sizeof(*ret->queues));
	if (!ret->queues)
		return -ENOMEM;
	ret->nr_queues = c->queues->nr;
	for (size_t i = 0; i < ret->nr_queues; i++) {
		const struct queue *q = &c->queues->q[i];

		ret->queues[i] = (struct decode_queue){
			.idx = q->idx, .cpu = q->cpu, .tid = q->tid, .bytes = q->bytes,
			.skipped = q->bytes, .gaps = q->gaps,
		};
	}
	for (size_t i = 0; i < c->nr; i++)
		add_sum(&ret->queues[c->slice[i].queue], &c->slice[i]);
	return 0;
}

int crew_run(struct decode_report *ret, const struct queues *queues, struct flow *f,
	     const struct decode_opts *o)
{
	struct crew c = { .queues = queues, .size = o->slice ? o->slice : SLICE };
	struct worker *w = NULL;
	size_t n = o->threads ? o->threads : cpus();
	int err = 0;

	if (c.size < SLICE_MIN)
		c.size = SLICE_MIN;
	for (size_t i = 0; !err && i < queues->nr; i++)
		err = slice_queue(&c, i);
	n = n < c.nr ? n : c.nr;
	n = n < THREADS_MAX ? n : THREADS_MAX;
	if (!err && n) {
		w = calloc(n, sizeof(*w));
		err = w ? make_workers(w, n, &c, f->s) : -ENOMEM;
	}
	if (!err && n)
		err = run_workers(w, n);
	for (size_t i = 0; w && i < n; i++) {
		if (!err)
			err = flow_merge(f, &w[i].flow);
		flow_done(&w[i].flow);
		free(w[i].buf);
	}
	free(w);
	if (!err)
		err = sum_up(ret, &c);
	free(c.slice);
	return err;
}
