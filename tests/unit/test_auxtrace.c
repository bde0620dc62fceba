/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden bytes of the user records. Structs: tools/lib/perf/include/perf/event.h; the
 * order of the Intel PT words: tools/perf/util/intel-pt.h (Linux 6.1).
 */
#include "format/auxtrace.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/abi.h"
#include "format/le.h"
#include "tests/unit/hex.h"

static struct fmt_buf b;

static int done(void **state)
{
	(void)state;
	fmt_buf_done(&b);
	return 0;
}

static void auxtrace_is_48_bytes_and_no_trace(void **state)
{
	const struct fmt_auxtrace a = {
		.size = 0x1008,
		.offset = 0x0102030405060708,
		.reference = 0x1112131415161718,
		.idx = 2,
		.tid = UINT32_MAX,
		.cpu = 5,
	};

	(void)state;
	assert_int_equal(fmt_put_auxtrace(&b, &a), 0);
	hex_expect(b.data, b.len,
		   "47000000 0000 3000" /* AUXTRACE, size 48 */
		   "0810000000000000" /* size */
		   "0807060504030201" /* offset */
		   "1817161514131211" /* reference */
		   "02000000 ffffffff 05000000 00000000"); /* idx, tid, cpu, reserved */
}

static const struct fmt_pt_info info = {
	.pmu_type = 0x01,
	.time_shift = 0x02,
	.time_mult = 0x03,
	.time_zero = 0x04,
	.cap_user_time_zero = 0x05,
	.tsc_bit = 0x06,
	.noretcomp_bit = 0x07,
	.have_sched_switch = 0x08,
	.snapshot_mode = 0x09,
	.per_cpu_mmaps = 0x0a,
	.mtc_bit = 0x0b,
	.mtc_freq_bits = 0x0c,
	.tsc_ctc_n = 0x0d,
	.tsc_ctc_d = 0x0e,
	.cyc_bit = 0x0f,
	.max_nonturbo_ratio = 0x10,
	.cap_event_trace = 0x11,
};

/* Words 0 to 15. */
#define PT_WORDS \
	"01 00[7] 02 00[7] 03 00[7] 04 00[7] 05 00[7] 06 00[7] 07 00[7] 08 00[7]" \
	"09 00[7] 0a 00[7] 0b 00[7] 0c 00[7] 0d 00[7] 0e 00[7] 0f 00[7] 10 00[7]"

static void pt_info_has_18_words_without_a_filter(void **state)
{
	(void)state;
	assert_int_equal(fmt_put_pt_info(&b, &info), 0);
	hex_expect(b.data, b.len,
		   "46000000 0000 a000" /* AUXTRACE_INFO, size 160 */
		   "01000000 00000000" /* type 1 Intel PT, reserved */
		   PT_WORDS
		   "00[8]" /* 16: no filter */
		   "11 00[7]"); /* 17: event_trace */
}

static void pt_info_has_its_filter_between_length_and_last_word(void **state)
{
	struct fmt_pt_info i = info;

	(void)state;
	i.filter = "filter 0x10/0x20";
	assert_int_equal(fmt_put_pt_info(&b, &i), 0);
	hex_expect(b.data, b.len,
		   "46000000 0000 b800" /* size 184 */
		   "01000000 00000000"
		   PT_WORDS
		   "10 00[7]" /* strlen 16 */
		   "'filter 0x10/0x20' 00[8]" /* its NUL needs a word of its own */
		   "11 00[7]");
}

static void an_empty_filter_is_no_filter(void **state)
{
	struct fmt_pt_info i = info;

	(void)state;
	i.filter = "";
	assert_int_equal(fmt_put_pt_info(&b, &i), 0);
	assert_int_equal(b.len, 160);
}

static void pt_info_is_read_back_word_by_word(void **state)
{
	struct fmt_pt_info i = info, got;
	const uint64_t *in = &i.pmu_type, *out = &got.pmu_type;

	(void)state;
	i.filter = "filter 0x10/0x20";
	assert_int_equal(fmt_put_pt_info(&b, &i), 0);
	assert_int_equal(fmt_get_pt_info(&got, b.data, b.len), 0);
	for (size_t k = 0; k < 16; k++)
		assert_int_equal(out[k], in[k]);
	assert_string_equal(got.filter, i.filter);
	assert_int_equal(got.cap_event_trace, 0x11);
}

static void pt_info_of_fewer_words_reads_as_zeros(void **state)
{
	struct fmt_pt_info i = info, got;

	(void)state;
	i.filter = "filter 0x10/0x20";
	assert_int_equal(fmt_put_pt_info(&b, &i), 0);
	for (size_t n = 0; n < 16 + 80; n++)
		assert_int_equal(fmt_get_pt_info(&got, b.data, n), -EBADMSG);
	for (size_t n = 16 + 80; n < b.len; n++) {
		uint8_t *copy = malloc(n); /* a sanitizer sees what is read behind it */

		assert_non_null(copy);
		memcpy(copy, b.data, n);
		assert_int_equal(fmt_get_pt_info(&got, copy, n), 0);
		assert_int_equal(got.per_cpu_mmaps, 0x0a);
		assert_int_equal(got.mtc_bit, n < 16 + 88 ? 0 : 0x0b);
		assert_int_equal(got.cap_event_trace, 0);
		free(copy);
	}
	b.data[8] = 4; /* Arm SPE */
	assert_int_equal(fmt_get_pt_info(&got, b.data, b.len), -ENOENT);
}

static void time_conv_ends_in_two_flags_and_padding(void **state)
{
	const struct fmt_time_conv c = {
		.shift = 31,
		.mult = 0x40000000,
		.zero = UINT64_MAX,
		.cycles = 7,
		.mask = 0xff,
		.cap_time_zero = true,
	};

	(void)state;
	assert_int_equal(fmt_put_time_conv(&b, &c), 0);
	hex_expect(b.data, b.len,
		   "4f000000 0000 3800" /* TIME_CONV, size 56 */
		   "1f00000000000000 0000004000000000 ffffffffffffffff"
		   "0700000000000000 ff00000000000000"
		   "01 00 00[6]"); /* cap_time_zero, cap_time_short */
}

static void id_index_has_32_bytes_an_id(void **state)
{
	const struct fmt_id ids[] = {
		{ .id = 0x11, .idx = 0, .cpu = 0, .tid = -1 },
		{ .id = 0x12, .idx = 1, .cpu = -1, .tid = 0x99 },
	};

	(void)state;
	assert_int_equal(fmt_put_id_index(&b, ids, 2), 0);
	hex_expect(b.data, b.len,
		   "45000000 0000 5000 0200000000000000" /* ID_INDEX, size 80, nr */
		   "1100000000000000 0000000000000000" /* id, idx */
		   "0000000000000000 ffffffffffffffff" /* cpu, tid */
		   "1200000000000000 0100000000000000"
		   "ffffffffffffffff 9900000000000000");
}

static void id_index_is_split_after_1364_ids(void **state)
{
	static struct fmt_id ids[1364 + 2];

	(void)state;
	for (size_t i = 0; i < 1366; i++)
		ids[i] = (struct fmt_id){ .id = i + 1 };
	assert_int_equal(fmt_put_id_index(&b, ids, 1366), 0);
	assert_int_equal(b.len, 16 + 1364 * 32 + 16 + 2 * 32);
	hex_expect(b.data, 24, "45000000 0000 90aa 5405000000000000 0100000000000000");
	hex_expect(b.data + 16 + 1364 * 32, 24,
		   "45000000 0000 5000 0200000000000000 5505000000000000");
	fmt_buf_reset(&b);
	assert_int_equal(fmt_put_id_index(&b, ids, 1364), 0);
	assert_int_equal(b.len, 16 + 1364 * 32);
	fmt_buf_reset(&b);
	assert_int_equal(fmt_put_id_index(&b, ids, 0), 0);
	assert_int_equal(b.len, 0);
}

static void header_attr_is_attr_then_ids(void **state)
{
	const uint64_t ids[] = { 0x21, 0x22 };
	struct fmt_event e = { .ids = ids, .nr_ids = 2, .name = "dummy:u" };

	(void)state;
	memset(e.attr, 0xaa, sizeof(e.attr));
	assert_int_equal(fmt_put_header_attr(&b, &e), 0);
	hex_expect(b.data, b.len,
		   "40000000 0000 9800" /* HEADER_ATTR, size 152 */
		   "aa[128]"
		   "2100000000000000 2200000000000000");
}

static void header_attr_takes_8174_ids_and_no_more(void **state)
{
	static uint64_t ids[8175];
	struct fmt_event e = { .ids = ids, .nr_ids = 8174 };

	(void)state;
	assert_int_equal(fmt_put_header_attr(&b, &e), 0);
	assert_int_equal(b.len, 65528);
	e.nr_ids = 8175;
	assert_int_equal(fmt_put_header_attr(&b, &e), -EMSGSIZE);
}

static void event_update_carries_a_name(void **state)
{
	(void)state;
	assert_int_equal(fmt_put_event_name(&b, 0x21, "intel_pt//"), 0);
	hex_expect(b.data, b.len,
		   "4e000000 0000 2800" /* EVENT_UPDATE, size 40 */
		   "0200000000000000 2100000000000000" /* kind NAME, id */
		   "'intel_pt//' 00[6]");
}

static void thread_map_has_16_bytes_of_name_a_thread(void **state)
{
	const struct fmt_thread t[] = { { 0x55, "cat" }, { -1, "" },
					{ 0x66, "0123456789abcdef" } };

	(void)state;
	assert_int_equal(fmt_put_thread_map(&b, t, 3), 0);
	hex_expect(b.data, b.len,
		   "49000000 0000 5800 0300000000000000" /* THREAD_MAP, size 88, nr */
		   "5500000000000000 'cat' 00[13]"
		   "ffffffffffffffff 00[16]"
		   "6600000000000000 '0123456789abcde' 00");
}

static void thread_map_takes_2729_threads_and_no_more(void **state)
{
	static struct fmt_thread t[2730];

	(void)state;
	for (size_t i = 0; i < 2730; i++)
		t[i].comm = "x";
	assert_int_equal(fmt_put_thread_map(&b, t, 2729), 0);
	assert_int_equal(fmt_put_thread_map(&b, t, 2730), -EMSGSIZE);
}

static void cpu_map_is_a_list_of_u16(void **state)
{
	const int some[] = { 0, 2, 300 };
	const int any[] = { -1 };

	(void)state;
	assert_int_equal(fmt_put_cpu_map(&b, some, 3), 0);
	assert_int_equal(fmt_put_cpu_map(&b, any, 1), 0);
	hex_expect(b.data, b.len,
		   "4a000000 0000 1800" /* CPU_MAP, size 24 */
		   "0000 0300 0000 0200 2c01 00[6]" /* type 0, nr, cpus, padding */
		   "4a000000 0000 1000 0000 0100 ffff 0000");
}

static void build_id_pads_the_record_not_the_name(void **state)
{
	uint8_t id[20];

	(void)state;
	hex_bytes(id, sizeof(id), "b0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3");
	assert_int_equal(fmt_put_build_id(&b, FMT_MISC_KERNEL, -1, id, 20,
					  "[kernel.kallsyms]"), 0);
	assert_int_equal(fmt_put_build_id(&b, FMT_MISC_USER, -1, id, 8, "/a"), 0);
	hex_expect(b.data, b.len,
		   "43000000 0180 3800" /* BUILD_ID, misc kernel | bit 15, size 56 */
		   "ffffffff" /* pid -1: host */
		   "b0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3"
		   "14 000000" /* size of the id, reserved */
		   "'[kernel.kallsyms]' 00[3]" /* at 36; ends at 56 */
		   "43000000 0280 2800" /* misc user | bit 15, size 40 */
		   "ffffffff b0b1b2b3b4b5b6b7 00[12]"
		   "08 000000"
		   "'/a' 00[2]");
}

static void padding_counts_from_the_record_not_from_the_buffer(void **state)
{
	const uint8_t id[20] = { 0 };
	const int cpu = 1;

	(void)state;
	fmt_put_zero(&b, 3);
	assert_int_equal(fmt_put_build_id(&b, FMT_MISC_USER, -1, id, 20, "/a"), 0);
	assert_int_equal(b.len, 3 + 40);
	assert_int_equal(fmt_put_cpu_map(&b, &cpu, 1), 0);
	assert_int_equal(b.len, 3 + 40 + 16);
}

static void a_build_id_name_beyond_a_readers_buffer_is_refused(void **state)
{
	static char name[FMT_BUILD_ID_NAME_MAX + 2];
	const uint8_t id[20] = { 0 };

	(void)state;
	memset(name, 'n', FMT_BUILD_ID_NAME_MAX);
	assert_int_equal(fmt_put_build_id(&b, 2, -1, id, 20, name), 0);
	assert_true(le_get16(b.data + 6) - 36 <= 4096);
	name[FMT_BUILD_ID_NAME_MAX] = 'n';
	assert_int_equal(fmt_put_build_id(&b, 2, -1, id, 20, name), -EMSGSIZE);
	assert_int_equal(b.len, le_get16(b.data + 6));
}

static void finished_records_are_headers_only(void **state)
{
	(void)state;
	assert_int_equal(fmt_put_finished_round(&b), 0);
	assert_int_equal(fmt_put_finished_init(&b), 0);
	hex_expect(b.data, b.len, "44000000 0000 0800 52000000 0000 0800");
}

#define TEST(f) cmocka_unit_test_teardown(f, done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(auxtrace_is_48_bytes_and_no_trace),
		TEST(pt_info_has_18_words_without_a_filter),
		TEST(pt_info_has_its_filter_between_length_and_last_word),
		TEST(an_empty_filter_is_no_filter),
		TEST(pt_info_is_read_back_word_by_word),
		TEST(pt_info_of_fewer_words_reads_as_zeros),
		TEST(time_conv_ends_in_two_flags_and_padding),
		TEST(id_index_has_32_bytes_an_id),
		TEST(id_index_is_split_after_1364_ids),
		TEST(header_attr_is_attr_then_ids),
		TEST(header_attr_takes_8174_ids_and_no_more),
		TEST(event_update_carries_a_name),
		TEST(thread_map_has_16_bytes_of_name_a_thread),
		TEST(thread_map_takes_2729_threads_and_no_more),
		TEST(cpu_map_is_a_list_of_u16),
		TEST(build_id_pads_the_record_not_the_name),
		TEST(padding_counts_from_the_record_not_from_the_buffer),
		TEST(a_build_id_name_beyond_a_readers_buffer_is_refused),
		TEST(finished_records_are_headers_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
