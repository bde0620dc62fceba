/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden bytes of the kernel records that auxrec writes itself. Each can be checked with
 * the struct comments of include/uapi/linux/perf_event.h: header {u32 type, u16 misc,
 * u16 size}, body, then the trailer of sample_type IP|TID|TIME|CPU|IDENTIFIER.
 */
#include "format/record.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/abi.h"
#include "tests/unit/hex.h"

static struct fmt_buf b;

static const struct fmt_trailer none;
static const struct fmt_trailer when = {
	.pid = 0x11,
	.tid = 0x12,
	.time = 0x0102030405060708,
	.cpu = 3,
	.id = 0xa1a2a3a4a5a6a7a8,
};

/* Trailers: pid, tid, time, cpu, reserved, id. */
#define NO_TRAILER "00[32]"
#define TRAILER "11000000 12000000 0807060504030201 03000000 00000000 a8a7a6a5a4a3a2a1"

static int done(void **state)
{
	(void)state;
	fmt_buf_done(&b);
	return 0;
}

static void a_kernel_map_is_an_mmap_of_pid_minus_1(void **state)
{
	(void)state;
	assert_int_equal(fmt_put_mmap(&b, FMT_MISC_KERNEL, UINT32_MAX, 0,
				      0xffffffff81000000, 0xe02000, 0xffffffff81000000,
				      "[kernel.kallsyms]_text", &none), 0);
	hex_expect(b.data, b.len,
		   "01000000 0100 6000" /* MMAP, misc kernel, size 96 */
		   "ffffffff 00000000" /* pid, tid */
		   "00000081ffffffff" /* addr */
		   "0020e00000000000" /* len */
		   "00000081ffffffff" /* pgoff */
		   "'[kernel.kallsyms]_text' 00[2]" /* 22 + NUL, padded to 24 */
		   NO_TRAILER);
}

static void mmap2_names_the_file_by_device_and_inode(void **state)
{
	const struct fmt_mmap2 m = {
		.pid = 0x101,
		.tid = 0x102,
		.addr = 0x7f0000001000,
		.len = 0x2000,
		.pgoff = 0x3000,
		.maj = 8,
		.min = 2,
		.ino = 0x123456789a,
		.ino_generation = 0x77,
		.prot = 5,
		.flags = 2,
		.misc = FMT_MISC_USER,
		.name = "/usr/bin/cat",
	};

	(void)state;
	assert_int_equal(fmt_put_mmap2(&b, &m, &when), 0);
	hex_expect(b.data, b.len,
		   "0a000000 0200 7800" /* MMAP2, misc user, size 120 */
		   "01010000 02010000" /* pid, tid */
		   "00100000007f0000 0020000000000000 0030000000000000"
		   "08000000 02000000" /* maj, min */
		   "9a78563412000000 7700000000000000" /* ino, ino_generation */
		   "05000000 02000000" /* prot r-x, flags MAP_PRIVATE */
		   "'/usr/bin/cat' 00[4]"
		   TRAILER);
}

static void mmap2_names_the_file_by_build_id(void **state)
{
	const struct fmt_mmap2 m = {
		.pid = 1,
		.tid = 1,
		.addr = 0x1000,
		.len = 0x1000,
		.maj = 0xdddddddd, /* must not show */
		.build_id = { 0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8 },
		.build_id_size = 8,
		.prot = 4,
		.flags = 1,
		.misc = FMT_MISC_USER,
		.name = "/lib/x8",
	};

	(void)state;
	assert_int_equal(fmt_put_mmap2(&b, &m, &none), 0);
	hex_expect(b.data, b.len,
		   "0a000000 0240 7000" /* misc user | bit 14 MMAP_BUILD_ID, size 112 */
		   "01000000 01000000"
		   "0010000000000000 0010000000000000 0000000000000000"
		   "08 00 0000" /* build_id_size, reserved */
		   "b0b1b2b3b4b5b6b7 00[12]" /* build_id[20] */
		   "04000000 01000000"
		   "'/lib/x8' 00"
		   NO_TRAILER);
}

static void comm_says_whether_it_came_from_exec(void **state)
{
	(void)state;
	assert_int_equal(fmt_put_comm(&b, true, 7, 8, "sh", &when), 0);
	assert_int_equal(fmt_put_comm(&b, false, 7, 8, "12345678", &none), 0);
	hex_expect(b.data, b.len,
		   "03000000 0020 3800" /* COMM, misc bit 13 COMM_EXEC, size 56 */
		   "07000000 08000000 'sh' 00[6]"
		   TRAILER
		   "03000000 0000 4000" /* size 64 */
		   "07000000 08000000 '12345678' 00[8]"
		   NO_TRAILER);
}

static void comm_is_cut_where_the_kernel_cuts_it(void **state)
{
	(void)state;
	assert_int_equal(fmt_put_comm(&b, false, 1, 1, "kworker/0:1-events", &none), 0);
	hex_expect(b.data, b.len,
		   "03000000 0000 4000"
		   "01000000 01000000 'kworker/0:1-eve' 00"
		   NO_TRAILER);
}

static void a_task_found_running_is_marked_one_seen_to_fork_is_not(void **state)
{
	(void)state;
	assert_int_equal(fmt_put_task(&b, FMT_REC_FORK, 5, 4, 6, 3, 0, &none), 0);
	assert_int_equal(fmt_put_task(&b, FMT_REC_FORK, 5, 4, 6, 3, 0x99, &when), 0);
	assert_int_equal(fmt_put_task(&b, FMT_REC_EXIT, 5, 4, 6, 3, 0x99, &none), 0);
	hex_expect(b.data, b.len,
		   "07000000 0020 4000" /* FORK, misc bit 13 FORK_EXEC, size 64 */
		   "05000000 04000000 06000000 03000000" /* pid, ppid, tid, ptid */
		   "0000000000000000" /* time */
		   NO_TRAILER
		   "07000000 0000 4000"
		   "05000000 04000000 06000000 03000000 9900000000000000"
		   TRAILER
		   "04000000 0000 4000" /* EXIT */
		   "05000000 04000000 06000000 03000000 9900000000000000"
		   NO_TRAILER);
}

static void namespaces_are_counted_device_and_inode_pairs(void **state)
{
	const struct fmt_ns ns[] = { { 4, 0xf0000075 }, { 4, 0xeffffffe } };

	(void)state;
	assert_int_equal(fmt_put_namespaces(&b, 2, 3, ns, 2, &when), 0);
	hex_expect(b.data, b.len,
		   "10000000 0000 5800" /* NAMESPACES, size 88 */
		   "02000000 03000000 0200000000000000" /* pid, tid, nr */
		   "0400000000000000 750000f000000000" /* net */
		   "0400000000000000 feffffef00000000" /* uts */
		   TRAILER);
}

static void a_ksymbol_is_an_address_a_length_and_a_name(void **state)
{
	(void)state;
	assert_int_equal(fmt_put_ksymbol(&b, 0xffffffffc0001000, 0x123,
					 FMT_KSYMBOL_TYPE_BPF,
					 FMT_KSYMBOL_FLAGS_UNREGISTER, "bpf_prog_1234",
					 &none), 0);
	hex_expect(b.data, b.len,
		   "11000000 0000 4800" /* KSYMBOL, size 72 */
		   "001000c0ffffffff 23010000 0100 0100" /* addr, len, type, flags */
		   "'bpf_prog_1234' 00[3]"
		   NO_TRAILER);
}

static void a_bpf_event_is_a_kind_an_id_and_a_tag(void **state)
{
	const uint8_t tag[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	(void)state;
	assert_int_equal(fmt_put_bpf_event(&b, FMT_BPF_EVENT_PROG_LOAD, 0, 0x2f, tag,
					   &none), 0);
	hex_expect(b.data, b.len,
		   "12000000 0000 3800" /* BPF_EVENT, size 56 */
		   "0100 0000 2f000000 0102030405060708" /* type, flags, id, tag */
		   NO_TRAILER);
}

static void aux_says_where_how_much_and_what_went_wrong(void **state)
{
	(void)state;
	assert_int_equal(fmt_put_aux(&b, 0x1000, 0x2000,
				     FMT_AUX_TRUNCATED | FMT_AUX_COLLISION, &when), 0);
	hex_expect(b.data, b.len,
		   "0b000000 0000 4000" /* AUX, size 64 */
		   "0010000000000000 0020000000000000 0900000000000000"
		   TRAILER);
}

static void itrace_start_names_the_thread(void **state)
{
	(void)state;
	assert_int_equal(fmt_put_itrace_start(&b, 0x21, 0x22, &when), 0);
	hex_expect(b.data, b.len,
		   "0c000000 0000 3000" /* ITRACE_START, size 48 */
		   "21000000 22000000"
		   TRAILER);
}

static void a_switch_of_a_cpu_names_the_other_task(void **state)
{
	(void)state;
	assert_int_equal(fmt_put_switch_wide(&b, FMT_MISC_SWITCH_OUT, 0x23, 0x24, &when), 0);
	hex_expect(b.data, b.len,
		   "0f000000 0020 3000" /* SWITCH_CPU_WIDE, out, size 48 */
		   "23000000 24000000"
		   TRAILER);
}

static void losses_are_counted_in_two_kinds_of_record(void **state)
{
	(void)state;
	assert_int_equal(fmt_put_lost_samples(&b, 5, &when), 0);
	assert_int_equal(fmt_put_lost(&b, 0x31, 6, &none), 0);
	hex_expect(b.data, b.len,
		   "0d000000 0000 3000 0500000000000000" /* LOST_SAMPLES, size 48, lost */
		   TRAILER
		   "02000000 0000 3800" /* LOST, size 56 */
		   "3100000000000000 0600000000000000" /* id, lost */
		   NO_TRAILER);
}

static void a_count_has_what_its_read_format_says(void **state)
{
	(void)state;
	assert_int_equal(fmt_put_read(&b, 0x21, 0x22, 7, 0, &when), 0);
	hex_expect(b.data, b.len,
		   "08000000 0000 3800" /* READ, size 56 */
		   "21000000 22000000 0700000000000000"
		   TRAILER);
	fmt_buf_reset(&b);
	assert_int_equal(fmt_put_read(&b, 0x21, 0x22, 7, FMT_FORMAT_ID | FMT_FORMAT_LOST,
				      &(struct fmt_trailer){ .id = 0x31 }), 0);
	assert_int_equal(b.len, 72);
	b.len = 40;
	hex_expect(b.data, b.len,
		   "08000000 0000 4800"
		   "21000000 22000000 0700000000000000"
		   "3100000000000000 0000000000000000"); /* id, lost */
}

static void a_name_too_long_for_a_record_is_refused_whole(void **state)
{
	static char name[66000];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	assert_int_equal(fmt_put_itrace_start(&b, 1, 1, &none), 0);
	assert_int_equal(fmt_put_mmap(&b, FMT_MISC_USER, 1, 1, 0, 0, 0, name, &none),
			 -EMSGSIZE);
	assert_int_equal(b.len, 48);
}

static void an_earlier_error_is_reported_by_every_record(void **state)
{
	const struct fmt_mmap2 m = { .name = "x" };

	(void)state;
	b.err = -ENOMEM;
	assert_int_equal(fmt_put_mmap(&b, 0, 0, 0, 0, 0, 0, "", &none), -ENOMEM);
	assert_int_equal(fmt_put_mmap2(&b, &m, &none), -ENOMEM);
	assert_int_equal(fmt_put_comm(&b, false, 0, 0, "", &none), -ENOMEM);
	assert_int_equal(fmt_put_task(&b, FMT_REC_EXIT, 0, 0, 0, 0, 0, &none), -ENOMEM);
	assert_int_equal(fmt_put_namespaces(&b, 0, 0, NULL, 0, &none), -ENOMEM);
	assert_int_equal(fmt_put_ksymbol(&b, 0, 0, 0, 0, "", &none), -ENOMEM);
	assert_int_equal(fmt_put_aux(&b, 0, 0, 0, &none), -ENOMEM);
	assert_int_equal(fmt_put_lost(&b, 0, 0, &none), -ENOMEM);
	assert_int_equal(b.len, 0);
}

#define TEST(f) cmocka_unit_test_teardown(f, done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_kernel_map_is_an_mmap_of_pid_minus_1),
		TEST(mmap2_names_the_file_by_device_and_inode),
		TEST(mmap2_names_the_file_by_build_id),
		TEST(comm_says_whether_it_came_from_exec),
		TEST(comm_is_cut_where_the_kernel_cuts_it),
		TEST(a_task_found_running_is_marked_one_seen_to_fork_is_not),
		TEST(namespaces_are_counted_device_and_inode_pairs),
		TEST(a_ksymbol_is_an_address_a_length_and_a_name),
		TEST(a_bpf_event_is_a_kind_an_id_and_a_tag),
		TEST(aux_says_where_how_much_and_what_went_wrong),
		TEST(itrace_start_names_the_thread),
		TEST(a_count_has_what_its_read_format_says),
		TEST(a_switch_of_a_cpu_names_the_other_task),
		TEST(losses_are_counted_in_two_kinds_of_record),
		TEST(a_name_too_long_for_a_record_is_refused_whole),
		TEST(an_earlier_error_is_reported_by_every_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
