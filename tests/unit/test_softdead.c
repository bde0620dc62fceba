/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that have ended in a flight recording: their memory has a bound, the newest stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "perfio/soft/tracer.h"

enum { WINDOW = 16 << 10, THREADS = 5000, PART = 4096 };

static struct soft *begin(size_t window)
{
	const struct soft_config c = { .pt = { .psb_bytes = 4096, .tsc = true, .branch = true },
				       .window = window };
	struct soft *s = NULL;

	assert_int_equal(soft_new(&s, &c), 0);
	return s;
}

static struct soft_thread *born(struct soft *s, int tid)
{
	struct soft_thread *t = NULL;

	assert_int_equal(soft_table_add(&t, s, tid, tid, NULL), 0);
	return t;
}

static void write_some(struct soft_thread *t, size_t n, uint8_t what)
{
	uint8_t part[PART];

	memset(part, what, sizeof(part));
	for (size_t k; n; n -= k) {
		k = n < PART ? n : PART;
		assert_true(soft_bytes_reserve(&t->pt.out, k));
		soft_bytes_put(&t->pt.out, part, k);
		t->pt.bytes += k;
	}
}

/* Bytes in all queues. */
static size_t kept(const struct soft *s, size_t *ret_threads)
{
	struct soft_queue q;
	size_t sum = 0, n;

	*ret_threads = 0;
	for (size_t i = 0; i < soft_nr_queues(s); i++) {
		n = soft_queue_kept(s, i, &q);
		sum += n;
		*ret_threads += n != 0;
		assert_int_equal(q.tid, n ? (int)i + 1 : q.tid);
	}
	return sum;
}

static void live_and_die(struct soft *s, size_t bytes)
{
	for (int tid = (int)soft_nr_queues(s) + 1, end = tid + THREADS; tid < end; tid++) {
		struct soft_thread *t = born(s, tid);

		write_some(t, bytes, (uint8_t)tid);
		soft_table_remove(s, t);
	}
}

static void test_bound(void **state)
{
	static const size_t sizes[] = { 8, 5000, WINDOW };

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct soft *s = begin(WINDOW);
		struct soft_thread *first = born(s, 1);
		struct soft_stats st;
		size_t threads, sum;

		write_some(first, WINDOW, 1);
		live_and_die(s, sizes[k]);
		sum = kept(s, &threads);
		assert_true(sum <= SOFT_DEAD_WINDOWS * WINDOW + 2 * WINDOW);
		assert_true(s->dead_bytes <= SOFT_DEAD_WINDOWS * WINDOW);
		assert_true(threads > 10 && threads < 100);
		assert_true(s->cap_dead < 1000);
		soft_stats(s, &st);
		assert_int_equal(st.trace_bytes, WINDOW + THREADS * sizes[k]);
		assert_int_equal(st.forgotten, THREADS + 1 - threads);
		assert_int_equal(first->pt.out.held, WINDOW); /* it lives */
		assert_true(s->all[THREADS]->pt.out.held); /* the last that died */
		soft_table_remove(s, first);
		soft_free(s);
	}
}

/* What a snapshot took away makes room; queues keep their numbers. */
static void test_taken(void **state)
{
	struct soft *s = begin(WINDOW);
	struct soft_stats st;
	struct soft_queue q;
	size_t threads;

	(void)state;
	for (int round = 0; round < 40; round++) {
		for (int n = 0; n < 10; n++) {
			struct soft_thread *t = born(s, (int)soft_nr_queues(s) + 1);

			write_some(t, WINDOW, 7);
			soft_table_remove(s, t);
		}
		assert_int_equal(kept(s, &threads), 10 * WINDOW);
		for (size_t i = 0; i < soft_nr_queues(s); i++)
			do {
				soft_queue_peek(s, i, true, &q);
				soft_queue_release(s, i);
			} while (q.nv);
	}
	soft_stats(s, &st);
	assert_int_equal(st.forgotten, 0);
	assert_int_equal(st.trace_bytes, 400 * WINDOW);
	soft_free(s);
}

/* All is for the caller to drain: nothing is forgotten. */
static void test_no_flight(void **state)
{
	struct soft *s = begin(0);
	size_t threads;

	(void)state;
	live_and_die(s, 100);
	assert_int_equal(kept(s, &threads), THREADS * 100);
	assert_int_equal(threads, THREADS);
	soft_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_no_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
