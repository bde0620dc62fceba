/* SPDX-License-Identifier: Apache-2.0 */
/* Records that came out of order are put in the order of their times, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/abi.h"
#include "format/buf.h"
#include "format/le.h"
#include "format/record.h"
#include "recorder/export/recsort.h"

struct state {
	char base[64];
	struct outset set;
	struct outfile *f;
	struct recsort sort;
	struct fmt_reader r;
};

static int set_up(void **state)
{
	struct state *s = calloc(1, sizeof(*s));

	snprintf(s->base, sizeof(s->base), "/tmp/test_recsort.%ld", (long)getpid());
	assert_int_equal(outset_open(&s->set, s->base, false), 0);
	assert_int_equal(outset_add(&s->set, &s->f, "-f"), 0);
	assert_int_equal(fmt_reader_open_bare(&s->r, FMT_SAMPLE_IP | FMT_SAMPLE_TID |
						     FMT_SAMPLE_TIME | FMT_SAMPLE_CPU |
						     FMT_SAMPLE_IDENTIFIER, "", 0), 0);
	*state = s;
	return 0;
}

static int tear_down(void **state)
{
	struct state *s = *state;

	recsort_done(&s->sort);
	outset_done(&s->set);
	fmt_reader_done(&s->r);
	free(s);
	return 0;
}

/* A record of this time; `mark` tells records of one time apart. */
static void put(struct state *s, uint64_t time, uint32_t mark)
{
	struct fmt_when w = { .has_time = true, .time = time };
	struct fmt_buf b = { 0 };

	fmt_put_itrace_start(&b, mark, mark, &(struct fmt_trailer){ .time = time, .id = 7 });
	assert_int_equal(b.err, 0);
	assert_int_equal(recsort_note(&s->sort, s->f->size, &w), 0);
	assert_int_equal(outfile_write(s->f, b.data, b.len), 0);
	fmt_buf_done(&b);
}

/* The marks in the file are 0, 1, 2 ... n - 1. */
static void expect_marks(struct state *s, uint32_t n)
{
	const uint8_t *p;
	size_t each = (size_t)s->f->size / n;

	assert_int_equal(recsort_finish(&s->sort, s->f, &s->r), 0);
	assert_int_equal(s->f->size, n * each);
	assert_int_equal(outfile_map(s->f, &p), 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(le_get32(p + i * each + 8), i);
	munmap((void *)(uintptr_t)p, s->f->size);
}

static void what_is_in_order_is_one_run(void **state)
{
	struct state *s = *state;

	put(s, 1, 0);
	put(s, 1, 1);
	put(s, 2, 2);
	assert_int_equal(s->sort.nr, 1);
	expect_marks(s, 3);
}

static void runs_are_merged_and_equals_stay_as_they_came(void **state)
{
	struct state *s = *state;

	put(s, 30, 3);
	put(s, 40, 5);
	put(s, 10, 0);
	put(s, 30, 4);
	put(s, 50, 7);
	put(s, 20, 1);
	put(s, 25, 2);
	put(s, 40, 6);
	assert_int_equal(s->sort.nr, 3);
	expect_marks(s, 8);
}

static void a_file_all_the_wrong_way_round_comes_right(void **state)
{
	struct state *s = *state;

	for (uint32_t i = 5000; i--;)
		put(s, 1000 + i, i);
	assert_int_equal(s->sort.nr, 5000);
	expect_marks(s, 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		T(what_is_in_order_is_one_run),
		T(runs_are_merged_and_equals_stay_as_they_came),
		T(a_file_all_the_wrong_way_round_comes_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
