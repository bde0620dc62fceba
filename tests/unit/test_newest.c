/* SPDX-License-Identifier: Apache-2.0 */
/* Rings that keep the newest records. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "perfio/attrs.h"
#include "perfio/evset.h"
#include "tests/unit/fake_sys.h"

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static struct pio_newest ring;
static int fd;

static int setup(void **state)
{
	struct perf_event_attr a = { .type = 1, .size = 128, .write_backward = 1 };

	(void)state;
	fake_reset();
	fd = fake_sys.open(&a, -1, 0, -1, 0);
	return pio_newest_map(&ring, &fake_sys, fd, PAGE);
}

static int teardown(void **state)
{
	(void)state;
	pio_newest_done(&ring);
	pio_newest_done(&ring);
	if (fake_lent_maps() || fake_slips())
		return -1;
	fake_reset();
	return 0;
}

/* A record of 24 bytes that carries a number. */
static void put(uint64_t n)
{
	uint64_t rec[3] = { UINT64_C(24) << 48 | 14, n, ~n };

	assert_true(fake_put(fd, rec, sizeof(rec)));
}

/* The numbers that are there, the newest first; how many. */
static size_t numbers(uint64_t ret[512], bool *more)
{
	uint8_t flat[1 << 16];
	struct iovec v[2];
	size_t len = 0, n = 0;
	int nv = pio_newest_peek(&ring, v, more);

	for (int i = 0; i < nv; i++) {
		memcpy(flat + len, v[i].iov_base, v[i].iov_len);
		len += v[i].iov_len;
	}
	for (; 24 * (n + 1) <= len; n++)
		memcpy(&ret[n], flat + 24 * n + 8, 8);
	return n;
}

static void what_was_written_comes_newest_first(void **state)
{
	uint64_t n[512];
	bool more;

	(void)state;
	assert_false(pio_newest_any(&ring));
	assert_int_equal(numbers(n, &more), 0);
	put(1);
	put(2);
	put(3);
	assert_true(pio_newest_any(&ring));
	assert_int_equal(numbers(n, &more), 3);
	assert_false(more);
	assert_int_equal(n[0], 3);
	assert_int_equal(n[2], 1);
}

static void a_full_ring_keeps_the_newest_whole_records(void **state)
{
	uint64_t n[512];
	size_t fit = PAGE / 24, got;
	bool more;

	(void)state;
	for (uint64_t k = 1; k <= 1000; k++) {
		put(k);
		got = numbers(n, &more);
		assert_int_equal(got, k < fit ? k : fit);
		assert_int_equal(more, 24 * k > PAGE);
		for (size_t i = 0; i < got; i++)
			assert_int_equal(n[i], k - i);
	}
}

static void what_was_taken_does_not_come_again(void **state)
{
	uint64_t n[512];
	bool more;

	(void)state;
	put(1);
	put(2);
	pio_newest_taken(&ring);
	assert_false(pio_newest_any(&ring));
	assert_int_equal(numbers(n, &more), 0);
	put(3);
	assert_int_equal(numbers(n, &more), 1);
	assert_int_equal(n[0], 3);
	for (uint64_t k = 4; k < 1000; k++)
		put(k);
	assert_int_equal(numbers(n, &more), PAGE / 24);
	assert_true(more);
}

static void an_unmapped_ring_has_nothing(void **state)
{
	struct pio_newest none = PIO_NEWEST_INIT;
	struct iovec v[2];
	bool more;

	(void)state;
	assert_false(pio_newest_any(&none));
	assert_int_equal(pio_newest_peek(&none, v, &more), 0);
	pio_newest_taken(&none);
	assert_int_equal(pio_newest_map(&none, &fake_sys, fd, 100), -EINVAL);
	assert_int_equal(pio_newest_map(&none, &fake_sys, fd, 3 * PAGE), -EINVAL);
}

/* In a set: trace and tracking share one ring, the switches have the other. */
static void a_set_gives_the_newest_a_ring_of_their_own(void **state)
{
	static int cpus[] = { 0, 3 };
	const struct pio_attr_common c = { .watermark = 2048, .clockid = -1 };
	const struct pio_pmu pt = { .type = 8 };
	const struct pio_config conf = { .config = { 0x300e601 } };
	struct pio_target t = { .cpus = { cpus, 2 }, .data_len = PAGE, .aux_len = 2 * PAGE,
				.overwrite = true, .newest_len = 4 * PAGE };
	struct pio_event ev[3] = {
		{ .name = "intel_pt", .attr = pio_attr_aux(&c, &pt, &conf) },
		{ .name = "switch", .attr = pio_attr_switch(&c), .leader = 1, .newest = true },
		{ .name = "tracking", .attr = pio_attr_tracking(&c) },
	};
	struct pio_fault why;
	struct pio_evset set;
	uint64_t rec[3] = { UINT64_C(24) << 48 | 14 };

	(void)state;
	assert_int_equal(pio_evset_open(&set, &fake_sys, ev, 3, &t, &why), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(set.place[i].newest.data_len, 4 * PAGE);
		assert_int_equal(set.place[i].newest.fd, ev[1].fd[i].fd);
		assert_int_equal(fake_event_of(ev[2].fd[i].fd)->output, ev[0].fd[i].fd);
		assert_true(fake_event_of(ev[1].fd[i].fd)->attr.write_backward);
		assert_false(fake_event_of(ev[2].fd[i].fd)->attr.write_backward);
	}
	assert_true(fake_put(ev[1].fd[1].fd, rec, sizeof(rec)));
	assert_true(pio_newest_any(&set.place[1].newest));
	assert_false(pio_newest_any(&set.place[0].newest));
	pio_evset_retire(&set, 1);
	assert_int_equal(pio_evset_add_cpu(&set, 3, &why), 1);
	assert_non_null(set.place[1].newest.meta);
	pio_evset_done(&set);
	assert_int_equal(fake_lent_maps(), 1); /* that of setup */
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_was_written_comes_newest_first),
		T(a_full_ring_keeps_the_newest_whole_records),
		T(what_was_taken_does_not_come_again),
		T(an_unmapped_ring_has_nothing),
		T(a_set_gives_the_newest_a_ring_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
