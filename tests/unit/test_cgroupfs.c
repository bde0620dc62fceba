/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "perfio/cgroupfs.h"
#include "tests/unit/fixture.h"

static char where[128];

static int mounts(struct fixture *f, const char *text)
{
	fixture_file(f, "proc/mounts", text);
	strcpy(where, "untouched");
	return pio_cgroup_mount(where, sizeof(where), &f->sys);
}

static void version_1_with_perf_event_goes_before_version_2(void **state)
{
	assert_int_equal(mounts(*state, "proc /proc proc rw 0 0\n"
				"cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
				"cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n"
				"cgroup /sys/fs/cgroup/perf cgroup rw,perf_event 0 0\n"), 0);
	assert_string_equal(where, "/sys/fs/cgroup/perf");
	assert_int_equal(mounts(*state, "cgroup /a cgroup rw,xperf_event,perf_events 0 0\n"
				"cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"
				"cgroup2 /later cgroup2 rw 0 0\n"), 0);
	assert_string_equal(where, "/sys/fs/cgroup");
}

static void blanks_in_a_mount_point_are_undone(void **state)
{
	assert_int_equal(mounts(*state, "x /a\\040b\\134c cgroup2 rw 0 0\n"), 0);
	assert_string_equal(where, "/a b\\c");
}

static void without_a_mount_it_is_enoent(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(pio_cgroup_mount(where, sizeof(where), &f->sys), -ENOENT);
	assert_int_equal(mounts(f, "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncut off\n\n"), -ENOENT);
	assert_string_equal(where, "untouched");
	fixture_file(f, "proc/mounts", "x /abcdefgh cgroup2 rw 0 0\n");
	assert_int_equal(pio_cgroup_mount(where, 9, &f->sys), -ENAMETOOLONG);
	assert_int_equal(pio_cgroup_mount(where, 10, &f->sys), 0);
}

static void a_group_is_a_directory_below_the_mount(void **state)
{
	struct pio_cgroup c = PIO_CGROUP_INIT;
	struct fixture *f = *state;

	fixture_dir(f, "cg/web/front");
	fixture_file(f, "cg/web/tasks", "");
	assert_int_equal(pio_cgroup_open(&c, f->root, "cg/none"), -ENOENT);
	assert_int_equal(pio_cgroup_open(&c, f->root, "cg/web/tasks"), -ENOTDIR);
	assert_int_equal(c.fd, -1);
	assert_null(c.name);
	assert_int_equal(pio_cgroup_open(&c, f->root, "cg/web/front"), 0);
	assert_string_equal(c.name, "cg/web/front");
	assert_int_equal(fcntl(c.fd, F_GETFD), FD_CLOEXEC);
	pio_cgroup_done(&c);
	pio_cgroup_done(&c);
	assert_int_equal(c.fd, -1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_new, fixture_done)
	const struct CMUnitTest tests[] = {
		T(version_1_with_perf_event_goes_before_version_2),
		T(blanks_in_a_mount_point_are_undone),
		T(without_a_mount_it_is_enoent),
		T(a_group_is_a_directory_below_the_mount),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
