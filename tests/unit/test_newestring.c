/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <cmocka.h>

#include "format/record.h"
#include "recorder/newestring.h"
#include "tests/unit/fake_sys.h"

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))
enum { SIZE = 40 }; /* a SWITCH record with its trailer */

static struct pio_newest ring;
static struct fmt_buf b;
static int fd;

static int setup(void **state)
{
	struct perf_event_attr a = { .type = 1, .size = 128, .write_backward = 1 };

	(void)state;
	fake_reset();
	b = (struct fmt_buf){ 0 };
	fd = fake_sys.open(&a, -1, 0, -1, 0);
	return pio_newest_map(&ring, &fake_sys, fd, PAGE);
}

static int teardown(void **state)
{
	(void)state;
	pio_newest_done(&ring);
	fmt_buf_done(&b);
	fake_reset();
	return 0;
}

static void put(uint64_t time)
{
	uint8_t rec[SIZE] = { 14, 0, 0, 0, 0, 0, SIZE, 0 };

	for (unsigned i = 0; i < 8; i++)
		rec[SIZE - 24 + i] = (uint8_t)(time >> 8 * i);
	assert_true(fake_put(fd, rec, sizeof(rec)));
}

static uint64_t nth_time(size_t i)
{
	uint64_t t = 0;

	for (unsigned k = 8; k; k--)
		t = t << 8 | b.data[SIZE * i + SIZE - 24 + k - 1];
	return t;
}

static void records_are_put_in_the_order_of_time(void **state)
{
	struct newestring n;

	(void)state;
	for (uint64_t t = 1; t <= 1000; t++) {
		size_t fit = PAGE / SIZE, want = t < fit ? t : fit;

		put(t);
		fmt_buf_reset(&b);
		assert_int_equal(newestring_copy(&ring, 0, &b, &n), 0);
		assert_int_equal(n.records, want);
		assert_int_equal(b.len, SIZE * want);
		assert_int_equal(n.first_ns, t - want + 1);
		assert_int_equal(n.last_ns, t);
		for (size_t i = 0; i < want; i++)
			assert_int_equal(nth_time(i), t - want + 1 + i);
	}
	assert_true(n.more);
}

static void what_is_too_old_is_left_out_but_for_one(void **state)
{
	struct newestring n;

	(void)state;
	for (uint64_t t = 10; t <= 100; t += 10)
		put(t);
	assert_int_equal(newestring_copy(&ring, 65, &b, &n), 0);
	assert_int_equal(n.records, 5); /* 60, and 70 to 100 */
	assert_int_equal(nth_time(0), 60);
	pio_newest_taken(&ring);
	fmt_buf_reset(&b);
	assert_int_equal(newestring_copy(&ring, 0, &b, &n), 0);
	assert_int_equal(n.records + n.first_ns + b.len, 0);
	put(110);
	assert_int_equal(newestring_copy(&ring, 0, &b, &n), 0);
	assert_int_equal(n.records, 1);
	assert_false(n.more);
}

static void a_look_tells_the_span(void **state)
{
	struct newestring n;

	(void)state;
	newestring_look(&ring, false, &n);
	assert_int_equal(n.records, 0);
	for (uint64_t t = 1; t <= 500; t++)
		put(t);
	newestring_look(&ring, true, &n);
	assert_int_equal(n.last_ns, 500);
	assert_int_equal(n.first_ns, 501 - PAGE / SIZE);
	assert_int_equal(newestring_copy(&(struct pio_newest)PIO_NEWEST_INIT, 0, &b, &n), 0);
	newestring_look(&(struct pio_newest)PIO_NEWEST_INIT, false, &n);
	assert_int_equal(n.records, 0);
}

static void a_look_leaves_out_what_is_being_written_over(void **state)
{
	struct newestring n;
	size_t end;

	(void)state;
	for (uint64_t t = 1; t <= 500; t++)
		put(t);
	end = (size_t)pio_newest_head(&ring) & (PAGE - 1);
	memset((uint8_t *)(uintptr_t)ring.data + end - SIZE, 0xee, SIZE);
	newestring_look(&ring, false, &n);
	assert_int_equal(n.records, PAGE / SIZE - 1);
	assert_int_equal(n.first_ns, 502 - PAGE / SIZE);
}

static bool enough;

static void *write_on(void *arg)
{
	(void)arg;
	for (uint64_t t = 1; !__atomic_load_n(&enough, __ATOMIC_RELAXED); t++)
		put(t);
	return NULL;
}

static void a_look_at_a_busy_ring_tells_nothing_wrong(void **state)
{
	struct newestring n;
	bool right = true;
	pthread_t th;

	(void)state;
	pio_newest_done(&ring); /* one that takes a while to be looked at */
	assert_int_equal(pio_newest_map(&ring, &fake_sys, fd, 256 * PAGE), 0);
	assert_int_equal(pthread_create(&th, NULL, write_on, NULL), 0);
	for (int i = 0; i < 500; i++) {
		newestring_look(&ring, false, &n);
		right = right && (!n.records || n.last_ns - n.first_ns == n.records - 1);
	}
	__atomic_store_n(&enough, true, __ATOMIC_RELAXED);
	pthread_join(th, NULL);
	assert_true(right);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(records_are_put_in_the_order_of_time),
		T(what_is_too_old_is_left_out_but_for_one),
		T(a_look_tells_the_span),
		T(a_look_leaves_out_what_is_being_written_over),
		T(a_look_at_a_busy_ring_tells_nothing_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
