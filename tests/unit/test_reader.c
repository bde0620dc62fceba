/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

#include "format/abi.h"
#include "format/event.h"
#include "format/le.h"
#include "tests/unit/readfix.h"

/* A pipe as perf.data-file-format.txt has it: 16-byte header, HEADER_ATTR (64-byte attr,
 * one id), COMM with a trailer of TID and TIME. */
static const uint8_t golden_pipe[] = {
	'P', 'E', 'R', 'F', 'I', 'L', 'E', '2', 16, 0, 0, 0, 0, 0, 0, 0,
	64, 0, 0, 0, 0, 0, 80, 0, /* HEADER_ATTR, misc 0, size 80 */
	1, 0, 0, 0, 64, 0, 0, 0,  /* type 1, size 64 */
	9, 0, 0, 0, 0, 0, 0, 0,	  /* config */
	1, 0, 0, 0, 0, 0, 0, 0,	  /* sample_period */
	6, 0, 0, 0, 0, 0, 0, 0,	  /* sample_type TID|TIME */
	0, 0, 0, 0, 0, 0, 0, 0,	  /* read_format */
	0, 0, 4, 0, 0, 0, 0, 0,	  /* sample_id_all */
	0, 0, 0, 0, 0, 0, 0, 0,	  /* wakeup, bp_type */
	0, 0, 0, 0, 0, 0, 0, 0,	  /* config1 */
	0x2a, 0, 0, 0, 0, 0, 0, 0, /* id */
	3, 0, 0, 0, 0, 0x20, 40, 0, /* COMM, exec, size 40 */
	5, 0, 0, 0, 6, 0, 0, 0,	  /* pid, tid */
	's', 'h', 0, 0, 0, 0, 0, 0,
	5, 0, 0, 0, 7, 0, 0, 0,	  /* trailer: pid, tid */
	0, 1, 0, 0, 0, 0, 0, 0,	  /* time 256 */
};

static void a_golden_pipe_is_read_field_by_field(void **state)
{
	struct readfix *f = *state;
	struct fmt_when w;
	struct fmt_rec rec;

	assert_int_equal(fmt_reader_open(&f->r, golden_pipe, sizeof(golden_pipe)), 0);
	assert_true(f->r.pipe);
	assert_false(f->r.finished);
	assert_int_equal(f->r.nr_events, 0);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(rec.type, FMT_REC_HEADER_ATTR);
	assert_int_equal(f->r.nr_events, 1);
	assert_int_equal(f->r.events[0].attr_size, 64);
	assert_int_equal(fmt_attr_config(f->r.events[0].attr, 64), 9);
	assert_int_equal(f->r.events[0].nr_ids, 1);
	assert_int_equal(le_get(f->r.events[0].ids, 8), 0x2a);
	assert_null(f->r.events[0].name);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(rec.at, 96);
	assert_int_equal(rec.type, FMT_REC_COMM);
	assert_int_equal(rec.misc, FMT_MISC_COMM_EXEC);
	assert_int_equal(rec.size, 40);
	assert_ptr_equal(rec.p, golden_pipe + 96);
	assert_null(rec.payload);
	assert_int_equal(fmt_reader_event_of(&f->r, &rec), 0);
	assert_int_equal(fmt_reader_when(&f->r, &rec, &w), 0);
	assert_true(w.has_time && w.has_tid && !w.has_cpu);
	assert_int_equal(w.pid, 5);
	assert_int_equal(w.tid, 7);
	assert_int_equal(w.time, 256);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 0);
}

static void header_form_yields_every_record(void **state)
{
	static const uint32_t types[] = { 3, 70, 12, 15, 11, 71, 2, 13, 200, 68 };
	struct readfix *f = *state;
	struct fmt_rec rec;

	handmade_file(&f->h);
	assert_int_equal(readfix_open(f), 0);
	assert_false(f->r.pipe);
	assert_true(f->r.finished);
	assert_int_equal(f->r.data_offset, 416);
	assert_int_equal(f->r.data_end, f->h.at[HANDMADE_RECORDS]);
	for (size_t k = 0; k < HANDMADE_RECORDS; k++) {
		assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
		assert_int_equal(rec.at, f->h.at[k]);
		assert_int_equal(rec.type, types[k]);
		assert_int_equal(rec.payload_len, types[k] == 71 ? HANDMADE_TRACE : 0);
		if (types[k] == 71)
			assert_ptr_equal(rec.payload, rec.p + 48);
	}
	assert_int_equal(fmt_reader_next(&f->r, &rec), 0);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 0);
	assert_null(f->r.odd_what);
}

static void events_have_attrs_ids_and_names(void **state)
{
	struct readfix *f = *state;

	handmade_file(&f->h);
	assert_int_equal(readfix_open(f), 0);
	assert_int_equal(f->r.nr_events, 2);
	assert_int_equal(fmt_attr_type(f->r.events[0].attr, 128), 8);
	assert_int_equal(f->r.events[0].nr_ids, 2);
	assert_int_equal(le_get(f->r.events[0].ids + 8, 8), 12);
	assert_string_equal(f->r.events[0].name, "intel_pt/soft/u");
	assert_int_equal(f->r.events[1].nr_ids, 1);
	assert_string_equal(f->r.events[1].name, "dummy:u");
}

static void records_find_their_event_by_id(void **state)
{
	static const int event[] = { 0, -1, 0, 1, 0, -1, 1, 1, -1, -1 };
	static const uint64_t time[] = { 0, 0, 1000, 2000, 1500, 0, 2500, 2600, 0, 0 };
	struct readfix *f = *state;
	struct fmt_when w;
	struct fmt_rec rec;

	handmade_file(&f->h);
	assert_int_equal(readfix_open(f), 0);
	for (size_t k = 0; fmt_reader_next(&f->r, &rec) > 0; k++) {
		assert_int_equal(fmt_reader_event_of(&f->r, &rec), event[k]);
		if (rec.type >= FMT_REC_USER_START) {
			assert_int_equal(fmt_reader_when(&f->r, &rec, &w), -ENOENT);
			continue;
		}
		assert_int_equal(fmt_reader_when(&f->r, &rec, &w), 0);
		assert_int_equal(w.time, time[k]);
		assert_int_equal(w.cpu, event[k] == 1 ? 1 : 0);
	}
}

static void features_are_found_by_their_bit(void **state)
{
	struct readfix *f = *state;
	const uint8_t *p;
	uint64_t len;

	handmade_file(&f->h);
	assert_int_equal(readfix_open(f), 0);
	assert_string_equal(fmt_reader_feature_str(&f->r, FMT_FEAT_HOSTNAME), "box");
	assert_string_equal(fmt_reader_feature_list(&f->r, FMT_FEAT_CMDLINE, 0),
			    "/usr/bin/auxrec");
	assert_string_equal(fmt_reader_feature_list(&f->r, FMT_FEAT_CMDLINE, 1),
			    "record");
	assert_null(fmt_reader_feature_list(&f->r, FMT_FEAT_CMDLINE, 2));
	assert_int_equal(fmt_reader_feature(&f->r, FMT_FEAT_HOSTNAME, &p, &len), 0);
	assert_int_equal(len, 68);
	assert_int_equal(fmt_reader_feature(&f->r, FMT_FEAT_ARCH, &p, &len), -ENOENT);
	assert_null(fmt_reader_feature_str(&f->r, FMT_FEAT_ARCH));
}

static void tracing_data_is_stepped_over_where_perf_puts_it(void **state)
{
	struct readfix *f = *state;
	struct fmt_rec rec;

	handmade_pipe_header(&f->h.b);
	fmt_put_le(&f->h.b, UINT64_C(12) << 48 | 66, 8);
	fmt_put_le(&f->h.b, 16, 4);
	fmt_put_zero(&f->h.b, 16);
	fmt_put_le(&f->h.b, UINT64_C(8) << 48 | 68, 8);
	assert_int_equal(readfix_open(f), 0);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(rec.payload_len, 16);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(rec.type, FMT_REC_FINISHED_ROUND);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 0);
}

static void tracing_data_is_stepped_over_where_simpleperf_puts_it(void **state)
{
	struct readfix *f = *state;
	struct fmt_rec rec;

	handmade_pipe_header(&f->h.b);
	fmt_put_le(&f->h.b, UINT64_C(32) << 48 | 66, 8);
	fmt_put_le(&f->h.b, 16, 4);
	fmt_put_zero(&f->h.b, 20);
	fmt_put_le(&f->h.b, UINT64_C(8) << 48 | 68, 8);
	assert_int_equal(readfix_open(f), 0);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(rec.payload_len, 0);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(rec.type, FMT_REC_FINISHED_ROUND);
}

static void a_pipe_gathers_what_passes_once(void **state)
{
	struct readfix *f = *state;
	size_t n;

	handmade_pipe(&f->h);
	assert_int_equal(readfix_open(f), 0);
	for (unsigned turn = 0; turn < 2; turn++) {
		fmt_reader_rewind(&f->r);
		assert_int_equal(readfix_walk(&f->r, &n), 0);
		assert_int_equal(n, 5 + HANDMADE_RECORDS);
		assert_int_equal(f->r.nr_events, 2);
		assert_string_equal(f->r.events[0].name, "intel_pt/soft/u");
		assert_null(f->r.events[1].name);
		assert_string_equal(fmt_reader_feature_str(&f->r, FMT_FEAT_HOSTNAME),
				    "box");
	}
	assert_null(f->r.odd_what);
}

/* perf 4.14 sends EVENT_DESC before the attrs it names. */
static void names_may_come_before_their_events(void **state)
{
	struct readfix *f = *state;
	struct fmt_buf *b = &f->h.b;
	size_t n;

	handmade_pipe_header(b);
	fmt_put_le(b, UINT64_C(104) << 48 | 80, 8);
	fmt_put_le(b, 12, 8);
	fmt_put_le(b, 1, 4);
	fmt_put_le(b, 64, 4);
	fmt_put_zero(b, 64);
	fmt_put_le(b, 0, 4);
	fmt_put_le(b, 8, 4);
	fmt_put_str(b, "cycles", 8);
	handmade_header_attr(b, 6, 1 << 18, 1);
	/* 16 + 8 + 64 + 4 + 12 = 104 */
	assert_int_equal(readfix_open(f), 0);
	assert_int_equal(readfix_walk(&f->r, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(f->r.events[0].name, "cycles");
}

static void an_attr_larger_than_known_is_read_as_far_as_known(void **state)
{
	struct readfix *f = *state;
	struct fmt_buf *b = &f->h.b;
	size_t n;

	handmade_pipe_header(b);
	fmt_put_le(b, UINT64_C(176) << 48 | 64, 8);
	handmade_attr(b, 1, 9, 6, 1 << 18, 160);
	fmt_put_le(b, 77, 8);
	assert_int_equal(readfix_open(f), 0);
	assert_int_equal(readfix_walk(&f->r, &n), 0);
	assert_int_equal(f->r.events[0].attr_size, 144);
	assert_int_equal(f->r.events[0].nr_ids, 1);
	assert_int_equal(le_get(f->r.events[0].ids, 8), 77);
}

static void the_old_header_has_no_features(void **state)
{
	struct readfix *f = *state;
	size_t n;

	handmade_file(&f->h);
	le_put(f->h.b.data + FMT_HDR_SIZE, 72, 8);
	assert_int_equal(readfix_open(f), 0);
	assert_false(f->r.finished);
	assert_null(fmt_reader_feature_str(&f->r, FMT_FEAT_HOSTNAME));
	assert_int_equal(readfix_walk(&f->r, &n), 0);
	assert_int_equal(n, HANDMADE_RECORDS);
}

/* Two events that disagree on where an id stands: nothing can be said. */
static void an_ambiguous_layout_is_not_guessed(void **state)
{
	struct readfix *f = *state;
	struct fmt_when w;
	struct fmt_rec rec;

	handmade_pipe_header(&f->h.b);
	handmade_header_attr(&f->h.b, 0x10006, 1 << 18, 1);
	handmade_header_attr(&f->h.b, 0x46, 1 << 18, 2); /* ID, not IDENTIFIER */
	fmt_put_le(&f->h.b, UINT64_C(32) << 48 | 14, 8);
	fmt_put_zero(&f->h.b, 24);
	assert_int_equal(readfix_open(f), 0);
	while (fmt_reader_next(&f->r, &rec) > 0 && rec.type != FMT_REC_SWITCH)
		;
	assert_int_equal(rec.type, FMT_REC_SWITCH);
	/* The id ends both trailers, but begins a sample only where it is IDENTIFIER. */
	assert_int_equal(fmt_reader_event_of(&f->r, &rec), -1);
	assert_int_equal(fmt_reader_when(&f->r, &rec, &w), -ENOENT);
}

static void the_layout_is_that_of_the_events_own_id(void **state)
{
	struct readfix *f = *state;
	struct fmt_when w;
	struct fmt_rec rec;

	handmade_pipe_header(&f->h.b);
	handmade_header_attr(&f->h.b, 0x10002, 1 << 18, 1); /* TID */
	handmade_header_attr(&f->h.b, 0x10004, 1 << 18, 2); /* TIME */
	fmt_put_le(&f->h.b, UINT64_C(24) << 48 | 14, 8);
	fmt_put_le(&f->h.b, 99, 8);
	fmt_put_le(&f->h.b, 2, 8);
	fmt_put_le(&f->h.b, UINT64_C(24) << 48 | 14, 8);
	fmt_put_le(&f->h.b, 99, 8);
	fmt_put_le(&f->h.b, 3, 8); /* nobody's */
	assert_int_equal(readfix_open(f), 0);
	while (fmt_reader_next(&f->r, &rec) > 0 && rec.type != FMT_REC_SWITCH)
		;
	assert_int_equal(fmt_reader_event_of(&f->r, &rec), 1);
	assert_int_equal(fmt_reader_when(&f->r, &rec, &w), 0);
	assert_true(w.has_time && !w.has_tid);
	assert_int_equal(w.time, 99);
	assert_int_equal(w.id, 2);
	assert_int_equal(w.event, 1);
	assert_int_equal(fmt_reader_event_by_id(&f->r, 1), 0);
	assert_int_equal(fmt_reader_event_by_id(&f->r, 3), -1);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(fmt_reader_event_of(&f->r, &rec), -1);
	assert_int_equal(fmt_reader_when(&f->r, &rec, &w), -ENOENT);
}

/* Recordings of before Linux 3.12 have ID, which stands in the middle, and no IDENTIFIER. */
static void ids_are_found_before_stream_and_cpu(void **state)
{
	struct readfix *f = *state;
	struct fmt_rec rec;

	handmade_pipe_header(&f->h.b);
	handmade_header_attr(&f->h.b, 0x2c6, 1 << 18, 1); /* TID TIME ID CPU STREAM_ID */
	handmade_header_attr(&f->h.b, 0x2c6, 1 << 18, 2);
	fmt_put_le(&f->h.b, UINT64_C(48) << 48 | 14, 8);
	for (unsigned k = 1; k <= 5; k++)
		fmt_put_le(&f->h.b, k == 3 ? 2 : 90 + k, 8);
	fmt_put_le(&f->h.b, UINT64_C(48) << 48 | 9, 8);
	for (unsigned k = 1; k <= 5; k++)
		fmt_put_le(&f->h.b, k == 3 ? 2 : 90 + k, 8);
	assert_int_equal(readfix_open(f), 0);
	while (fmt_reader_next(&f->r, &rec) > 0 && rec.type != FMT_REC_SWITCH)
		;
	assert_int_equal(fmt_reader_event_of(&f->r, &rec), 1);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(rec.type, FMT_REC_SAMPLE);
	assert_int_equal(fmt_reader_event_of(&f->r, &rec), 1);
}

/* perf_event_open(2): IDENTIFIER IP TID TIME ADDR ID STREAM_ID CPU, here all of them. */
static void fields_of_a_sample_are_in_their_order(void **state)
{
	struct readfix *f = *state;
	struct fmt_when w;
	struct fmt_rec rec;

	handmade_pipe_header(&f->h.b);
	handmade_header_attr(&f->h.b, 0x102cf, 0, 5);
	fmt_put_le(&f->h.b, UINT64_C(72) << 48 | 9, 8);
	for (unsigned k = 1; k <= 8; k++)
		fmt_put_le(&f->h.b, k == 6 ? 1 : k, 8);
	fmt_put_le(&f->h.b, UINT64_C(64) << 48 | 9, 8);
	fmt_put_zero(&f->h.b, 56);
	assert_int_equal(readfix_open(f), 0);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(fmt_reader_when(&f->r, &rec, &w), 0);
	assert_int_equal(w.pid, 3);
	assert_int_equal(w.time, 4);
	assert_int_equal(w.cpu, 8);
	assert_int_equal(w.id, 1);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(fmt_reader_when(&f->r, &rec, &w), -EBADMSG);
}

static void records_without_sample_id_all_have_no_trailer(void **state)
{
	struct readfix *f = *state;
	struct fmt_when w;
	struct fmt_rec rec;

	handmade_pipe_header(&f->h.b);
	handmade_header_attr(&f->h.b, 6, 0, 5);
	fmt_put_le(&f->h.b, UINT64_C(8) << 48 | 14, 8);
	assert_int_equal(readfix_open(f), 0);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(fmt_reader_event_of(&f->r, &rec), 0);
	assert_int_equal(fmt_reader_when(&f->r, &rec, &w), -ENOENT);
}

static void every_named_type_has_a_name(void **state)
{
	(void)state;
	assert_string_equal(fmt_record_name(1), "MMAP");
	assert_string_equal(fmt_record_name(10), "MMAP2");
	assert_string_equal(fmt_record_name(15), "SWITCH_CPU_WIDE");
	assert_string_equal(fmt_record_name(71), "AUXTRACE");
	assert_string_equal(fmt_record_name(82), "FINISHED_INIT");
	assert_null(fmt_record_name(0));
	assert_null(fmt_record_name(40));
	assert_null(fmt_record_name(UINT32_MAX));
}

#define T(name) cmocka_unit_test_setup_teardown(name, readfix_setup, readfix_teardown)

static void the_first_version_is_read_too(void **state)
{
	struct readfix *f = *state;
	size_t n, n1;

	handmade_file(&f->h);
	assert_int_equal(readfix_open(f), 0);
	assert_int_equal(f->r.version, 2);
	assert_int_equal(readfix_walk(&f->r, &n), 0);
	memcpy(f->h.b.data, "PERFFILE", 8);
	assert_int_equal(readfix_open(f), 0);
	assert_int_equal(f->r.version, 1);
	assert_int_equal(readfix_walk(&f->r, &n1), 0);
	assert_int_equal(n1, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_golden_pipe_is_read_field_by_field),
		T(header_form_yields_every_record),
		T(events_have_attrs_ids_and_names),
		T(records_find_their_event_by_id),
		T(features_are_found_by_their_bit),
		T(tracing_data_is_stepped_over_where_perf_puts_it),
		T(tracing_data_is_stepped_over_where_simpleperf_puts_it),
		T(a_pipe_gathers_what_passes_once),
		T(names_may_come_before_their_events),
		T(an_attr_larger_than_known_is_read_as_far_as_known),
		T(the_old_header_has_no_features),
		T(the_first_version_is_read_too),
		T(an_ambiguous_layout_is_not_guessed),
		T(the_layout_is_that_of_the_events_own_id),
		T(ids_are_found_before_stream_and_cpu),
		T(fields_of_a_sample_are_in_their_order),
		T(records_without_sample_id_all_have_no_trailer),
		T(every_named_type_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
