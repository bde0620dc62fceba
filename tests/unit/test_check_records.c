/* SPDX-License-Identifier: Apache-2.0 */
/* Records on their own, their order, and switches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/abi.h"
#include "format/le.h"
#include "tests/unit/checkfix.h"

static const struct checkfix_who dummy = { 7, 5000, 0, CHECKFIX_DUMMY_ID };

static void at_time(struct checkfix *f, uint64_t time, uint32_t cpu)
{
	checkfix_kernel(f, FMT_REC_ITRACE_START, 0, (uint64_t[]){ 7 }, 1,
			(struct checkfix_who){ 7, time, cpu, CHECKFIX_PT_ID });
}

static void every_field_of_a_record_is_needed(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_kernel(f, FMT_REC_AUX, 0, (uint64_t[]){ 0, 0, 0 }, 3, dummy);
	checkfix_finish(f);
	checkfix_sound(f);
}

static void a_record_without_its_last_field_is_short(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_kernel(f, FMT_REC_AUX, 0, (uint64_t[]){ 0, 0 }, 2, dummy);
	checkfix_finish(f);
	checkfix_only(f, CHECK_SHORT, 1, f->at);
	assert_string_equal(f->rep.found[CHECK_SHORT].expected,
			    "its field 'flags' whole");
}

static void a_name_needs_its_end(void **state)
{
	struct checkfix *f = *state;
	const uint64_t comm[] = { 7, 0x4141414141414141 };

	checkfix_begin(f);
	checkfix_kernel(f, FMT_REC_COMM, 0, comm, 2, dummy);
	checkfix_finish(f);
	checkfix_only(f, CHECK_SHORT, 1, f->at);
}

static void a_user_record_without_its_last_field_is_short(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_user(f, FMT_REC_ID_INDEX, (uint64_t[]){ 2, 11, 0, 0, 0 }, 5);
	checkfix_finish(f);
	checkfix_has(f, CHECK_SHORT, 1, f->at);
}

static void words_behind_the_fields_are_a_remark(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_kernel(f, FMT_REC_SWITCH_CPU_WIDE, 0, (uint64_t[]){ 1, 2 }, 2, dummy);
	checkfix_finish(f);
	checkfix_only(f, CHECK_LEFT_OVER, 1, f->at);
}

/* perf 6.1 makes EVENT_UPDATE longer than its text. */
static void zeros_behind_a_user_record_are_nothing(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_user(f, FMT_REC_FINISHED_INIT, (uint64_t[]){ 0, 0 }, 2);
	checkfix_finish(f);
	checkfix_sound(f);
}

/* A sample's end must be exact: REGS_USER with abi 0 has no registers, STACK_USER of size
 * 0 no dyn_size. */
static void samples_are_followed_to_their_end(void **state)
{
	struct checkfix *f = *state;
	const uint64_t st =
		FMT_SAMPLE_IDENTIFIER | FMT_SAMPLE_REGS_USER | FMT_SAMPLE_STACK_USER;

	checkfix_begin(f);
	le_put(f->b.data + 128 + FMT_ATTR_AT_SAMPLE_TYPE, st, 8);
	le_put(f->b.data + 128 + FMT_ATTR_AT_SAMPLE_REGS_USER, 3, 8);
	le_put(f->b.data + 272 + FMT_ATTR_AT_SAMPLE_TYPE, st, 8);
	checkfix_user(f, FMT_REC_SAMPLE, (uint64_t[]){ CHECKFIX_PT_ID, 0, 0 }, 3);
	checkfix_user(f, FMT_REC_SAMPLE, (uint64_t[]){ CHECKFIX_PT_ID, 1, 5, 6, 8, 9, 8 },
		      7);
	checkfix_finish(f);
	checkfix_sound(f);
}

static void a_sample_with_words_left_or_lacking_is_told(void **state)
{
	struct checkfix *f = *state;
	const uint64_t st = FMT_SAMPLE_IDENTIFIER | FMT_SAMPLE_STACK_USER;
	uint64_t first;

	checkfix_begin(f);
	le_put(f->b.data + 128 + FMT_ATTR_AT_SAMPLE_TYPE, st, 8);
	le_put(f->b.data + 272 + FMT_ATTR_AT_SAMPLE_TYPE, st, 8);
	checkfix_user(f, FMT_REC_SAMPLE, (uint64_t[]){ CHECKFIX_PT_ID, 0, 1 }, 3);
	first = f->at;
	checkfix_user(f, FMT_REC_SAMPLE, (uint64_t[]){ CHECKFIX_PT_ID, 24, 1 }, 3);
	checkfix_finish(f);
	checkfix_has(f, CHECK_LEFT_OVER, 1, first);
	checkfix_has(f, CHECK_SHORT, 1, f->at);
}

static void sizes_that_are_no_multiple_of_8_are_a_remark(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_user(f, FMT_REC_FINISHED_INIT, (uint64_t[]){ 0 }, 1);
	le_put(f->b.data + f->at + FMT_REC_AT_SIZE, 12, 2);
	f->b.len -= 4;
	checkfix_finish(f);
	checkfix_only(f, CHECK_MISALIGNED, 1, f->at);
}

static void features_in_a_stream_may_have_any_size(void **state)
{
	struct checkfix *f = *state;

	handmade_pipe_header(&f->b);
	handmade_header_attr(&f->b, HANDMADE_SAMPLE_TYPE, FMT_ATTR_F_SAMPLE_ID_ALL, 5);
	checkfix_user(f, FMT_REC_HEADER_FEATURE, (uint64_t[]){ FMT_FEAT_HOSTNAME, 4 }, 2);
	le_put(f->b.data + f->at + FMT_REC_AT_SIZE, 24 + 3, 2);
	f->b.len -= 4;
	fmt_put(&f->b, "\4\0\0\0a\0\0", 7);
	f->b.len -= 4;
	checkfix_judge(f);
	checkfix_has(f, CHECK_CUT, 1, f->at);
}

static void types_that_nobody_knows_are_a_remark(void **state)
{
	struct checkfix *f = *state;
	uint64_t first;

	checkfix_begin(f);
	checkfix_kernel(f, 40, 0, NULL, 0, dummy);
	first = f->at;
	checkfix_user(f, 90, (uint64_t[]){ 1 }, 1);
	checkfix_finish(f);
	checkfix_only(f, CHECK_UNKNOWN_TYPE, 2, first);
}

static void an_id_of_no_event_is_damage(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_kernel(f, FMT_REC_ITRACE_START, 0, (uint64_t[]){ 7 }, 1,
			(struct checkfix_who){ 7, 5000, 0, 22 });
	checkfix_finish(f);
	checkfix_only(f, CHECK_UNKNOWN_ID, 1, f->at);
	assert_non_null(strstr(f->rep.found[CHECK_UNKNOWN_ID].found, "id 22"));
}

static void id_0_is_the_recorders_own(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_kernel(f, FMT_REC_ITRACE_START, 0, (uint64_t[]){ 7 }, 1,
			(struct checkfix_who){ 0, 0, 0, 0 });
	checkfix_finish(f);
	checkfix_sound(f);
}

static void records_before_all_events_are_damage(void **state)
{
	struct checkfix *f = *state;

	handmade_pipe_header(&f->b);
	checkfix_kernel(f, FMT_REC_ITRACE_START, 0, (uint64_t[]){ 7 }, 1, dummy);
	handmade_header_attr(&f->b, HANDMADE_SAMPLE_TYPE, FMT_ATTR_F_SAMPLE_ID_ALL, 21);
	checkfix_judge(f);
	checkfix_only(f, CHECK_NO_EVENT, 1, 16);
}

static void id_index_names_ids_of_events_once(void **state)
{
	struct checkfix *f = *state;
	const uint64_t all[] = { 3, 11, 0, 0, UINT64_MAX, 12, 1, 1, UINT64_MAX,
				 21, 0, 0, UINT64_MAX };

	checkfix_begin(f);
	checkfix_user(f, FMT_REC_ID_INDEX, all, 13);
	checkfix_user(f, FMT_REC_ID_INDEX, (uint64_t[]){ 1, 99, 0, 0, UINT64_MAX }, 5);
	checkfix_finish(f);
	checkfix_only(f, CHECK_ID_INDEX, 1, f->at + 16);
	le_put(f->b.data + f->at + 16, 12,
	       8); /* known, with the same thread, of queue 0 */
	checkfix_judge(f);
	checkfix_only(f, CHECK_ID_INDEX, 1, f->at + 16);
}

static void ids_that_id_index_leaves_out_are_a_remark(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_user(f, FMT_REC_ID_INDEX,
		      (uint64_t[]){ 2, 11, 0, 0, UINT64_MAX, 21, 0, 0, UINT64_MAX }, 9);
	checkfix_finish(f);
	checkfix_only(f, CHECK_NO_IDS, 1, 112);
}

static void losses_are_added_up(void **state)
{
	struct checkfix *f = *state;
	uint64_t first;

	checkfix_begin(f);
	checkfix_kernel(f, FMT_REC_LOST, 0, (uint64_t[]){ 21, 7 }, 2, dummy);
	first = f->at;
	checkfix_kernel(f, FMT_REC_LOST, 0, (uint64_t[]){ 21, 5 }, 2, dummy);
	checkfix_finish(f);
	checkfix_only(f, CHECK_LOST, 2, first);
	assert_int_equal(f->rep.found[CHECK_LOST].sum, 12);
}

static void lost_samples_are_added_up_and_none_is_no_loss(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_kernel(f, FMT_REC_LOST_SAMPLES, 0, (uint64_t[]){ 0 }, 1, dummy);
	checkfix_kernel(f, FMT_REC_LOST_SAMPLES, 0, (uint64_t[]){ 3 }, 1, dummy);
	checkfix_finish(f);
	checkfix_only(f, CHECK_LOST_SAMPLES, 1, f->at);
	assert_int_equal(f->rep.found[CHECK_LOST_SAMPLES].sum, 3);
}

static void what_read_records_lost_is_a_loss(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	le_put(f->b.data + 272 + FMT_ATTR_AT_READ_FORMAT, FMT_FORMAT_ID | FMT_FORMAT_LOST,
	       8);
	checkfix_kernel(f, FMT_REC_READ, 0, (uint64_t[]){ 7, 100, 21, 0 }, 4, dummy);
	checkfix_kernel(f, FMT_REC_READ, 0, (uint64_t[]){ 7, 100, 21, 4 }, 4, dummy);
	checkfix_finish(f);
	checkfix_only(f, CHECK_LOST_SAMPLES, 1, f->at);
	assert_int_equal(f->rep.found[CHECK_LOST_SAMPLES].sum, 4);
}

/* At mark k a reader hands out what is not newer than the newest before mark k - 1. */
static void nothing_comes_later_than_one_round(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	at_time(f, 2000, 0);
	checkfix_round(f);
	at_time(f, 1000, 1); /* of another ring, read after the mark */
	at_time(f, 3000, 0);
	checkfix_round(f);
	at_time(f, 2000, 1);
	at_time(f, 1999, 2);
	checkfix_finish(f);
	checkfix_only(f, CHECK_LATE, 1, f->at);
	assert_non_null(strstr(f->rep.found[CHECK_LATE].found, " 1 ns too late"));
}

static void time_0_is_never_late(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	at_time(f, 2000, 0);
	checkfix_round(f);
	checkfix_round(f);
	checkfix_kernel(f, FMT_REC_ITRACE_START, 0, (uint64_t[]){ 7 }, 1,
			(struct checkfix_who){ 0, 0, 0, 0 });
	checkfix_finish(f);
	checkfix_sound(f);
}

static void disorder_without_rounds_is_measured(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	at_time(f, 1000, 0);
	at_time(f, 5000, 0);
	at_time(f, 6000, 0);
	at_time(f, 4500, 1); /* two behind its place, and 1500 ns */
	at_time(f, 5500, 1); /* two behind its place, and 500 ns */
	checkfix_finish(f);
	checkfix_only(f, CHECK_UNSORTED, 1, 0);
	assert_string_equal(f->rep.found[CHECK_UNSORTED].found,
			    "2 records out of order, up to 1500 ns and 2 records apart");
}

/* More of them than are remembered one by one. */
static void disorder_is_measured_in_bounded_memory(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	for (uint64_t i = 1; i <= 9000; i++)
		at_time(f, 1000 * i, 0);
	at_time(f, 500, 0);
	checkfix_finish(f);
	assert_int_equal(f->rep.found[CHECK_UNSORTED].n, 1);
	assert_non_null(strstr(f->rep.found[CHECK_UNSORTED].found, "8999500 ns"));
	assert_non_null(strstr(f->rep.found[CHECK_UNSORTED].found, " 4096 records"));
}

static void times_of_a_cpu_that_fall_are_a_remark(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	at_time(f, 2000, 0);
	at_time(f, 1500, 1);
	at_time(f, 1990, 0);
	checkfix_round(f);
	checkfix_finish(f);
	checkfix_only(f, CHECK_BACKWARDS, 1, f->at - 48);
	assert_non_null(strstr(f->rep.found[CHECK_BACKWARDS].found, "cpu 0"));
	assert_non_null(strstr(f->rep.found[CHECK_BACKWARDS].found, " 10 ns"));
}

static void switches_that_follow_each_other_are_sound(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_out(f, 1, 2, 1000);
	checkfix_in(f, 2, 1, 1001);
	checkfix_out(f, 2, 0, 1002);
	checkfix_in(f, 0, 2, 1003);
	checkfix_round(f);
	checkfix_finish(f);
	checkfix_sound(f);
}

static void two_that_come_are_a_lost_switch(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_in(f, 2, 1, 1001);
	checkfix_in(f, 3, 2, 1003);
	checkfix_finish(f);
	checkfix_only(f, CHECK_SWITCH_LOST, 1, f->at);
}

static void two_that_leave_are_a_lost_switch(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_out(f, 2, 3, 1001);
	checkfix_out(f, 3, 2, 1003);
	checkfix_finish(f);
	checkfix_only(f, CHECK_SWITCH_LOST, 1, f->at);
}

static void one_that_leaves_without_having_come_is_a_lost_switch(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_in(f, 2, 1, 1001);
	checkfix_out(f, 3, 4, 1003);
	checkfix_finish(f);
	checkfix_only(f, CHECK_SWITCH_LOST, 1, f->at);
}

/* A dead task has the number -1, and one that executes a program takes its leader's. */
static void dead_tasks_are_no_lost_switch(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_in(f, 2, 1, 1001);
	checkfix_out(f, UINT32_MAX, 4, 1003);
	checkfix_in(f, 4, UINT32_MAX, 1004);
	checkfix_finish(f);
	checkfix_sound(f);
}

static void somebody_elses_turn_is_a_remark(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_out(f, 1, 2, 1001);
	checkfix_in(f, 5, 4, 1003);
	checkfix_finish(f);
	checkfix_only(f, CHECK_SWITCH_GAP, 1, f->at);
}

static void a_lost_record_explains_lost_switches(void **state)
{
	struct checkfix *f = *state;
	uint64_t at;

	checkfix_begin(f);
	checkfix_in(f, 2, 1, 1001);
	checkfix_kernel(f, FMT_REC_LOST, 0, (uint64_t[]){ 21, 7 }, 2,
			(struct checkfix_who){ 2, 1002, 0, CHECKFIX_DUMMY_ID });
	at = f->at;
	checkfix_in(f, 3, 2, 1003);
	checkfix_finish(f);
	checkfix_only(f, CHECK_LOST, 1, at);
}

static void nothing_is_lost_between_two_snapshots(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_in(f, 2, 1, 1001);
	checkfix_kernel(f, FMT_REC_AUX, 0, (uint64_t[]){ 0, 4096, FMT_AUX_OVERWRITE }, 3,
			(struct checkfix_who){ 2, 1002, 0, CHECKFIX_DUMMY_ID });
	checkfix_in(f, 3, 2, 1003);
	checkfix_in(f, 4, 3, 1004);
	checkfix_finish(f);
	checkfix_only(f, CHECK_SWITCH_LOST, 1, f->at);
}

static void put_plain(struct checkfix *f, uint16_t misc, uint32_t tid, uint64_t time)
{
	checkfix_kernel(f, FMT_REC_SWITCH, misc, NULL, 0,
			(struct checkfix_who){ tid, time, 0, CHECKFIX_DUMMY_ID });
}

/* The last of a thread that is traced alone is its EXIT. */
static void an_exit_is_as_good_as_a_switch(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	put_plain(f, 0, 2, 1001);
	checkfix_kernel(f, FMT_REC_EXIT, 0, (uint64_t[]){ 2, 2, 1002 }, 3,
			(struct checkfix_who){ 2, 1002, 0, CHECKFIX_DUMMY_ID });
	put_plain(f, 0, 3, 1003);
	checkfix_finish(f);
	checkfix_sound(f);
}

static void without_an_exit_it_is_lost(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	put_plain(f, 0, 2, 1001);
	put_plain(f, 0, 3, 1003);
	checkfix_finish(f);
	checkfix_only(f, CHECK_SWITCH_LOST, 1, f->at);
}

static void mult_0_is_no_conversion_and_no_fault(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_user(f, FMT_REC_TIME_CONV, (uint64_t[]){ 10, 0, 0, 0, 0, 0 }, 6);
	checkfix_finish(f);
	checkfix_sound(f);
}

static void a_shift_beyond_63_is_odd(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_user(f, FMT_REC_TIME_CONV, (uint64_t[]){ 64, 5, 0, 0, 0, 0 }, 6);
	checkfix_finish(f);
	checkfix_only(f, CHECK_ODD, 1, f->at);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, checkfix_setup, checkfix_teardown)
	const struct CMUnitTest tests[] = {
		T(every_field_of_a_record_is_needed),
		T(a_record_without_its_last_field_is_short),
		T(a_name_needs_its_end),
		T(a_user_record_without_its_last_field_is_short),
		T(words_behind_the_fields_are_a_remark),
		T(zeros_behind_a_user_record_are_nothing),
		T(samples_are_followed_to_their_end),
		T(a_sample_with_words_left_or_lacking_is_told),
		T(sizes_that_are_no_multiple_of_8_are_a_remark),
		T(features_in_a_stream_may_have_any_size),
		T(types_that_nobody_knows_are_a_remark),
		T(an_id_of_no_event_is_damage),
		T(id_0_is_the_recorders_own),
		T(records_before_all_events_are_damage),
		T(id_index_names_ids_of_events_once),
		T(ids_that_id_index_leaves_out_are_a_remark),
		T(losses_are_added_up),
		T(lost_samples_are_added_up_and_none_is_no_loss),
		T(what_read_records_lost_is_a_loss),
		T(nothing_comes_later_than_one_round),
		T(time_0_is_never_late),
		T(disorder_without_rounds_is_measured),
		T(disorder_is_measured_in_bounded_memory),
		T(times_of_a_cpu_that_fall_are_a_remark),
		T(switches_that_follow_each_other_are_sound),
		T(two_that_come_are_a_lost_switch),
		T(two_that_leave_are_a_lost_switch),
		T(one_that_leaves_without_having_come_is_a_lost_switch),
		T(dead_tasks_are_no_lost_switch),
		T(somebody_elses_turn_is_a_remark),
		T(a_lost_record_explains_lost_switches),
		T(nothing_is_lost_between_two_snapshots),
		T(an_exit_is_as_good_as_a_switch),
		T(without_an_exit_it_is_lost),
		T(mult_0_is_no_conversion_and_no_fault),
		T(a_shift_beyond_63_is_odd),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
