/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/fold.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/abi.h"
#include "format/le.h"

enum { PID = 40, TID = 41, OTHER = 42, SIZE = FOLD_REC_SIZE };
enum { IN, OUT = FMT_MISC_SWITCH_OUT, PREEMPT = OUT | FMT_MISC_SWITCH_OUT_PREEMPT };

struct fixture {
	struct fold *f;
	struct fmt_buf kept;
	uint32_t standing; /* this thread, or 0 */
	uint64_t pairs, others;
};

static int setup(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));

	*state = x;
	return !x || fold_new(&x->f);
}

static int teardown(void **state)
{
	struct fixture *x = *state;

	fold_free(x->f);
	fmt_buf_done(&x->kept);
	free(x);
	return 0;
}

static void add_of(struct fixture *x, uint32_t tid, unsigned misc, uint64_t ns)
{
	uint8_t rec[SIZE] = { FMT_REC_SWITCH };

	le_put(rec + 4, misc, 2);
	le_put(rec + 6, SIZE, 2);
	le_put(rec + 8, PID, 4);
	le_put(rec + 12, tid, 4);
	le_put(rec + 16, ns, 8);
	assert_int_equal(fold_add(x->f, rec, SIZE), 0);
}

static void add(struct fixture *x, unsigned misc, uint64_t ns)
{
	add_of(x, TID, misc, ns);
}

static void stop(struct fixture *x, uint64_t ns)
{
	assert_int_equal(fold_stop(x->f, TID, ns), 0);
}

static bool stands(void *ctx, uint32_t tid)
{
	const struct fixture *x = ctx;

	return tid == x->standing;
}

static void turn(struct fixture *x, uint64_t until)
{
	assert_int_equal(fold_turn(x->f, until, stands, x, &x->kept), 0);
}

/* The times of what was kept, in that order, 0 behind the last. */
static void assert_kept(struct fixture *x, const uint64_t *want)
{
	size_t n = x->kept.len / SIZE;

	for (size_t i = 0; i < n; i++)
		assert_int_equal(fold_time(x->kept.data + i * SIZE), want[i]);
	assert_int_equal(want[n], 0);
}

#define KEPT(x, ...) assert_kept(x, (const uint64_t[]){ __VA_ARGS__ __VA_OPT__(, ) 0 })

static void count(void *ctx, const struct fold_count *c)
{
	struct fixture *x = ctx;

	assert_int_equal(c->pid, PID);
	*(c->tid == TID ? &x->pairs : &x->others) += c->pairs;
}

static void assert_pairs(struct fixture *x, uint64_t want)
{
	x->pairs = 0;
	fold_counts(x->f, count, x);
	assert_int_equal(x->pairs, want);
}

static void a_stop_goes_and_a_wait_stays(void **state)
{
	struct fixture *x = *state;

	add(x, OUT, 10);
	stop(x, 11);
	add(x, IN, 12);
	add(x, OUT, 20);
	add(x, IN, 30);
	add(x, OUT, 40);
	stop(x, 45);
	add(x, IN, 50);
	turn(x, 100);
	KEPT(x, 20, 30);
	assert_pairs(x, 2);
}

static void preemption_stays(void **state)
{
	struct fixture *x = *state;

	add(x, PREEMPT, 10);
	add(x, IN, 20);
	add(x, OUT, 30);
	stop(x, 31);
	add(x, IN, 32);
	turn(x, 100);
	KEPT(x, 10, 20);
	assert_pairs(x, 1);
}

/* Learned of on another cpu while it was about to leave: before that, it was preempted. */
static void a_stop_may_be_known_before_the_thread_has_left(void **state)
{
	struct fixture *x = *state;

	stop(x, 9);
	add(x, PREEMPT, 10);
	add(x, IN, 20);
	add(x, OUT, 30);
	add(x, IN, 32);
	add(x, OUT, 40);
	add(x, IN, 50);
	turn(x, 100);
	KEPT(x, 10, 20, 40, 50);
	assert_pairs(x, 1);
}

static void rings_may_come_in_any_order(void **state)
{
	struct fixture *x = *state;

	add(x, IN, 12);
	add(x, IN, 30);
	add(x, OUT, 10);
	add(x, OUT, 20);
	stop(x, 21);
	turn(x, 100);
	KEPT(x, 10, 12);
	assert_pairs(x, 1);
}

static void what_is_younger_waits(void **state)
{
	struct fixture *x = *state;

	add(x, OUT, 10);
	add(x, IN, 20);
	add(x, OUT, 30);
	turn(x, 15);
	KEPT(x, 10);
	stop(x, 31);
	add(x, IN, 40);
	turn(x, 100);
	KEPT(x, 10, 20);
	assert_pairs(x, 1);
}

static void who_is_away_waits_or_stands(void **state)
{
	struct fixture *x = *state;

	add(x, OUT, 10);
	add_of(x, OTHER, OUT, 11);
	x->standing = TID;
	turn(x, 15);
	KEPT(x, 11);
	stop(x, 16);
	add(x, IN, 17);
	turn(x, 100);
	KEPT(x, 11);
	assert_pairs(x, 1);
}

static void what_is_settled_late_stands_in_its_place(void **state)
{
	struct fixture *x = *state;

	add(x, OUT, 10);
	add_of(x, OTHER, PREEMPT, 11);
	turn(x, 15);
	KEPT(x, 10, 11);
}

static void the_last_turn_leaves_nothing_open(void **state)
{
	struct fixture *x = *state;

	add(x, OUT, 10);
	x->standing = TID;
	turn(x, UINT64_MAX);
	assert_int_equal(x->kept.len, 0);
	assert_pairs(x, 1);
}

static void half_a_pair_goes_too(void **state)
{
	struct fixture *x = *state;

	stop(x, 10); /* before anybody recorded */
	add(x, IN, 20);
	add(x, OUT, 30);
	stop(x, 31);
	add(x, OUT, 50); /* its way back was lost */
	add(x, IN, 60);
	turn(x, 100);
	KEPT(x, 50, 60);
	assert_pairs(x, 2);
}

/* Stops while nobody recorded do not take what comes later along. */
static void a_stop_without_records_is_forgotten(void **state)
{
	struct fixture *x = *state;

	stop(x, 10);
	turn(x, 20);
	turn(x, 30);
	add(x, OUT, 40);
	add(x, IN, 50);
	turn(x, 60);
	KEPT(x, 40, 50);
	assert_pairs(x, 0);
}

static void counts_begin_anew(void **state)
{
	struct fixture *x = *state;

	add(x, OUT, 10);
	stop(x, 11);
	add(x, IN, 12);
	turn(x, 20);
	assert_pairs(x, 1);
	fold_begin_counts(x->f);
	assert_pairs(x, 0);
}

static void many_threads_are_told_apart(void **state)
{
	enum { MANY = 5000 };
	struct fixture *x = *state;

	for (uint32_t t = 1000; t < 1000 + MANY; t++) {
		add_of(x, t, OUT, t);
		if (t % 2)
			assert_int_equal(fold_stop(x->f, t, t + 100000), 0);
		add_of(x, t, IN, t + 200000);
	}
	turn(x, UINT64_MAX);
	fold_counts(x->f, count, x);
	assert_int_equal(x->others, MANY / 2);
	assert_int_equal(x->kept.len / SIZE, MANY);
}

static void other_records_are_refused(void **state)
{
	struct fixture *x = *state;
	uint8_t rec[SIZE + 8] = { FMT_REC_SWITCH };

	assert_int_equal(fold_add(x->f, rec, SIZE + 8), -EINVAL);
	rec[0] = FMT_REC_COMM;
	assert_int_equal(fold_add(x->f, rec, SIZE), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
		T(a_stop_goes_and_a_wait_stays),
		T(preemption_stays),
		T(a_stop_may_be_known_before_the_thread_has_left),
		T(rings_may_come_in_any_order),
		T(what_is_younger_waits),
		T(who_is_away_waits_or_stands),
		T(what_is_settled_late_stands_in_its_place),
		T(the_last_turn_leaves_nothing_open),
		T(half_a_pair_goes_too),
		T(a_stop_without_records_is_forgotten),
		T(counts_begin_anew),
		T(many_threads_are_told_apart),
		T(other_records_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
