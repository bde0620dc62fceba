/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfio/cpus.h"
#include "tests/unit/fixture.h"

static struct pio_cpus cpus;

static int teardown(void **state)
{
	pio_cpus_done(&cpus);
	return fixture_done(state);
}

static void lists_are_sorted_and_without_doubles(void **state)
{
	static const int want[] = { 0, 1, 2, 3, 8, 10, 11 };
	char text[64];

	(void)state;
	assert_int_equal(pio_cpus_parse(&cpus, "10-11,0-2,8,2-3,8", NULL), 0);
	assert_int_equal(cpus.n, 7);
	for (size_t i = 0; i < cpus.n; i++)
		assert_int_equal(cpus.cpu[i], want[i]);
	assert_int_equal(pio_cpus_format(&cpus, text, sizeof(text)), 11);
	assert_string_equal(text, "0-3,8,10-11");
}

static void a_wrong_character_is_pointed_at(void **state)
{
	static const struct {
		const char *list;
		int at, err;
	} bad[] = {
		{ "", 0, -EINVAL },	 { ",", 0, -EINVAL },	 { "1,", 2, -EINVAL },
		{ "1,,2", 2, -EINVAL },	 { "1-", 2, -EINVAL },	 { "0-3x", 3, -EINVAL },
		{ "2,3-1", 2, -EINVAL }, { "-1", 0, -EINVAL },	 { " 1", 0, -EINVAL },
		{ "1\n", 1, -EINVAL },	 { "all", 0, -EINVAL },	 { "0x3", 1, -EINVAL },
		{ "65536", 0, -ERANGE }, { "0-65536", 2, -ERANGE },
		{ "4294967296", 0, -ERANGE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const char *at = NULL;

		assert_int_equal(pio_cpus_parse(&cpus, bad[i].list, &at), bad[i].err);
		assert_int_equal(at - bad[i].list, bad[i].at);
		assert_null(cpus.cpu);
	}
}

static void the_largest_number_is_taken(void **state)
{
	(void)state;
	assert_int_equal(pio_cpus_parse(&cpus, "65535", NULL), 0);
	assert_int_equal(cpus.cpu[0], 65535);
}

static void membership_is_exact(void **state)
{
	const struct pio_cpus none = { 0 };

	(void)state;
	assert_int_equal(pio_cpus_parse(&cpus, "1,4-6", NULL), 0);
	assert_true(pio_cpus_has(&cpus, 1) && pio_cpus_has(&cpus, 5));
	assert_false(pio_cpus_has(&cpus, 0) || pio_cpus_has(&cpus, 3));
	assert_false(pio_cpus_has(&cpus, -1) || pio_cpus_has(&cpus, 7));
	assert_false(pio_cpus_has(&none, 0));
}

static void a_short_buffer_is_enospc(void **state)
{
	char text[16];

	(void)state;
	assert_int_equal(pio_cpus_parse(&cpus, "0-3,8", NULL), 0);
	assert_int_equal(pio_cpus_format(&cpus, text, 6), 5);
	for (size_t n = 0; n < 6; n++)
		assert_int_equal(pio_cpus_format(&cpus, text, n), -ENOSPC);
}

static void lists_come_from_sysfs(void **state)
{
	struct fixture *f = *state;

	fixture_file(f, "sys/devices/system/cpu/online", "0,2-3\n");
	fixture_file(f, "sys/devices/system/cpu/present", "0-7\n");
	fixture_file(f, "sys/devices/system/cpu/possible", "0-63\n");
	assert_int_equal(pio_cpus_online(&cpus, &f->sys), 0);
	assert_int_equal(cpus.n, 3);
	pio_cpus_done(&cpus);
	assert_int_equal(pio_cpus_present(&cpus, &f->sys), 0);
	assert_int_equal(cpus.n, 8);
	pio_cpus_done(&cpus);
	assert_int_equal(pio_cpus_possible(&cpus, &f->sys), 0);
	assert_int_equal(cpus.n, 64);
}

static void a_missing_list_is_enoent(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(pio_cpus_online(&cpus, &f->sys), -ENOENT);
	assert_null(cpus.cpu);
	fixture_file(f, "sys/devices/system/cpu/online", "\n");
	assert_int_equal(pio_cpus_online(&cpus, &f->sys), -EINVAL);
}

static void the_kernel_has_a_cpu_online(void **state)
{
	(void)state;
	assert_int_equal(pio_cpus_online(&cpus, &pio_kernel), 0);
	assert_true(cpus.n > 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, fixture_new, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(lists_are_sorted_and_without_doubles),
		T(a_wrong_character_is_pointed_at),
		T(the_largest_number_is_taken),
		T(membership_is_exact),
		T(a_short_buffer_is_enospc),
		T(lists_come_from_sysfs),
		T(a_missing_list_is_enoent),
		T(the_kernel_has_a_cpu_online),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
