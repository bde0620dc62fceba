/* SPDX-License-Identifier: Apache-2.0 */
/* What a file is read as when it does not say so itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/abi.h"
#include "format/le.h"
#include "recorder/input.h"

#define PSB "\2\202\2\202\2\202\2\202\2\202\2\202\2\202\2\202"

struct fix {
	char path[32];
	struct input in;
};

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));

	strcpy(f->path, "/tmp/test_input.XXXXXX");
	close(mkstemp(f->path));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	input_done(&f->in);
	unlink(f->path);
	free(f);
	return 0;
}

static void fill(struct fix *f, size_t zeros, const void *p, size_t n)
{
	int fd = open(f->path, O_WRONLY | O_TRUNC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)zeros), 0);
	assert_int_equal(pwrite(fd, p, n, (off_t)zeros), n);
	close(fd);
}

static void kinds_are_told_by_words(void **state)
{
	static const char *const wrong[] = {
		"",	   "PT",	    "pt,",		     "records,",
		"record", "records,sample_type=", "records,sample_type=x",
		"records,sample_type=-1", "records,sample_type=0x1g",
		"records,sample_type=0x10000000000000000",
	};
	struct input_as as;

	(void)state;
	assert_int_equal(input_as(&as, "pt"), 0);
	assert_int_equal(as.kind, INPUT_PT);
	assert_int_equal(input_as(&as, "records"), 0);
	assert_int_equal(as.kind, INPUT_RECORDS);
	assert_int_equal(as.sample_type, 0);
	assert_int_equal(input_as(&as, "records,sample_type=0x102c6"), 0);
	assert_int_equal(as.sample_type, 0x102c6);
	assert_int_equal(input_as(&as, "records,sample_type=4"), 0);
	assert_int_equal(as.sample_type, 4);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(input_as(&as, wrong[i]), -EINVAL);
}

static void raw_trace_is_bytes_and_no_records(void **state)
{
	struct fix *f = *state;
	struct fmt_reader *from;
	struct fmt_rec rec;

	fill(f, 0, PSB, 16);
	assert_int_equal(input_open_as(&f->in, f->path,
				       (struct input_as){ .kind = INPUT_PT }), 0);
	assert_int_equal(f->in.bytes.len, 16);
	assert_memory_equal(f->in.bytes.p, PSB, 16);
	assert_int_equal(input_next(&f->in, &rec, &from), 0);
}

static void bare_records_have_the_trailer_that_was_told(void **state)
{
	struct input_as as = { .kind = INPUT_RECORDS, .sample_type = FMT_SAMPLE_TIME };
	struct fix *f = *state;
	uint8_t b[16] = { FMT_REC_SWITCH, [6] = 16, [8] = 77 };
	struct fmt_reader *from;
	struct fmt_when w;
	struct fmt_rec rec;

	fill(f, 0, b, sizeof(b));
	assert_int_equal(input_open_as(&f->in, f->path, as), 0);
	assert_int_equal(input_next(&f->in, &rec, &from), 1);
	assert_int_equal(rec.type, FMT_REC_SWITCH);
	assert_int_equal(fmt_reader_when(from, &rec, &w), 0);
	assert_int_equal(w.time, 77);
	assert_int_equal(input_next(&f->in, &rec, &from), 0);
}

static void raw_trace_is_known_by_an_early_psb(void **state)
{
	struct fix *f = *state;

	fill(f, 65536 - 16, PSB, 16);
	assert_int_equal(input_open(&f->in, f->path), -EBADMSG);
	assert_true(input_looks_pt(&f->in));
	input_done(&f->in);
	fill(f, 65536 - 15, PSB, 16);
	assert_int_equal(input_open(&f->in, f->path), -EBADMSG);
	assert_false(input_looks_pt(&f->in));
	input_done(&f->in);
	/* A perf.data file whose damage is further on may hold trace, but is none. */
	fill(f, 0, "PERFILE2\30\0\0\0\0\0\0\0" PSB, 32);
	assert_true(input_open(&f->in, f->path) < 0);
	assert_false(input_looks_pt(&f->in));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_are_told_by_words),
		cmocka_unit_test_setup_teardown(raw_trace_is_bytes_and_no_records, setup,
						teardown),
		cmocka_unit_test_setup_teardown(bare_records_have_the_trailer_that_was_told,
						setup, teardown),
		cmocka_unit_test_setup_teardown(raw_trace_is_known_by_an_early_psb, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
