/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory runs out at the n-th allocation, for every n, while a file and a stream are read.
 * The reader's user of the allocator is compiled in here, over one that can fail.
 */
#include <search.h>
#include <stdlib.h>

static void *faulty_malloc(size_t n);
static void *faulty_realloc(void *p, size_t n);
static void *faulty_tsearch(const void *key, void **root, __compar_fn_t compare);
#define malloc faulty_malloc
#define realloc faulty_realloc
#define tsearch faulty_tsearch
#include "format/reader_event.c"
#undef malloc
#undef realloc
#undef tsearch

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/unit/readfix.h"

static unsigned allocs, fail_at;

static bool fails(void)
{
	return ++allocs == fail_at;
}

static void *faulty_malloc(size_t n)
{
	return fails() ? NULL : malloc(n);
}

static void *faulty_realloc(void *p, size_t n)
{
	return fails() ? NULL : realloc(p, n);
}

static void *faulty_tsearch(const void *key, void **root, __compar_fn_t compare)
{
	return fails() ? NULL : tsearch(key, root, compare);
}

static int teardown(void **state)
{
	fail_at = 0;
	return readfix_teardown(state);
}

/* Open and walk with the n-th allocation failing; false when there was no n-th. */
static bool one_fault(struct readfix *f, unsigned n)
{
	size_t records;
	int err;

	allocs = 0;
	fail_at = n;
	err = readfix_open(f);
	if (!err)
		err = readfix_walk(&f->r, &records);
	assert_int_equal(err, allocs < n ? 0 : -ENOMEM);
	return err;
}

static void a_file_survives_every_failed_allocation(void **state)
{
	struct readfix *f = *state;
	unsigned n = 1;

	handmade_file(&f->h);
	while (one_fault(f, n))
		n++;
	assert_true(n > 5);
	assert_int_equal(f->r.nr_events, 2);
}

static void a_stream_survives_every_failed_allocation(void **state)
{
	struct readfix *f = *state;
	unsigned n = 1;

	handmade_pipe(&f->h);
	while (one_fault(f, n))
		n++;
	assert_true(n > 5);
	assert_int_equal(f->r.nr_events, 2);
}

/* Those behind the bound are passed over, with their ids. */
static void no_more_than_65536_events_are_kept(void **state)
{
	struct readfix *f = *state;
	size_t n;

	handmade_pipe_header(&f->h.b);
	for (unsigned i = 0; i < 65538; i++)
		handmade_header_attr(&f->h.b, 6, 1 << 18, i + 1);
	assert_int_equal(readfix_open(f), 0);
	assert_int_equal(readfix_walk(&f->r, &n), 0);
	assert_int_equal(n, 65538);
	assert_int_equal(f->r.nr_events, 65536);
	assert_string_equal(f->r.odd_what, "no more than 65536 events");
	assert_int_equal(f->r.odd_at, 16 + 65536 * 80);
}

#define T(test) cmocka_unit_test_setup_teardown(test, readfix_setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_file_survives_every_failed_allocation),
		T(a_stream_survives_every_failed_allocation),
		T(no_more_than_65536_events_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
