/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that is a directory, read as the program reads it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "format/abi.h"
#include "format/kcore.h"
#include "format/le.h"
#include "tests/unit/checkfix.h"
#include "tests/unit/fixture.h"

struct fix {
	struct fixture *dir;
	struct checkfix *made;
	char path[100];
	struct input in;
	struct check_report rep;
};

static int setup(void **state)
{
	struct fix *x = calloc(1, sizeof(*x));

	*state = x;
	if (!x || fixture_new((void **)&x->dir) || checkfix_setup((void **)&x->made))
		return 1;
	snprintf(x->path, sizeof(x->path), "%s/rec", x->dir->root);
	fixture_dir(x->dir, "rec/kcore_dir");
	return 0;
}

static int teardown(void **state)
{
	struct fix *x = *state;

	input_done(&x->in);
	checkfix_teardown((void **)&x->made);
	fixture_done((void **)&x->dir);
	free(x);
	return 0;
}

static void put_file(struct fix *x, const char *name, const struct fmt_buf *b)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", x->path, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(b->data, 1, b->len, f), b->len);
	assert_int_equal(fclose(f), 0);
}

/* A kernel of one page, of which `have` bytes are there. */
static void put_kcore(struct fix *x, size_t have)
{
	const struct fmt_kcore_segment s = { 0xffffffff81000000, FMT_KCORE_PAGE };
	struct fmt_buf b = { 0 };

	assert_int_equal(fmt_put_kcore_head(&b, 62, &s, 1), 0);
	fmt_put_zero(&b, have);
	put_file(x, "kcore_dir/kcore", &b);
	fmt_buf_done(&b);
	fixture_file(x->dir, "rec/kcore_dir/kallsyms", "ffffffff81000000 T _text\n");
	fixture_file(x->dir, "rec/kcore_dir/modules", "one 1 1 - Live 0x0\n");
}

static void put_data(struct fix *x, bool in_parts)
{
	checkfix_begin(x->made);
	checkfix_round(x->made);
	if (in_parts)
		fmt_put_le(checkfix_feature(x->made, FMT_FEAT_DIR_FORMAT), 1, 8);
	checkfix_end(x->made);
	put_file(x, "data", &x->made->b);
}

static void judge(struct fix *x)
{
	input_done(&x->in);
	assert_int_equal(check_file(&x->rep, &x->in, input_open(&x->in, x->path)), 0);
}

static void only(const struct fix *x, enum check_kind k, uint64_t n)
{
	for (enum check_kind i = 0; i < CHECK_NR_KINDS; i++)
		if (x->rep.found[i].n != (i == k ? n : 0))
			fail_msg("%s: %zu times, found %s", check_kind_name(i),
				 (size_t)x->rep.found[i].n, x->rep.found[i].found);
}

static void a_copy_of_the_kernel_is_sound(void **state)
{
	struct fix *x = *state;

	put_data(x, false);
	put_kcore(x, FMT_KCORE_PAGE);
	judge(x);
	only(x, CHECK_NR_KINDS, 0);
}

static void a_copy_that_is_cut_is_damaged(void **state)
{
	struct fix *x = *state;

	put_data(x, false);
	put_kcore(x, 100);
	judge(x);
	only(x, CHECK_KCORE, 1);
	assert_int_equal(x->rep.found[CHECK_KCORE].at, 64);
	assert_int_equal(check_verdict(&x->rep), CHECK_DAMAGE);
}

static void a_copy_that_is_no_elf_file_is_damaged(void **state)
{
	struct fix *x = *state;

	put_data(x, false);
	put_kcore(x, FMT_KCORE_PAGE);
	fixture_file(x->dir, "rec/kcore_dir/kcore",
		     "nothing of the kind, and longer than a head "
		     "of 64 bytes would be if there were one");
	judge(x);
	only(x, CHECK_KCORE, 1);
}

static void a_copy_with_parts_missing_is_damaged(void **state)
{
	struct fix *x = *state;
	char path[200];

	put_data(x, false);
	put_kcore(x, FMT_KCORE_PAGE);
	snprintf(path, sizeof(path), "%s/kcore_dir/kcore", x->path);
	assert_int_equal(unlink(path), 0);
	fixture_file(x->dir, "rec/kcore_dir/modules", "");
	judge(x);
	only(x, CHECK_KCORE, 2);
}

static void no_copy(struct fix *x)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/kcore_dir", x->path);
	assert_int_equal(rmdir(path), 0);
}

static void put_part(struct fix *x, const struct checkfix *part)
{
	put_file(x, "data.0", &part->b);
	no_copy(x);
}

static void records_of_parts_are_judged_too(void **state)
{
	struct fix *x = *state;
	struct checkfix part = { 0 };

	checkfix_in(&part, 1, 2, 1000);
	checkfix_in(&part, 2, 1, 1001);
	put_data(x, true);
	put_part(x, &part);
	judge(x);
	only(x, CHECK_SWITCH_LOST, 1);
	assert_int_equal(x->rep.found[CHECK_SWITCH_LOST].part, 1);
	assert_int_equal(x->rep.found[CHECK_SWITCH_LOST].at, part.at);
	assert_non_null(strstr(x->rep.found[CHECK_SWITCH_LOST].path, "/data.0"));
	fmt_buf_done(&part.b);
}

static void trace_in_parts_is_found_by_nobody(void **state)
{
	struct fix *x = *state;
	struct checkfix part = { 0 };

	checkfix_trace(&part, 0, 64);
	put_data(x, true);
	put_part(x, &part);
	judge(x);
	only(x, CHECK_HIDDEN_TRACE, 1);
	fmt_buf_done(&part.b);
}

static void parts_that_nobody_reads_are_a_remark(void **state)
{
	struct fix *x = *state;
	struct checkfix part = { 0 };

	checkfix_in(&part, 1, 2, 1000);
	put_data(x, false);
	put_part(x, &part);
	judge(x);
	only(x, CHECK_PARTS, 1);
	fmt_buf_done(&part.b);
}

static void parts_that_are_promised_should_be_there(void **state)
{
	struct fix *x = *state;

	put_data(x, true);
	no_copy(x);
	judge(x);
	only(x, CHECK_PART_MISSING, 1);
	assert_int_equal(check_verdict(&x->rep), CHECK_DAMAGE);
}

/* perf makes all of them, the empty ones, too. */
static void a_number_left_out_is_a_part_that_is_missing(void **state)
{
	struct fix *x = *state;
	const struct check_found *f = &x->rep.found[CHECK_PART_MISSING];

	put_data(x, true);
	no_copy(x);
	fixture_file(x->dir, "rec/data.0", "");
	fixture_file(x->dir, "rec/data.1", "");
	judge(x);
	only(x, CHECK_NR_KINDS, 0);
	fixture_file(x->dir, "rec/data.10", "");
	fixture_file(x->dir, "rec/data.4", "");
	judge(x);
	only(x, CHECK_PART_MISSING, 2);
	assert_int_equal(f->sum, 2 + 5);
	assert_string_equal(f->found, "no data.2, but data.4");
	assert_false(f->has_at);
}

/* With a file for each cpu, as the command line says, the last ones are missed, too. */
static void each_cpu_with_a_thread_has_a_part(void **state)
{
	static const char *const threads[] = { "--threads", "--threads=cpu", "--threads=core" };
	const uint64_t ids[] = { 3, CHECKFIX_PT_ID, 0, 0, UINT64_MAX, CHECKFIX_PT_ID_1, 1, 1,
				 UINT64_MAX, CHECKFIX_DUMMY_ID, 0, 0, UINT64_MAX };
	struct fix *x = *state;
	struct fmt_buf *line;

	no_copy(x);
	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
		checkfix_begin(x->made);
		checkfix_user(x->made, FMT_REC_ID_INDEX, ids, 13);
		line = checkfix_feature(x->made, FMT_FEAT_CMDLINE);
		fmt_put_le(line, 4, 4);
		checkfix_text(line, "perf");
		checkfix_text(line, "record");
		checkfix_text(line, threads[i]);
		checkfix_text(line, "true");
		fmt_put_le(checkfix_feature(x->made, FMT_FEAT_DIR_FORMAT), 1, 8);
		checkfix_end(x->made);
		put_file(x, "data", &x->made->b);
		fixture_file(x->dir, "rec/data.0", "");
		judge(x);
		only(x, CHECK_PART_MISSING, i < 2);
		checkfix_teardown((void **)&x->made);
		assert_int_equal(checkfix_setup((void **)&x->made), 0);
	}
}

static void a_directory_without_data_is_no_recording(void **state)
{
	struct fix *x = *state;

	assert_int_equal(check_file(&x->rep, &x->in, input_open(&x->in, x->path)),
			 -EISDIR);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_copy_of_the_kernel_is_sound),
		T(a_copy_that_is_cut_is_damaged),
		T(a_copy_that_is_no_elf_file_is_damaged),
		T(a_copy_with_parts_missing_is_damaged),
		T(records_of_parts_are_judged_too),
		T(trace_in_parts_is_found_by_nobody),
		T(parts_that_nobody_reads_are_a_remark),
		T(parts_that_are_promised_should_be_there),
		T(a_number_left_out_is_a_part_that_is_missing),
		T(each_cpu_with_a_thread_has_a_part),
		T(a_directory_without_data_is_no_recording),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
