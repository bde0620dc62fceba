/* SPDX-License-Identifier: Apache-2.0 */
/* The file as a whole, its events and ids, and the list of what was found. */
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

/* Offsets in what checkfix_begin() makes. */
enum { IDS = 104, ATTR_0 = 128, ATTR_1 = 272, DATA = 416 };

static void one_of_each(struct checkfix *f)
{
	checkfix_begin_pt(f);
	checkfix_out(f, 1, 2, 1000);
	checkfix_in(f, 2, 1, 1001);
	checkfix_aux(f, 0, 64, 0);
	checkfix_trace(f, 0, 64);
	checkfix_round(f);
	checkfix_index(f);
}

static void one_round(struct checkfix *f)
{
	checkfix_begin(f);
	checkfix_round(f);
}

static void a_sound_file_has_no_findings(void **state)
{
	struct checkfix *f = *state;

	one_of_each(f);
	checkfix_finish(f);
	checkfix_sound(f);
	assert_int_equal(f->rep.records, 7);
	assert_int_equal(f->rep.bytes, f->b.len);
}

static void what_is_no_file_of_ours_is_a_fault_of_the_header(void **state)
{
	struct checkfix *f = *state;

	fmt_put(&f->b, "#!/bin/sh\necho hello, world of words\n", 37);
	checkfix_judge(f);
	assert_int_equal(f->rep.found[CHECK_HEADER].n, 1);
	assert_string_equal(f->rep.found[CHECK_HEADER].expected, "the magic PERFILE2");
	assert_int_equal(check_verdict(&f->rep), CHECK_DAMAGE);
	checkfix_judge_cut(f, 0);
	assert_string_equal(f->rep.found[CHECK_HEADER].found,
			    "the end of a file of 0 bytes");
}

static void a_size_of_0_is_where_records_break_off(void **state)
{
	struct checkfix *f = *state;
	uint64_t at;

	one_of_each(f);
	checkfix_round(f);
	at = f->at;
	le_put(f->b.data + at + FMT_REC_AT_SIZE, 0, 2);
	checkfix_round(f);
	checkfix_finish(f);
	checkfix_only(f, CHECK_BROKEN, 1, at);
	assert_non_null(
		strstr(f->rep.found[CHECK_BROKEN].found, "16 bytes are not read"));
}

static void a_file_that_is_cut_is_damaged_where_it_ends(void **state)
{
	struct checkfix *f = *state;

	one_of_each(f);
	checkfix_end(f);
	checkfix_judge_cut(f, f->index[0] + 60);
	checkfix_has(f, CHECK_CUT, 1, f->index[0]);
	/* 12 of 64 bytes of the torn trace are there. */
	assert_int_equal(f->rep.found[CHECK_AUX_ABSENT].sum, 52);
}

static void a_file_cut_between_records_lacks_what_data_size_says(void **state)
{
	struct checkfix *f = *state;

	one_of_each(f);
	checkfix_end(f);
	checkfix_judge_cut(f, f->at);
	checkfix_only(f, CHECK_CUT, 1, f->at);
}

/* perf stores data.size last; auxrec after each round, and the bitmap last. */
static void an_interrupted_recording_is_sound_with_a_loss(void **state)
{
	struct checkfix *f = *state;
	size_t end;

	one_of_each(f);
	checkfix_aux(f, 64, 0, 0);
	end = f->b.len;
	checkfix_end(f);
	le_put(f->b.data + FMT_HDR_DATA_SIZE, 0, 8);
	checkfix_judge_cut(f, end);
	checkfix_only(f, CHECK_UNFINISHED, 1, FMT_HDR_DATA_SIZE);
	checkfix_judge_cut(f, end - 3);
	checkfix_only(f, CHECK_UNFINISHED, 1, FMT_HDR_DATA_SIZE);
	le_put(f->b.data + FMT_HDR_DATA_SIZE, end - DATA, 8);
	memset(f->b.data + FMT_HDR_FEATURES, 0, 32);
	checkfix_judge_cut(f, end);
	checkfix_only(f, CHECK_UNFINISHED, 1, FMT_HDR_FEATURES);
	le_put(f->b.data + FMT_HDR_DATA_SIZE, 0, 8);
	checkfix_judge_cut(f, DATA); /* before the first record */
	checkfix_only(f, CHECK_UNFINISHED, 1, FMT_HDR_DATA_SIZE);
}

static void sections_that_share_bytes_are_told(void **state)
{
	struct checkfix *f = *state;

	/* The attrs section begins 8 bytes early and so ends within the data. */
	one_of_each(f);
	checkfix_end(f);
	le_put(f->b.data + FMT_HDR_DATA, DATA - 8, 8);
	checkfix_judge(f);
	checkfix_has(f, CHECK_OVERLAP, 1, FMT_HDR_DATA);
}

static void ids_among_the_records_are_told(void **state)
{
	struct checkfix *f = *state;

	one_of_each(f);
	checkfix_end(f);
	le_put(f->b.data + ATTR_1 + 128, DATA + 8, 8);
	checkfix_judge(f);
	checkfix_has(f, CHECK_OVERLAP, 1, ATTR_1 + 128);
}

static void bytes_behind_everything_are_a_remark(void **state)
{
	struct checkfix *f = *state;
	size_t end;

	one_of_each(f);
	checkfix_end(f);
	end = f->b.len;
	fmt_put(&f->b, "[ perf record: Woken up ]", 25);
	checkfix_judge(f);
	checkfix_only(f, CHECK_TRAILING, 1, end);
}

static void ids_are_not_0_and_not_twice(void **state)
{
	struct checkfix *f = *state;

	one_round(f);
	le_put(f->b.data + IDS + 8, 0, 8);
	checkfix_finish(f);
	checkfix_only(f, CHECK_ID_ZERO, 1, IDS + 8);
	le_put(f->b.data + IDS + 8, CHECKFIX_DUMMY_ID, 8);
	checkfix_judge(f);
	checkfix_only(f, CHECK_ID_TWICE, 1, IDS + 16);
}

static void set_sample_type(struct checkfix *f, size_t attr, uint64_t st)
{
	le_put(f->b.data + attr + FMT_ATTR_AT_SAMPLE_TYPE, st, 8);
}

static void events_without_an_id_in_their_records_are_told(void **state)
{
	struct checkfix *f = *state;

	one_round(f);
	set_sample_type(f, ATTR_1, 0x87);
	checkfix_finish(f);
	checkfix_only(f, CHECK_LAYOUT, 1, ATTR_1);
	assert_non_null(strstr(f->rep.found[CHECK_LAYOUT].found, "ambiguous"));
	/* ID does as well as IDENTIFIER, at one place in all. */
	set_sample_type(f, ATTR_0, 0xc7);
	set_sample_type(f, ATTR_1, 0xc7);
	checkfix_judge(f);
	checkfix_sound(f);
	set_sample_type(f, ATTR_0, 0x47); /* no CPU behind the id of a trailer */
	checkfix_judge(f);
	checkfix_only(f, CHECK_LAYOUT, 1, ATTR_1);
}

static void sample_id_all_is_of_all_events_or_none(void **state)
{
	struct checkfix *f = *state;

	one_round(f);
	le_put(f->b.data + ATTR_1 + FMT_ATTR_AT_FLAGS, 0, 8);
	checkfix_finish(f);
	checkfix_only(f, CHECK_LAYOUT, 1, ATTR_1);
	le_put(f->b.data + ATTR_0 + FMT_ATTR_AT_FLAGS, 0, 8);
	checkfix_judge(f);
	checkfix_sound(f);
}

static void values_that_are_sampled_need_their_ids(void **state)
{
	struct checkfix *f = *state;

	one_round(f);
	set_sample_type(f, ATTR_0, HANDMADE_SAMPLE_TYPE | FMT_SAMPLE_READ);
	checkfix_finish(f);
	checkfix_sound(f);
	le_put(f->b.data + ATTR_0 + FMT_ATTR_AT_READ_FORMAT, 0, 8);
	checkfix_judge(f);
	checkfix_only(f, CHECK_LAYOUT, 1, ATTR_0 + FMT_ATTR_AT_READ_FORMAT);
}

static void an_event_without_ids_is_a_remark(void **state)
{
	struct checkfix *f = *state;

	one_round(f);
	le_put(f->b.data + ATTR_1 + 136, 0, 8);
	checkfix_finish(f);
	checkfix_only(f, CHECK_NO_IDS, 1, ATTR_1);
}

static void a_tracepoint_needs_its_format(void **state)
{
	struct checkfix *f = *state;

	one_round(f);
	le_put(f->b.data + ATTR_1, FMT_TYPE_TRACEPOINT, 4);
	checkfix_finish(f);
	checkfix_only(f, CHECK_NO_TRACING_DATA, 1, ATTR_1);
}

/* aux_start_paused and its like stand in a word that was reserved before. */
static void the_word_of_aux_actions_is_no_damage(void **state)
{
	struct checkfix *f = *state;

	one_round(f);
	le_put(f->b.data + ATTR_1 + FMT_ATTR_AT_AUX_ACTION, 7, 4);
	checkfix_finish(f);
	checkfix_sound(f);
}

static void a_clockid_that_is_not_used_is_no_damage(void **state)
{
	struct checkfix *f = *state;

	one_round(f);
	le_put(f->b.data + ATTR_1 + FMT_ATTR_AT_CLOCKID, 4, 4);
	checkfix_finish(f);
	checkfix_sound(f);
}

static void attrs_of_newer_kernels_are_a_remark(void **state)
{
	struct checkfix *f = *state;

	fmt_put(&f->b, "PERFILE2", 8);
	fmt_put_le(&f->b, 104, 8);
	fmt_put_le(&f->b, 152, 8);
	fmt_put_le(&f->b, 112, 8);
	fmt_put_le(&f->b, 152, 8);
	fmt_put_le(&f->b, 264, 8);
	fmt_put_zero(&f->b, 56);
	fmt_put_le(&f->b, 5, 8);
	handmade_attr(&f->b, 1, 9, HANDMADE_SAMPLE_TYPE, FMT_ATTR_F_SAMPLE_ID_ALL, 136);
	fmt_put_le(&f->b, 104, 8);
	fmt_put_le(&f->b, 8, 8);
	checkfix_round(f);
	checkfix_finish(f);
	checkfix_only(f, CHECK_NEW_ATTR, 1, 112 + FMT_ATTR_AT_SIZE);
}

static void equal_findings_are_counted(void **state)
{
	struct checkfix *f = *state;
	uint64_t first = 0;

	one_of_each(f);
	for (unsigned i = 0; i < 1000; i++) {
		checkfix_user(f, 200, NULL, 0);
		first = first ? first : f->at;
	}
	checkfix_finish(f);
	checkfix_only(f, CHECK_UNKNOWN_TYPE, 1000, first);
}

static void damage_is_told_first_and_by_its_place(void **state)
{
	struct checkfix *f = *state;
	enum check_kind order[CHECK_NR_KINDS];
	size_t n;

	checkfix_begin_pt(f);
	checkfix_user(f, 200, NULL, 0);
	checkfix_aux(f, 0, 0, FMT_AUX_TRUNCATED);
	checkfix_kernel(f, FMT_REC_ITRACE_START, 0, (uint64_t[]){ 7 }, 1,
			(struct checkfix_who){ 7, 5000, 0, 99 });
	le_put(f->b.data + IDS, 0, 8);
	checkfix_finish(f);
	check_order(&f->rep, order, &n);
	assert_int_equal(order[0], CHECK_ID_ZERO);
	for (size_t i = 1; i < n; i++)
		assert_true(check_severity_of(order[i]) <=
			    check_severity_of(order[i - 1]));
	assert_int_equal(order[n - 1], CHECK_UNKNOWN_TYPE);
	assert_int_equal(check_verdict(&f->rep), CHECK_DAMAGE);
}

static void every_kind_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (enum check_kind k = 0; k < CHECK_NR_KINDS; k++) {
		assert_non_null(check_kind_name(k));
		for (enum check_kind m = 0; m < k; m++)
			assert_string_not_equal(check_kind_name(k), check_kind_name(m));
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, checkfix_setup, checkfix_teardown)
	const struct CMUnitTest tests[] = {
		T(a_sound_file_has_no_findings),
		T(what_is_no_file_of_ours_is_a_fault_of_the_header),
		T(a_size_of_0_is_where_records_break_off),
		T(a_file_that_is_cut_is_damaged_where_it_ends),
		T(a_file_cut_between_records_lacks_what_data_size_says),
		T(an_interrupted_recording_is_sound_with_a_loss),
		T(sections_that_share_bytes_are_told),
		T(ids_among_the_records_are_told),
		T(bytes_behind_everything_are_a_remark),
		T(ids_are_not_0_and_not_twice),
		T(events_without_an_id_in_their_records_are_told),
		T(sample_id_all_is_of_all_events_or_none),
		T(values_that_are_sampled_need_their_ids),
		T(an_event_without_ids_is_a_remark),
		T(a_tracepoint_needs_its_format),
		T(the_word_of_aux_actions_is_no_damage),
		T(a_clockid_that_is_not_used_is_no_damage),
		T(attrs_of_newer_kernels_are_a_remark),
		T(equal_findings_are_counted),
		T(damage_is_told_first_and_by_its_place),
		T(every_kind_has_a_name_of_its_own),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
