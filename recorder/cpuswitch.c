/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/cpuswitch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/record.h"
#include "recorder/fold.h"

struct who {
	uint32_t pid, tid;
};

struct row {
	int cpu;
	uint64_t id;
	struct who traced; /* whose trace it is */
	bool away;	   /* it is not on the cpu */
	uint64_t last;	   /* time of the last record */
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
