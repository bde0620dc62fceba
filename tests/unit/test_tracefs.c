/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfio/tracefs.h"
#include "tests/unit/fixture.h"

static struct pio_tracepoint tp;
static struct pio_tracing_files files;

static int teardown(void **state)
{
	pio_tracepoint_done(&tp);
	pio_tracing_files_done(&files);
	return fixture_done(state);
}

#define FORMAT "name: sched_switch\nID: 314\nformat:\n\tfield:int prev_pid;\n"

static void tracefs_at(struct fixture *f, const char *root)
{
	static const char *const file[][2] = {
		{ "events/header_page", "\tfield: u64 timestamp;\n" },
		{ "events/header_event", "# compressed entry header\n" },
		{ "printk_formats", "0xffffffff : \"x\"\n" },
		{ "saved_cmdlines", "1 init\n" },
		{ "events/sched/sched_switch/id", "314\n" },
		{ "events/sched/sched_switch/format", FORMAT },
	};
	char path[128];

	for (size_t i = 0; i < sizeof(file) / sizeof(*file); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, file[i][0]);
		fixture_file(f, path, file[i][1]);
	}
}

static int load(struct fixture *f, const char *system, const char *name)
{
	pio_tracepoint_done(&tp);
	return pio_tracepoint_load(&tp, &f->sys, system, name);
}

static void a_tracepoint_has_id_and_format(void **state)
{
	tracefs_at(*state, "tracing");
	assert_int_equal(load(*state, "sched", "sched_switch"), 0);
	assert_string_equal(tp.system, "sched");
	assert_string_equal(tp.name, "sched_switch");
	assert_int_equal(tp.id, 314);
	assert_int_equal(tp.format_len, strlen(FORMAT));
	assert_string_equal(tp.format, FORMAT);
}

static void the_old_place_below_debugfs_is_tried(void **state)
{
	fixture_dir(*state, "tracing"); /* a mount point with nothing mounted */
	tracefs_at(*state, "sys/kernel/debug/tracing");
	assert_int_equal(load(*state, "sched", "sched_switch"), 0);
	assert_int_equal(tp.id, 314);
}

static void not_mounted_is_enodev(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load(f, "sched", "sched_switch"), -ENODEV);
	assert_int_equal(pio_tracing_files_load(&files, &f->sys), -ENODEV);
	fixture_dir(f, "tracing");
	assert_int_equal(load(f, "sched", "sched_switch"), -ENODEV);
}

static void unknown_tracepoints_are_enoent(void **state)
{
	tracefs_at(*state, "tracing");
	assert_int_equal(load(*state, "sched", "none"), -ENOENT);
	assert_int_equal(load(*state, "none", "sched_switch"), -ENOENT);
	assert_int_equal(load(*state, "sched", ""), -ENOENT);
	assert_int_equal(load(*state, "", "sched"), -ENOENT);
	assert_int_equal(load(*state, "sched", ".."), -ENOENT);
	assert_int_equal(load(*state, "sched/sched_switch", "."), -ENOENT);
	assert_null(tp.format);
}

static void an_id_that_is_no_number_is_einval(void **state)
{
	tracefs_at(*state, "tracing");
	fixture_file(*state, "tracing/events/sched/sched_switch/id", "x\n");
	assert_int_equal(load(*state, "sched", "sched_switch"), -EINVAL);
}

static void a_tracefs_of_others_is_eacces(void **state)
{
	struct fixture *f = *state;
	const uid_t me = geteuid();

	tracefs_at(f, "tracing");
	assert_int_equal(chmod(f->tracefs, 0), 0);
	if (!me) /* root may look anywhere */
		assert_int_equal(seteuid(65534), 0);
	assert_int_equal(load(f, "sched", "sched_switch"), -EACCES);
	assert_int_equal(seteuid(me), 0);
	assert_int_equal(chmod(f->tracefs, 0755), 0);
}

static void the_files_of_tracing_data_are_read(void **state)
{
	struct fixture *f = *state;

	tracefs_at(f, "tracing");
	assert_int_equal(pio_tracing_files_load(&files, &f->sys), 0);
	assert_string_equal(files.header_page, "\tfield: u64 timestamp;\n");
	assert_int_equal(files.header_page_len, 23);
	assert_string_equal(files.header_event, "# compressed entry header\n");
	assert_string_equal(files.printk_formats, "0xffffffff : \"x\"\n");
	assert_int_equal(files.printk_len, 17);
	assert_string_equal(files.cmdlines, "1 init\n");
}

static void missing_files_are_empty(void **state)
{
	struct fixture *f = *state;

	fixture_dir(f, "tracing/events");
	assert_int_equal(pio_tracing_files_load(&files, &f->sys), 0);
	assert_string_equal(files.printk_formats, "");
	assert_int_equal(files.printk_len + files.header_page_len, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, fixture_new, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_tracepoint_has_id_and_format),
		T(the_old_place_below_debugfs_is_tried),
		T(not_mounted_is_enodev),
		T(unknown_tracepoints_are_enoent),
		T(an_id_that_is_no_number_is_einval),
		T(a_tracefs_of_others_is_eacces),
		T(the_files_of_tracing_data_are_read),
		T(missing_files_are_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
