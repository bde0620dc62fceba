/* SPDX-License-Identifier: Apache-2.0 */
/* Where trace is cut: against a search that looks at every PSB from the beginning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "format/ptcut.h"

enum { MOST = 64 << 10, PSB = 16, TSC = 8 };

static uint8_t trace[MOST];
static size_t psb[MOST / PSB], nr_psb;
static uint64_t tsc[MOST / PSB];

/* PSBs `gap` bytes apart (PAD between them), each with a TSC `step` after the one before it. */
static size_t make(size_t n, size_t gap, uint64_t first, uint64_t step)
{
	size_t at = gap / 3;

	memset(trace, 0, sizeof(trace));
	nr_psb = 0;
	for (uint64_t t = first; at + PSB + TSC <= n; at += gap, t += step) {
		for (size_t i = 0; i < PSB; i += 2)
			memcpy(trace + at + i, "\x02\x82", 2);
		trace[at + PSB] = 0x19;
		for (size_t i = 0; i < 7; i++)
			trace[at + PSB + 1 + i] = (uint8_t)(t >> (8 * i));
		psb[nr_psb] = at;
		tsc[nr_psb++] = t;
	}
	return n;
}

static size_t cut(size_t n, size_t split, uint64_t from)
{
	struct iovec v[2] = { { trace, split }, { trace + split, n - split } };

	return fmt_pt_cut(v, split < n ? 2 : 1, from);
}

static size_t expected(size_t split, uint64_t from)
{
	size_t at = 0;

	for (size_t i = 0; i < nr_psb && tsc[i] <= from; i++)
		if (psb[i] + PSB <= split || psb[i] >= split) /* not across */
			at = psb[i];
	return at;
}

static void test_every_moment(void **state)
{
	static const size_t gaps[] = { 64, 100, 2048, 5000 };

	(void)state;
	for (size_t g = 0; g < 4; g++) {
		size_t n = make(20000, gaps[g], 1000, 10);

		for (size_t split = 1; split <= n; split += 731)
			for (uint64_t from = 990; from < 1000 + 10 * nr_psb + 20; from += 7)
				assert_int_equal(cut(n, split, from), expected(split, from));
	}
}

/* 56 bits of a counter that has gone beyond them. */
static void test_wrap(void **state)
{
	size_t n = make(20000, 2048, (UINT64_C(1) << 56) - 15, 10);

	(void)state;
	assert_int_equal(cut(n, n, (UINT64_C(1) << 56) - 6), psb[0]);
	assert_int_equal(cut(n, n, (UINT64_C(1) << 56) - 5), psb[1]);
	assert_int_equal(cut(n, n, 4), psb[1]);
	assert_int_equal(cut(n, n, 5), psb[2]);
	assert_int_equal(cut(n, n, (UINT64_C(7) << 56) + 15), psb[3]);
}

static void test_begin(void **state)
{
	size_t n = make(20000, 2048, 1000, 10);
	struct iovec v[2] = { { trace + psb[1] + 1, 3000 }, { trace + psb[1] + 3001, n - 9000 } };
	uint64_t first = 0;

	(void)state;
	assert_true(fmt_pt_begin(v, 2, &first)); /* within the packets behind the second one */
	assert_int_equal(first, 1020);
	v[0].iov_len = 100;
	assert_false(fmt_pt_begin(v, 1, &first));
	assert_false(fmt_pt_begin(v, 0, &first));
	assert_int_equal(fmt_pt_ago(1030, 1020), 10);
	assert_int_equal(fmt_pt_ago((UINT64_C(3) << 56) + 5, (UINT64_C(1) << 56) - 5), 10);
	assert_int_equal(fmt_pt_ago(1020, 1030), 0);
}

static void test_nothing_to_go_by(void **state)
{
	(void)state;
	memset(trace, 0x55, sizeof(trace));
	assert_int_equal(cut(sizeof(trace), 100, UINT64_MAX >> 9), 0);
	assert_int_equal(fmt_pt_cut(NULL, 0, 5), 0);
	(void)make(20000, 2048, 1000, 10);
	for (size_t i = 0; i < nr_psb; i++)
		memset(trace + psb[i] + PSB, 0, TSC); /* without the bit tsc */
	assert_int_equal(cut(20000, 20000, 5000), 0);
	(void)make(PSB, PSB, 1, 1); /* a last PSB with nothing behind it */
	memcpy(trace, "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82", PSB);
	assert_int_equal(cut(PSB, PSB, 5000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_moment),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_begin),
		cmocka_unit_test(test_nothing_to_go_by),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
