/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/check_extent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The first range that ends at or behind `at`: ranges mostly come in order, so the last
 * one is looked at first. */
static size_t place(const struct check_extents *x, uint64_t at)
{
	size_t lo = 0, hi = x->n, mid;

	if (!x->n || at > x->e[x->n - 1].to)
		return x->n;
	if (x->n == 1 || at > x->e[x->n - 2].to)
		return x->n - 1;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (x->e[mid].to < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int insert(struct check_extents *x, size_t i, uint64_t from, uint64_t to)
{
	struct check_extent *e = x->e;

	if (x->n >= CHECK_EXTENTS_MAX)
		return -ENOSPC;
	if (!(x->n & (x->n - 1))) { /* full at every power of two */
		e = realloc(e, (x->n ? 2 * x->n : 1) * sizeof(*e));
		if (!e)
			return -ENOMEM;
		x->e = e;
	}
	memmove(e + i + 1, e + i, (x->n - i) * sizeof(*e));
	e[i] = (struct check_extent){ from, to };
	x->n++;
	return 0;
}

int check_extents_add(struct check_extents *x, uint64_t from, uint64_t to)
{
	size_t i, last;

	if (from >= to)
		return 0;
	i = place(x, from);
	if (i == x->n || x->e[i].from > to)
		return insert(x, i, from, to);
	for (last = i; last + 1 < x->n && x->e[last + 1].from <= to; last++)
		;
	if (from < x->e[i].from)
		x->e[i].from = from;
	x->e[i].to = to > x->e[last].to ? to : x->e[last].to;
	memmove(x->e + i + 1, x->e + last + 1, (x->n - last - 1) * sizeof(*x->e));
	x->n -= last - i;
	return 0;
}

/* Where the next range of b begins that ends behind `from`, or `to`. */
static uint64_t covered_from(const struct check_extents *b, size_t *k, uint64_t from,
			     uint64_t to)
{
	while (*k < b->n && b->e[*k].to <= from)
		++*k;
	return *k < b->n && b->e[*k].from < to ? b->e[*k].from : to;
}

uint64_t check_extents_minus(const struct check_extents *a, const struct check_extents *b,
			     uint64_t least, uint64_t *ret_first)
{
	uint64_t sum = 0, from, upto;
	size_t k = 0;

	for (size_t i = 0; i < a->n; i++) {
		for (from = a->e[i].from; from < a->e[i].to;) {
			upto = covered_from(b, &k, from, a->e[i].to);
			if (upto > from && upto - from >= least) {
				if (!sum)
					*ret_first = from;
				sum += upto - from;
			}
			from = upto < a->e[i].to ? b->e[k].to : upto;
		}
	}
	return sum;
}

int check_extents_holes(const struct check_extents *x, struct check_extents *ret)
{
	struct check_extents holes = { 0 };
	int err = 0;

	for (size_t i = 1; i < x->n && !err; i++)
		err = check_extents_add(&holes, x->e[i - 1].to, x->e[i].from);
	if (err) {
		check_extents_done(&holes);
		return err;
	}
	*ret = holes;
	return 0;
}

void check_extents_done(struct check_extents *x)
{
	free(x->e);
	*x = (struct check_extents){ 0 };
}
