/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids that come while the file is being written: of descriptors opened later.
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

static const uint64_t pt_ids[] = { 0x11, 0x12 }, dummy_ids[] = { 0x21 };
static struct fmt_event events[2] = {
	{ .ids = pt_ids, .nr_ids = 2, .room = 2, .name = "intel_pt//" },
	{ .ids = dummy_ids, .nr_ids = 1, .room = 1, .name = "dummy:u" },
};

static int setup(void **state)
{
	struct fmt_sink s = mem_sink(&file);

	(void)state;
	memset(events[0].attr, 0, FMT_ATTR_SIZE);
	le_put(events[0].attr + 4, FMT_ATTR_SIZE, 4);
	memcpy(events[1].attr, events[0].attr, FMT_ATTR_SIZE);
	fmt_writer_init(&w, &s, false);
	return fmt_writer_begin(&w, events, 2, NULL);
}

static int teardown(void **state)
{
	(void)state;
	fmt_writer_done(&w);
	return 0;
}

/* Header, the ids with the room behind them, attrs: attr bytes 4..8 are their size. */
#define HEAD(pt, pt_bytes, dummy, dummy_bytes)                                      \
	"'PERFILE2' 6800000000000000 9000000000000000"                              \
	"9800000000000000 2001000000000000 b801000000000000 00[56]"                 \
	"1100000000000000 1200000000000000" pt "2100000000000000" dummy             \
	"00[4] 80000000 00[120] 6800000000000000" pt_bytes                          \
	"00[4] 80000000 00[120] 8800000000000000" dummy_bytes

static void expect_head(const char *hex)
{
	hex_expect(file.bytes, 440, hex);
}

static void places_for_ids_are_left_free_and_not_claimed(void **state)
{
	(void)state;
	assert_int_equal(file.len, 440);
	expect_head(HEAD("00[16]", "1000000000000000", "00[8]", "0800000000000000"));
}

static void an_id_takes_the_next_place_of_its_event(void **state)
{
	(void)state;
	assert_int_equal(fmt_writer_add_id(&w, 0, 0x3131), 0);
	expect_head(HEAD("3131000000000000 00[8]", "1800000000000000", "00[8]",
			 "0800000000000000"));
	assert_int_equal(fmt_writer_add_id(&w, 1, 0x3232), 0);
	assert_int_equal(fmt_writer_add_id(&w, 0, 0x3333), 0);
	expect_head(HEAD("3131000000000000 3333000000000000", "2000000000000000",
			 "3232000000000000", "1000000000000000"));
	assert_string_equal(file.log, "apppppp");
}

static void without_a_place_nothing_is_written(void **state)
{
	(void)state;
	assert_int_equal(fmt_writer_add_id(&w, 1, 0x31), 0);
	assert_int_equal(fmt_writer_add_id(&w, 1, 0x32), -ENOSPC);
	assert_string_equal(file.log, "app");
	assert_int_equal(fmt_writer_add_id(&w, 0, 0x33), 0); /* the writer is well */
}

/* Killed between any two stores: no reader sees an id that is 0 or not there yet. */
static void an_id_is_stored_before_it_is_claimed(void **state)
{
	struct fmt_reader r;

	(void)state;
	file.fail_at = file.calls + 2;
	file.err = -EIO;
	file.fault = MEM_FAULT_CLEAN;
	assert_int_equal(fmt_writer_add_id(&w, 0, 0x31), -EIO);
	assert_int_equal(fmt_reader_open(&r, file.bytes, file.len), 0);
	assert_int_equal(r.events[0].nr_ids, 2);
	fmt_reader_done(&r);
	assert_int_equal(fmt_writer_add_id(&w, 0, 0x31), -EIO); /* until rolled back */
}

static void a_failed_store_can_be_rolled_back_and_repeated(void **state)
{
	struct fmt_reader r;
	uint64_t dropped;

	(void)state;
	for (unsigned n = 1; n <= 2; n++) {
		file.fail_at = file.calls + n;
		file.err = -EIO;
		file.fault = MEM_FAULT_TORN;
		assert_int_equal(fmt_writer_add_id(&w, 0, 0x31), -EIO);
		assert_int_equal(fmt_writer_rollback(&w, &dropped), 0);
	}
	assert_int_equal(fmt_writer_add_id(&w, 0, 0x37), 0);
	assert_int_equal(fmt_reader_open(&r, file.bytes, file.len), 0);
	assert_int_equal(r.events[0].nr_ids, 3);
	assert_int_equal(le_get(r.events[0].ids + 16, 8), 0x37);
	assert_int_equal(r.events[1].nr_ids, 1);
	fmt_reader_done(&r);
}

static void a_stream_leaves_no_places(void **state)
{
	struct fmt_sink s = mem_sink(&file);
	size_t len;

	(void)state;
	fmt_writer_done(&w);
	fmt_writer_init(&w, &s, true);
	assert_int_equal(fmt_writer_begin(&w, events, 2, NULL), 0);
	len = file.len;
	assert_int_equal(le_get16(file.bytes + 16 + 6), 8 + FMT_ATTR_SIZE + 16);
	assert_int_equal(fmt_writer_add_id(&w, 0, 0x31), -ESPIPE);
	assert_int_equal(file.len, len);
	assert_int_equal(fmt_writer_round(&w, true), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(places_for_ids_are_left_free_and_not_claimed),
		TEST(an_id_takes_the_next_place_of_its_event),
		TEST(without_a_place_nothing_is_written),
		TEST(an_id_is_stored_before_it_is_claimed),
		TEST(a_failed_store_can_be_rolled_back_and_repeated),
		TEST(a_stream_leaves_no_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
