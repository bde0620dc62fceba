/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/cpuswitch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/record.h"
#include "recorder/fold.h"

struct who {
	uint32_t pid, tid;
};

/* What a file knows of a cpu. */
struct told {
	bool known; /* that he is on it */
	struct who on;
};

struct row {
	int cpu;
	uint64_t id;
	struct who traced; /* whose trace it is */
	bool away;	   /* it is not on the cpu */
	uint64_t last;	   /* time of the last record */
	/* Of what a flight keeps: */
	uint32_t owner; /* thread whose trace it is, 0: not told so far */
	size_t begin;	/* what is kept of the cpu begins there */
	struct told file[2];	/* the recording's, and one beside it */
};

struct cpuswitch {
	struct row *row;
	size_t nr_row;
	struct cpuswitch_change *change;
	size_t nr_change, cap_change;
};

int cpuswitch_new(struct cpuswitch **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void cpuswitch_free(struct cpuswitch *c)
{
	if (!c)
		return;
	free(c->row);
	free(c->change);
	free(c);
}

int cpuswitch_add_cpu(struct cpuswitch *c, int cpu, uint64_t id)
{
	struct row *row = reallocarray(c->row, c->nr_row + 1, sizeof(*row));

	if (!row)
		return -ENOMEM;
	row[c->nr_row++] = (struct row){ .cpu = cpu, .id = id };
	c->row = row;
	return 0;
}

int cpuswitch_change(struct cpuswitch *c, const struct cpuswitch_change *change)
{
	size_t cap = c->cap_change ? 2 * c->cap_change : 64;
	struct cpuswitch_change *v = c->change;

	if (c->nr_change == c->cap_change) {
		v = reallocarray(v, cap, sizeof(*v));
		if (!v)
			return -ENOMEM;
		c->change = v;
		c->cap_change = cap;
	}
	v[c->nr_change++] = *change;
	return 0;
}

static uint64_t rising(struct row *r, uint64_t ns)
{
	return r->last = ns > r->last ? ns : r->last + 1;
}

static struct who who_is_on(const struct row *r)
{
	return r->away ? (struct who){ 0, 0 } : r->traced;
}

/* misc: of the one who leaves. */
static void put_pair(struct row *r, struct who leaves, struct who comes, uint16_t misc,
		     uint64_t out, uint64_t in, struct fmt_buf *to)
{
	struct fmt_trailer t = { .pid = leaves.pid, .tid = leaves.tid, .time = rising(r, out),
				 .cpu = (uint32_t)r->cpu, .id = r->id };

	fmt_put_switch_wide(to, misc, comes.pid, comes.tid, &t);
	t.pid = comes.pid;
	t.tid = comes.tid;
	t.time = rising(r, in);
	fmt_put_switch_wide(to, 0, leaves.pid, leaves.tid, &t);
}

static void take_change(struct cpuswitch *c, const struct cpuswitch_change *x, struct fmt_buf *to)
{
	struct who comes = { x->pid, x->tid }, leaves;

	for (size_t i = 0; i < c->nr_row; i++) {
		struct row *r = &c->row[i];

		if (r->cpu != x->cpu)
			continue;
		leaves = who_is_on(r);
		r->traced = comes;
		r->away = false;
		if (leaves.tid != comes.tid)
			put_pair(r, leaves, comes, FMT_MISC_SWITCH_OUT, x->out, x->in, to);
	}
}

/* A thread whose trace is none at the moment stands still, or is about to: when its turn comes, it
 * will be a change. */
static void take_record(struct cpuswitch *c, const uint8_t *rec, struct fmt_buf *to)
{
	uint16_t misc = le_get16(rec + FMT_REC_AT_MISC);
	bool out = misc & FMT_MISC_SWITCH_OUT;
	struct who nobody = { 0, 0 };

	for (size_t i = 0; i < c->nr_row; i++) {
		struct row *r = &c->row[i];
		uint64_t ns = fold_time(rec);

		if (r->traced.tid != fold_tid(rec) || r->away == out)
			continue;
		r->away = out;
		if (out)
			put_pair(r, r->traced, nobody, misc, ns, ns + 1, to);
		else
			put_pair(r, nobody, r->traced, FMT_MISC_SWITCH_OUT, ns, ns + 1, to);
	}
}

int cpuswitch_turn(struct cpuswitch *c, const uint8_t *rec, size_t len, struct fmt_buf *to)
{
	const uint8_t *end = rec + len;

	for (size_t i = 0; i < c->nr_change; i++) {
		for (; rec < end && fold_time(rec) <= c->change[i].out; rec += FOLD_REC_SIZE)
			take_record(c, rec, to);
		take_change(c, &c->change[i], to);
	}
	for (; rec < end; rec += FOLD_REC_SIZE)
		take_record(c, rec, to);
	c->nr_change = 0;
	return to->err;
}

/* ---- a flight ---- */

enum { REC_SIZE = CPUSWITCH_PAIR_SIZE / 2, AT_PID = REC_SIZE - 32, AT_TIME = REC_SIZE - 24,
       AT_CPU = REC_SIZE - 16 }; /* format/record.h */

size_t cpuswitch_nr_cpus(const struct cpuswitch *c)
{
	return c->nr_row;
}

static struct row *row_of(struct cpuswitch *c, const uint8_t *pair)
{
	for (size_t i = 0; i < c->nr_row; i++)
		if (c->row[i].cpu == (int)le_get32(pair + AT_CPU))
			return &c->row[i];
	return NULL;
}

static struct who who_at(const uint8_t *p)
{
	return (struct who){ le_get32(p), le_get32(p + 4) };
}

/* From this pair on the trace is another thread's. */
static bool tells(struct row *r, const uint8_t *pair)
{
	struct who comes = who_at(pair + FMT_SWITCH_AT_NEXT_PID);

	if (!comes.tid || comes.tid == r->owner)
		return false;
	r->owner = comes.tid;
	return true;
}

static void find_begins(struct cpuswitch *c, const uint8_t *rec, size_t n, const uint64_t *from)
{
	for (size_t i = 0; i < c->nr_row; i++) {
		c->row[i].owner = 0;
		c->row[i].begin = 0;
	}
	for (size_t at = 0; at < n; at += CPUSWITCH_PAIR_SIZE) {
		struct row *r = row_of(c, rec + at);

		if (r && tells(r, rec + at) &&
		    le_get(rec + at + REC_SIZE + AT_TIME, 8) <= from[r - c->row])
			r->begin = at;
	}
}

size_t cpuswitch_forget(struct cpuswitch *c, uint8_t *rec, size_t n, const uint64_t *from,
			size_t *mark)
{
	size_t stay = 0, before = *mark;

	find_begins(c, rec, n, from);
	for (size_t i = 0; i < c->nr_row; i++)
		c->row[i].owner = 0;
	for (size_t at = 0; at < n; at += CPUSWITCH_PAIR_SIZE) {
		struct row *r = row_of(c, rec + at);

		if (at == before)
			*mark = stay;
		if (!r || !tells(r, rec + at) || at < r->begin)
			continue;
		memmove(rec + stay, rec + at, CPUSWITCH_PAIR_SIZE);
		stay += CPUSWITCH_PAIR_SIZE;
	}
	if (before >= n)
		*mark = before - n + stay;
	return stay;
}

static void put_who(uint8_t *p, struct who w)
{
	le_put(p, w.pid, 4);
	le_put(p + 4, w.tid, 4);
}

/* False: that the one who is there comes back is not to be told, as he never left. */
static bool join(struct told *f, uint8_t *pair)
{
	struct who comes = who_at(pair + FMT_SWITCH_AT_NEXT_PID);

	if (f->known && who_at(pair + AT_PID).tid != f->on.tid) {
		if (comes.tid == f->on.tid)
			return false;
		put_who(pair + AT_PID, f->on);
		put_who(pair + REC_SIZE + FMT_SWITCH_AT_NEXT_PID, f->on);
	}
	f->known = true;
	f->on = comes;
	return true;
}

size_t cpuswitch_join(struct cpuswitch *c, uint8_t *rec, size_t n, bool beside)
{
	size_t stay = 0;

	for (size_t i = 0; i < c->nr_row && beside; i++)
		c->row[i].file[true].known = false;
	for (size_t at = 0; at < n; at += CPUSWITCH_PAIR_SIZE) {
		struct row *r = row_of(c, rec + at);

		if (r && !join(&r->file[beside], rec + at))
			continue;
		memmove(rec + stay, rec + at, CPUSWITCH_PAIR_SIZE);
		stay += CPUSWITCH_PAIR_SIZE;
	}
	return stay;
}
