/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/fileset.h"
#include "tests/unit/fixture.h"

static char cwd[4096];

static int setup(void **state)
{
	if (fixture_new(state) || !getcwd(cwd, sizeof(cwd)))
		return -1;
	return chdir(((struct fixture *)*state)->root);
}

static int teardown(void **state)
{
	return chdir(cwd) ? -1 : fixture_done(state);
}

static void make(const char *name)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fclose(f);
}

static void assert_next(struct fileset *f, const char *want)
{
	char *name = fileset_name(f);

	assert_non_null(name);
	assert_string_equal(name, want);
	free(name);
}

/* As a recording does it: a name, a file, and what is too old goes. */
static void add(struct fileset *f, uint64_t bytes)
{
	char *name = fileset_name(f);

	assert_non_null(name);
	make(name);
	assert_int_equal(fileset_add(f, name), 0);
	fileset_grown(f, bytes);
	fileset_trim(f);
	free(name);
}

static void the_number_stands_before_the_suffix(void **state)
{
	static const struct {
		const char *output, *first;
	} t[] = {
		{ "perf.data", "perf.1.data" }, { "trace", "trace.1.data" },
		{ "sub.data/x", "sub.data/x.1.data" }, { "a.data.b", "a.data.b.1.data" },
		{ "no/such/perf.data", "no/such/perf.1.data" }, { ".data", ".data.1.data" },
		{ "./perf.data", "./perf.1.data" }, { "/perf.data", "/perf.1.data" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct fileset f;

		assert_int_equal(fileset_init(&f, t[i].output, 0), 0);
		assert_next(&f, t[i].first);
		fileset_done(&f);
	}
}

static void numbers_go_on_behind_the_highest_that_is_there(void **state)
{
	struct fileset f;

	(void)state;
	make("perf.3.data");
	make("perf.12.data");
	make("perf.99.data.old");
	make("perf.099.data");
	make("perf.x.data");
	make("perf.77");
	make("xperf.88.data");
	make("perf.99999999999999999999.data");
	assert_int_equal(fileset_init(&f, "perf.data", 0), 0);
	assert_next(&f, "perf.13.data");
	make("perf.14.data"); /* somebody else's, meanwhile */
	assert_next(&f, "perf.15.data");
	fileset_done(&f);
	assert_int_equal(mkdir("d", 0700), 0);
	make("d/perf.7.data");
	assert_int_equal(fileset_init(&f, "d/perf.data", 0), 0);
	assert_next(&f, "d/perf.8.data");
	fileset_done(&f);
}

static void the_newest_are_kept(void **state)
{
	struct fileset f;

	(void)state;
	make("perf.1.data"); /* of an earlier run */
	assert_int_equal(fileset_init(&f, "perf.data", 2), 0);
	for (unsigned i = 0; i < 5; i++)
		add(&f, 100 + i);
	assert_int_equal(f.made, 5);
	assert_int_equal(f.removed, 3);
	assert_int_equal(f.removed_bytes, 100 + 101 + 102);
	assert_string_equal(f.first, "perf.5.data");
	assert_string_equal(f.last, "perf.6.data");
	assert_int_equal(access("perf.1.data", F_OK), 0);
	assert_int_not_equal(access("perf.2.data", F_OK), 0);
	assert_int_not_equal(access("perf.4.data", F_OK), 0);
	assert_int_equal(access("perf.5.data", F_OK), 0);
	assert_int_equal(access("perf.6.data", F_OK), 0);
	fileset_done(&f);
	assert_int_equal(access("perf.5.data", F_OK), 0);
}

static void what_somebody_else_put_there_stays(void **state)
{
	struct fileset f;

	(void)state;
	assert_int_equal(fileset_init(&f, "perf.data", 1), 0);
	add(&f, 1);
	assert_int_equal(rename("perf.1.data", "mine"), 0);
	make("perf.1.data");
	add(&f, 1);
	assert_int_equal(access("perf.1.data", F_OK), 0);
	assert_int_equal(rename("perf.2.data", "moved"), 0);
	add(&f, 1);
	assert_int_equal(access("moved", F_OK), 0);
	assert_int_equal(f.removed, 2);
	fileset_done(&f);
}

static void without_a_number_to_keep_all_stay(void **state)
{
	struct fileset f;

	(void)state;
	assert_int_equal(fileset_init(&f, "t", 0), 0);
	for (unsigned i = 0; i < 20; i++)
		add(&f, 1);
	assert_int_equal(f.nr, 0); /* and none is remembered */
	assert_string_equal(f.first, "t.1.data");
	assert_string_equal(f.last, "t.20.data");
	assert_int_equal(access("t.1.data", F_OK), 0);
	fileset_done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(the_number_stands_before_the_suffix),
		T(numbers_go_on_behind_the_highest_that_is_there),
		T(the_newest_are_kept),
		T(what_somebody_else_put_there_stays),
		T(without_a_number_to_keep_all_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
