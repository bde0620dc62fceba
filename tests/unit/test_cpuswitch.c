/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/cpuswitch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "format/abi.h"
#include "format/le.h"
#include "recorder/fold.h"

enum { IN, OUT = FMT_MISC_SWITCH_OUT, PREEMPT = OUT | FMT_MISC_SWITCH_OUT_PREEMPT, WIDE = 48 };

static struct cpuswitch *c;
static struct fmt_buf rec, to;

static int setup(void **state)
{
	(void)state;
	return cpuswitch_new(&c) || cpuswitch_add_cpu(c, 0, 70) || cpuswitch_add_cpu(c, 3, 73);
}

static int teardown(void **state)
{
	(void)state;
	cpuswitch_free(c);
	fmt_buf_done(&rec);
	fmt_buf_done(&to);
	return 0;
}

static void change(int cpu, uint32_t tid, uint64_t ns)
{
	const struct cpuswitch_change x = { cpu, tid ? 1 : 0, tid, ns, ns + 8 };

	assert_int_equal(cpuswitch_change(c, &x), 0);
}

static void record(uint32_t tid, unsigned misc, uint64_t ns)
{
	uint8_t r[FOLD_REC_SIZE] = { FMT_REC_SWITCH };

	le_put(r + 4, misc, 2);
	le_put(r + 6, sizeof(r), 2);
	le_put(r + 12, tid, 4);
	le_put(r + 16, ns, 8);
	fmt_put(&rec, r, sizeof(r));
}

/* "time cpu:leaves>comes" of each pair, with the id of the cpu; the halves are checked against each
 * other. */
static void expect_pairs(const char *want)
{
	char got[512] = "";

	assert_int_equal(to.len % (2 * WIDE), 0);
	for (const uint8_t *p = to.data; p < to.data + to.len; p += 2 * WIDE) {
		const uint8_t *in = p + WIDE;
		unsigned misc = le_get16(p + 4), cpu = le_get32(p + 32);
		size_t n = strlen(got);

		assert_int_equal(le_get32(p), FMT_REC_SWITCH_CPU_WIDE);
		assert_true(misc & OUT);
		assert_int_equal(le_get16(in + 4), 0);
		assert_int_equal(le_get32(p + 12), le_get32(in + 20)); /* next: who comes */
		assert_int_equal(le_get32(in + 12), le_get32(p + 20));
		assert_true(le_get(in + 24, 8) > le_get(p + 24, 8));
		assert_int_equal(le_get32(in + 32), cpu);
		assert_int_equal(le_get(p + 40, 8), 70 + cpu);
		snprintf(got + n, sizeof(got) - n, "%llu %u:%u%s%u ",
			 (unsigned long long)le_get(p + 24, 8), cpu, le_get32(p + 20),
			 misc == PREEMPT ? "!" : ">", le_get32(p + 12));
	}
	assert_string_equal(got, want);
}

static void turn(void)
{
	assert_int_equal(cpuswitch_turn(c, rec.data, rec.len, &to), 0);
	fmt_buf_reset(&rec);
}

static void expect(const char *want)
{
	turn();
	expect_pairs(want);
	fmt_buf_reset(&to);
}

static void trace_goes_from_thread_to_thread(void **state)
{
	(void)state;
	change(0, 11, 100);
	change(3, 12, 110);
	change(0, 13, 200);
	change(0, 0, 300);
	expect("100 0:0>11 110 3:0>12 200 0:11>13 300 0:13>0 ");
}

static void whose_trace_it_is_leaves_and_comes_back(void **state)
{
	(void)state;
	change(0, 11, 100);
	record(11, OUT, 200);
	record(11, IN, 300);
	record(11, PREEMPT, 400);
	record(11, IN, 500);
	expect("100 0:0>11 200 0:11>0 300 0:0>11 400 0:11!0 500 0:0>11 ");
}

static void others_stand_still_as_far_as_is_told(void **state)
{
	(void)state;
	change(0, 11, 100);
	record(12, OUT, 200);
	record(12, IN, 300);
	change(0, 12, 400);
	record(11, OUT, 500);
	expect("100 0:0>11 400 0:11>12 ");
}

static void who_is_away_is_followed_by_another(void **state)
{
	(void)state;
	change(0, 11, 100);
	record(11, OUT, 200);
	change(0, 12, 300);
	record(11, IN, 350);
	change(0, 11, 400);
	expect("100 0:0>11 200 0:11>0 300 0:0>12 400 0:12>11 ");
}

/* Its trace went on, so it was there; that it was on its way is not told twice. */
static void a_way_back_that_is_told_late_is_none(void **state)
{
	(void)state;
	change(0, 11, 100);
	record(11, OUT, 200);
	expect("100 0:0>11 200 0:11>0 ");
	change(0, 11, 300);
	record(11, IN, 310);
	expect("300 0:0>11 ");
}

static void times_rise(void **state)
{
	(void)state;
	change(0, 11, 100);
	record(11, OUT, 105);
	record(11, IN, 105);
	expect("100 0:0>11 109 0:11>0 111 0:0>11 ");
}

/* ---- what a flight keeps ---- */

enum { PAIR = CPUSWITCH_PAIR_SIZE };

/* Forget `pairs` of what there is, for trace that begins then on both cpus: where the mark is. */
static size_t forget(size_t pairs, uint64_t from0, uint64_t from3, size_t mark)
{
	const uint64_t from[] = { from0, from3 };
	size_t n = pairs * PAIR, stay;

	mark *= PAIR;
	stay = cpuswitch_forget(c, to.data, n, from, &mark);
	memmove(to.data + stay, to.data + n, to.len - n);
	to.len -= n - stay;
	assert_int_equal(mark % PAIR, 0);
	return mark / PAIR;
}

static void join(bool beside)
{
	to.len = cpuswitch_join(c, to.data, to.len, beside);
}

/* Two threads on cpu 0 that take turns and wait, one on cpu 3. */
static void fill(void)
{
	change(0, 11, 100);
	change(3, 12, 110);
	record(11, OUT, 200);
	record(11, IN, 300);
	record(12, OUT, 310);
	record(12, IN, 320);
	change(0, 13, 400);
	record(13, OUT, 450);
	record(13, IN, 470);
	change(0, 0, 500);
	change(0, 11, 600);
	record(12, OUT, 700);
	turn();
	expect_pairs("100 0:0>11 110 3:0>12 200 0:11>0 300 0:0>11 310 3:12>0 320 3:0>12 "
		     "400 0:11>13 450 0:13>0 470 0:0>13 500 0:13>0 600 0:0>11 700 3:12>0 ");
}

static void who_waits_is_forgotten_but_not_whose_trace_it_is(void **state)
{
	(void)state;
	fill();
	assert_int_equal(forget(11, 0, 0, 0), 0);
	expect_pairs("100 0:0>11 110 3:0>12 400 0:11>13 600 0:0>11 700 3:12>0 ");
}

static void of_what_is_older_than_the_trace_the_last_is_kept(void **state)
{
	(void)state;
	fill();
	forget(11, 550, UINT64_MAX, 0);
	expect_pairs("110 3:0>12 400 0:11>13 600 0:0>11 700 3:12>0 ");
	/* And again, with what came meanwhile. */
	change(0, 13, 800);
	turn();
	forget(4, 700, 700, 0);
	expect_pairs("110 3:0>12 600 0:0>11 800 0:11>13 ");
}

static void the_moment_of_a_change_belongs_to_the_trace_behind_it(void **state)
{
	(void)state;
	fill();
	forget(11, 407, 0, 0); /* it comes at 408 */
	expect_pairs("100 0:0>11 110 3:0>12 400 0:11>13 600 0:0>11 700 3:12>0 ");
	forget(4, 408, 0, 0);
	expect_pairs("110 3:0>12 400 0:11>13 600 0:0>11 700 3:12>0 ");
}

static void a_mark_stays_before_the_same_pair(void **state)
{
	(void)state;
	fill();
	assert_int_equal(forget(2, 0, 0, 12), 12);
	assert_int_equal(forget(8, 0, 0, 12), 7);
	expect_pairs("100 0:0>11 110 3:0>12 400 0:11>13 470 0:0>13 500 0:13>0 600 0:0>11 "
		     "700 3:12>0 ");
	assert_int_equal(forget(5, 0, 0, 2), 2);
	assert_int_equal(forget(3, 500, 500, 2), 1);
}

static void a_file_is_told_of_no_one_who_leaves_and_never_came(void **state)
{
	(void)state;
	fill();
	forget(8, 500, 500, 0);
	expect_pairs("110 3:0>12 400 0:11>13 470 0:0>13 500 0:13>0 600 0:0>11 700 3:12>0 ");
	join(false);
	expect_pairs("110 3:0>12 400 0:11>13 500 0:13>0 600 0:0>11 700 3:12>0 ");
	/* Behind these: 11 is on cpu 0 and has left meanwhile, nobody is on cpu 3. */
	fmt_buf_reset(&to);
	change(0, 13, 800);
	record(13, OUT, 850);
	record(12, IN, 860);
	change(0, 14, 900);
	turn();
	forget(3, 900, 900, 0);
	join(false);
	expect_pairs("800 0:11>13 860 3:0>12 900 0:13>14 ");
}

static void a_file_beside_begins_by_itself(void **state)
{
	(void)state;
	change(0, 11, 100);
	turn();
	join(false);
	fmt_buf_reset(&to);
	change(0, 0, 150);
	change(0, 13, 200);
	turn();
	memmove(to.data, to.data + PAIR, to.len - PAIR);
	to.len -= PAIR;
	join(true);
	expect_pairs("200 0:0>13 ");
	join(true);
	expect_pairs("200 0:0>13 ");
	join(false);
	expect_pairs("200 0:11>13 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
		T(trace_goes_from_thread_to_thread),
		T(whose_trace_it_is_leaves_and_comes_back),
		T(others_stand_still_as_far_as_is_told),
		T(who_is_away_is_followed_by_another),
		T(a_way_back_that_is_told_late_is_none),
		T(times_rise),
		T(who_waits_is_forgotten_but_not_whose_trace_it_is),
		T(of_what_is_older_than_the_trace_the_last_is_kept),
		T(the_moment_of_a_change_belongs_to_the_trace_behind_it),
		T(a_mark_stays_before_the_same_pair),
		T(a_file_is_told_of_no_one_who_leaves_and_never_came),
		T(a_file_beside_begins_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
