/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the writer does for files of other recorders: attrs of other sizes, feature sections
 * that are copied, and a data section that was there before.
 */
#include "format/writer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/reader.h"
#include "tests/unit/hex.h"
#include "tests/unit/mem_sink.h"

static struct mem_sink file;
static struct fmt_writer w;
static struct fmt_reader r;

static const uint64_t ids[] = { 0x11, 0x12 };
static struct fmt_event events[2];

static int setup(void **state)
{
	struct fmt_sink s = mem_sink(&file);

	(void)state;
	memset(events, 0, sizeof(events));
	for (size_t i = 0; i < 2; i++) {
		events[i].ids = ids + i;
		events[i].nr_ids = 1;
		memset(events[i].attr, 0xa0, FMT_ATTR_SIZE_MAX);
		le_put(events[i].attr + FMT_ATTR_AT_SIZE, FMT_ATTR_SIZE, 4);
	}
	fmt_writer_init(&w, &s, false);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fmt_writer_done(&w);
	fmt_reader_done(&r);
	return 0;
}

static void use_size(size_t i, uint32_t size)
{
	events[i].attr_size = size;
	le_put(events[i].attr + FMT_ATTR_AT_SIZE, size, 4);
}

static void attrs_are_stored_in_their_own_size(void **state)
{
	static const uint32_t sizes[] = { 64, 72, 112, 136, 144 };

	(void)state;
	for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
		setup(NULL);
		use_size(0, sizes[k]);
		use_size(1, sizes[k]);
		assert_int_equal(fmt_writer_begin(&w, events, 2, NULL), 0);
		assert_int_equal(file.len, 104 + 16 + 2 * (sizes[k] + 16));
		assert_int_equal(le_get(file.bytes + FMT_HDR_ATTR_SIZE, 8), sizes[k] + 16);
		assert_int_equal(fmt_reader_open(&r, file.bytes, file.len), 0);
		assert_int_equal(r.nr_events, 2);
		assert_int_equal(r.events[1].attr_size, sizes[k]);
		assert_memory_equal(r.events[1].attr, events[1].attr, sizes[k]);
		assert_int_equal(le_get(r.events[1].ids, 8), 0x12);
		teardown(NULL);
	}
}

static void attrs_of_two_sizes_are_refused(void **state)
{
	(void)state;
	use_size(0, 112);
	use_size(1, 128);
	assert_int_equal(fmt_writer_begin(&w, events, 2, NULL), -EINVAL);
	assert_int_equal(file.len, 0);
}

static void is_feature(unsigned feat, const char *text)
{
	const uint8_t *p;
	uint64_t len;

	assert_int_equal(fmt_reader_feature(&r, (enum fmt_feat)feat, &p, &len), 0);
	assert_int_equal(len, strlen(text));
	assert_memory_equal(p, text, len);
}

static void copied_sections_stand_in_the_place_of_values(void **state)
{
	const struct fmt_raw_feature raw[] = {
		{ FMT_FEAT_HOSTNAME, (const uint8_t *)"as it was", 9 },
		{ FMT_FEAT_BRANCH_STACK, NULL, 0 },
		{ 128, (const uint8_t *)"of Android", 10 },
		{ 255, (const uint8_t *)"last", 4 },
	};
	const struct fmt_features f = {
		.hostname = "not this", .arch = "x86_64", .nr_cpus_avail = 3,
		.raw = raw, .nr_raw = 4,
	};

	struct fmt_buf b = { 0 };

	(void)state;
	assert_int_equal(fmt_writer_begin(&w, events, 2, NULL), 0);
	fmt_put_finished_init(&b);
	assert_int_equal(fmt_writer_put(&w, &b), 0);
	fmt_buf_done(&b);
	assert_int_equal(fmt_writer_finish(&w, &f), 0);
	assert_string_equal(file.log, "aaaysayppb");
	assert_int_equal(fmt_reader_open(&r, file.bytes, file.len), 0);
	is_feature(FMT_FEAT_HOSTNAME, "as it was");
	is_feature(FMT_FEAT_BRANCH_STACK, "");
	is_feature(128, "of Android");
	is_feature(255, "last");
	assert_string_equal(fmt_reader_feature_str(&r, FMT_FEAT_ARCH), "x86_64");
	assert_true(r.feat_bits[0] == (1u << 3 | 1u << 6 | 1u << 7 | 1u << 15));
	assert_true(r.feat_bits[1] == 0 && r.feat_bits[2] == 1 && r.feat_bits[3] >> 63);
}

static void records_with_trace_can_be_put_whole(void **state)
{
	struct fmt_buf b = { 0 };

	(void)state;
	assert_int_equal(fmt_writer_begin(&w, events, 2, NULL), 0);
	fmt_put_finished_round(&b);
	assert_int_equal(fmt_writer_put(&w, &b), 0);
	fmt_buf_reset(&b);
	fmt_put_auxtrace(&b, &(struct fmt_auxtrace){ .size = 8 });
	fmt_put_zero(&b, 8);
	assert_int_equal(fmt_writer_mark_aux(&w), 0);
	assert_int_equal(fmt_writer_put(&w, &b), 0);
	fmt_buf_done(&b);
	assert_int_equal(fmt_writer_round(&w, false), 0);
	assert_int_equal(fmt_writer_finish(&w, &(struct fmt_features){ .have_aux = true }), 0);
	assert_int_equal(mem_check_file(&file), 2); /* looks at the index, too */
	assert_int_equal(mem_traces, 1);
}

static void a_file_gets_features_behind_the_data_it_had(void **state)
{
	const struct fmt_features f = { .hostname = "h", .have_aux = true };
	struct fmt_sink s = { 0 };
	struct fmt_buf b = { 0 };
	uint64_t at, size;

	(void)state;
	assert_int_equal(fmt_writer_begin(&w, events, 2, NULL), 0);
	fmt_put_auxtrace(&b, &(struct fmt_auxtrace){ .size = 8 });
	fmt_put_zero(&b, 8);
	at = w.pos;
	assert_int_equal(fmt_writer_put(&w, &b), 0);
	fmt_buf_done(&b);
	assert_int_equal(fmt_writer_round(&w, true), 0);
	size = w.pos - at;
	s = w.sink;
	fmt_writer_done(&w);

	fmt_writer_init(&w, &s, false);
	fmt_writer_resume(&w, at, size);
	assert_int_equal(fmt_writer_resume_aux(&w, at), 0);
	assert_int_equal(fmt_writer_finish(&w, &f), 0);
	assert_int_equal(mem_check_file(&file), 2);
	assert_int_equal(fmt_reader_open(&r, file.bytes, file.len), 0);
	assert_int_equal(r.data_end - r.data_offset, size);
	assert_string_equal(fmt_reader_feature_str(&r, FMT_FEAT_HOSTNAME), "h");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(attrs_are_stored_in_their_own_size, setup,
						teardown),
		cmocka_unit_test_setup_teardown(attrs_of_two_sizes_are_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			copied_sections_stand_in_the_place_of_values, setup, teardown),
		cmocka_unit_test_setup_teardown(records_with_trace_can_be_put_whole, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			a_file_gets_features_behind_the_data_it_had, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
