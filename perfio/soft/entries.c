/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/plants_priv.h"

#include <string.h>
#include <sys/types.h>
#include <unistd.h>

bool soft_plants_entry(struct soft_plants *p, uint64_t addr)
{
	struct soft_page *g = soft_page_get(p, addr);

	if (!g)
		return false;
	if (!soft_set_has(g->tail, addr % PAGE)) {
		soft_set_add(g->entry, addr % PAGE);
		g->has_entries = true;
	}
	return true;
}

bool soft_plants_is_entry(const struct soft_plants *p, uint64_t addr)
{
	const struct soft_page *g = soft_page_find(p, addr);

	return g && soft_set_has(g->entry, addr % PAGE);
}

static unsigned count(const uint64_t set[SET])
{
	unsigned n = 0;

	for (size_t i = 0; i < SET; i++)
		n += (unsigned)__builtin_popcountll(set[i]);
	return n;
}

static bool within(const uint64_t a[SET], const uint64_t b[SET])
{
	for (size_t i = 0; i < SET; i++)
		if (a[i] & ~b[i])
			return false;
	return true;
}

/* From now on these are planted, and no others. */
static bool plant(struct soft_plants *p, struct soft_page *g, const uint64_t set[SET])
{
	uint8_t bytes[PAGE];

	if (!memcmp(g->plant, set, sizeof(g->plant)))
		return true;
	p->withdrawals += !within(g->plant, set);
	memcpy(g->plant, set, sizeof(g->plant));
	p->planted -= g->planted;
	g->planted = count(set);
	p->planted += g->planted;
	soft_page_bytes(g, bytes);
	return pwrite(p->fd, bytes, PAGE, (off_t)g->addr) == PAGE;
}

bool soft_plants_arm(struct soft_plants *p)
{
	bool all = true;

	p->armed = 0;
	for (size_t i = 0; i < p->cap; i++) {
		struct soft_page *g = p->page[i];

		if (!g || (!g->planted && !g->has_entries))
			continue;
		memset(g->own, 0, sizeof(g->own));
		all &= plant(p, g, g->entry);
		g->armed = g->has_entries;
		p->armed += g->armed;
	}
	return all;
}

void soft_plants_open(struct soft_plants *p, uint64_t addr, size_t n)
{
	for (uint64_t at = addr; n && p->armed; at = (at | (PAGE - 1)) + 1) {
		struct soft_page *g = soft_page_find(p, at);

		if (g && g->armed) {
			g->armed = false;
			p->armed--;
			(void)plant(p, g, g->own);
		}
		if (addr + n - at <= PAGE - at % PAGE)
			break;
	}
}
