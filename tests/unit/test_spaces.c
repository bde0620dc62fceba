/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/decode/spaces.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/record.h"

#define ST (FMT_SAMPLE_IP | FMT_SAMPLE_TID | FMT_SAMPLE_TIME | FMT_SAMPLE_CPU | \
	    FMT_SAMPLE_IDENTIFIER)

struct world {
	struct tasks *t;
	struct images *v;
	struct spaces *s;
	struct fmt_reader r;
	struct fmt_buf b;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w || fmt_reader_open_bare(&w->r, ST, "", 0) || images_new(&w->v, NULL, NULL))
		return -1;
	*state = w;
	return tasks_new(&w->t);
}

static int teardown(void **state)
{
	struct world *w = *state;

	spaces_free(w->s);
	tasks_free(w->t);
	images_free(w->v);
	fmt_reader_done(&w->r);
	fmt_buf_done(&w->b);
	free(w);
	return 0;
}

static void take(struct world *w)
{
	struct fmt_rec rec = { .p = w->b.data, .type = le_get32(w->b.data),
			       .misc = le_get16(w->b.data + 4),
			       .size = (uint16_t)w->b.len };
	struct image *i;

	assert_int_equal(images_take(w->v, &rec, &i), 0);
	assert_int_equal(tasks_take(w->t, &w->r, &rec, i), 0);
	fmt_buf_reset(&w->b);
}

static void map(struct world *w, uint64_t time, uint64_t addr, uint64_t len, const char *name)
{
	struct fmt_mmap2 m = { .pid = 7, .tid = 7, .addr = addr, .len = len, .prot = 5,
			       .misc = FMT_MISC_USER, .name = name };
	struct fmt_trailer t = { .time = time, .id = 1 };

	fmt_put_mmap2(&w->b, &m, &t);
	take(w);
}

static void find_all(struct world *w)
{
	tasks_sort(w->t);
	assert_int_equal(images_find(w->v), 0);
	assert_int_equal(spaces_new(&w->s, w->t, w->v), 0);
}

static uint64_t at(struct world *w, uint32_t pid, uint64_t time)
{
	struct pt_image *image = NULL;
	uint64_t until;

	assert_int_equal(spaces_at(w->s, pid, time, &image, &until), 0);
	assert_non_null(image);
	return until;
}

static const char *name(struct world *w, uint64_t ip)
{
	const struct image *i = spaces_find(w->s, ip);

	return i ? i->name : "-";
}

static void a_new_mapping_hides_old_ones(void **state)
{
	struct world *w = *state;

	map(w, 0, 0x1000, 0x9000, "/a");
	map(w, 10, 0x3000, 0x2000, "/b"); /* splits */
	map(w, 20, 0x4000, 0x2000, "/c"); /* end of b, beginning of the rest of a */
	map(w, 30, 0x0800, 0x1000, "/d"); /* beginning of a */
	find_all(w);
	at(w, 7, 10);
	assert_string_equal(name(w, 0x2fff), "/a");
	assert_string_equal(name(w, 0x3000), "/b");
	assert_string_equal(name(w, 0x4fff), "/b");
	assert_string_equal(name(w, 0x5000), "/a");
	at(w, 7, 30);
	assert_string_equal(name(w, 0x07ff), "-");
	assert_string_equal(name(w, 0x17ff), "/d");
	assert_string_equal(name(w, 0x1800), "/a");
	assert_string_equal(name(w, 0x3fff), "/b");
	assert_string_equal(name(w, 0x4000), "/c");
	assert_string_equal(name(w, 0x5fff), "/c");
	assert_string_equal(name(w, 0x6000), "/a");
	assert_string_equal(name(w, 0x9fff), "/a");
	assert_string_equal(name(w, 0xa000), "-");
}

static void a_mapping_over_several_hides_them_all(void **state)
{
	struct world *w = *state;

	map(w, 0, 0x1000, 0x1000, "/a");
	map(w, 0, 0x2000, 0x1000, "/b");
	map(w, 0, 0x4000, 0x1000, "/c");
	map(w, 10, 0x1800, 0x3000, "/d");
	find_all(w);
	at(w, 7, 5);
	assert_string_equal(name(w, 0x2000), "/b");
	assert_string_equal(name(w, 0x3000), "-");
	at(w, 7, 10);
	assert_string_equal(name(w, 0x17ff), "/a");
	assert_string_equal(name(w, 0x1800), "/d");
	assert_string_equal(name(w, 0x47ff), "/d");
	assert_string_equal(name(w, 0x4800), "/c");
}

static void time_goes_forth_and_back(void **state)
{
	struct world *w = *state;
	struct fmt_trailer t = { .pid = 7, .tid = 7, .time = 30, .id = 1 };

	map(w, 0, 0x1000, 0x1000, "/a");
	map(w, 20, 0x1000, 0x1000, "/b");
	fmt_put_comm(&w->b, true, 7, 7, "x", &t);
	take(w);
	map(w, 40, 0x2000, 0x1000, "/c");
	find_all(w);
	assert_int_equal(at(w, 7, 0), 20);
	assert_string_equal(name(w, 0x1000), "/a");
	assert_int_equal(at(w, 7, 25), 30);
	assert_string_equal(name(w, 0x1000), "/b");
	assert_int_equal(at(w, 7, 35), 40);
	assert_string_equal(name(w, 0x1000), "-");
	assert_true(at(w, 7, 50) == UINT64_MAX);
	assert_string_equal(name(w, 0x2000), "/c");
	assert_int_equal(at(w, 7, 10), 20);
	assert_string_equal(name(w, 0x1000), "/a");
	assert_string_equal(name(w, 0x2000), "-");
}

/* More of them than are kept: each comes back as it was. */
static void processes_take_turns(void **state)
{
	struct world *w = *state;

	map(w, 0, 0x1000, 0x1000, "/a");
	find_all(w);
	for (int round = 0; round < 3; round++) {
		for (uint32_t pid = 0; pid < 100; pid++) {
			at(w, pid, 10);
			assert_string_equal(name(w, 0x1000), pid == 7 ? "/a" : "-");
		}
	}
}

static void the_kernels_half_is_the_kernels(void **state)
{
	struct world *w = *state;
	struct fmt_trailer t = { 0 };

	fmt_put_mmap(&w->b, FMT_MISC_KERNEL, UINT32_MAX, 0, UINT64_C(0xffffffff81000000),
		     0x1000, 0, "[kernel.kallsyms]_text", &t);
	take(w);
	map(w, 0, 0x1000, 0x1000, "/a");
	find_all(w);
	at(w, 7, 0);
	assert_string_equal(name(w, UINT64_C(0xffffffffc0000000)), "[kernel.kallsyms]");
	assert_string_equal(name(w, 0x1000), "/a");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_new_mapping_hides_old_ones),
		TEST(a_mapping_over_several_hides_them_all),
		TEST(time_goes_forth_and_back),
		TEST(processes_take_turns),
		TEST(the_kernels_half_is_the_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
