/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "perfio/ring.h"
#include "tests/unit/fake_sys.h"

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))
#define DATA_LEN ((size_t)sysconf(_SC_PAGESIZE))
#define AUX_LEN (2 * (size_t)sysconf(_SC_PAGESIZE))

static struct pio_ring ring;
static int fd;

static int open_fake(void)
{
	struct perf_event_attr a = { .type = fake_aux_type, .size = 128, .disabled = 1 };

	return fake_sys.open(&a, -1, 0, -1, 0);
}

static int setup_overwrite(void **state)
{
	(void)state;
	fake_reset();
	fd = open_fake();
	return pio_ring_map(&ring, &fake_sys, fd, DATA_LEN) ||
	       pio_ring_map_aux(&ring, AUX_LEN, true);
}

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fd = open_fake();
	return pio_ring_map(&ring, &fake_sys, fd, DATA_LEN) ||
	       pio_ring_map_aux(&ring, AUX_LEN, false);
}

static int teardown(void **state)
{
	(void)state;
	pio_ring_done(&ring);
	pio_ring_done(&ring);
	if (fake_lent_maps() || fake_slips())
		return -1;
	fake_reset();
	return 0;
}

static void fill(uint8_t *p, size_t len, unsigned seed)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(seed + i * 7 + i / 251);
}

static size_t flat(uint8_t *out, const struct iovec *v, int n)
{
	size_t len = 0;

	for (int i = 0; i < n; i++) {
		memcpy(out + len, v[i].iov_base, v[i].iov_len);
		len += v[i].iov_len;
	}
	return len;
}

static void an_empty_ring_has_no_spans(void **state)
{
	struct iovec v[2];

	(void)state;
	assert_int_equal(pio_ring_peek(&ring, v), 0);
	assert_int_equal(pio_ring_peek_aux(&ring, v), 0);
	assert_int_equal(pio_ring_pending(&ring), 0);
}

static void bytes_are_handed_out_in_place_and_once(void **state)
{
	uint8_t rec[40];
	struct iovec v[2];

	(void)state;
	fill(rec, sizeof(rec), 1);
	assert_true(fake_put(fd, rec, sizeof(rec)));
	assert_int_equal(pio_ring_peek(&ring, v), 1);
	assert_ptr_equal(v[0].iov_base, ring.data);
	assert_int_equal(v[0].iov_len, sizeof(rec));
	assert_memory_equal(v[0].iov_base, rec, sizeof(rec));
	assert_int_equal(pio_ring_pending(&ring), sizeof(rec));
	pio_ring_release(&ring);
	assert_int_equal(pio_ring_pending(&ring), 0);
	assert_int_equal(pio_ring_peek(&ring, v), 0);
}

static void a_record_across_the_end_is_two_spans(void **state)
{
	uint8_t rec[64], got[64];
	struct iovec v[2];
	size_t n = DATA_LEN - 24;

	(void)state;
	while (n) { /* walk to 24 bytes before the end */
		size_t step = n < 56 ? n : 56;

		assert_true(fake_put(fd, rec, step));
		n -= step;
	}
	assert_int_equal(pio_ring_peek(&ring, v), 1);
	pio_ring_release(&ring);
	fill(rec, sizeof(rec), 3);
	assert_true(fake_put(fd, rec, sizeof(rec)));
	assert_int_equal(pio_ring_peek(&ring, v), 2);
	assert_int_equal(v[0].iov_len, 24);
	assert_int_equal(v[1].iov_len, 40);
	assert_ptr_equal(v[1].iov_base, ring.data);
	assert_int_equal(flat(got, v, 2), sizeof(rec));
	assert_memory_equal(got, rec, sizeof(rec));
}

static void aux_bytes_survive_many_wraps(void **state)
{
	static uint8_t in[1 << 16], got[1 << 16];
	size_t put = 0, seen = 0;
	struct iovec v[2];
	int two = 0;

	(void)state;
	fill(in, sizeof(in), 9);
	while (put < sizeof(in)) {
		size_t n = put % 3001 + 1;
		int spans;

		if (n > sizeof(in) - put)
			n = sizeof(in) - put;
		assert_true(fake_put_aux(fd, in + put, n));
		put += n;
		spans = pio_ring_peek_aux(&ring, v);
		two += spans == 2;
		seen += flat(got + seen, v, spans);
		pio_ring_release_aux(&ring);
		assert_int_equal(fake_aux_tail(fd), seen / PAGE * PAGE);
	}
	assert_int_equal(seen, sizeof(in));
	assert_true(two > 3);
	assert_memory_equal(got, in, sizeof(in));
}

static void a_full_area_is_all_handed_out(void **state)
{
	uint8_t in[1];
	struct iovec v[2];

	(void)state;
	assert_true(fake_skip_aux(fd, AUX_LEN));
	assert_false(fake_put_aux(fd, in, 1));
	assert_int_equal(pio_ring_peek_aux(&ring, v), 1);
	assert_int_equal(v[0].iov_len, AUX_LEN);
	pio_ring_release_aux(&ring);
	assert_true(fake_skip_aux(fd, 100));
	assert_int_equal(pio_ring_peek_aux(&ring, v), 1);
	pio_ring_release_aux(&ring);
	assert_false(fake_skip_aux(fd, AUX_LEN)); /* whole pages only are given back */
	assert_true(fake_skip_aux(fd, AUX_LEN - 100));
	assert_int_equal(pio_ring_peek_aux(&ring, v), 1);
	assert_int_equal(v[0].iov_len, AUX_LEN - 100);
}

/* A unit stops at the last whole page, and does not begin with less. */
static void an_area_without_a_whole_page_is_full(void **state)
{
	struct iovec v[2];

	(void)state;
	assert_true(fake_skip_aux(fd, AUX_LEN - PAGE));
	assert_int_equal(pio_ring_peek_aux(&ring, v), 1);
	assert_false(ring.aux_full);
	assert_true(fake_skip_aux(fd, 8));
	assert_int_equal(pio_ring_peek_aux(&ring, v), 1);
	assert_true(ring.aux_full);
	pio_ring_release_aux(&ring);
	assert_int_equal(pio_ring_peek_aux(&ring, v), 0);
	assert_false(ring.aux_full);
}

static void the_tail_does_not_move_before_release(void **state)
{
	uint8_t rec[16] = { 0 };
	struct iovec v[2];

	(void)state;
	assert_true(fake_put(fd, rec, sizeof(rec)));
	assert_true(fake_put_aux(fd, rec, sizeof(rec)));
	assert_int_equal(pio_ring_peek_aux(&ring, v), 1);
	assert_int_equal(pio_ring_peek(&ring, v), 1);
	assert_int_equal(fake_tail(fd), 0);
	assert_int_equal(fake_aux_tail(fd), 0);
	pio_ring_release(&ring);
	assert_int_equal(fake_tail(fd), 16);
	assert_int_equal(fake_aux_tail(fd), 0);
	pio_ring_release_aux(&ring);
	assert_int_equal(fake_aux_tail(fd), 0); /* inside the first page */
	assert_int_equal(pio_ring_peek_aux(&ring, v), 0); /* but read */
}

static void what_comes_after_the_peek_is_not_released(void **state)
{
	uint8_t rec[16] = { 0 };
	struct iovec v[2];

	(void)state;
	assert_true(fake_put(fd, rec, sizeof(rec)));
	assert_int_equal(pio_ring_peek(&ring, v), 1);
	assert_true(fake_put(fd, rec, sizeof(rec)));
	pio_ring_release(&ring);
	assert_int_equal(fake_tail(fd), 16);
	assert_int_equal(pio_ring_peek(&ring, v), 1);
	assert_int_equal(v[0].iov_len, 16);
}

/* The kernel writes the AUX record first and moves aux_head then (perf_aux_output_end()).
 * Whoever reads aux_head before data_head has the record of every byte in hand. */
static void with_aux_first_no_byte_comes_before_its_record(void **state)
{
	uint8_t record[48] = { 11 }, bytes[32] = { 0 };
	struct iovec aux[2], data[2];

	(void)state;
	assert_true(fake_put(fd, record, 48));
	assert_true(fake_put_aux(fd, bytes, 32));
	assert_int_equal(pio_ring_peek_aux(&ring, aux), 1);
	/* the kernel runs between the two peeks */
	assert_true(fake_put(fd, record, 48));
	assert_true(fake_put_aux(fd, bytes, 32));
	assert_int_equal(pio_ring_peek(&ring, data), 1);
	assert_int_equal(aux[0].iov_len, 32);
	assert_int_equal(data[0].iov_len, 96);
	pio_ring_release_aux(&ring);
	pio_ring_release(&ring);
	assert_int_equal(pio_ring_peek_aux(&ring, aux), 1);
	assert_int_equal(aux[0].iov_len, 32);
	assert_int_equal(pio_ring_peek(&ring, data), 0);
}

static void a_ring_without_aux_has_none(void **state)
{
	struct pio_ring plain = PIO_RING_INIT;
	int other = open_fake();
	struct iovec v[2];

	(void)state;
	assert_int_equal(pio_ring_map(&plain, &fake_sys, other, DATA_LEN), 0);
	assert_int_equal(pio_ring_peek_aux(&plain, v), 0);
	pio_ring_release_aux(&plain);
	assert_int_equal(plain.meta->aux_tail, 0);
	pio_ring_done(&plain);
	assert_int_equal(plain.fd, -1);
}

static void sizes_that_are_not_2_to_the_n_pages_are_einval(void **state)
{
	struct pio_ring r = PIO_RING_INIT;
	const size_t page = DATA_LEN, bad[] = { 0, 1, page - 1, page + 1, 3 * page };
	unsigned calls = fake_calls(FAKE_MMAP);

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(pio_ring_map(&r, &fake_sys, fd, bad[i]), -EINVAL);
		assert_int_equal(r.fd, -1);
		assert_int_equal(pio_ring_map_aux(&ring, bad[i], false), -EINVAL);
	}
	assert_int_equal(fake_calls(FAKE_MMAP), calls);
}

static void mmap_failures_leave_the_ring_as_it_was(void **state)
{
	struct pio_ring r = PIO_RING_INIT;
	struct perf_event_attr soft = { .type = 1, .size = 128 };
	int other = fake_sys.open(&soft, -1, 0, -1, 0);

	(void)state;
	fake_fail(FAKE_MMAP, 1, EPERM);
	assert_int_equal(pio_ring_map(&r, &fake_sys, other, DATA_LEN), -EPERM);
	assert_null(r.meta);
	assert_int_equal(pio_ring_map(&r, &fake_sys, other, DATA_LEN), 0);
	assert_int_equal(pio_ring_map_aux(&r, AUX_LEN, false), -EOPNOTSUPP);
	assert_null(r.aux);
	assert_int_equal(r.aux_len, 0);
	pio_ring_done(&r);
}

static void the_page_tells_the_clock(void **state)
{
	struct pio_time_conv c;

	(void)state;
	memset(&c, 0xff, sizeof(c));
	assert_false(pio_ring_time_conv(&ring, &c));
	assert_int_equal(c.mult + c.shift + c.zero + c.cycles + c.mask, 0);
	fake_set_time(fd, 31, 894784853, 0x123456789abcdef0);
	assert_true(pio_ring_time_conv(&ring, &c));
	assert_int_equal(c.shift, 31);
	assert_int_equal(c.mult, 894784853);
	assert_true(c.zero == 0x123456789abcdef0);
	assert_true(c.cap_zero);
	assert_false(c.cap_short);
	fake_set_time(fd, 31, 0, 1); /* mult 0: perf itself would divide by it */
	assert_false(pio_ring_time_conv(&ring, &c));
	assert_int_equal(c.zero, 0);
}

static void a_page_that_is_forever_being_written_has_no_clock(void **state)
{
	struct pio_time_conv c;

	(void)state;
	fake_set_time(fd, 31, 1, 1);
	fake_event_of(fd)->meta->lock++;
	assert_false(pio_ring_time_conv(&ring, &c));
}

/* Snapshots of a stream whose bytes tell their position, taken at odd moments: each holds
 * the newest bytes, oldest first, and offsets that count on. */
static void a_snapshot_is_the_newest_bytes_oldest_first(void **state)
{
	static const size_t more[] = { 100, 0, 5000, 4000, 1, 8192, 3, 8191, 20000, 77 };
	static uint8_t out[1 << 16], byte;
	uint64_t pos = 0, offset, end = 0;
	struct iovec v[2];
	size_t len;

	(void)state;
	for (size_t k = 0; k < sizeof(more) / sizeof(more[0]); k++) {
		for (size_t i = 0; i < more[k]; i++, pos++) {
			byte = (uint8_t)(1 + pos % 251); /* never 0, as PT is not for long */
			assert_true(fake_put_aux(fd, &byte, 1));
		}
		assert_int_equal(fake_sys.ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
		len = flat(out, v, pio_ring_snapshot(&ring, v, &offset));
		assert_int_equal(len, pos < AUX_LEN ? pos : AUX_LEN);
		for (size_t i = 0; i < len; i++)
			assert_int_equal(out[i], (uint8_t)(1 + (pos - len + i) % 251));
		assert_true(offset + len >= end); /* never back */
		assert_int_equal((offset + len) % AUX_LEN, pos % AUX_LEN);
		end = offset + len;
	}
	assert_int_equal(pio_ring_peek_aux(&ring, v), 0); /* not the way in this mode */
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_empty_ring_has_no_spans),
		T(bytes_are_handed_out_in_place_and_once),
		T(a_record_across_the_end_is_two_spans),
		T(aux_bytes_survive_many_wraps),
		T(a_full_area_is_all_handed_out),
		T(an_area_without_a_whole_page_is_full),
		T(the_tail_does_not_move_before_release),
		T(what_comes_after_the_peek_is_not_released),
		T(with_aux_first_no_byte_comes_before_its_record),
		T(a_ring_without_aux_has_none),
		T(sizes_that_are_not_2_to_the_n_pages_are_einval),
		T(mmap_failures_leave_the_ring_as_it_was),
		T(the_page_tells_the_clock),
		T(a_page_that_is_forever_being_written_has_no_clock),
		cmocka_unit_test_setup_teardown(a_snapshot_is_the_newest_bytes_oldest_first,
						setup_overwrite, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
