/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "recorder/spans.h"

static struct spans s;

static int teardown(void **state)
{
	(void)state;
	spans_done(&s);
	return 0;
}

static void assert_list(const char *want)
{
	char got[128] = "";

	for (size_t i = 0; i < s.n; i++) {
		assert_true(s.v[i].iov_len > 0);
		strncat(got, s.v[i].iov_base, s.v[i].iov_len);
		strcat(got, "|");
	}
	assert_string_equal(got, want);
	assert_true(s.cap > s.n || !s.n);
}

static void rings_follow_each_other_as_they_lie(void **state)
{
	char a[] = "abc", b[] = "de", c[] = "f";
	struct iovec two[2] = { { a, 3 }, { b, 2 } }, one[1] = { { c, 1 } };

	(void)state;
	assert_list("");
	spans_ring(&s, two, 2);
	assert_int_equal(spans_ring_end(&s), 0);
	spans_ring(&s, one, 1);
	assert_int_equal(spans_ring_end(&s), 0);
	spans_ring(&s, one, 0);
	assert_int_equal(spans_ring_end(&s), 0);
	assert_list("abc|de|f|");
	assert_ptr_equal(s.v[0].iov_base, a); /* nothing is copied */
	spans_reset(&s);
	assert_list("");
}

static void pieces_are_replaced(void **state)
{
	char a[] = "abcdefgh", new[] = "XY";
	struct iovec v[1] = { { a, 8 } };

	(void)state;
	spans_ring(&s, v, 1);
	assert_int_equal(spans_replace(&s, 0, new, 2), 0);
	assert_int_equal(spans_replace(&s, 2, new, 1), 0);
	assert_int_equal(spans_replace(&s, 6, new, 2), 0);
	assert_int_equal(spans_ring_end(&s), 0);
	memset(new, '?', 2); /* they were copied */
	assert_list("XY|X|def|XY|");
	assert_string_equal(a, "abcdefgh");
}

static void pieces_are_left_out(void **state)
{
	char a[] = "abcdefgh", more[] = "+";
	struct iovec v[1] = { { a, 8 } };

	(void)state;
	spans_ring(&s, v, 1);
	assert_int_equal(spans_skip(&s, 0, 2), 0);
	assert_int_equal(spans_skip(&s, 2, 1), 0);
	assert_int_equal(spans_skip(&s, 6, 2), 0);
	assert_int_equal(spans_ring_end(&s), 0);
	assert_int_equal(spans_add(&s, more, 1), 0);
	assert_list("def|+|");
}

static void pieces_may_lie_across_the_wrap(void **state)
{
	static const char *const want[] = {
		"a|XYZ|efgh|", "a|XYZ|efgh|", "a|XYZ|efgh|", "a|XYZ|efgh|",
		"a|XYZ|e|fgh|",
	};
	char a[8], b[8];

	(void)state;
	for (size_t cut = 1; cut <= 5; cut++) {
		struct iovec v[2] = { { a, cut }, { b, 8 - cut } };

		memcpy(a, "abcdefgh", cut);
		memcpy(b, &"abcdefgh"[cut], 8 - cut);
		spans_reset(&s);
		spans_ring(&s, v, 2);
		assert_int_equal(spans_replace(&s, 1, "XYZ", 3), 0);
		assert_int_equal(spans_ring_end(&s), 0);
		assert_list(want[cut - 1]);
	}
}

/* More than one block of memory holds, twice: what was kept first stays where it is. */
static void thousands_are_kept(void **state)
{
	static uint8_t ring[8 * 4000];
	struct iovec v[1] = { { ring, sizeof(ring) } };

	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		spans_reset(&s);
		spans_ring(&s, v, 1);
		for (uint64_t i = 0; i < 4000; i++)
			assert_int_equal(spans_replace(&s, 8 * i, &i, 8), 0);
		assert_int_equal(spans_ring_end(&s), 0);
		assert_int_equal(s.n, 4000);
		for (uint64_t i = 0; i < 4000; i++)
			assert_memory_equal(s.v[i].iov_base, &i, 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_teardown(name, teardown)
		T(rings_follow_each_other_as_they_lie),
		T(pieces_are_replaced),
		T(pieces_are_left_out),
		T(pieces_may_lie_across_the_wrap),
		T(thousands_are_kept),
	};

	spans_done(&s);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
