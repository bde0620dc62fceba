/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/runs.h"
#include "perfio/soft/branch.h"
#include "perfio/soft/mem.h"

#include <stdlib.h>

enum { CACHE_BITS = 13 };
/* Jumps and calls in a run: one that follows ends it. */
enum { JUMPS_MAX = 16 };

struct range {
	uint64_t begin, end;
};

/* The instructions of a run lie in stretches without a jump. */
struct scan {
	struct range part[JUMPS_MAX + 1];
	int nr; /* of complete parts; part[nr].begin is known, too */
};

bool soft_run_passes(const struct soft_insn *i)
{
	switch ((enum soft_class)i->cls) {
	case SOFT_OTHER:
	case SOFT_REP:
	case SOFT_SHADOW:
	case SOFT_PUSHF:
		return true;
	case SOFT_JMP:
	case SOFT_CALL:
		return !i->sized;
	default:
		return false;
	}
}

static bool jumps(const struct soft_insn *i)
{
	return i->cls == SOFT_JMP || i->cls == SOFT_CALL;
}

uint64_t soft_run_next(const struct soft_insn *i)
{
	return jumps(i) ? soft_insn_target(i) : soft_insn_end(i);
}

static bool seen(const struct scan *c, uint64_t ip, uint64_t end)
{
	for (int k = 0; k < c->nr; k++)
		if (ip >= c->part[k].begin && ip < c->part[k].end)
			return true;
	return ip >= c->part[c->nr].begin && ip < end;
}

/* The run goes on behind i. */
static bool goes_on(struct scan *c, struct soft_mem *m, const struct soft_insn *i)
{
	uint64_t next;

	if (!soft_run_passes(i) || soft_plants_stops(&m->plants, i->ip))
		return false;
	next = soft_run_next(i);
	if (!soft_mem_is_fixed(m, next) || seen(c, next, soft_insn_end(i)) ||
	    !soft_plants_pass(&m->plants, i->ip, i->len))
		return false;
	if (!jumps(i))
		return true;
	if (c->nr == JUMPS_MAX)
		return false;
	c->part[c->nr++].end = soft_insn_end(i);
	c->part[c->nr].begin = next;
	return true;
}

static enum soft_run_end how_it_ends(const struct soft_insn *i)
{
	return i->cls == SOFT_SYSCALL || i->cls == SOFT_INT ? SOFT_RUN_STOPS : SOFT_RUN_PLANT;
}

static bool easy(const struct soft_insn *i)
{
	return i->op.what != SOFT_LEFT || soft_branch_is(i);
}

static void scan(struct soft_run *ret, struct soft_mem *m, const struct soft_insn *first)
{
	struct scan c = { .part[0].begin = first->ip };
	struct soft_insn i = *first;

	*ret = (struct soft_run){ .begin = first->ip, .gen = m->code_gen, .easy = true };
	for (int n = 0; n < SOFT_RUN_MAX && goes_on(&c, m, &i); n++) {
		ret->easy &= easy(&i);
		soft_insn_at(&i, m, soft_run_next(&i));
	}
	ret->end = i.ip;
	if (i.ip != first->ip)
		ret->how = (uint8_t)how_it_ends(&i);
}

void soft_run_open(const struct soft_run *r, struct soft_mem *m)
{
	struct soft_insn i;

	if (!m->plants.armed)
		return;
	for (uint64_t ip = r->begin; ; ip = soft_run_next(&i)) {
		soft_insn_at(&i, m, ip);
		soft_plants_open(&m->plants, ip, i.len);
		if (ip == r->end)
			break;
	}
}

void soft_run_at(struct soft_run *ret, struct soft_mem *m, const struct soft_insn *first)
{
	size_t slot = (first->ip ^ first->ip >> CACHE_BITS) & ((1 << CACHE_BITS) - 1);

	if (!soft_mem_is_fixed(m, first->ip)) {
		*ret = (struct soft_run){ .begin = first->ip, .end = first->ip };
		return;
	}
	if (!m->runs)
		m->runs = calloc((size_t)1 << CACHE_BITS, sizeof(*m->runs));
	if (m->runs && m->runs[slot].gen == m->code_gen && m->runs[slot].begin == first->ip) {
		*ret = m->runs[slot];
		return;
	}
	scan(ret, m, first);
	if (m->runs)
		m->runs[slot] = *ret;
}
