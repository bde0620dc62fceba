/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "perfio/soft/ranges.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, PAGES = 64 };

static void is(const struct soft_ranges *r, size_t i, uint64_t begin, uint64_t end)
{
	assert_true(i < r->nr);
	assert_int_equal(r->v[i].begin, begin);
	assert_int_equal(r->v[i].end, end);
}

static void whole_pages_are_in(void **state)
{
	struct soft_ranges r = { 0 };

	(void)state;
	assert_false(soft_ranges_meet(&r, 0, UINT64_MAX));
	soft_ranges_add(&r, 5 * PAGE + 7, 5 * PAGE + 8);
	soft_ranges_add(&r, 9 * PAGE, 9 * PAGE);
	assert_int_equal(r.nr, 1);
	is(&r, 0, 5 * PAGE, 6 * PAGE);
	assert_true(soft_ranges_meet(&r, 5 * PAGE, 5 * PAGE + 1));
	assert_true(soft_ranges_meet(&r, 6 * PAGE - 1, 6 * PAGE));
	assert_false(soft_ranges_meet(&r, 6 * PAGE, 7 * PAGE));
	assert_false(soft_ranges_meet(&r, 4 * PAGE, 5 * PAGE));
	soft_ranges_add(&r, UINT64_MAX - 5, UINT64_MAX);
	assert_true(soft_ranges_meet(&r, UINT64_MAX - 1, UINT64_MAX));
	soft_ranges_done(&r);
	assert_false(soft_ranges_meet(&r, 0, UINT64_MAX));
}

static void neighbours_become_one(void **state)
{
	struct soft_ranges r = { 0 };

	(void)state;
	soft_ranges_add(&r, 0, PAGE);
	soft_ranges_add(&r, 2 * PAGE, 3 * PAGE);
	soft_ranges_add(&r, 6 * PAGE, 7 * PAGE);
	assert_int_equal(r.nr, 3);
	soft_ranges_add(&r, PAGE, 2 * PAGE);
	assert_int_equal(r.nr, 2);
	is(&r, 0, 0, 3 * PAGE);
	is(&r, 1, 6 * PAGE, 7 * PAGE);
	soft_ranges_drop(&r, PAGE, PAGE + 1);
	assert_int_equal(r.nr, 3);
	is(&r, 0, 0, PAGE);
	is(&r, 1, 2 * PAGE, 3 * PAGE);
	soft_ranges_done(&r);
}

/* Against a list of pages, and a copy. */
static void any_sequence_leaves_what_it_should(void **state)
{
	struct soft_ranges r = { 0 }, copy = { 0 };
	uint8_t want[PAGES] = { 0 };

	(void)state;
	srand(3);
	for (int n = 0; n < 20000; n++) {
		const unsigned at = (unsigned)rand() % PAGES, len = (unsigned)rand() % 9;
		const unsigned end = at + len < PAGES ? at + len : PAGES;
		const bool in = rand() % 2;

		(in ? soft_ranges_add : soft_ranges_drop)(&r, at * PAGE, end * PAGE);
		memset(want + at, in, end - at);
		for (unsigned i = 0; i < PAGES; i++)
			assert_int_equal(soft_ranges_meet(&r, i * PAGE, (i + 1) * PAGE), want[i]);
		for (size_t i = 1; i < r.nr; i++)
			assert_true(r.v[i - 1].end < r.v[i].begin);
	}
	soft_ranges_copy(&copy, &r);
	assert_int_equal(copy.nr, r.nr);
	assert_memory_equal(copy.v, r.v, r.nr * sizeof(*r.v));
	soft_ranges_done(&copy);
	soft_ranges_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_pages_are_in),
		cmocka_unit_test(neighbours_become_one),
		cmocka_unit_test(any_sequence_leaves_what_it_should),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
