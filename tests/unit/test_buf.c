/* SPDX-License-Identifier: Apache-2.0 */
#include "format/buf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/le.h"
#include "tests/unit/hex.h"

static struct fmt_buf b;

static int done(void **state)
{
	(void)state;
	fmt_buf_done(&b);
	return 0;
}

static void integers_are_little_endian_at_every_width(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 8; n++)
		fmt_put_le(&b, UINT64_C(0x0102030405060708), n);
	hex_expect(b.data, b.len,
		   "08 0807 080706 08070605 0807060504 080706050403"
		   "08070605040302 0807060504030201");
	assert_int_equal(b.err, 0);
}

static void loads_undo_stores_at_any_alignment(void **state)
{
	uint8_t p[16];

	(void)state;
	for (unsigned at = 0; at < 8; at++)
		for (unsigned n = 1; n <= 8; n++) {
			uint64_t v = UINT64_C(0xf1f2f3f4f5f6f7f8) >> (64 - 8 * n);

			le_put(p + at, v, n);
			assert_true(le_get(p + at, n) == v);
		}
}

static void strings_get_a_nul_and_zeros_up_to_the_alignment(void **state)
{
	(void)state;
	fmt_put_str(&b, "", 8);
	fmt_put_str(&b, "1234567", 8);
	fmt_put_str(&b, "12345678", 8);
	fmt_put_str(&b, "ab", 1);
	hex_expect(b.data, b.len,
		   "00[8]"
		   "'1234567' 00"
		   "'12345678' 00[8]"
		   "'ab' 00");
}

static void a_record_gets_its_size(void **state)
{
	size_t at;

	(void)state;
	fmt_put_zero(&b, 8);
	at = fmt_record_begin(&b, 0x0a0b0c0d, 0x2001);
	fmt_put_zero(&b, 264);
	assert_int_equal(fmt_record_end(&b, at), 0);
	hex_expect(b.data, b.len,
		   "00[8]"
		   "0d0c0b0a 0120 1001" /* type, misc, size 272 */
		   "00[264]");
}

static void a_record_that_is_no_multiple_of_8_is_taken_out(void **state)
{
	size_t at;

	(void)state;
	fmt_put_zero(&b, 16);
	at = fmt_record_begin(&b, 1, 0);
	fmt_put_zero(&b, 4);
	assert_int_equal(fmt_record_end(&b, at), -EMSGSIZE);
	assert_int_equal(b.len, 16);
	assert_int_equal(b.err, -EMSGSIZE);
}

static void the_longest_record_is_65528_bytes(void **state)
{
	size_t at;

	(void)state;
	at = fmt_record_begin(&b, 1, 0);
	fmt_put_zero(&b, 65528 - 8);
	assert_int_equal(fmt_record_end(&b, at), 0);
	assert_int_equal(b.data[6] | b.data[7] << 8, 65528);

	at = fmt_record_begin(&b, 1, 0);
	fmt_put_zero(&b, 65536 - 8);
	assert_int_equal(fmt_record_end(&b, at), -EMSGSIZE);
	assert_int_equal(b.len, 65528);
}

static void the_first_error_sticks_and_puts_do_nothing(void **state)
{
	size_t at;

	(void)state;
	fmt_put_le(&b, 7, 1);
	b.err = -ENOMEM;
	fmt_put(&b, "x", 1);
	fmt_put_le(&b, 1, 8);
	fmt_put_zero(&b, 3);
	fmt_put_str(&b, "abc", 8);
	at = fmt_record_begin(&b, 1, 0);
	assert_int_equal(fmt_record_end(&b, at), -ENOMEM);
	assert_int_equal(b.len, 1);

	fmt_buf_reset(&b);
	assert_int_equal(b.err, 0);
	fmt_put_le(&b, 9, 1);
	hex_expect(b.data, b.len, "09");
}

static void absurd_lengths_are_an_error_not_a_wrap(void **state)
{
	(void)state;
	fmt_put_zero(&b, 8);
	fmt_put_zero(&b, SIZE_MAX - 4);
	assert_int_equal(b.err, -EOVERFLOW);
	assert_int_equal(b.len, 8);
	fmt_buf_reset(&b);
	fmt_put_zero(&b, SIZE_MAX / 2 + 1);
	assert_int_equal(b.err, -EOVERFLOW);
}

static void growing_keeps_what_was_there(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 100000; i++)
		fmt_put_le(&b, i, 4);
	assert_int_equal(b.err, 0);
	for (unsigned i = 0; i < 100000; i++)
		assert_int_equal(le_get32(b.data + 4 * i), i);
}

static void done_twice_is_safe(void **state)
{
	(void)state;
	fmt_put_zero(&b, 8);
	fmt_buf_done(&b);
	fmt_buf_done(&b);
	assert_null(b.data);
	assert_int_equal(b.len, 0);
	assert_int_equal(b.cap, 0);
}

#define TEST(f) cmocka_unit_test_teardown(f, done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(integers_are_little_endian_at_every_width),
		TEST(loads_undo_stores_at_any_alignment),
		TEST(strings_get_a_nul_and_zeros_up_to_the_alignment),
		TEST(a_record_gets_its_size),
		TEST(a_record_that_is_no_multiple_of_8_is_taken_out),
		TEST(the_longest_record_is_65528_bytes),
		TEST(the_first_error_sticks_and_puts_do_nothing),
		TEST(absurd_lengths_are_an_error_not_a_wrap),
		TEST(growing_keeps_what_was_there),
		TEST(done_twice_is_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
