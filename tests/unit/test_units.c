/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorder/units.h"

static void sizes_have_one_digit_behind_the_point(void **state)
{
	char buf[16];

	(void)state;
	assert_string_equal(units_bytes(0, buf), "0 B");
	assert_string_equal(units_bytes(1023, buf), "1023 B");
	assert_string_equal(units_bytes(1024, buf), "1.0 KiB");
	assert_string_equal(units_bytes(1536, buf), "1.5 KiB");
	assert_string_equal(units_bytes(UINT64_C(5) << 20, buf), "5.0 MiB");
	assert_string_equal(units_bytes(UINT64_C(1) << 40, buf), "1.0 TiB");
}

static void the_largest_size_fits(void **state)
{
	char buf[16];

	(void)state;
	assert_string_equal(units_bytes(UINT64_MAX, buf), "16.0 EiB");
	assert_string_equal(units_bytes((UINT64_C(1) << 20) - 1, buf), "1024.0 KiB");
}

static void a_ratio_has_no_more_digits_than_it_is_worth(void **state)
{
	char buf[32];

	(void)state;
	assert_string_equal(units_times(0, buf), "0.0");
	assert_string_equal(units_times(3.24, buf), "3.2");
	assert_string_equal(units_times(9.96, buf), "10");
	assert_string_equal(units_times(85.4, buf), "85");
	assert_string_equal(units_times(999, buf), "999");
	assert_string_equal(units_times(1234, buf), "1,230");
	assert_string_equal(units_times(999600, buf), "1,000,000");
	assert_string_equal(units_times(1e30, buf), "1,000,000,000,000,000,000");
}

static void a_timespec_becomes_nanoseconds(void **state)
{
	const struct timespec t = { .tv_sec = 5000000000, .tv_nsec = 999999999 };

	(void)state;
	assert_true(units_ns(&t) == UINT64_C(5000000000999999999));
}

static void is_span(const char *text, uint64_t from, uint64_t to)
{
	uint64_t a = 1, b = 2;

	assert_int_equal(units_span(text, &a, &b), 0);
	assert_true(a == from);
	assert_true(b == to);
}

static void a_span_of_time_may_have_open_ends(void **state)
{
	static const char *const none[] = { "", ",", "12", "12.5", "a,b", "1,2,3", "-1,2",
					    "2,1", "1.2.3,4", "1.0000000001,2",
					    "18446744074,", "1, 2" };
	uint64_t a, b;

	(void)state;
	is_span("12.5,13", 12500000000, 13000000000);
	is_span("0.000000001,", 1, UINT64_MAX);
	is_span(",13.25", 0, 13250000000);
	is_span("1,1", 1000000000, 1000000000);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_int_equal(units_span(none[i], &a, &b), -EINVAL);
}

static void a_duration_has_its_unit(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "200ms", 200000000 }, { "1.5s", 1500000000 }, { "7ns", 7 }, { "0.5us", 500 },
		{ "5m", 300000000000 }, { "2h", 7200000000000 }, { "1d", 86400000000000 },
		{ "0s", 0 },
	};
	static const char *const bad[] = { "", "5", "s", "5 s", "5x", "-5s", "5ss", "5S", "1.5",
					   "18446744074s", "400000000m", "1..5s" };
	uint64_t v = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(units_duration(good[i].text, &v), 0);
		assert_true(v == good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(units_duration(bad[i], &v), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_have_one_digit_behind_the_point),
		cmocka_unit_test(the_largest_size_fits),
		cmocka_unit_test(a_ratio_has_no_more_digits_than_it_is_worth),
		cmocka_unit_test(a_timespec_becomes_nanoseconds),
		cmocka_unit_test(a_span_of_time_may_have_open_ends),
		cmocka_unit_test(a_duration_has_its_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
