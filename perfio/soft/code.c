/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/code.h"
#include "perfio/soft/thread.h"

#include <stdlib.h>
#include <string.h>

/* Of one address space: more are not kept. */
enum { PAGES_MAX = 8192 };

struct page {
	uint64_t addr;
	uint64_t number; /* 0: not kept, or never handed out */
	uint64_t since, seen; /* virtual TSC: it is as here; it last ran at */
	bool told;	 /* since something was last mapped there */
	uint8_t bytes[SOFT_CODE_PAGE + SOFT_CODE_TAIL];
	uint8_t ran[(SOFT_CODE_PAGE + SOFT_CODE_TAIL) / 8]; /* a bit for each of them */
};

struct soft_pages {
	struct page **slot; /* open addressing by addr */
	size_t nr, nr_slots; /* a power of two, at least twice nr */
};

void soft_code_free(struct soft_pages *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nr_slots; i++)
		free(p->slot[i]);
	free(p->slot);
	free(p);
}

static struct page **find(const struct soft_pages *p, uint64_t addr)
{
	size_t i = (addr / SOFT_CODE_PAGE * UINT64_C(0x9e3779b97f4a7c15)) >> 32;

	while (p->slot[i & (p->nr_slots - 1)] && p->slot[i & (p->nr_slots - 1)]->addr != addr)
		i++;
	return &p->slot[i & (p->nr_slots - 1)];
}

static bool make_room(struct soft_pages *p)
{
	struct soft_pages n = { .nr_slots = p->nr_slots ? p->nr_slots * 2 : 64, .nr = p->nr };

	if (p->nr * 2 < p->nr_slots)
		return true;
	if (p->nr >= PAGES_MAX)
		return false;
	n.slot = calloc(n.nr_slots, sizeof(*n.slot));
	if (!n.slot)
		return false;
	for (size_t i = 0; i < p->nr_slots; i++)
		if (p->slot[i])
			*find(&n, p->slot[i]->addr) = p->slot[i];
	free(p->slot);
	*p = n;
	return true;
}

/* The page at addr, or NULL if there is no room for it. */
static struct page *page_at(struct soft_mem *m, uint64_t addr)
{
	struct page **at;

	if (!m->pages)
		m->pages = calloc(1, sizeof(*m->pages));
	if (!m->pages || !make_room(m->pages))
		return NULL;
	at = find(m->pages, addr);
	if (*at)
		return *at;
	*at = calloc(1, sizeof(**at));
	if (*at) {
		(*at)->addr = addr;
		m->pages->nr++;
	}
	return *at;
}

void soft_code_changed(struct soft_pages *p, uint64_t begin, uint64_t end)
{
	for (size_t i = 0; p && i < p->nr_slots; i++)
		if (p->slot[i] && p->slot[i]->addr < end &&
		    p->slot[i]->addr + sizeof(p->slot[i]->bytes) > begin)
			p->slot[i]->told = false;
}

/* As it is now: fits everything that has run there. */
static bool fits(const struct page *p, const uint8_t *now)
{
	for (size_t i = 0; i < sizeof(p->bytes); i++)
		if (p->ran[i / 8] >> i % 8 & 1 && p->bytes[i] != now[i])
			return false;
	return true;
}

/* No earlier than records can be that come now (soft_round()). */
static uint64_t no_older(const struct soft_thread *t, uint64_t ticks)
{
	return ticks > t->rounds->before ? ticks : t->rounds->before + 1;
}

/* Written over since it ran: from when on is it new? Instructions that are carried out in the
 * tracer may share their time with those that ran before. */
static uint64_t new_time(struct soft_thread *t, const struct page *p)
{
	if (t->resumed <= p->seen)
		t->resumed = soft_ticks_of(t->cfg);
	t->mem->gen++;
	t->mem->gen_time = t->resumed;
	return t->resumed;
}

static uint64_t time_of(struct soft_thread *t, const struct page *p, bool fitting)
{
	if (!p->told && t->mem->code_time)
		return no_older(t, t->mem->code_time);
	return p->told && fitting ? no_older(t, p->since) : new_time(t, p);
}

/* True: from now on only, whatever was there before. */
static bool hand_out(struct soft_thread *t, struct page *p)
{
	const uint32_t gen = t->mem->gen;
	struct soft_code c = { .pid = t->pid, .tid = t->tid, .addr = p->addr,
			       .number = p->number };
	uint8_t now[sizeof(p->bytes)] = { 0 };
	bool fitting;

	(void)soft_mem_read(t->mem, p->addr, now, sizeof(now));
	fitting = fits(p, now);
	c.ticks = p->since = time_of(t, p, fitting);
	if (!p->told || !fitting)
		memset(p->ran, 0, sizeof(p->ran));
	if (!p->number || memcmp(now, p->bytes, sizeof(now)))
		c.bytes = memcpy(p->bytes, now, sizeof(now));
	p->told = true;
	p->number = t->cfg->code(t->cfg->code_arg, &c);
	t->stats->code_kept += p->number != 0;
	t->stats->code_lost += !p->number;
	return t->mem->gen != gen;
}

/* n bytes at addr, of one page and its tail, are about to run. True: they are new. */
static bool see(struct soft_thread *t, uint64_t addr, const uint8_t *bytes, size_t n)
{
	const size_t off = addr % SOFT_CODE_PAGE;
	struct page *p = page_at(t->mem, addr - off);
	bool anew = false;

	if (!p) {
		t->stats->code_lost++;
		return false;
	}
	if (!p->told || memcmp(p->bytes + off, bytes, n))
		anew = hand_out(t, p);
	for (size_t i = off; i < off + n; i++)
		p->ran[i / 8] |= (uint8_t)(1u << i % 8);
	if (t->resumed > p->seen)
		p->seen = t->resumed;
	return anew;
}

static bool look(struct soft_thread *t, const struct soft_insn *i)
{
	const size_t left = SOFT_CODE_PAGE - i->ip % SOFT_CODE_PAGE;
	uint8_t bytes[SOFT_CODE_TAIL];
	bool anew;

	if (!t->cfg->code || !i->loose || !i->len || soft_gate_shut(t->gate) ||
	    t->mem->areas.jitdump || soft_mem_read(t->mem, i->ip, bytes, i->len) != i->len)
		return false;
	anew = see(t, i->ip, bytes, i->len);
	if (i->len > left)
		anew |= see(t, i->ip + left, bytes + left, i->len - left);
	return anew;
}

void soft_code_see(struct soft_thread *t, const struct soft_insn *i)
{
	if (look(t, i))
		soft_pt_cut(&t->pt, i->ip);
}

static bool tells(const struct soft_insn *i)
{
	return i->cls >= SOFT_JCC && i->cls <= SOFT_FAR && i->cls != SOFT_JMP &&
	       i->cls != SOFT_CALL;
}

void soft_code_ahead(struct soft_thread *t, const struct soft_insn *i, uint64_t ip)
{
	struct soft_insn next;

	if (!t->cfg->code || !tells(i) || soft_mem_is_fixed(t->mem, ip))
		return;
	soft_insn_at(&next, t->mem, ip);
	(void)look(t, &next);
}
