/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "recorder/hash.h"

enum {
	TRAILER = 32, TRAILER_TID = 28, TRAILER_TIME = 24, /* from the end: format/record.h */
	REC_SIZE = FOLD_REC_SIZE,
	FIRST_ROOM = 1024,
};

/* A record, or (no_rec) a stop. */
struct item {
	uint64_t ns;
	uint32_t tid;
	bool no_rec;
	uint8_t rec[REC_SIZE];
};

struct thread {
	struct fold_count count;
	bool used;
	bool out;	/* it left, and it is open why: `rec` */
	bool preempted; /* it left because another's turn came */
	bool folding;	/* it left for a stop: so its way back goes, too */
	bool early;	/* the same, but its leaving is still to come */
	uint64_t early_ns;
	uint8_t rec[REC_SIZE];
};

struct fold {
	struct item *item; /* in the order of arrival */
	size_t nr_item, cap_item;
	const struct item **order; /* of time */
	size_t cap_order;
	struct thread *thread; /* hashed by tid, 2^n, at most half full */
	size_t nr_thread, cap_thread;
	uint64_t until; /* of the last turn */
};

int fold_new(struct fold **ret)
{
	struct fold *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->cap_thread = FIRST_ROOM;
	f->thread = calloc(f->cap_thread, sizeof(*f->thread));
	if (!f->thread) {
		free(f);
		return -ENOMEM;
	}
	*ret = f;
	return 0;
}

void fold_free(struct fold *f)
{
	if (!f)
		return;
	free(f->item);
	free(f->order);
	free(f->thread);
	free(f);
}

/* ---- what waits ---- */

uint64_t fold_time(const uint8_t rec[FOLD_REC_SIZE])
{
	return le_get(rec + REC_SIZE - TRAILER_TIME, 8);
}

static struct item *next_item(struct fold *f)
{
	size_t cap = f->cap_item ? 2 * f->cap_item : FIRST_ROOM;
	struct item *p = f->item;

	if (f->nr_item == f->cap_item) {
		p = realloc(p, cap * sizeof(*p));
		if (!p)
			return NULL;
		f->item = p;
		f->cap_item = cap;
	}
	return &p[f->nr_item++];
}

uint32_t fold_tid(const uint8_t rec[FOLD_REC_SIZE])
{
	return le_get32(rec + REC_SIZE - TRAILER_TID);
}

int fold_add(struct fold *f, const uint8_t *rec, size_t size)
{
	struct item *i;

	if (size != REC_SIZE || le_get32(rec) != FMT_REC_SWITCH)
		return -EINVAL;
	i = next_item(f);
	if (!i)
		return -ENOMEM;
	i->ns = fold_time(rec);
	i->tid = fold_tid(rec);
	i->no_rec = false;
	memcpy(i->rec, rec, size);
	return 0;
}

int fold_stop(struct fold *f, uint32_t tid, uint64_t ns)
{
	struct item *i = next_item(f);

	if (!i)
		return -ENOMEM;
	i->ns = ns;
	i->tid = tid;
	i->no_rec = true;
	return 0;
}

/* ---- threads ---- */

static struct thread *slot(struct thread *v, size_t cap, uint32_t tid)
{
	size_t i = (size_t)hash_bytes(HASH_INIT, &tid, sizeof(tid)) & (cap - 1);

	while (v[i].used && v[i].count.tid != tid)
		i = (i + 1) & (cap - 1);
	return &v[i];
}

static int grow_threads(struct fold *f)
{
	size_t cap = 2 * f->cap_thread;
	struct thread *v = calloc(cap, sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < f->cap_thread; i++)
		if (f->thread[i].used)
			*slot(v, cap, f->thread[i].count.tid) = f->thread[i];
	free(f->thread);
	f->thread = v;
	f->cap_thread = cap;
	return 0;
}

/* NULL: no memory. */
static struct thread *find(struct fold *f, uint32_t tid)
{
	struct thread *t = slot(f->thread, f->cap_thread, tid);

	if (t->used)
		return t;
	if (2 * (f->nr_thread + 1) > f->cap_thread) {
		if (grow_threads(f))
			return NULL;
		t = slot(f->thread, f->cap_thread, tid);
	}
	f->nr_thread++;
	t->used = true;
	t->count.tid = tid;
	return t;
}

/* ---- what stays ---- */

static void keep(struct fmt_buf *to, const uint8_t rec[REC_SIZE])
{
	fmt_put(to, rec, REC_SIZE);
}

/* It left for a reason of its own. */
static void settle(struct thread *t, struct fmt_buf *to)
{
	if (t->out)
		keep(to, t->rec);
	t->out = false;
}

static void leaves(struct thread *t, const uint8_t *rec, struct fmt_buf *to)
{
	settle(t, to); /* its way back got lost */
	t->folding = false;
	t->preempted = le_get16(rec + FMT_REC_AT_MISC) & FMT_MISC_SWITCH_OUT_PREEMPT;
	if (t->preempted) {
		keep(to, rec);
	} else if (t->early) {
		t->early = false;
		t->folding = true;
		t->count.pairs++;
	} else {
		memcpy(t->rec, rec, REC_SIZE);
		t->out = true;
	}
}

static void returns(struct thread *t, const uint8_t *rec, struct fmt_buf *to)
{
	if (!t->preempted && (t->folding || t->early)) {
		t->count.pairs += t->early;
		t->folding = t->early = false;
		return;
	}
	t->preempted = false;
	settle(t, to);
	keep(to, rec);
}

static void stood(struct thread *t, uint64_t ns)
{
	if (t->folding)
		return; /* another stop: what the kernel said in between got lost */
	t->folding = t->out;
	t->count.pairs += t->out;
	t->early = !t->out;
	t->early_ns = ns;
	t->out = false;
}

static int apply(struct fold *f, const struct item *i, struct fmt_buf *to)
{
	struct thread *t = find(f, i->tid);

	if (!t)
		return -ENOMEM;
	if (i->no_rec) {
		stood(t, i->ns);
		return 0;
	}
	t->count.pid = le_get32(i->rec + REC_SIZE - TRAILER);
	if (le_get16(i->rec + FMT_REC_AT_MISC) & FMT_MISC_SWITCH_OUT)
		leaves(t, i->rec, to);
	else
		returns(t, i->rec, to);
	return to->err;
}

/* ---- turns ---- */

static int by_time(const void *a, const void *b)
{
	const struct item *x = *(const struct item *const *)a, *y = *(const struct item *const *)b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int sort(struct fold *f)
{
	const struct item **p = f->order;

	if (f->cap_order < f->cap_item) {
		p = realloc(f->order, f->cap_item * sizeof(*p));
		if (!p)
			return -ENOMEM;
		f->order = p;
		f->cap_order = f->cap_item;
	}
	for (size_t i = 0; i < f->nr_item; i++)
		p[i] = &f->item[i];
	qsort(p, f->nr_item, sizeof(*p), by_time);
	return 0;
}

static void drop_until(struct fold *f, uint64_t until)
{
	size_t n = 0;

	for (size_t i = 0; i < f->nr_item; i++)
		if (f->item[i].ns > until)
			f->item[n++] = f->item[i];
	f->nr_item = n;
}

/* Who is not back stands still for its tracer, or waits. Of a stop of the turn before last the
 * records are here, or there are none, because nobody recorded by then. */
static void look(struct fold *f, uint64_t until, fold_stands *stands, void *ctx,
		 struct fmt_buf *to)
{
	for (size_t i = 0; i < f->cap_thread; i++) {
		struct thread *t = &f->thread[i];

		if (t->out && !stands(ctx, t->count.tid))
			settle(t, to);
		else if (t->out && until == UINT64_MAX)
			stood(t, until);
		if (t->early && t->early_ns <= f->until)
			t->early = false;
	}
}

static int by_rec_time(const void *a, const void *b)
{
	uint64_t x = fold_time(a), y = fold_time(b);

	return x < y ? -1 : x > y;
}

int fold_turn(struct fold *f, uint64_t until, fold_stands *stands, void *ctx, struct fmt_buf *to)
{
	size_t begin = to->len;
	int err = f->nr_item ? sort(f) : 0;

	for (size_t i = 0; i < f->nr_item && !err && f->order[i]->ns <= until; i++)
		err = apply(f, f->order[i], to);
	if (err)
		return err;
	drop_until(f, until);
	look(f, until, stands, ctx, to);
	f->until = until;
	/* What was settled last left first. */
	if (to->len > begin && !to->err)
		qsort(to->data + begin, (to->len - begin) / REC_SIZE, REC_SIZE, by_rec_time);
	return to->err;
}

void fold_counts(const struct fold *f, void (*put)(void *ctx, const struct fold_count *c),
		 void *ctx)
{
	for (size_t i = 0; i < f->cap_thread; i++)
		if (f->thread[i].count.pairs)
			put(ctx, &f->thread[i].count);
}

void fold_begin_counts(struct fold *f)
{
	for (size_t i = 0; i < f->cap_thread; i++)
		f->thread[i].count.pairs = 0;
}
