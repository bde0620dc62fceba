/* SPDX-License-Identifier: Apache-2.0 */
/* What the judges remember in: tables of rows, sets of ranges. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "recorder/check_extent.h"
#include "recorder/check_map.h"

struct row {
	uint64_t key, v;
};

static void rows_are_found_by_their_key(void **state)
{
	struct check_map m = { .size = sizeof(struct row) };
	struct row *r;
	void *p;

	(void)state;
	assert_null(check_map_find(&m, 0));
	for (uint64_t i = 0; i < 5000; i++) {
		assert_int_equal(check_map_row(&m, i << 32 ^ i * i, 5000, &p), 1);
		r = p;
		assert_int_equal(r->v, 0);
		r->v = i;
	}
	assert_int_equal(m.n, 5000);
	for (uint64_t i = 0; i < 5000; i++) {
		assert_int_equal(check_map_row(&m, i << 32 ^ i * i, 5000, &p), 0);
		assert_int_equal(((struct row *)p)->v, i);
		r = check_map_at(&m, i);
		assert_int_equal(r->v, i);
	}
	assert_null(check_map_find(&m, UINT64_MAX));
	assert_int_equal(check_map_row(&m, UINT64_MAX, 5000, &p), -ENOSPC);
	check_map_done(&m);
	check_map_done(&m);
}

/* Against a bitmap of 200 bytes. */
static void ranges_are_those_of_a_bitmap(void **state)
{
	enum { BYTES = 200 };
	struct check_extents a = { 0 }, b = { 0 };
	uint8_t in_a[BYTES] = { 0 }, in_b[BYTES] = { 0 };
	uint64_t first, sum, want, want_first;
	unsigned seed = 1;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		struct check_extents *x = round % 2 ? &a : &b;
		uint8_t *bits = round % 2 ? in_a : in_b;
		unsigned from, len;

		if (round % 40 == 0) {
			check_extents_done(&a);
			check_extents_done(&b);
			memset(in_a, 0, BYTES);
			memset(in_b, 0, BYTES);
		}
		seed = seed * 1103515245 + 12345;
		from = seed >> 16 & 127;
		len = seed >> 24 & 15;
		assert_int_equal(check_extents_add(x, from, from + len), 0);
		memset(bits + from, 1, len);
		for (size_t i = 1; i < x->n; i++)
			assert_true(x->e[i - 1].to < x->e[i].from);
		want = want_first = 0;
		for (unsigned i = BYTES; i--;)
			if (in_a[i] && !in_b[i]) {
				want++;
				want_first = i;
			}
		first = 0;
		sum = check_extents_minus(&a, &b, 1, &first);
		assert_int_equal(sum, want);
		assert_int_equal(first, want_first);
	}
	check_extents_done(&a);
	check_extents_done(&b);
}

static void short_pieces_do_not_count(void **state)
{
	struct check_extents a = { 0 }, b = { 0 };
	uint64_t first = 0;

	(void)state;
	assert_int_equal(check_extents_add(&a, 0, 100), 0);
	assert_int_equal(check_extents_add(&b, 7, 50), 0);
	assert_int_equal(check_extents_add(&b, 58, 100), 0);
	assert_int_equal(check_extents_minus(&a, &b, 8, &first), 8);
	assert_int_equal(first, 50);
	check_extents_done(&a);
	check_extents_done(&b);
}

static void ranges_are_bounded(void **state)
{
	struct check_extents x = { 0 };

	(void)state;
	for (uint64_t i = 0; i < CHECK_EXTENTS_MAX; i++)
		assert_int_equal(check_extents_add(&x, 10 * i, 10 * i + 5), 0);
	assert_int_equal(check_extents_add(&x, 7, 8), -ENOSPC);
	assert_int_equal(check_extents_add(&x, 5, 10), 0);
	assert_int_equal(x.n, CHECK_EXTENTS_MAX - 1);
	check_extents_done(&x);
}

static void holes_are_what_lies_between(void **state)
{
	struct check_extents x = { 0 }, holes = { 0 };

	(void)state;
	assert_int_equal(check_extents_add(&x, 10, 20), 0);
	assert_int_equal(check_extents_add(&x, 25, 30), 0);
	assert_int_equal(check_extents_holes(&x, &holes), 0);
	assert_int_equal(holes.n, 1);
	assert_int_equal(holes.e[0].from, 20);
	assert_int_equal(holes.e[0].to, 25);
	check_extents_done(&x);
	check_extents_done(&holes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_found_by_their_key),
		cmocka_unit_test(ranges_are_those_of_a_bitmap),
		cmocka_unit_test(short_pieces_do_not_count),
		cmocka_unit_test(ranges_are_bounded),
		cmocka_unit_test(holes_are_what_lies_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
