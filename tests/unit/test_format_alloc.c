/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory runs out at the n-th allocation, for every n, while a file and a stream are
 * written. The users of the allocator are compiled in here, over a realloc that can fail.
 */
#include <stdlib.h>

static void *faulty_realloc(void *p, size_t n);
#define realloc faulty_realloc
#include "format/buf.c"
#include "format/writer.c"
#undef realloc

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/unit/mem_sink.h"

static unsigned allocs, fail_at;
static struct mem_sink file;

static void *faulty_realloc(void *p, size_t n)
{
	return ++allocs == fail_at ? NULL : realloc(p, n);
}

static const struct fmt_event event = { .name = "intel_pt//" };
static const struct fmt_features feat = {
	.hostname = "box",
	.osrelease = "6.1.0",
	.version = "1",
	.arch = "x86_64",
	.cpudesc = "a cpu",
	.events = &event,
	.nr_events = 1,
	.have_aux = true,
};

/* Some rounds and enough traces to grow the index twice. */
static int record(struct fmt_writer *w)
{
	static uint8_t byte;
	const struct fmt_auxtrace a = { .cpu = 1 };
	const struct iovec v = { &byte, 1 };
	int err = fmt_writer_begin(w, &event, 1, &feat);

	for (unsigned i = 0; !err && i < 600; i++) {
		err = fmt_writer_aux(w, &a, &v, 1);
		if (!err && i % 100 == 0)
			err = fmt_writer_round(w, true);
	}
	return err ? err : fmt_writer_finish(w, &feat);
}

/* Returns false when there was no n-th allocation. */
static bool one_fault(unsigned n, bool pipe)
{
	struct fmt_sink s = mem_sink(&file);
	struct fmt_writer w;
	int err;

	fmt_writer_init(&w, &s, pipe);
	allocs = 0;
	fail_at = n;
	err = record(&w);
	assert_int_equal(err, allocs < n ? 0 : -ENOMEM);
	if (err && w.data_offset) { /* memory is no reason to lose what is there */
		fail_at = 0;
		assert_int_equal(w.failed, 0);
		assert_int_equal(fmt_writer_finish(&w, &feat), 0);
	}
	if (!pipe)
		mem_check_file(&file);
	fmt_writer_done(&w);
	return allocs >= n && err;
}

static void a_file_survives_every_failed_allocation(void **state)
{
	unsigned n = 1;

	(void)state;
	while (one_fault(n, false))
		n++;
	assert_true(n > 5);
}

static void a_stream_survives_every_failed_allocation(void **state)
{
	unsigned n = 1;

	(void)state;
	while (one_fault(n, true))
		n++;
	assert_true(n > 3);
}

static void a_buffer_keeps_its_bytes_when_it_cannot_grow(void **state)
{
	struct fmt_buf b = { 0 };

	(void)state;
	fail_at = 0;
	fmt_put_le(&b, 0x1234, 2);
	allocs = 0;
	fail_at = 1;
	fmt_put_zero(&b, 1000);
	assert_int_equal(b.err, -ENOMEM);
	assert_int_equal(b.len, 2);
	assert_int_equal(le_get16(b.data), 0x1234);
	fmt_buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_survives_every_failed_allocation),
		cmocka_unit_test(a_stream_survives_every_failed_allocation),
		cmocka_unit_test(a_buffer_keeps_its_bytes_when_it_cannot_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
