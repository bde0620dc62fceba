/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/hotplug.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/fixture.h"

#define ONLINE "sys/devices/system/cpu/online"

static struct hotplug h;
static int kernel; /* the other end of the uevents */

static int setup(void **state)
{
	int fd[2];

	if (fixture_new(state) || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fd))
		return -1;
	fixture_file(*state, ONLINE, "0-1\n");
	hotplug_open(&h, &((struct fixture *)*state)->sys);
	if (h.fd >= 0)
		close(h.fd);
	h.fd = fd[0];
	kernel = fd[1];
	return 0;
}

static int teardown(void **state)
{
	hotplug_done(&h);
	hotplug_done(&h);
	close(kernel);
	return fixture_done(state);
}

static void uevent(const char *what)
{
	char text[128];
	int n = snprintf(text, sizeof(text), "%s%cACTION=x%cSUBSYSTEM=cpu", what, 0, 0);

	assert_int_equal(write(kernel, text, (size_t)n + 1), n + 1);
}

static void the_first_look_is_a_change_and_the_second_is_not(void **state)
{
	(void)state;
	assert_int_equal(hotplug_look(&h), 1);
	assert_int_equal(h.online.n, 2);
	assert_false(hotplug_went(&h, 1));
	assert_int_equal(hotplug_look(&h), 0);
	assert_int_equal(h.online.n, 2);
}

static void the_list_tells_who_left_and_who_came(void **state)
{
	assert_int_equal(hotplug_look(&h), 1);
	fixture_file(*state, ONLINE, "0,5\n");
	assert_int_equal(hotplug_look(&h), 1);
	assert_true(pio_cpus_has(&h.online, 5));
	assert_false(pio_cpus_has(&h.online, 1));
	assert_int_equal(hotplug_look(&h), 0);
}

static void a_cpu_that_was_away_between_two_looks_is_noticed(void **state)
{
	(void)state;
	assert_int_equal(hotplug_look(&h), 1);
	uevent("offline@/devices/system/cpu/cpu1");
	uevent("online@/devices/system/cpu/cpu1");
	assert_int_equal(hotplug_look(&h), 1);
	assert_true(pio_cpus_has(&h.online, 1));
	assert_true(hotplug_went(&h, 1));
	assert_false(hotplug_went(&h, 0));
	assert_int_equal(hotplug_look(&h), 0);
	assert_false(hotplug_went(&h, 1)); /* told once */
}

static void other_devices_change_nothing(void **state)
{
	static const char *const other[] = {
		"offline@/devices/system/memory/memory1",
		"offline@/devices/system/cpu/cpu",
		"offline@/devices/system/cpu/cpu1x",
		"offline@/devices/system/cpu/cpu99999999",
		"add@/devices/pci0000:00/0000:00:02.0",
		"",
	};

	(void)state;
	assert_int_equal(hotplug_look(&h), 1);
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
		uevent(other[i]);
	assert_true(hotplug_look(&h) >= 0);
	for (int cpu = 0; cpu < 16; cpu++)
		assert_false(hotplug_went(&h, cpu));
}

static void a_list_that_cannot_be_read_is_an_error_and_comes_back(void **state)
{
	assert_int_equal(hotplug_look(&h), 1);
	fixture_file(*state, ONLINE, "0-\n");
	assert_int_equal(hotplug_look(&h), -EINVAL);
	assert_int_equal(h.online.n, 2);
	fixture_file(*state, ONLINE, "0-1\n");
	assert_int_equal(hotplug_look(&h), 0);
}

static void again_asks_for_a_closer_look(void **state)
{
	(void)state;
	assert_int_equal(hotplug_look(&h), 1);
	h.again = true;
	assert_int_equal(hotplug_look(&h), 1);
	assert_int_equal(hotplug_look(&h), 0);
}

static void without_uevents_the_list_does(void **state)
{
	close(h.fd);
	h.fd = -1;
	assert_int_equal(hotplug_look(&h), 1);
	fixture_file(*state, ONLINE, "0\n");
	assert_int_equal(hotplug_look(&h), 1);
	assert_int_equal(h.online.n, 1);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_first_look_is_a_change_and_the_second_is_not),
		T(the_list_tells_who_left_and_who_came),
		T(a_cpu_that_was_away_between_two_looks_is_noticed),
		T(other_devices_change_nothing),
		T(a_list_that_cannot_be_read_is_an_error_and_comes_back),
		T(again_asks_for_a_closer_look),
		T(without_uevents_the_list_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
