/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace put together by hand, of a program of eight bytes:
 *   0: nop; 1: nop; 2: jnz 0; 4: syscall; 6: jmp 6
 * so that every number of instructions is known.
 */
#include "recorder/decode/decode.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/abi.h"
#include "format/auxtrace.h"
#include "format/record.h"
#include "tests/unit/fixture.h"
#include "tests/unit/handmade.h"

#define ST (FMT_SAMPLE_IP | FMT_SAMPLE_TID | FMT_SAMPLE_TIME | FMT_SAMPLE_CPU | \
	    FMT_SAMPLE_IDENTIFIER)
#define BASE	UINT64_C(0x400000)
#define PT_TYPE 8u
#define TSC	(UINT64_C(1) << 10) /* config bits, as the kernel has them */
#define TURN	3

struct world {
	struct fixture *f;
	struct fmt_buf file, pt;
	struct decode_report r;
	struct decode_opts o;
	uint64_t tsc;
	uint64_t hidden; /* when memory without a file is mapped over the program */
	char code[80], data[80];
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	static const char code[] = "\x90\x90\x75\xfc\x0f\x05\xeb\xfe";

	if (!w || fixture_new((void **)&w->f))
		return -1;
	snprintf(w->code, sizeof(w->code), "%s/code", w->f->root);
	snprintf(w->data, sizeof(w->data), "%s/perf.data", w->f->root);
	fixture_file(w->f, "code", code);
	w->tsc = 1000;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	decode_report_done(&w->r);
	fmt_buf_done(&w->file);
	fmt_buf_done(&w->pt);
	fixture_done((void **)&w->f);
	free(w);
	return 0;
}

/* Packets: Intel SDM vol. 3, 33.4.2. */
static void put_bytes(struct world *w, const char *hex)
{
	unsigned byte;

	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		fmt_put_le(&w->pt, byte, 1);
}

static void put_ip(struct world *w, unsigned opcode, uint64_t ip)
{
	fmt_put_le(&w->pt, opcode | 6u << 5, 1);
	fmt_put_le(&w->pt, BASE + ip, 8);
}

static void put_tsc(struct world *w)
{
	w->tsc += 10;
	fmt_put_le(&w->pt, 0x19, 1);
	fmt_put_le(&w->pt, w->tsc, 7);
}

static void psb_begin(struct world *w)
{
	for (int i = 0; i < 8; i++)
		put_bytes(w, "0282");
	put_tsc(w);
	put_bytes(w, "02030a00"); /* CBR */
}

/* Outside of traced code. */
static void psb(struct world *w)
{
	psb_begin(w);
	put_bytes(w, "0223");
}

/* Within it, before the instruction at ip. */
static void psb_at(struct world *w, uint64_t ip)
{
	psb_begin(w);
	put_bytes(w, "9901");
	put_ip(w, 0x1d, ip); /* FUP */
	put_bytes(w, "0223");
}

static void enable(struct world *w, uint64_t ip)
{
	put_tsc(w);
	put_bytes(w, "9901");
	put_ip(w, 0x11, ip); /* TIP.PGE */
}

/* The loop's branch: so often taken; or n - 1 times, and then not. */
static void taken(struct world *w, unsigned n)
{
	while (n--)
		fmt_put_le(&w->pt, 0x06, 1); /* TNT of one bit */
}

static void leave(struct world *w)
{
	fmt_put_le(&w->pt, 0x04, 1);
	put_bytes(w, "01"); /* TIP.PGD */
}

/* A pipe-form file: one event, the program mapped by process 7, the trace as one queue. */
static void make(struct world *w, uint64_t config, uint32_t cpu, uint32_t tid)
{
	const struct fmt_pt_info info = { .pmu_type = PT_TYPE, .time_mult = 1,
					  .cap_user_time_zero = 1, .tsc_bit = TSC };
	struct fmt_auxtrace a = { .size = (w->pt.len + 7) & ~UINT64_C(7),
				  .reference = w->tsc, .idx = 2, .cpu = cpu, .tid = tid };
	struct fmt_mmap2 m = { .pid = 7, .tid = 7, .addr = BASE, .len = 0x1000, .prot = 5,
			       .misc = FMT_MISC_USER, .name = w->code };
	const struct fmt_trailer t = { 0 }, later = { .time = w->hidden, .id = 11 };
	struct fmt_buf *b = &w->file;
	size_t at;

	handmade_pipe_header(b);
	at = fmt_record_begin(b, FMT_REC_HEADER_ATTR, 0);
	handmade_attr(b, PT_TYPE, config, ST, FMT_ATTR_F_SAMPLE_ID_ALL, 64);
	fmt_put_le(b, 11, 8);
	fmt_record_end(b, at);
	fmt_put_pt_info(b, &info);
	fmt_put_comm(b, false, 7, 7, "seven", &t);
	fmt_put_mmap2(b, &m, &t);
	m.name = "//anon";
	if (w->hidden)
		fmt_put_mmap2(b, &m, &later);
	fmt_put_auxtrace(b, &a);
	fmt_put(b, w->pt.data, w->pt.len);
	fmt_put_zero(b, a.size - w->pt.len);
	assert_int_equal(b->err, 0);
	assert_int_equal(w->pt.err, 0);
}

static void decode(struct world *w)
{
	FILE *out = fopen(w->data, "we");
	struct input in;

	assert_non_null(out);
	assert_int_equal(fwrite(w->file.data, 1, w->file.len, out), w->file.len);
	assert_int_equal(fclose(out), 0);
	decode_report_done(&w->r);
	assert_int_equal(input_open(&in, w->data), 0);
	assert_int_equal(decode_file(&w->r, &in, &w->o), 0);
	input_done(&in);
}

static void of_thread(struct world *w)
{
	make(w, TSC, UINT32_MAX, 7);
	decode(w);
}

static void every_instruction_is_counted(void **state)
{
	struct world *w = *state;

	psb(w);
	enable(w, 0);
	taken(w, 9);
	leave(w);
	of_thread(w);
	assert_int_equal(w->r.insns, 10 * TURN + 1);
	assert_int_equal(w->r.nr_errors, 0);
	assert_int_equal(w->r.skipped, 0);
	assert_int_equal(decode_share(&w->r), 10000);
	assert_true(w->r.timed);
	assert_int_equal(w->r.nr_threads, 1);
	assert_int_equal(w->r.threads[0].pid, 7);
	assert_int_equal(w->r.threads[0].tid, 7);
	assert_string_equal(w->r.threads[0].comm, "seven");
	assert_int_equal(w->r.threads[0].insns, w->r.insns);
	assert_int_equal(w->r.nr_queues, 1);
	assert_int_equal(w->r.queues[0].idx, 2);
	assert_int_equal(w->r.queues[0].nr_psb, 1);
	assert_int_equal(w->r.queues[0].first_time, 1010);
	assert_int_equal(w->r.queues[0].last_time, 1020);
}

/* Each slice from one PSB to the next or further, and each way the same instructions. */
static void slices_of_any_size_count_the_same(void **state)
{
	static const uint64_t sizes[] = { 0, 16, 17, 50, 64, 100, 250 };
	struct world *w = *state;

	psb(w);
	enable(w, 0);
	for (unsigned k = 0; k < 40; k++) {
		taken(w, 1 + k % 5);
		/* At each instruction of the loop in turn. */
		psb_at(w, k % TURN);
	}
	leave(w);
	make(w, TSC, UINT32_MAX, 7);
	for (unsigned k = 0; k < 2 * sizeof(sizes) / sizeof(*sizes); k++) {
		w->o.slice = sizes[k / 2];
		w->o.threads = 1 + k % 2 * 3;
		decode(w);
		assert_int_equal(w->r.nr_errors, 0);
		assert_int_equal(w->r.insns, (40 / 5 * (1 + 2 + 3 + 4 + 5) + 1) * TURN + 1);
		assert_int_equal(w->r.skipped, 0);
		assert_int_equal(w->r.queues[0].nr_psb, 41);
	}
}

static void bytes_before_a_psb_are_not_decodable(void **state)
{
	struct world *w = *state;

	taken(w, 60);
	psb(w);
	enable(w, 0);
	leave(w);
	of_thread(w);
	assert_int_equal(w->r.insns, TURN + 1);
	assert_int_equal(w->r.skipped, 60);
	assert_int_equal(w->r.nr_errors, 0);
	assert_int_equal(decode_share(&w->r), (w->r.bytes - 60) * 10000 / w->r.bytes);
}

static void trace_without_a_psb_is_not_decodable(void **state)
{
	struct world *w = *state;

	taken(w, 64);
	of_thread(w);
	assert_int_equal(w->r.skipped, 64);
	assert_int_equal(decode_share(&w->r), 0);
	assert_int_equal(w->r.insns, 0);
}

/* An unknown opcode in the middle: what is before it counts, and what is behind the next
 * PSB, also where that one is the next slice's. */
static void an_error_ends_at_the_next_psb(void **state)
{
	struct world *w = *state;
	uint64_t bad;

	psb(w);
	enable(w, 0);
	taken(w, 4);
	bad = w->pt.len;
	put_bytes(w, "0505050505050505");
	psb_at(w, 0);
	taken(w, 2);
	leave(w);
	make(w, TSC, UINT32_MAX, 7);
	for (uint64_t slice = 0; slice < 200; slice += 16) {
		w->o.slice = slice;
		decode(w);
		assert_int_equal(w->r.nr_errors, 1);
		assert_int_equal(w->r.nr_kinds, 1);
		assert_int_equal(w->r.errors[0].n, 1);
		assert_int_equal(w->r.errors[0].idx, 2);
		assert_int_equal(w->r.errors[0].offset, bad);
		assert_int_equal(w->r.errors[0].tid, 7);
		assert_memory_equal(w->file.data + w->r.errors[0].file_at, "\x05\x05", 2);
		assert_int_equal(w->r.skipped, 8);
		assert_true(decode_misfits(&w->r));
		assert_in_range(w->r.insns, 7 * TURN, 8 * TURN + 1);
	}
}

static void missing_code_is_named(void **state)
{
	struct world *w = *state;

	psb(w);
	enable(w, 0);
	leave(w);
	psb(w);
	enable(w, 0x2000);
	leave(w);
	psb(w);
	enable(w, 0);
	leave(w);
	make(w, TSC, UINT32_MAX, 7);
	decode(w);
	assert_int_equal(w->r.insns, 2 * (TURN + 1));
	assert_int_equal(w->r.nr_missing, 1);
	assert_null(w->r.missing[0].image); /* nothing is mapped there */
	assert_int_equal(w->r.missing[0].first_ip, BASE + 0x2000);
	assert_int_equal(unlink(w->code), 0);
	decode(w);
	assert_int_equal(w->r.insns, 0);
	assert_int_equal(w->r.nr_errors, 3);
	assert_false(decode_misfits(&w->r));
	assert_int_equal(w->r.nr_missing, 2);
	assert_string_equal(w->r.missing[0].image->name, w->code);
	assert_int_equal(w->r.missing[0].errors, 2);
	assert_int_equal(w->r.missing[0].image->state, IMAGE_NO_FILE);
}

static void code_that_was_mapped_over_is_gone(void **state)
{
	struct world *w = *state;

	psb(w);
	enable(w, 0);
	taken(w, 2);
	leave(w);
	w->hidden = w->tsc + 5;
	enable(w, 0);
	leave(w);
	of_thread(w);
	assert_int_equal(w->r.insns, 3 * TURN + 1);
	assert_int_equal(w->r.nr_errors, 1);
	assert_int_equal(w->r.nr_missing, 1);
	assert_int_equal(w->r.missing[0].image->state, IMAGE_NO_CODE);
}

static void a_loop_without_packets_ends(void **state)
{
	struct world *w = *state;

	psb(w);
	enable(w, 6);
	psb_at(w, 6);
	put_bytes(w, "01");
	make(w, TSC, UINT32_MAX, 7);
	for (uint64_t slice = 0; slice < 100; slice += 16) {
		w->o.slice = slice;
		decode(w);
		assert_in_range(w->r.nr_kinds, 0, 2);
		assert_true(w->r.insns < 1u << 24);
	}
}

static void without_time_the_threads_last_space_counts(void **state)
{
	struct world *w = *state;

	psb(w);
	enable(w, 0);
	leave(w);
	make(w, 0, UINT32_MAX, 7); /* the config has no TSC */
	decode(w);
	assert_false(w->r.timed);
	assert_int_equal(w->r.insns, TURN + 1);
	assert_false(w->r.queues[0].has_time);
}

static void a_cpu_without_switches_has_no_code(void **state)
{
	struct world *w = *state;

	psb(w);
	enable(w, 0);
	leave(w);
	make(w, TSC, 3, UINT32_MAX);
	decode(w);
	assert_int_equal(w->r.insns, 0);
	assert_int_equal(w->r.nr_missing, 1);
	assert_null(w->r.missing[0].image);
}

static void files_without_intel_pt_give_an_empty_report(void **state)
{
	struct world *w = *state;

	handmade_pipe_header(&w->file);
	decode(w);
	assert_false(w->r.has_aux);
	assert_int_equal(w->r.nr_queues, 0);
	assert_int_equal(decode_share(&w->r), 10000);
}

/* Any bytes: it ends, and a sanitizer has nothing to say. */
static void any_bytes_are_survived(void **state)
{
	struct world *w = *state;
	uint64_t x = 88172645463325252u;
	size_t from;

	psb(w);
	enable(w, 0);
	for (unsigned k = 0; k < 20; k++) {
		taken(w, 1 + k % 5);
		psb_at(w, k % TURN);
	}
	leave(w);
	make(w, TSC, UINT32_MAX, 7);
	from = w->file.len - ((w->pt.len + 7) & ~(size_t)7);
	for (unsigned round = 0; round < 300; round++) {
		for (unsigned k = 0; k < 1 + round % 8; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			w->file.data[from + x % (w->file.len - from)] = (uint8_t)(x >> 32);
		}
		w->o.slice = round % 5 * 40;
		decode(w);
		assert_true(w->r.skipped <= w->r.bytes);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_instruction_is_counted),
		TEST(slices_of_any_size_count_the_same),
		TEST(bytes_before_a_psb_are_not_decodable),
		TEST(trace_without_a_psb_is_not_decodable),
		TEST(an_error_ends_at_the_next_psb),
		TEST(missing_code_is_named),
		TEST(code_that_was_mapped_over_is_gone),
		TEST(a_loop_without_packets_ends),
		TEST(without_time_the_threads_last_space_counts),
		TEST(a_cpu_without_switches_has_no_code),
		TEST(files_without_intel_pt_give_an_empty_report),
		TEST(any_bytes_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
