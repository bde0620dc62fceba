/* SPDX-License-Identifier: Apache-2.0 */
#include "format/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <linux/perf_event.h>

#include "format/abi.h"

/* Offsets as in perf_event_open(2); every byte its own value, so that a slip shows. */
static void fields_are_read_from_their_offsets(void **state)
{
	uint8_t attr[FMT_ATTR_SIZE];

	(void)state;
	for (unsigned i = 0; i < sizeof(attr); i++)
		attr[i] = (uint8_t)i;
	assert_int_equal(fmt_attr_type(attr, 128), 0x03020100);
	assert_true(fmt_attr_config(attr, 128) == 0x0f0e0d0c0b0a0908);
	assert_true(fmt_attr_sample_type(attr, 128) == 0x1f1e1d1c1b1a1918);
	assert_true(fmt_attr_read_format(attr, 128) == 0x2726252423222120);
	assert_true(fmt_attr_flags(attr, 128) == 0x2f2e2d2c2b2a2928);
	assert_int_equal(fmt_attr_clockid(attr, 128), 0x5f5e5d5c);
}

static void fields_agree_with_the_kernels_struct(void **state)
{
	struct perf_event_attr a = {
		.type = 7,
		.size = FMT_ATTR_SIZE,
		.config = 0x300e601,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_IDENTIFIER,
		.read_format = PERF_FORMAT_ID,
		.disabled = 1,
		.sample_id_all = 1,
		.context_switch = 1,
		.sigtrap = 1,
		.clockid = -5,
	};
	const uint8_t *p = (const uint8_t *)&a;

	(void)state;
	assert_int_equal(fmt_attr_type(p, sizeof(a)), 7);
	assert_true(fmt_attr_config(p, sizeof(a)) == 0x300e601);
	assert_true(fmt_attr_sample_type(p, sizeof(a)) == 0x10001);
	assert_true(fmt_attr_read_format(p, sizeof(a)) == 4);
	assert_true(fmt_attr_flags(p, sizeof(a)) ==
		    (FMT_ATTR_F_DISABLED | FMT_ATTR_F_SAMPLE_ID_ALL |
		     FMT_ATTR_F_CONTEXT_SWITCH | FMT_ATTR_F_SIGTRAP));
	assert_int_equal(fmt_attr_clockid(p, sizeof(a)), -5);
}

static void fields_beyond_a_short_attr_read_as_zero(void **state)
{
	uint8_t attr[FMT_ATTR_SIZE];

	(void)state;
	memset(attr, 0xff, sizeof(attr));
	assert_int_equal(fmt_attr_clockid(attr, 95), 0);
	assert_int_equal(fmt_attr_clockid(attr, 96), -1);
	assert_true(fmt_attr_flags(attr, 47) == 0);
	assert_true(fmt_attr_flags(attr, 48) == UINT64_MAX);
	assert_int_equal(fmt_attr_type(attr, 0), 0);
}

static void a_trailer_has_8_bytes_for_each_of_its_parts(void **state)
{
	(void)state;
	assert_int_equal(fmt_trailer_size(0), 0);
	assert_int_equal(fmt_trailer_size(PERF_SAMPLE_IP | PERF_SAMPLE_RAW |
					  PERF_SAMPLE_PERIOD | PERF_SAMPLE_AUX), 0);
	assert_int_equal(fmt_trailer_size(PERF_SAMPLE_TID), 8);
	assert_int_equal(fmt_trailer_size(PERF_SAMPLE_TIME), 8);
	assert_int_equal(fmt_trailer_size(PERF_SAMPLE_ID), 8);
	assert_int_equal(fmt_trailer_size(PERF_SAMPLE_STREAM_ID), 8);
	assert_int_equal(fmt_trailer_size(PERF_SAMPLE_CPU), 8);
	assert_int_equal(fmt_trailer_size(PERF_SAMPLE_IDENTIFIER), 8);
	assert_int_equal(fmt_trailer_size(0x10087), 32);
	assert_int_equal(fmt_trailer_size(UINT64_MAX), 48);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_read_from_their_offsets),
		cmocka_unit_test(fields_agree_with_the_kernels_struct),
		cmocka_unit_test(fields_beyond_a_short_attr_read_as_zero),
		cmocka_unit_test(a_trailer_has_8_bytes_for_each_of_its_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
