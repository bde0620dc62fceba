/* SPDX-License-Identifier: Apache-2.0 */
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

static void a_timespec_becomes_nanoseconds(void **state)
{
	const struct timespec t = { .tv_sec = 5000000000, .tv_nsec = 999999999 };

	(void)state;
	assert_true(units_ns(&t) == UINT64_C(5000000000999999999));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_have_one_digit_behind_the_point),
		cmocka_unit_test(the_largest_size_fits),
		cmocka_unit_test(a_timespec_becomes_nanoseconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
