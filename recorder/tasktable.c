/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/tasktable.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/le.h"
#include "recorder/tasktable_priv.h"

/* TIME in the trailer of format/record.h: behind it are cpu and id. */
#define TIME_FROM_END 24u
#define TRAILER	      32u

struct waiting {
	uint64_t time;
	uint64_t nr; /* in the order of arrival, where times are equal */
	struct task_rec *rec;
};

struct tasktable {
	struct task_world world;
	struct waiting *wait; /* sorted up to nr_sorted */
	size_t first, nr, cap, nr_sorted; /* those before `first` have been applied */
	uint64_t arrivals, horizon, forced;
	size_t limit, most_bytes;
};

int tasktable_new(struct tasktable **ret, size_t limit)
{
	struct tasktable *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->limit = limit;
	*ret = t;
	return 0;
}

void tasktable_free(struct tasktable *t)
{
	if (!t)
		return;
	for (size_t i = t->first; i < t->nr; i++)
		task_rec_put(&t->world, t->wait[i].rec);
	free(t->wait);
	task_world_done(&t->world);
	free(t);
}

static bool tells_of_tasks(uint32_t type)
{
	return type < 64 && TASKTABLE_TYPES >> type & 1;
}

static int by_time(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

/* Rings are drained one after the other: what is new is in order per cpu only. */
static void sort(struct tasktable *t)
{
	if (t->nr_sorted == t->nr)
		return;
	qsort(t->wait + t->first, t->nr - t->first, sizeof(*t->wait), by_time);
	t->nr_sorted = t->nr;
}

static int make_room(struct tasktable *t)
{
	struct waiting *more;
	size_t cap;

	if (t->nr < t->cap)
		return 0;
	if (t->first > t->cap / 2) { /* what was applied makes the room */
		memmove(t->wait, t->wait + t->first, (t->nr - t->first) * sizeof(*t->wait));
		t->nr -= t->first;
		t->nr_sorted -= t->first;
		t->first = 0;
		return 0;
	}
	cap = t->cap ? 2 * t->cap : 256;
	more = realloc(t->wait, cap * sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->world.bytes += (cap - t->cap) * sizeof(*more);
	t->wait = more;
	t->cap = cap;
	return 0;
}

static int apply_first(struct tasktable *t)
{
	struct waiting *w = &t->wait[t->first];
	int err = task_world_apply(&t->world, w->rec);

	if (err)
		return err;
	t->horizon = w->time > t->horizon ? w->time : t->horizon;
	task_rec_put(&t->world, w->rec);
	t->first++;
	return 0;
}

/* Too much waits: the oldest quarter of it is applied before its time. */
static int force(struct tasktable *t)
{
	size_t n = (t->nr - t->first + 3) / 4;
	int err = 0;

	sort(t);
	for (; n && !err; n--) {
		err = apply_first(t);
		t->forced += !err;
	}
	return err;
}

static struct task_rec *copy(struct tasktable *t, const uint8_t *p, size_t size)
{
	struct task_rec *r = malloc(sizeof(*r) + size);

	if (!r)
		return NULL;
	r->refs = 1;
	r->size = (uint16_t)size;
	memcpy(r->p, p, size);
	t->world.bytes += sizeof(*r) + size;
	return r;
}

int tasktable_add(struct tasktable *t, const uint8_t *rec, size_t size)
{
	struct task_rec *r;
	uint64_t time;
	int err;

	if (size < FMT_REC_HEADER_SIZE + TRAILER || size > UINT16_MAX ||
	    !tells_of_tasks(le_get32(rec)))
		return 0;
	time = le_get(rec + size - TIME_FROM_END, 8);
	r = copy(t, rec, size);
	err = r ? 0 : -ENOMEM;
	if (!err && time <= t->horizon) {
		err = task_world_apply(&t->world, r);
		task_rec_put(&t->world, r);
	} else if (!err) {
		err = make_room(t);
		if (err)
			task_rec_put(&t->world, r);
		else
			t->wait[t->nr++] = (struct waiting){ time, t->arrivals++, r };
	}
	if (t->world.bytes > t->most_bytes)
		t->most_bytes = t->world.bytes;
	while (!err && t->world.bytes > t->limit && t->first < t->nr)
		err = force(t);
	t->world.full = t->world.bytes > t->limit;
	return err;
}

int tasktable_add_all(struct tasktable *t, const struct fmt_buf *records)
{
	size_t size;
	int err = records->err;

	for (size_t at = 0; at < records->len && !err; at += size) {
		size = le_get16(records->data + at + FMT_REC_AT_SIZE);
		err = tasktable_add(t, records->data + at, size);
	}
	return err;
}

int tasktable_forget(struct tasktable *t, uint64_t horizon)
{
	int err = 0;

	sort(t);
	while (!err && t->first < t->nr && t->wait[t->first].time < horizon)
		err = apply_first(t);
	if (!err && horizon > t->horizon)
		t->horizon = horizon;
	return err;
}

int tasktable_emit(struct tasktable *t, const struct fmt_trailer *stamp,
		   int (*put)(void *ctx, const uint8_t *rec, size_t n), void *ctx)
{
	int err = task_world_emit(&t->world, stamp, put, ctx);

	sort(t);
	for (size_t i = t->first; i < t->nr && !err; i++)
		err = put(ctx, t->wait[i].rec->p, t->wait[i].rec->size);
	return err;
}

void tasktable_told(struct tasktable *t, uint64_t ns)
{
	t->world.told_ns = ns;
}

void tasktable_stats(const struct tasktable *t, struct tasktable_stats *ret)
{
	*ret = (struct tasktable_stats){
		.processes = t->world.nr_proc,
		.threads = t->world.nr_thread,
		.maps = t->world.nr_map,
		.waiting = t->nr - t->first,
		.bytes = t->world.bytes,
		.most_bytes = t->most_bytes,
		.horizon = t->horizon,
		.forced = t->forced,
		.dropped = t->world.dropped,
	};
}
