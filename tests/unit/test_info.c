/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "format/abi.h"
#include "format/le.h"
#include "recorder/info.h"
#include "tests/unit/handmade.h"

struct fix {
	struct handmade h;
	struct input in;
	struct info i;
};

static const struct info_cpu *cpu_at(const struct fix *f, size_t n)
{
	return rows_at(&f->i.cpus, n);
}

static const struct info_queue *queue_at(const struct fix *f, size_t n)
{
	return rows_at(&f->i.aux.queues, n);
}

static const struct info_type *type_at(const struct fix *f, size_t n)
{
	return rows_at(&f->i.others, n);
}

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct fix));
	return *state ? 0 : 1;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	info_done(&f->i);
	fmt_reader_done(&f->in.r);
	fmt_buf_done(&f->h.b);
	free(f);
	return 0;
}

static void fold_bytes(struct fix *f)
{
	info_done(&f->i);
	fmt_reader_done(&f->in.r);
	assert_int_equal(f->h.b.err, 0);
	assert_int_equal(fmt_reader_open(&f->in.r, f->h.b.data, f->h.b.len), 0);
	assert_int_equal(info_fold(&f->i, &f->in), 0);
}

static void fold_file(struct fix *f)
{
	handmade_file(&f->h);
	fold_bytes(f);
}

/* An AUX record with these flags, and an AUXTRACE record with 8 bytes of trace. */
static void put_aux(struct fmt_buf *b, uint64_t flags, uint64_t time, uint32_t cpu)
{
	fmt_put_le(b, UINT64_C(64) << 48 | 11, 8);
	fmt_put_zero(b, 16);
	fmt_put_le(b, flags, 8);
	handmade_trailer(b, time, cpu, 5);
}

static void put_auxtrace(struct fmt_buf *b, uint32_t idx, uint32_t cpu, uint32_t tid)
{
	fmt_put_le(b, UINT64_C(48) << 48 | 71, 8);
	fmt_put_le(b, 8, 8);
	fmt_put_zero(b, 16);
	fmt_put_le(b, idx, 4);
	fmt_put_le(b, tid, 4);
	fmt_put_le(b, cpu, 4);
	fmt_put_zero(b, 4 + 8);
}

static void begin_pipe(struct fix *f)
{
	handmade_pipe_header(&f->h.b);
	handmade_header_attr(&f->h.b, HANDMADE_SAMPLE_TYPE, 1 << 18, 5);
}

static void records_are_counted_by_type(void **state)
{
	struct fix *f = *state;

	fold_file(f);
	assert_int_equal(f->i.types[FMT_REC_COMM], 1);
	assert_int_equal(f->i.types[FMT_REC_SWITCH_CPU_WIDE], 1);
	assert_int_equal(f->i.types[FMT_REC_AUXTRACE], 1);
	assert_int_equal(f->i.types[FMT_REC_MMAP], 0);
	assert_int_equal(f->i.others.nr, 1);
	assert_int_equal(type_at(f, 0)->key, 200);
	assert_int_equal(type_at(f, 0)->n, 1);
	assert_int_equal(f->i.nr_faults, 0);
	assert_int_equal(f->i.whole_to, f->h.at[HANDMADE_RECORDS]);
}

static void time_zero_is_not_part_of_the_time_span(void **state)
{
	struct fix *f = *state;

	fold_file(f);
	assert_true(f->i.time.known);
	assert_int_equal(f->i.time.first_ns, 1000);
	assert_int_equal(f->i.time.last_ns, 2600);
}

static void a_file_without_times_has_no_time_span(void **state)
{
	struct fix *f = *state;

	begin_pipe(f);
	fold_bytes(f);
	assert_false(f->i.time.known);
}

static void losses_are_counted_per_cpu_and_in_all(void **state)
{
	struct fix *f = *state;
	const struct info_cpu *c;

	fold_file(f);
	assert_int_equal(f->i.loss[INFO_LOST].amount, 7);
	assert_int_equal(f->i.loss[INFO_LOST_SAMPLES].amount, 3);
	assert_int_equal(f->i.loss[INFO_AUX_TRUNCATED].n, 1);
	assert_int_equal(f->i.cpus.nr, 3);
	c = cpu_at(f, 0);
	assert_int_equal(c->key, 0);
	assert_int_equal(c->loss[INFO_AUX_TRUNCATED].n, 1);
	assert_int_equal(c->loss[INFO_LOST].n, 0);
	c = cpu_at(f, 1);
	assert_int_equal(c->key, 1);
	assert_int_equal(c->loss[INFO_LOST].amount, 7);
	assert_int_equal(c->loss[INFO_LOST_SAMPLES].amount, 3);
	assert_true(info_lost(c->loss));
	assert_false(info_lost(cpu_at(f, 2)->loss));
}

static void a_synthesised_loss_belongs_to_no_cpu(void **state)
{
	struct fix *f = *state;

	begin_pipe(f);
	fmt_put_le(&f->h.b, UINT64_C(48) << 48 | 13, 8);
	fmt_put_le(&f->h.b, 9, 8);
	handmade_trailer(&f->h.b, 0, 0, 5);
	fold_bytes(f);
	assert_int_equal(f->i.loss[INFO_LOST_SAMPLES].amount, 9);
	assert_int_equal(f->i.cpus.nr, 1);
	assert_int_equal(cpu_at(f, 0)->key, INFO_NONE);
	assert_int_equal(cpu_at(f, 0)->loss[INFO_LOST_SAMPLES].amount, 9);
	assert_false(cpu_at(f, 0)->loss[INFO_LOST_SAMPLES].has_time);
}

static void trace_is_counted_per_queue(void **state)
{
	struct fix *f = *state;

	begin_pipe(f);
	put_auxtrace(&f->h.b, 2, 7, INFO_NONE);
	put_auxtrace(&f->h.b, 0, 3, INFO_NONE);
	put_auxtrace(&f->h.b, 2, 7, INFO_NONE);
	fold_bytes(f);
	assert_int_equal(f->i.aux.queues.nr, 2);
	assert_int_equal(queue_at(f, 0)->key, 0);
	assert_int_equal(queue_at(f, 0)->cpu, 3);
	assert_int_equal(queue_at(f, 1)->key, 2);
	assert_int_equal(queue_at(f, 1)->cpu, 7);
	assert_int_equal(queue_at(f, 1)->tid, INFO_NONE);
	assert_int_equal(queue_at(f, 1)->n, 2);
	assert_int_equal(queue_at(f, 1)->bytes, 16);
	assert_int_equal(f->i.cpus.nr, 2);
}

static void aux_flags_go_to_the_queue_of_their_cpu(void **state)
{
	struct fix *f = *state;

	begin_pipe(f);
	put_aux(&f->h.b, FMT_AUX_TRUNCATED | FMT_AUX_COLLISION, 10, 3);
	put_aux(&f->h.b, FMT_AUX_PARTIAL | FMT_AUX_OVERWRITE, 11, 3);
	put_aux(&f->h.b, 0, 12, 7);
	put_auxtrace(&f->h.b, 0, 3, INFO_NONE);
	put_auxtrace(&f->h.b, 1, 7, INFO_NONE);
	fold_bytes(f);
	assert_int_equal(queue_at(f, 0)->flagged.truncated, 1);
	assert_int_equal(queue_at(f, 0)->flagged.collision, 1);
	assert_int_equal(queue_at(f, 0)->flagged.partial, 1);
	assert_int_equal(queue_at(f, 1)->flagged.truncated, 0);
	assert_int_equal(f->i.loss[INFO_AUX_PARTIAL].n, 1);
}

static void aux_flags_go_to_the_queue_of_their_thread(void **state)
{
	struct fix *f = *state;

	begin_pipe(f);
	put_auxtrace(&f->h.b, 0, INFO_NONE, 700);
	put_auxtrace(&f->h.b, 1, INFO_NONE, 701);
	put_aux(&f->h.b, FMT_AUX_TRUNCATED, 10, 0); /* tid 701, see handmade_trailer */
	fold_bytes(f);
	assert_int_equal(queue_at(f, 0)->flagged.truncated, 0);
	assert_int_equal(queue_at(f, 1)->flagged.truncated, 1);
}

static void a_cut_payload_counts_with_the_bytes_that_are_there(void **state)
{
	struct fix *f = *state;

	begin_pipe(f);
	put_auxtrace(&f->h.b, 0, 3, INFO_NONE);
	f->h.b.len -= 5;
	fold_bytes(f);
	assert_int_equal(f->i.types[FMT_REC_AUXTRACE], 1);
	assert_int_equal(queue_at(f, 0)->bytes, 3);
	assert_int_equal(f->i.nr_faults, 1);
	assert_int_equal(f->i.faults[0].at, f->h.b.len - 51);
	assert_int_equal(f->i.whole_to, f->h.b.len - 51);
}

static void a_record_too_short_for_its_body_is_a_fault_but_no_end(void **state)
{
	struct fix *f = *state;

	handmade_pipe_header(&f->h.b);
	handmade_header_attr(&f->h.b, 0, 0, 5);
	fmt_put_le(&f->h.b, UINT64_C(16) << 48 | 2, 8);
	fmt_put_zero(&f->h.b, 8);
	fmt_put_le(&f->h.b, UINT64_C(8) << 48 | 68, 8);
	fold_bytes(f);
	assert_int_equal(f->i.types[FMT_REC_FINISHED_ROUND], 1);
	assert_int_equal(f->i.nr_faults, 1);
	assert_int_equal(f->i.faults[0].at, 96);
	assert_string_equal(f->i.faults[0].expected, "a record of 24 bytes or more");
}

static void more_faults_than_there_is_room_for_are_counted(void **state)
{
	struct fix *f = *state;

	for (uint64_t k = 0; k < INFO_FAULTS_MAX + 5; k++)
		info_fault(&f->i, k, "%s", "a longer text than the room for one: "
			   "01234567890123456789012345678901234567890123456789"
			   "01234567890123456789012345678901234567890123456789");
	assert_int_equal(f->i.nr_faults, INFO_FAULTS_MAX + 5);
	assert_int_equal(f->i.faults[INFO_FAULTS_MAX - 1].at, INFO_FAULTS_MAX - 1);
}

/* Memory must not grow with what a file makes up. */
static void rows_beyond_the_bound_are_lumped_together(void **state)
{
	struct fix *f = *state;

	handmade_pipe_header(&f->h.b);
	for (uint32_t k = 0; k < INFO_ROWS_MAX + 100; k++)
		fmt_put_le(&f->h.b, UINT64_C(8) << 48 | (100000 - k), 8);
	fmt_put_le(&f->h.b, UINT64_C(8) << 48 | 100000, 8);
	fold_bytes(f);
	assert_int_equal(f->i.others.nr, INFO_ROWS_MAX);
	assert_int_equal(((struct info_type *)rows_rest(&f->i.others))->n, 100);
	assert_int_equal(type_at(f, INFO_ROWS_MAX - 1)->key, 100000);
	assert_int_equal(type_at(f, INFO_ROWS_MAX - 1)->n, 2);
	for (size_t k = 1; k < INFO_ROWS_MAX; k++)
		assert_true(type_at(f, k - 1)->key < type_at(f, k)->key);
}

static void the_term_soft_tells_who_wrote_the_trace(void **state)
{
	static const struct { const char *name, *source; } events[] = {
		{ "intel_pt/soft/u", "soft" },	   { "intel_pt/tsc,soft/u", "soft" },
		{ "intel_pt/soft,tsc/", "soft" },  { "intel_pt//", "kernel" },
		{ "intel_pt/softer/", "kernel" },  { "intel_pt/tsc/soft", "kernel" },
		{ "intel_pt/", "kernel" },	   { NULL, "unknown" },
		{ "cycles/soft/", "unknown" },
	};
	struct fix *f = *state;

	fold_file(f);
	for (size_t k = 0; k < sizeof(events) / sizeof(*events); k++) {
		f->in.r.events[0].name = events[k].name;
		assert_string_equal(info_source(&f->i, &f->in.r), events[k].source);
	}
	f->i.aux.has_info = false;
	f->in.r.events[0].name = "dummy:u";
	assert_string_equal(info_source(&f->i, &f->in.r), "none");
	f->i.nr_faults = 1;
	assert_string_equal(info_source(&f->i, &f->in.r), "unknown");
	f->i.aux.has_info = true;
	f->i.aux.type = FMT_AUXTRACE_CS_ETM;
	assert_string_equal(info_source(&f->i, &f->in.r), "kernel");
	assert_string_equal(info_aux_name(&f->i), "cs_etm");
}

static void the_clock_is_perfs_unless_the_event_uses_another(void **state)
{
	struct fix *f = *state;
	uint8_t attr[128] = { 0 };

	fold_file(f);
	assert_string_equal(info_clock(&f->in.r), "perf");
	f->in.r.events[0].attr = attr;
	le_put(attr + FMT_ATTR_AT_CLOCKID, 1, 4);
	assert_string_equal(info_clock(&f->in.r), "perf");
	le_put(attr + FMT_ATTR_AT_FLAGS, FMT_ATTR_F_USE_CLOCKID, 8);
	assert_string_equal(info_clock(&f->in.r), "monotonic");
	le_put(attr + FMT_ATTR_AT_CLOCKID, UINT32_MAX, 4);
	assert_string_equal(info_clock(&f->in.r), "unknown");
}

static void features_that_are_not_there_are_faults(void **state)
{
	struct fix *f = *state;
	size_t table;

	fold_file(f);
	info_check_features(&f->i, &f->in.r);
	assert_int_equal(f->i.nr_faults, 0);
	table = f->h.at[HANDMADE_RECORDS];
	le_put(f->h.b.data + table, UINT64_MAX, 8);
	le_put(f->h.b.data + FMT_HDR_FEATURES + 16, 1, 8); /* feature 128 */
	fold_bytes(f);
	info_check_features(&f->i, &f->in.r);
	assert_int_equal(f->i.nr_faults, 2);
	assert_string_equal(f->i.faults[0].expected,
			    "feature 'hostname' within the file");
	assert_string_equal(f->i.faults[1].expected, "feature '128' within the file");
}

static void types_without_a_name_show_their_number(void **state)
{
	char buf[20];

	(void)state;
	assert_string_equal(info_type_name(71, buf), "AUXTRACE");
	assert_string_equal(info_type_name(90, buf), "type90");
	assert_string_equal(info_type_name(UINT32_MAX, buf), "type4294967295");
}

static void no_flipped_byte_upsets_the_fold(void **state)
{
	struct fix *f = *state;

	handmade_file(&f->h);
	for (size_t at = 0; at < f->h.b.len; at++)
		for (unsigned bit = 0; bit < 8; bit++) {
			f->h.b.data[at] ^= (uint8_t)(1u << bit);
			info_done(&f->i);
			fmt_reader_done(&f->in.r);
			if (!fmt_reader_open(&f->in.r, f->h.b.data, f->h.b.len)) {
				assert_int_equal(info_fold(&f->i, &f->in), 0);
				info_check_features(&f->i, &f->in.r);
				assert_non_null(info_source(&f->i, &f->in.r));
			}
			f->h.b.data[at] ^= (uint8_t)(1u << bit);
		}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(records_are_counted_by_type),
		T(time_zero_is_not_part_of_the_time_span),
		T(a_file_without_times_has_no_time_span),
		T(losses_are_counted_per_cpu_and_in_all),
		T(a_synthesised_loss_belongs_to_no_cpu),
		T(trace_is_counted_per_queue),
		T(aux_flags_go_to_the_queue_of_their_cpu),
		T(aux_flags_go_to_the_queue_of_their_thread),
		T(a_cut_payload_counts_with_the_bytes_that_are_there),
		T(a_record_too_short_for_its_body_is_a_fault_but_no_end),
		T(more_faults_than_there_is_room_for_are_counted),
		T(rows_beyond_the_bound_are_lumped_together),
		T(the_term_soft_tells_who_wrote_the_trace),
		T(the_clock_is_perfs_unless_the_event_uses_another),
		T(features_that_are_not_there_are_faults),
		T(types_without_a_name_show_their_number),
		T(no_flipped_byte_upsets_the_fold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
