/* SPDX-License-Identifier: Apache-2.0 */
/* Breakpoints, in code of our own that nobody runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "perfio/soft/plants.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 200 };

struct world {
	struct soft_plants p;
	uint8_t *v;	/* PAGES of them, and room for as many behind */
	uint64_t at;	/* their address */
};

static int begin(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->p.fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	w->v = mmap(NULL, 2 * PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (w->p.fd < 0 || w->v == MAP_FAILED)
		return -1;
	w->at = (uint64_t)(uintptr_t)w->v;
	for (int i = 0; i < PAGES * PAGE; i++)
		w->v[i] = (uint8_t)(i * 7 + i / PAGE);
	*state = w;
	return 0;
}

static int end(void **state)
{
	struct world *w = *state;

	soft_plants_done(&w->p);
	close(w->p.fd);
	munmap(w->v, 2 * PAGES * PAGE);
	free(w);
	return 0;
}

static void what_is_planted_is_there_and_does_not_show(void **state)
{
	struct world *w = *state;
	uint8_t was = w->v[100], b[3];

	assert_false(soft_plants_has(&w->p, w->at + 100));
	assert_true(soft_plants_put(&w->p, w->at + 100));
	assert_true(soft_plants_put(&w->p, w->at + 100));
	assert_int_equal(w->v[100], 0xcc);
	assert_true(soft_plants_has(&w->p, w->at + 100));
	assert_false(soft_plants_has(&w->p, w->at + 101));
	assert_int_equal(w->p.planted, 1);
	memcpy(b, w->v + 99, 3);
	soft_plants_overlay(&w->p, w->at + 99, b, 3);
	assert_int_equal(b[1], was);
	assert_int_equal(soft_plants_code(&w->p, w->at + 99, b, 3), 3);
	assert_int_equal(b[1], was);
	assert_int_equal(b[2], w->v[101]);
}

static void code_is_read_across_pages_and_to_the_end_of_what_is_mapped(void **state)
{
	struct world *w = *state;
	uint8_t b[15];

	assert_true(soft_plants_put(&w->p, w->at + PAGE));
	assert_int_equal(soft_plants_code(&w->p, w->at + PAGE - 5, b, 15), 15);
	assert_int_equal(b[5], 7 * PAGE % 256 + 1);
	assert_memory_equal(b + 6, w->v + PAGE + 1, 9);
	munmap(w->v + PAGES * PAGE, PAGE);
	assert_int_equal(soft_plants_code(&w->p, w->at + PAGES * PAGE - 5, b, 15), 5);
	assert_false(soft_plants_put(&w->p, w->at + PAGES * PAGE));
}

static void what_belongs_to_a_passed_instruction_is_not_planted(void **state)
{
	struct world *w = *state;

	assert_true(soft_plants_pass(&w->p, w->at + PAGE - 2, 5));
	assert_true(soft_plants_put(&w->p, w->at + PAGE - 2));
	for (unsigned k = 1; k < 5; k++)
		assert_false(soft_plants_put(&w->p, w->at + PAGE - 2 + k));
	assert_true(soft_plants_put(&w->p, w->at + PAGE + 3));
	assert_false(soft_plants_pass(&w->p, w->at + PAGE + 1, 3));
	assert_true(soft_plants_pass(&w->p, w->at + PAGE + 3, 3));
}

static void a_lifted_plant_is_put_back(void **state)
{
	struct world *w = *state;
	uint8_t was[4];

	memcpy(was, w->v + 8, 4);
	assert_true(soft_plants_put(&w->p, w->at + 8));
	assert_true(soft_plants_put(&w->p, w->at + 10));
	assert_int_equal(soft_plants_among(&w->p, w->at + 8, 4), 2);
	assert_int_equal(soft_plants_among(&w->p, w->at + 9, 1), 0);
	soft_plants_lift(&w->p, w->at + 8, 4);
	assert_memory_equal(w->v + 8, was, 4);
	assert_true(soft_plants_has(&w->p, w->at + 8));
	soft_plants_lower(&w->p, w->at + 8, 4);
	assert_int_equal(w->v[8], 0xcc);
	assert_int_equal(w->v[9], was[1]);
	assert_int_equal(w->v[10], 0xcc);
}

static void fill(struct world *w)
{
	for (unsigned i = 0; i < PAGES; i++) {
		assert_true(soft_plants_put(&w->p, w->at + i * PAGE + i));
		assert_true(soft_plants_put(&w->p, w->at + i * PAGE + 4000));
	}
	assert_int_equal(w->p.planted, 2 * PAGES);
}

static bool clean(const struct world *w, unsigned from, unsigned to)
{
	for (unsigned i = from * PAGE; i < to * PAGE; i++)
		if (w->v[i] != (uint8_t)(i * 7 + i / PAGE))
			return false;
	return true;
}

static void a_range_is_given_back_and_the_rest_is_still_known(void **state)
{
	struct world *w = *state;
	uint64_t begin = w->at + 50 * PAGE, stop = w->at + 120 * PAGE;

	fill(w);
	assert_true(soft_plants_within(&w->p, begin + 5, begin + 6));
	soft_plants_withdraw(&w->p, begin + 5, stop, 0);
	assert_true(clean(w, 50, 120));
	assert_false(soft_plants_within(&w->p, begin, stop));
	for (unsigned i = 0; i < PAGES; i++) {
		bool gone = i >= 50 && i < 120;

		assert_true(soft_plants_has(&w->p, w->at + i * PAGE + i) == !gone);
		assert_true(soft_plants_has(&w->p, w->at + i * PAGE + 4000) == !gone);
	}
	assert_int_equal(w->p.planted, 2 * (PAGES - 70));
	soft_plants_withdraw(&w->p, 0, UINT64_MAX, 0);
	assert_true(clean(w, 0, PAGES));
	assert_int_equal(w->p.nr + w->p.planted, 0);
}

static void other_bytes_in_the_same_place_are_let_alone(void **state)
{
	struct world *w = *state;

	fill(w);
	memset(w->v, 0xcc, PAGE);
	memset(w->v + PAGE, 0x90, PAGE);
	munmap(w->v + 2 * PAGE, PAGE);
	soft_plants_withdraw(&w->p, w->at, w->at + 3 * PAGE, 0);
	for (unsigned i = 0; i < PAGE; i++) {
		assert_int_equal(w->v[i], 0xcc);
		assert_int_equal(w->v[PAGE + i], 0x90);
	}
	assert_false(soft_plants_within(&w->p, w->at, w->at + 3 * PAGE));
}

static void what_was_moved_is_given_back_where_it_is(void **state)
{
	struct world *w = *state;

	fill(w);
	assert_ptr_equal(mremap(w->v, PAGES * PAGE, PAGES * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
				w->v + PAGES * PAGE), w->v + PAGES * PAGE);
	soft_plants_withdraw(&w->p, w->at, w->at + PAGES * PAGE, PAGES * PAGE);
	w->v += PAGES * PAGE;
	assert_true(clean(w, 0, PAGES));
	w->v -= PAGES * PAGE;
}

static void a_fork_has_its_parents_plants_as_far_as_they_are_there(void **state)
{
	struct world *w = *state;
	struct soft_plants child = { .fd = w->p.fd };

	fill(w);
	assert_int_equal(soft_plants_fork(&child, &w->p, false), 0);
	assert_int_equal(child.planted, 2 * PAGES);
	assert_true(soft_plants_has(&child, w->at + 3 * PAGE + 3));
	soft_plants_done(&child);
	/* The parent has planted this one since. */
	w->v[3 * PAGE + 3] = (uint8_t)((3 * PAGE + 3) * 7 + 3);
	assert_int_equal(soft_plants_fork(&child, &w->p, true), 0);
	assert_int_equal(child.planted, 2 * PAGES - 1);
	assert_false(soft_plants_has(&child, w->at + 3 * PAGE + 3));
	assert_true(soft_plants_has(&child, w->at + 3 * PAGE + 4000));
	soft_plants_withdraw(&child, 0, UINT64_MAX, 0);
	assert_true(clean(w, 0, PAGES));
	soft_plants_done(&child);
}

static void one_is_taken_out_and_was_met_all_the_same(void **state)
{
	struct world *w = *state;
	uint8_t was = w->v[100];

	w->v[200] = 0xcc; /* the program's own */
	assert_true(soft_plants_put(&w->p, w->at + 100));
	assert_true(soft_plants_put(&w->p, w->at + 101));
	assert_true(soft_plants_met(&w->p, w->at + 100));
	soft_plants_take(&w->p, w->at + 100);
	assert_int_equal(w->v[100], was);
	assert_int_equal(w->v[101], 0xcc);
	assert_false(soft_plants_has(&w->p, w->at + 100));
	assert_int_equal(w->p.planted, 1);
	assert_true(soft_plants_met(&w->p, w->at + 100));
	assert_false(soft_plants_met(&w->p, w->at + 200));
	soft_plants_take(&w->p, w->at + 200);
	assert_int_equal(w->v[200], 0xcc);
	w->v[300] = 0xcd; /* int 3 in two bytes: the program's own, too */
	w->v[301] = 3;
	assert_false(soft_plants_met(&w->p, w->at + 301));
}

static bool planted(const struct world *w, size_t at)
{
	return w->v[at] == 0xcc && soft_plants_has(&w->p, w->at + at);
}

static void entries_are_planted_while_they_are_armed(void **state)
{
	struct world *w = *state;
	uint8_t was[2 * PAGE];

	memcpy(was, w->v, sizeof(was));
	assert_true(soft_plants_entry(&w->p, w->at + 5));
	assert_true(soft_plants_entry(&w->p, w->at + 7));
	assert_true(soft_plants_entry(&w->p, w->at + PAGE + 9));
	assert_memory_equal(w->v, was, sizeof(was));
	assert_true(soft_plants_put(&w->p, w->at + 2 * PAGE));
	assert_true(soft_plants_arm(&w->p));
	assert_true(planted(w, 5) && planted(w, 7) && planted(w, PAGE + 9));
	assert_false(planted(w, 2 * PAGE)); /* all else is taken out */
	assert_int_equal(w->p.planted, 3);
	/* Opened page by page; what was put meanwhile stays. */
	assert_true(soft_plants_put(&w->p, w->at + 7) && soft_plants_put(&w->p, w->at + 8));
	soft_plants_open(&w->p, w->at, 3);
	assert_false(planted(w, 5));
	assert_true(planted(w, 7) && planted(w, 8) && planted(w, PAGE + 9));
	soft_plants_open(&w->p, w->at + PAGE - 1, 2);
	assert_false(planted(w, PAGE + 9));
	assert_int_equal(w->p.planted, 2);
	assert_true(soft_plants_arm(&w->p));
	assert_true(planted(w, 5) && planted(w, 7) && planted(w, PAGE + 9));
	assert_false(planted(w, 8));
	soft_plants_withdraw(&w->p, 0, UINT64_MAX, 0);
	assert_memory_equal(w->v, was, sizeof(was));
}

static void an_entry_is_no_part_of_an_instruction_that_was_passed(void **state)
{
	struct world *w = *state;

	assert_true(soft_plants_entry(&w->p, w->at + 2));
	assert_true(soft_plants_pass(&w->p, w->at + 1, 3));
	assert_true(soft_plants_entry(&w->p, w->at + 3));
	assert_true(soft_plants_arm(&w->p));
	assert_int_equal(w->p.planted, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_is_planted_is_there_and_does_not_show),
		T(code_is_read_across_pages_and_to_the_end_of_what_is_mapped),
		T(what_belongs_to_a_passed_instruction_is_not_planted),
		T(a_lifted_plant_is_put_back),
		T(entries_are_planted_while_they_are_armed),
		T(an_entry_is_no_part_of_an_instruction_that_was_passed),
		T(a_range_is_given_back_and_the_rest_is_still_known),
		T(other_bytes_in_the_same_place_are_let_alone),
		T(what_was_moved_is_given_back_where_it_is),
		T(a_fork_has_its_parents_plants_as_far_as_they_are_there),
		T(one_is_taken_out_and_was_met_all_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
