/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/ranges.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

void soft_ranges_done(struct soft_ranges *r)
{
	free(r->v);
	*r = (struct soft_ranges){ 0 };
}

static uint64_t down(uint64_t addr)
{
	return addr & ~(uint64_t)(PAGE - 1);
}

static uint64_t up(uint64_t addr)
{
	return addr > UINT64_MAX - PAGE ? UINT64_MAX : down(addr + PAGE - 1);
}

/* The first that ends behind addr. */
static size_t first_after(const struct soft_ranges *r, uint64_t addr)
{
	size_t low = 0, high = r->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->v[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool covers(const struct soft_ranges *r, const struct soft_range *all)
{
	const size_t i = first_after(r, all->begin);

	return i < r->nr && r->v[i].begin <= all->begin && r->v[i].end >= all->end;
}

/* In place of those from `from` up to `to` there are n others. */
static void replace(struct soft_ranges *r, size_t from, size_t to, const struct soft_range *by,
		    size_t n)
{
	const size_t nr = r->nr - (to - from) + n;

	if (nr > r->cap) {
		size_t cap = nr * 2;
		struct soft_range *v = reallocarray(r->v, cap, sizeof(*v));

		if (!v) {
			r->all = true;
			return;
		}
		r->v = v;
		r->cap = cap;
	}
	if (r->nr > to)
		memmove(r->v + from + n, r->v + to, (r->nr - to) * sizeof(*r->v));
	for (size_t i = 0; i < n; i++)
		r->v[from + i] = by[i];
	r->nr = nr;
}

void soft_ranges_add(struct soft_ranges *r, uint64_t begin, uint64_t end)
{
	struct soft_range all = { down(begin), up(end) };
	size_t from, to;

	if (begin >= end || covers(r, &all))
		return;
	/* Neighbours become one. */
	from = to = first_after(r, all.begin ? all.begin - 1 : 0);
	for (; to < r->nr && r->v[to].begin <= all.end; to++) {
		if (r->v[to].begin < all.begin)
			all.begin = r->v[to].begin;
		if (r->v[to].end > all.end)
			all.end = r->v[to].end;
	}
	replace(r, from, to, &all, 1);
}

void soft_ranges_drop(struct soft_ranges *r, uint64_t begin, uint64_t end)
{
	struct soft_range left[2];
	size_t from, to, n = 0;

	if (begin >= end)
		return;
	begin = down(begin);
	end = up(end);
	from = to = first_after(r, begin);
	for (; to < r->nr && r->v[to].begin < end; to++) {
		const struct soft_range *i = &r->v[to];

		if (i->begin < begin)
			left[n++] = (struct soft_range){ i->begin, begin };
		if (i->end > end)
			left[n++] = (struct soft_range){ end, i->end };
	}
	if (to > from)
		replace(r, from, to, left, n);
}

bool soft_ranges_meet(const struct soft_ranges *r, uint64_t begin, uint64_t end)
{
	size_t i;

	if (r->all || !r->nr)
		return r->all;
	i = first_after(r, begin);
	return i < r->nr && r->v[i].begin < end;
}

void soft_ranges_copy(struct soft_ranges *to, const struct soft_ranges *from)
{
	to->all = from->all;
	if (from->nr)
		replace(to, 0, 0, from->v, from->nr);
}
