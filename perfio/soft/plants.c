/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/plants_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { LEAST_SLOTS = 64 };
/* Opcode of int n: `int 3` of two bytes traps as int3 does. */
enum { INT_N = 0xcd };

static bool in(const uint64_t *set, size_t i)
{
	return soft_set_has(set, i);
}

static void add(uint64_t *set, size_t i)
{
	soft_set_add(set, i);
}

static uint64_t page_of(uint64_t addr)
{
	return addr & ~(uint64_t)(PAGE - 1);
}

static size_t slot_of(const struct soft_plants *p, uint64_t page)
{
	size_t i = (size_t)((page / PAGE * 0x9e3779b97f4a7c15) >> 32) & (p->cap - 1);

	while (p->page[i] && p->page[i]->addr != page)
		i = (i + 1) & (p->cap - 1);
	return i;
}

struct soft_page *soft_page_find(const struct soft_plants *p, uint64_t addr)
{
	return p->nr ? p->page[slot_of(p, page_of(addr))] : NULL;
}

static bool make_room(struct soft_plants *p)
{
	struct soft_plants n = { .cap = p->cap ? p->cap * 2 : LEAST_SLOTS };

	if (p->nr < p->cap / 2)
		return true;
	n.page = calloc(n.cap, sizeof(*n.page));
	if (!n.page)
		return false;
	for (size_t i = 0; i < p->cap; i++)
		if (p->page[i])
			n.page[slot_of(&n, p->page[i]->addr)] = p->page[i];
	free(p->page);
	p->page = n.page;
	p->cap = n.cap;
	return true;
}

static bool keep(struct soft_plants *p, struct soft_page *g)
{
	if (!make_room(p))
		return false;
	p->page[slot_of(p, g->addr)] = g;
	p->nr++;
	return true;
}

struct soft_page *soft_page_get(struct soft_plants *p, uint64_t addr)
{
	struct soft_page *g = soft_page_find(p, addr);

	if (g)
		return g;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->addr = page_of(addr);
	if (pread(p->fd, g->was, PAGE, (off_t)g->addr) == PAGE && keep(p, g))
		return g;
	free(g);
	return NULL;
}

void soft_plants_done(struct soft_plants *p)
{
	for (size_t i = 0; i < p->cap; i++)
		free(p->page[i]);
	free(p->page);
	*p = (struct soft_plants){ .fd = p->fd };
}

size_t soft_plants_code(struct soft_plants *p, uint64_t addr, void *to, size_t n)
{
	size_t done = 0;

	while (done < n) {
		const struct soft_page *g = soft_page_get(p, addr + done);
		size_t at = (addr + done) % PAGE, some = PAGE - at;

		if (!g)
			break;
		if (some > n - done)
			some = n - done;
		memcpy((uint8_t *)to + done, g->was + at, some);
		done += some;
	}
	return done;
}

void soft_plants_overlay(const struct soft_plants *p, uint64_t addr, void *bytes, size_t n)
{
	for (size_t i = 0; p->planted && i < n;) {
		const struct soft_page *g = soft_page_find(p, addr + i);
		size_t at = (addr + i) % PAGE, end = i + PAGE - at;

		if (!g || !g->planted) {
			i = end;
			continue;
		}
		for (; i < n && i < end; i++, at++)
			if (in(g->plant, at))
				((uint8_t *)bytes)[i] = g->was[at];
	}
}

static bool write_byte(const struct soft_plants *p, uint64_t addr, uint8_t v)
{
	return pwrite(p->fd, &v, 1, (off_t)addr) == 1;
}

bool soft_plants_put(struct soft_plants *p, uint64_t addr)
{
	struct soft_page *g = soft_page_get(p, addr);
	size_t at = addr % PAGE;

	if (!g || in(g->tail, at))
		return false;
	if (g->armed)
		add(g->own, at);
	if (in(g->plant, at))
		return true;
	if (!write_byte(p, addr, INT3))
		return false;
	add(g->plant, at);
	g->planted++;
	p->planted++;
	return true;
}

bool soft_plants_has(const struct soft_plants *p, uint64_t addr)
{
	const struct soft_page *g = soft_page_find(p, addr);

	return g && in(g->plant, addr % PAGE);
}

static bool stops(const struct soft_page *g, size_t at)
{
	return in(g->plant, at) && (!g->armed || in(g->own, at));
}

bool soft_plants_stops(const struct soft_plants *p, uint64_t addr)
{
	const struct soft_page *g = soft_page_find(p, addr);

	return g && stops(g, addr % PAGE);
}

bool soft_plants_met(const struct soft_plants *p, uint64_t addr)
{
	uint8_t now[2];

	if (soft_plants_has(p, addr))
		return true;
	if (pread(p->fd, now, 2, (off_t)addr - 1) != 2)
		return pread(p->fd, now + 1, 1, (off_t)addr) == 1 && now[1] != INT3;
	return now[1] != INT3 && !(now[0] == INT_N && now[1] == 3);
}

void soft_plants_take(struct soft_plants *p, uint64_t addr)
{
	struct soft_page *g = soft_page_find(p, addr);
	size_t at = addr % PAGE;

	if (g)
		soft_set_drop(g->own, at);
	if (!g || !in(g->plant, at) || (g->armed && in(g->entry, at)) ||
	    !write_byte(p, addr, g->was[at]))
		return;
	soft_set_drop(g->plant, at);
	g->planted--;
	p->planted--;
	p->withdrawals++;
}

bool soft_plants_pass(struct soft_plants *p, uint64_t addr, size_t len)
{
	for (size_t i = 1; i < len; i++) {
		struct soft_page *g = soft_page_get(p, addr + i);

		if (!g || stops(g, (addr + i) % PAGE))
			return false;
		add(g->tail, (addr + i) % PAGE);
		soft_set_drop(g->entry, (addr + i) % PAGE);
	}
	return true;
}

unsigned soft_plants_among(const struct soft_plants *p, uint64_t addr, size_t n)
{
	unsigned found = 0;

	for (size_t i = 0; p->planted && i < n; i++)
		found += soft_plants_has(p, addr + i);
	return found;
}

static void rewrite(const struct soft_plants *p, uint64_t addr, size_t n, bool plants)
{
	for (size_t i = 0; p->planted && i < n; i++) {
		const struct soft_page *g = soft_page_find(p, addr + i);
		size_t at = (addr + i) % PAGE;

		if (g && in(g->plant, at))
			write_byte(p, addr + i, plants ? INT3 : g->was[at]);
	}
}

void soft_plants_lift(const struct soft_plants *p, uint64_t addr, size_t n)
{
	rewrite(p, addr, n, false);
}

void soft_plants_lower(const struct soft_plants *p, uint64_t addr, size_t n)
{
	rewrite(p, addr, n, true);
}

static bool overlaps(const struct soft_page *g, uint64_t begin, uint64_t end)
{
	return g->addr < end && g->addr + PAGE > begin;
}

bool soft_plants_within(const struct soft_plants *p, uint64_t begin, uint64_t end)
{
	for (size_t i = 0; p->planted && i < p->cap; i++)
		if (p->page[i] && p->page[i]->planted && overlaps(p->page[i], begin, end))
			return true;
	return false;
}

void soft_page_bytes(const struct soft_page *g, uint8_t to[PAGE])
{
	memcpy(to, g->was, PAGE);
	for (size_t i = 0; i < PAGE; i++)
		if (in(g->plant, i))
			to[i] = INT3;
}

static void restore(const struct soft_plants *p, const struct soft_page *g, uint64_t by)
{
	const uint64_t addr = g->addr + by;
	uint8_t is[PAGE], left[PAGE];

	if (!g->planted || pread(p->fd, is, PAGE, (off_t)addr) != PAGE)
		return;
	soft_page_bytes(g, left);
	if (!memcmp(is, left, PAGE))
		(void)!pwrite(p->fd, g->was, PAGE, (off_t)addr);
}

/* Those behind it move up: a gap would hide them. */
static void drop(struct soft_plants *p, size_t i)
{
	p->withdrawals += p->page[i]->planted != 0;
	p->planted -= p->page[i]->planted;
	p->armed -= p->page[i]->armed;
	p->nr--;
	free(p->page[i]);
	p->page[i] = NULL;
	for (size_t k = (i + 1) & (p->cap - 1); p->page[k]; k = (k + 1) & (p->cap - 1)) {
		struct soft_page *g = p->page[k];

		p->page[k] = NULL;
		p->page[slot_of(p, g->addr)] = g;
	}
}

void soft_plants_withdraw(struct soft_plants *p, uint64_t begin, uint64_t end, uint64_t by)
{
	for (size_t i = 0; i < p->cap; i++) {
		while (p->page[i] && overlaps(p->page[i], begin, end)) {
			restore(p, p->page[i], by);
			drop(p, i);
		}
	}
}

/* The parent's plants may be newer than the fork: what the child has decides. */
static void adapt(const struct soft_plants *p, struct soft_page *g)
{
	uint8_t is[PAGE];

	if (pread(p->fd, is, PAGE, (off_t)g->addr) != PAGE)
		memset(is, 0, PAGE);
	for (size_t i = 0; i < PAGE; i++) {
		if (!in(g->plant, i) || is[i] == INT3)
			continue;
		soft_set_drop(g->plant, i);
		g->planted--;
	}
	g->armed = false;
}

int soft_plants_fork(struct soft_plants *to, const struct soft_plants *from, bool moved)
{
	for (size_t i = 0; i < from->cap; i++) {
		struct soft_page *g;

		if (!from->page[i] || !from->page[i]->planted)
			continue;
		g = malloc(sizeof(*g));
		if (!g)
			return -ENOMEM;
		*g = *from->page[i];
		if (moved)
			adapt(to, g);
		if (!keep(to, g)) {
			free(g);
			return -ENOMEM;
		}
		to->planted += g->planted;
		to->armed += g->armed;
	}
	return 0;
}
