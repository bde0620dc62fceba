/* SPDX-License-Identifier: Apache-2.0 */
/* AUX trace: AUXTRACE_INFO, AUX records against AUXTRACE, the index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/abi.h"
#include "format/le.h"
#include "recorder/check_extent.h"
#include "tests/unit/checkfix.h"

enum { ATTR_0 = 128, ATTR_1 = 272 };
enum { PMU_TYPE, SHIFT, MULT, ZERO, CAP, TSC_BIT, NORETCOMP, SCHED, SNAPSHOT, PER_CPU,
       RATIO = 15 };

/* AUXTRACE_INFO with one word changed, and trace behind it. */
static void with_word(struct checkfix *f, unsigned word, uint64_t v)
{
	uint64_t words[CHECKFIX_INFO_WORDS];

	checkfix_begin(f);
	checkfix_info(words);
	words[word] = v;
	checkfix_put_info(f, FMT_AUXTRACE_INTEL_PT, words, CHECKFIX_INFO_WORDS);
	checkfix_aux(f, 0, 64, 0);
	checkfix_trace(f, 0, 64);
	checkfix_index(f);
}

static void finish(struct checkfix *f)
{
	checkfix_index(f);
	checkfix_finish(f);
}

enum { INFO_AT = 416 };

static void trace_needs_auxtrace_info(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_aux(f, 0, 64, 0);
	checkfix_trace(f, 0, 64);
	finish(f);
	checkfix_only(f, CHECK_NO_AUX_INFO, 1, f->index[0]);
}

static void one_auxtrace_info_is_enough(void **state)
{
	struct checkfix *f = *state;
	uint64_t words[CHECKFIX_INFO_WORDS];

	checkfix_begin_pt(f);
	checkfix_info(words);
	checkfix_put_info(f, FMT_AUXTRACE_INTEL_PT, words, CHECKFIX_INFO_WORDS);
	checkfix_finish(f);
	checkfix_only(f, CHECK_AUX_INFO, 1, f->at);
}

static void ten_words_are_needed(void **state)
{
	struct checkfix *f = *state;
	uint64_t words[CHECKFIX_INFO_WORDS];

	checkfix_info(words);
	checkfix_begin(f);
	checkfix_put_info(f, FMT_AUXTRACE_INTEL_PT, words, 10);
	checkfix_finish(f);
	checkfix_sound(f);
}

static void nine_words_are_too_few(void **state)
{
	struct checkfix *f = *state;
	uint64_t words[CHECKFIX_INFO_WORDS];

	checkfix_info(words);
	checkfix_begin(f);
	checkfix_put_info(f, FMT_AUXTRACE_INTEL_PT, words, 9);
	checkfix_finish(f);
	checkfix_only(f, CHECK_AUX_INFO, 1, INFO_AT);
}

/* CoreSight got one more word for each cpu once, and others will, too. */
static void more_words_than_known_are_no_damage(void **state)
{
	struct checkfix *f = *state;
	uint64_t words[CHECKFIX_INFO_WORDS + 3] = { 0 };

	checkfix_info(words);
	checkfix_begin(f);
	checkfix_put_info(f, FMT_AUXTRACE_INTEL_PT, words, CHECKFIX_INFO_WORDS + 3);
	checkfix_finish(f);
	assert_int_equal(check_verdict(&f->rep), CHECK_REMARK);
}

static void unknown_kinds_of_trace_are_a_remark(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_put_info(f, 77, (uint64_t[]){ 1, 2 }, 2);
	checkfix_finish(f);
	checkfix_only(f, CHECK_UNKNOWN_TYPE, 1, INFO_AT);
}

static void kind_0_is_a_remark(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	checkfix_put_info(f, 0, NULL, 0);
	checkfix_finish(f);
	assert_int_equal(check_verdict(&f->rep), CHECK_REMARK);
	checkfix_has(f, CHECK_UNKNOWN_TYPE, 1, INFO_AT);
}

static void the_pmu_must_have_an_event(void **state)
{
	struct checkfix *f = *state;

	with_word(f, PMU_TYPE, 9);
	checkfix_finish(f);
	checkfix_only(f, CHECK_AUX_INFO, 1, INFO_AT);
}

static void events_of_trace_need_sample_id_all(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin_pt(f);
	le_put(f->b.data + ATTR_0 + FMT_ATTR_AT_FLAGS, 0, 8);
	le_put(f->b.data + ATTR_1 + FMT_ATTR_AT_FLAGS, 0, 8);
	checkfix_finish(f);
	checkfix_only(f, CHECK_AUX_INFO, 1, f->at);
}

static void switches_are_of_the_kind_that_is_promised(void **state)
{
	struct checkfix *f = *state;
	uint64_t at;

	checkfix_begin_pt(f);
	checkfix_kernel(f, FMT_REC_SWITCH, 0, NULL, 0,
			(struct checkfix_who){ 7, 5000, 0, CHECKFIX_DUMMY_ID });
	at = f->at;
	checkfix_finish(f);
	checkfix_only(f, CHECK_SWITCH_KIND, 1, at);
}

static void switches_need_their_cpu(void **state)
{
	struct checkfix *f = *state;
	uint64_t at;

	checkfix_begin_pt(f);
	for (unsigned i = 0; i < 2; i++)
		le_put(f->b.data + (i ? ATTR_1 : ATTR_0) + FMT_ATTR_AT_SAMPLE_TYPE,
		       0x10007, 8);
	checkfix_user(f, FMT_REC_SWITCH_CPU_WIDE, /* body, tid, time, id */
		      (uint64_t[]){ 1, 7, 5000, CHECKFIX_DUMMY_ID }, 4);
	at = f->at;
	checkfix_finish(f);
	checkfix_only(f, CHECK_SWITCH_KIND, 1, at);
}

static void a_tracepoint_that_is_promised_must_be_there(void **state)
{
	struct checkfix *f = *state;

	with_word(f, SCHED, 1);
	checkfix_finish(f);
	checkfix_only(f, CHECK_AUX_INFO, 1, INFO_AT);
}

static void switches_of_threads_need_an_event_with_them(void **state)
{
	struct checkfix *f = *state;

	with_word(f, SCHED, 2);
	checkfix_end(f);
	checkfix_judge(f);
	checkfix_only(f, CHECK_AUX_INFO, 1, INFO_AT);
	le_put(f->b.data + ATTR_1 + FMT_ATTR_AT_FLAGS,
	       FMT_ATTR_F_SAMPLE_ID_ALL | FMT_ATTR_F_CONTEXT_SWITCH, 8);
	checkfix_judge(f);
	checkfix_sound(f);
}

static void no_shift_by_64(void **state)
{
	struct checkfix *f = *state;

	with_word(f, SHIFT, 64);
	checkfix_finish(f);
	checkfix_only(f, CHECK_AUX_INFO, 1, INFO_AT);
}

static void no_conversion_with_mult_0(void **state)
{
	struct checkfix *f = *state;

	with_word(f, MULT, 0);
	checkfix_finish(f);
	checkfix_only(f, CHECK_AUX_INFO, 1, INFO_AT);
}

/* perf divides by the ratio that it guesses: 0 below 50 MHz. */
static void no_tsc_that_is_slower_than_50_mhz(void **state)
{
	struct checkfix *f = *state;
	uint64_t words[CHECKFIX_INFO_WORDS];

	checkfix_begin(f);
	checkfix_info(words);
	words[MULT] = 1024 * 21; /* 47.6 MHz */
	checkfix_put_info(f, FMT_AUXTRACE_INTEL_PT, words, CHECKFIX_INFO_WORDS);
	checkfix_finish(f);
	checkfix_sound(f); /* the ratio is told */
	le_put(f->b.data + INFO_AT + 16 + 8 * RATIO, 0, 8);
	checkfix_judge(f);
	checkfix_only(f, CHECK_AUX_INFO, 1, INFO_AT);
	le_put(f->b.data + INFO_AT + 16 + 8 * MULT, 1024 * 20, 8);
	checkfix_judge(f);
	checkfix_sound(f);
}

static void what_has_no_time_is_a_remark(void **state)
{
	struct checkfix *f = *state;

	with_word(f, CAP, 0);
	checkfix_finish(f);
	checkfix_only(f, CHECK_TIMELESS, 1, INFO_AT);
}

static void no_tsc_packets_are_a_remark(void **state)
{
	struct checkfix *f = *state;

	with_word(f, TSC_BIT, 0x1000000000);
	checkfix_finish(f);
	checkfix_only(f, CHECK_TIMELESS, 1, INFO_AT);
}

/* Several AUX for one AUXTRACE, and one AUX for several. */
static void trace_is_matched_by_offset(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin_pt(f);
	checkfix_aux(f, 0, 16, 0);
	checkfix_aux(f, 16, 48, 0);
	checkfix_trace(f, 0, 64);
	checkfix_trace(f, 64, 32);
	checkfix_trace(f, 96, 32);
	checkfix_aux(f, 64, 64, 0);
	finish(f);
	checkfix_sound(f);
}

/* 3 bytes announced; written with 5 zeros behind, and gone on with at 3. */
static void padding_to_whole_words_is_no_overlap(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin_pt(f);
	checkfix_aux(f, 0, 3, 0);
	checkfix_trace(f, 0, 8);
	checkfix_aux(f, 3, 13, 0);
	checkfix_trace(f, 3, 16);
	finish(f);
	checkfix_sound(f);
}

static void announced_and_absent_is_a_loss(void **state)
{
	struct checkfix *f = *state;
	uint64_t at;

	checkfix_begin_pt(f);
	checkfix_aux(f, 0, 4096, 0);
	at = f->at;
	checkfix_trace(f, 0, 64);
	finish(f);
	checkfix_only(f, CHECK_AUX_ABSENT, 1, at);
	assert_int_equal(f->rep.found[CHECK_AUX_ABSENT].sum, 4032);
	assert_non_null(strstr(f->rep.found[CHECK_AUX_ABSENT].found, "0x40"));
}

/* A size of all ones, and one that no stream has from its offset on: told as such, and counted
 * among nothing. */
static void an_impossible_size_is_told_as_such(void **state)
{
	struct checkfix *f = *state;
	uint64_t at;

	checkfix_begin_pt(f);
	checkfix_aux(f, 0, 64, 0);
	checkfix_aux(f, 0, UINT64_MAX, 0);
	at = f->at;
	checkfix_aux(f, 64, INT64_MAX, 0);
	checkfix_aux(f, UINT64_MAX - 63, 64, 0);
	checkfix_trace(f, 0, 64);
	finish(f);
	checkfix_only(f, CHECK_ODD, 3, at);
}

/* The last AUXTRACE promises what cannot be: what is there of it counts once. */
static void cut_trace_of_an_impossible_size_counts_once(void **state)
{
	struct checkfix *f = *state;
	uint64_t at;

	checkfix_begin_pt(f);
	checkfix_aux(f, 0, 64, 0);
	checkfix_trace(f, 0, 64);
	at = f->at;
	finish(f);
	le_put(f->b.data + at + FMT_AUXTRACE_AT_SIZE, UINT64_MAX - 7, 8);
	checkfix_judge(f);
	checkfix_has(f, CHECK_ODD, 1, at);
	checkfix_has(f, CHECK_AUX_OVERLAP, 0, 0);
	checkfix_has(f, CHECK_AUX_ABSENT, 0, 0);
}

static void absent_in_the_middle_is_told_once(void **state)
{
	struct checkfix *f = *state;
	uint64_t at;

	checkfix_begin_pt(f);
	checkfix_aux(f, 0, 192, 0);
	at = f->at;
	checkfix_trace(f, 0, 64);
	checkfix_trace(f, 128, 64);
	finish(f);
	checkfix_only(f, CHECK_AUX_ABSENT, 1, at);
	assert_int_equal(f->rep.found[CHECK_AUX_ABSENT].sum, 64);
}

static void a_gap_that_nobody_announced_is_a_loss(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin_pt(f);
	checkfix_aux(f, 0, 64, 0);
	checkfix_trace(f, 0, 64);
	checkfix_aux(f, 1064, 64, 0);
	checkfix_trace(f, 1064, 64);
	finish(f);
	checkfix_only(f, CHECK_AUX_GAP, 1, f->index[0]);
	assert_int_equal(f->rep.found[CHECK_AUX_GAP].sum, 1000);
}

static void present_and_not_announced_is_a_remark(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin_pt(f);
	checkfix_aux(f, 0, 64, 0);
	checkfix_trace(f, 0, 96);
	finish(f);
	checkfix_only(f, CHECK_AUX_UNANNOUNCED, 1, f->index[0]);
	assert_int_equal(f->rep.found[CHECK_AUX_UNANNOUNCED].sum, 32);
}

static void the_same_trace_twice_is_damage(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin_pt(f);
	checkfix_aux(f, 0, 128, 0);
	checkfix_trace(f, 0, 64);
	checkfix_trace(f, 32, 96);
	finish(f);
	checkfix_only(f, CHECK_AUX_OVERLAP, 1, f->index[1]);
}

static void snapshots_may_overlap(void **state)
{
	struct checkfix *f = *state;

	with_word(f, SNAPSHOT, 1);
	f->nr_features = 0;
	fmt_buf_done(&f->feature[0].b);
	checkfix_trace(f, 32, 64);
	checkfix_trace(f, 4096, 64); /* nor is a gap between two of them one */
	finish(f);
	checkfix_only(f, CHECK_AUX_AGAIN, 1, f->index[1]);
}

/* The size is that of the whole buffer, whatever is saved of it. */
static void overwrite_announces_no_bytes(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin_pt(f);
	checkfix_aux(f, 100, 65536, FMT_AUX_OVERWRITE);
	checkfix_trace(f, 36, 64);
	finish(f);
	checkfix_sound(f);
}

static void queues_are_held_apart(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin_pt(f);
	checkfix_aux(f, 0, 64, 0);
	checkfix_trace_of(f, 1, 1, UINT32_MAX, 0, 64);
	finish(f);
	checkfix_has(f, CHECK_AUX_ABSENT, 1, f->index[0] - 64);
	checkfix_has(f, CHECK_AUX_UNANNOUNCED, 1, f->index[0]);
}

static void a_queue_is_of_one_cpu(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin_pt(f);
	checkfix_aux(f, 0, 128, 0);
	checkfix_trace(f, 0, 64);
	checkfix_trace_of(f, 0, 1, UINT32_MAX, 64, 64);
	finish(f);
	checkfix_only(f, CHECK_MIXED_QUEUE, 1, f->index[1]);
}

/* Software traces each thread in a queue of its own, and has one id. */
static void queues_of_threads_are_known_by_the_thread(void **state)
{
	struct checkfix *f = *state;
	uint64_t words[CHECKFIX_INFO_WORDS];

	checkfix_begin_pt(f);
	f->b.len = INFO_AT;
	checkfix_info(words);
	words[PER_CPU] = 0;
	words[SCHED] = 0;
	checkfix_put_info(f, FMT_AUXTRACE_INTEL_PT, words, CHECKFIX_INFO_WORDS);
	checkfix_aux(f, 0, 64, 0); /* of thread 700 */
	checkfix_trace_of(f, 0, UINT32_MAX, 701, 0, 32);
	checkfix_trace_of(f, 1, UINT32_MAX, 700, 0, 64);
	finish(f);
	checkfix_only(f, CHECK_AUX_UNANNOUNCED, 1, f->index[0]);
	assert_int_equal(f->rep.found[CHECK_AUX_UNANNOUNCED].sum, 32);
}

static void each_flag_is_a_loss_of_its_own(void **state)
{
	static const struct {
		uint64_t flag;
		enum check_kind kind;
	} flags[] = {
		{ 1, CHECK_AUX_TRUNCATED }, { 4, CHECK_AUX_PARTIAL },
		{ 8, CHECK_AUX_COLLISION }, { 0x10000, CHECK_AUX_FLAGS },
	};
	struct checkfix *f = *state;
	uint64_t at[4];

	checkfix_begin_pt(f);
	for (size_t i = 0; i < 4; i++) {
		checkfix_aux(f, 0, 0, flags[i].flag);
		at[i] = f->at;
	}
	checkfix_aux(f, 0, 0, 0x100); /* the format of CoreSight's trace */
	checkfix_finish(f);
	for (size_t i = 0; i < 4; i++)
		checkfix_has(f, flags[i].kind, 1, at[i]);
	assert_non_null(strstr(f->rep.found[CHECK_AUX_FLAGS].found, "0x10000"));
	assert_int_equal(check_verdict(&f->rep), CHECK_LOSS);
}

static void an_error_record_is_a_loss(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin_pt(f);
	checkfix_user(f, FMT_REC_AUXTRACE_ERROR, (uint64_t[13]){ 1 | UINT64_C(8) << 32 },
		      13);
	checkfix_finish(f);
	checkfix_only(f, CHECK_AUX_ERROR, 1, f->at);
}

static void offsets_that_overflow_are_odd(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin_pt(f);
	checkfix_trace(f, UINT64_MAX - 8, 64);
	finish(f);
	checkfix_only(f, CHECK_ODD, 1, f->index[0]);
}

/* Each AUX record is a piece of its own. */
static void a_queue_in_too_many_pieces_is_not_compared(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin_pt(f);
	for (uint64_t i = 0; i <= CHECK_EXTENTS_MAX; i++)
		checkfix_aux(f, 100 * i, 50, 0);
	checkfix_finish(f);
	checkfix_only(f, CHECK_LIMIT, 1, 0);
}

/* ---- the index ---- */

static void two_pieces(struct checkfix *f)
{
	checkfix_begin_pt(f);
	checkfix_aux(f, 0, 128, 0);
	checkfix_trace(f, 0, 64);
	checkfix_trace(f, 64, 64);
}

/* Where the index will be: it is the only feature. */
static uint64_t index_at(const struct checkfix *f)
{
	return f->b.len + 16;
}

static void an_index_may_stand_in_any_order(void **state)
{
	struct checkfix *f = *state;
	uint64_t first = f->index[0];

	two_pieces(f);
	first = f->index[0];
	f->index[0] = f->index[1];
	f->index[1] = first;
	finish(f);
	checkfix_sound(f);
}

static void a_record_that_the_index_leaves_out_is_damage(void **state)
{
	struct checkfix *f = *state;

	two_pieces(f);
	f->nr_index = 1;
	finish(f);
	checkfix_only(f, CHECK_INDEX_MISSING, 1, f->index[1]);
}

static void an_entry_for_something_else_is_damage(void **state)
{
	struct checkfix *f = *state;
	uint64_t at;

	two_pieces(f);
	f->index[f->nr_index++] = f->index[1] + 8;
	at = index_at(f);
	finish(f);
	checkfix_only(f, CHECK_INDEX_FOREIGN, 1, at);
}

static void an_entry_twice_is_damage(void **state)
{
	struct checkfix *f = *state;
	uint64_t at;

	two_pieces(f);
	f->index[f->nr_index++] = f->index[0];
	at = index_at(f);
	finish(f);
	checkfix_only(f, CHECK_INDEX_TWICE, 1, at);
}

static void an_entry_with_another_size_is_damage(void **state)
{
	struct checkfix *f = *state;
	uint64_t at;

	two_pieces(f);
	at = index_at(f);
	checkfix_index(f);
	le_put(f->feature[0].b.data + 8 + 16 + 8, 56, 8);
	checkfix_finish(f);
	checkfix_only(f, CHECK_INDEX_FOREIGN, 1, at);
}

static void no_index_is_a_remark(void **state)
{
	struct checkfix *f = *state;

	two_pieces(f);
	checkfix_finish(f);
	checkfix_only(f, CHECK_NO_INDEX, 1, 0);
}

static void an_empty_index_is_as_good_as_none(void **state)
{
	struct checkfix *f = *state;

	two_pieces(f);
	f->nr_index = 0;
	finish(f);
	checkfix_only(f, CHECK_NO_INDEX, 1, 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, checkfix_setup, checkfix_teardown)
	const struct CMUnitTest tests[] = {
		T(trace_needs_auxtrace_info),
		T(one_auxtrace_info_is_enough),
		T(ten_words_are_needed),
		T(nine_words_are_too_few),
		T(more_words_than_known_are_no_damage),
		T(unknown_kinds_of_trace_are_a_remark),
		T(kind_0_is_a_remark),
		T(the_pmu_must_have_an_event),
		T(events_of_trace_need_sample_id_all),
		T(switches_are_of_the_kind_that_is_promised),
		T(switches_need_their_cpu),
		T(a_tracepoint_that_is_promised_must_be_there),
		T(switches_of_threads_need_an_event_with_them),
		T(no_shift_by_64),
		T(no_conversion_with_mult_0),
		T(no_tsc_that_is_slower_than_50_mhz),
		T(what_has_no_time_is_a_remark),
		T(no_tsc_packets_are_a_remark),
		T(trace_is_matched_by_offset),
		T(padding_to_whole_words_is_no_overlap),
		T(announced_and_absent_is_a_loss),
		T(an_impossible_size_is_told_as_such),
		T(cut_trace_of_an_impossible_size_counts_once),
		T(absent_in_the_middle_is_told_once),
		T(a_gap_that_nobody_announced_is_a_loss),
		T(present_and_not_announced_is_a_remark),
		T(the_same_trace_twice_is_damage),
		T(snapshots_may_overlap),
		T(overwrite_announces_no_bytes),
		T(queues_are_held_apart),
		T(a_queue_is_of_one_cpu),
		T(queues_of_threads_are_known_by_the_thread),
		T(each_flag_is_a_loss_of_its_own),
		T(an_error_record_is_a_loss),
		T(offsets_that_overflow_are_odd),
		T(a_queue_in_too_many_pieces_is_not_compared),
		T(an_index_may_stand_in_any_order),
		T(a_record_that_the_index_leaves_out_is_damage),
		T(an_entry_for_something_else_is_damage),
		T(an_entry_twice_is_damage),
		T(an_entry_with_another_size_is_damage),
		T(no_index_is_a_remark),
		T(an_empty_index_is_as_good_as_none),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
