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
#include "format/event.h"
#include "format/le.h"
#include "format/reader.h"
#include "tests/unit/handmade.h"

struct fix {
	struct handmade h;
	struct fmt_reader r;
	uint8_t *copy;
};

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct fix));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	fmt_reader_done(&f->r);
	fmt_buf_done(&f->h.b);
	free(f->copy);
	free(f);
	return 0;
}

/* Opens the first n bytes, in memory of exactly that size: a sanitizer sees overreads. */
static int open_cut(struct fix *f, size_t n)
{
	fmt_reader_done(&f->r);
	free(f->copy);
	f->copy = malloc(n ? n : 1);
	assert_non_null(f->copy);
	if (n)
		memcpy(f->copy, f->h.b.data, n);
	return fmt_reader_open(&f->r, f->copy, n);
}

static int open_all(struct fix *f)
{
	assert_int_equal(f->h.b.err, 0);
	return open_cut(f, f->h.b.len);
}

/* Walks to the end; *ret_n records were whole. */
static int walk(struct fmt_reader *r, size_t *ret_n)
{
	struct fmt_rec rec;
	int got;

	for (*ret_n = 0; (got = fmt_reader_next(r, &rec)) > 0; ++*ret_n)
		assert_true(*ret_n < r->len / 8);
	return got;
}

static size_t whole_records(const struct handmade *h, size_t n)
{
	size_t k = 0;

	while (k < HANDMADE_RECORDS && h->at[k + 1] <= n)
		k++;
	return k;
}

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
	struct fix *f = *state;
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
	struct fix *f = *state;
	struct fmt_rec rec;

	handmade_file(&f->h);
	assert_int_equal(open_all(f), 0);
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
	struct fix *f = *state;

	handmade_file(&f->h);
	assert_int_equal(open_all(f), 0);
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
	struct fix *f = *state;
	struct fmt_when w;
	struct fmt_rec rec;

	handmade_file(&f->h);
	assert_int_equal(open_all(f), 0);
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
	struct fix *f = *state;
	const uint8_t *p;
	uint64_t len;

	handmade_file(&f->h);
	assert_int_equal(open_all(f), 0);
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

static void a_feature_outside_the_file_is_refused(void **state)
{
	static const struct { uint64_t at, len; } bad[] = {
		{ UINT64_MAX, 1 },
		{ 0, UINT64_MAX },
		{ 1 << 20, 4 },
		{ 500, UINT64_MAX - 499 },
	};
	struct fix *f = *state;
	size_t table;
	const uint8_t *p;
	uint64_t len;

	handmade_file(&f->h);
	table = f->h.at[HANDMADE_RECORDS];
	for (size_t k = 0; k < sizeof(bad) / sizeof(*bad); k++) {
		le_put(f->h.b.data + table, bad[k].at, 8);
		le_put(f->h.b.data + table + 8, bad[k].len, 8);
		assert_int_equal(open_all(f), 0);
		assert_int_equal(fmt_reader_feature(&f->r, FMT_FEAT_HOSTNAME, &p, &len),
				 -EBADMSG);
		assert_null(fmt_reader_feature_str(&f->r, FMT_FEAT_HOSTNAME));
	}
}

/* As in a report of a viewer that asked for 3 GB: the length of a text is nonsense. */
static void a_text_must_end_within_its_section(void **state)
{
	struct fix *f = *state;
	uint8_t *host, *args, *desc;
	size_t table;

	handmade_file(&f->h);
	table = f->h.at[HANDMADE_RECORDS];
	host = f->h.b.data + le_get(f->h.b.data + table, 8);
	args = f->h.b.data + le_get(f->h.b.data + table + 16, 8);
	desc = f->h.b.data + le_get(f->h.b.data + table + 32, 8);
	le_put(host, 0xb3972f84, 4);
	le_put(args, UINT32_MAX, 4);
	le_put(desc + 8 + 128 + 4, 0xb3972f84, 4);
	assert_int_equal(open_all(f), 0);
	assert_null(fmt_reader_feature_str(&f->r, FMT_FEAT_HOSTNAME));
	assert_string_equal(fmt_reader_feature_list(&f->r, FMT_FEAT_CMDLINE, 1),
			    "record");
	assert_null(fmt_reader_feature_list(&f->r, FMT_FEAT_CMDLINE, 2));
	assert_null(f->r.events[0].name);
	le_put(host, 65, 4); /* NULs enough, but one byte beyond the section */
	assert_int_equal(open_all(f), 0);
	assert_null(fmt_reader_feature_str(&f->r, FMT_FEAT_HOSTNAME));
	le_put(host, 64, 4);
	memset(host + 4, 'x', 64);
	assert_int_equal(open_all(f), 0);
	assert_null(fmt_reader_feature_str(&f->r, FMT_FEAT_HOSTNAME));
}

static void every_truncation_gives_the_whole_records_and_no_more(void **state)
{
	struct fix *f = *state;
	size_t n, end, cut;

	handmade_file(&f->h);
	end = f->h.at[HANDMADE_RECORDS];
	for (cut = 0; cut < f->h.data_at; cut++) {
		assert_int_equal(open_cut(f, cut), -ENODATA);
		assert_non_null(f->r.bad_what);
	}
	for (; cut < end; cut++) {
		assert_int_equal(open_cut(f, cut), 0);
		assert_false(f->r.finished);
		assert_int_equal(walk(&f->r, &n), -ENODATA);
		assert_int_equal(n, whole_records(&f->h, cut));
		assert_int_equal(f->r.bad_at, f->h.at[n]);
		assert_non_null(f->r.bad_what);
	}
	for (; cut <= f->h.b.len; cut++) {
		assert_int_equal(open_cut(f, cut), 0);
		assert_int_equal(f->r.finished, cut >= end + 48);
		assert_int_equal(walk(&f->r, &n), 0);
		assert_int_equal(n, HANDMADE_RECORDS);
	}
}

static void every_truncation_of_a_pipe_is_noticed_except_between_records(void **state)
{
	struct fix *f = *state;
	size_t n, cut;
	int got;

	handmade_pipe(&f->h);
	for (cut = 0; cut < 16; cut++)
		assert_int_equal(open_cut(f, cut), -ENODATA);
	for (; cut <= f->h.b.len; cut++) {
		assert_int_equal(open_cut(f, cut), 0);
		got = walk(&f->r, &n);
		assert_true(got == 0 || got == -ENODATA);
		assert_int_equal(got == 0, f->r.at == cut);
		if (cut >= f->h.at[0])
			assert_int_equal(n, 5 + whole_records(&f->h, cut));
	}
}

static void a_killed_recording_is_read_as_far_as_it_is_whole(void **state)
{
	struct fix *f = *state;
	const uint8_t *p;
	uint64_t len;
	size_t n, cut;

	handmade_file(&f->h);
	le_put(f->h.b.data + FMT_HDR_DATA_SIZE, 0, 8);
	for (cut = f->h.data_at; cut <= f->h.at[HANDMADE_RECORDS]; cut++) {
		assert_int_equal(open_cut(f, cut), 0);
		assert_false(f->r.finished);
		assert_int_equal(walk(&f->r, &n), 0);
		assert_int_equal(n, whole_records(&f->h, cut));
		assert_int_equal(f->r.data_end, f->h.at[n]);
		/* The bits were set in advance; there is no table. */
		assert_int_equal(fmt_reader_feature(&f->r, FMT_FEAT_HOSTNAME, &p, &len),
				 -ENOENT);
	}
}

static void zeros_in_a_killed_recording_are_damage(void **state)
{
	struct fix *f = *state;
	size_t n;

	handmade_file(&f->h);
	le_put(f->h.b.data + FMT_HDR_DATA_SIZE, 0, 8);
	f->h.b.len = f->h.at[HANDMADE_RECORDS];
	fmt_put_zero(&f->h.b, 64);
	assert_int_equal(open_all(f), 0);
	assert_int_equal(walk(&f->r, &n), -EBADMSG);
	assert_int_equal(n, HANDMADE_RECORDS);
	assert_int_equal(f->r.bad_at, f->h.at[HANDMADE_RECORDS]);
}

static void a_cut_payload_is_handed_out_apart(void **state)
{
	struct fix *f = *state;
	size_t n;

	handmade_file(&f->h);
	assert_int_equal(open_cut(f, f->h.at[5] + 48 + 10), 0);
	assert_int_equal(walk(&f->r, &n), -ENODATA);
	assert_int_equal(n, 5);
	assert_int_equal(f->r.cut.type, FMT_REC_AUXTRACE);
	assert_int_equal(f->r.cut.at, f->h.at[5]);
	assert_int_equal(f->r.cut.payload_len, 10);
	fmt_reader_rewind(&f->r);
	assert_null(f->r.cut.p);
}

static void bytes_behind_the_data_do_not_matter(void **state)
{
	struct fix *f = *state;
	size_t n;

	handmade_file(&f->h);
	memset(f->h.b.data + FMT_HDR_FEATURES, 0, 32);
	f->h.b.len = f->h.at[HANDMADE_RECORDS];
	for (unsigned i = 0; i < 100; i++)
		fmt_put_le(&f->h.b, 0xff, 1);
	assert_int_equal(open_all(f), 0);
	assert_false(f->r.finished);
	assert_int_equal(walk(&f->r, &n), 0);
	assert_int_equal(n, HANDMADE_RECORDS);
}

static void a_data_size_beyond_the_file_is_told_at_the_end(void **state)
{
	static const uint64_t size[] = { 1 << 20, UINT64_MAX, UINT64_MAX - 415,
					 UINT64_C(1) << 63 };
	struct fix *f = *state;
	size_t n;

	handmade_file(&f->h);
	f->h.b.len = f->h.at[HANDMADE_RECORDS];
	for (size_t k = 0; k < sizeof(size) / sizeof(*size); k++) {
		le_put(f->h.b.data + FMT_HDR_DATA_SIZE, size[k], 8);
		assert_int_equal(open_all(f), 0);
		assert_int_equal(walk(&f->r, &n), -ENODATA);
		assert_int_equal(n, HANDMADE_RECORDS);
		assert_int_equal(f->r.bad_at, f->h.b.len);
	}
}

static void a_record_shorter_than_its_header_ends_the_walk(void **state)
{
	struct fix *f = *state;
	size_t n;

	handmade_file(&f->h);
	for (unsigned size = 0; size < 8; size++) {
		le_put(f->h.b.data + f->h.at[3] + 6, size, 2);
		assert_int_equal(open_all(f), 0);
		assert_int_equal(walk(&f->r, &n), -EBADMSG);
		assert_int_equal(n, 3);
		assert_int_equal(f->r.bad_at, f->h.at[3]);
		/* The cursor stays. */
		assert_int_equal(walk(&f->r, &n), -EBADMSG);
		assert_int_equal(n, 0);
	}
}

static void a_record_must_end_within_the_data(void **state)
{
	struct fix *f = *state;
	size_t n;

	handmade_file(&f->h);
	le_put(f->h.b.data + f->h.at[9] + 6, 16, 2);
	assert_int_equal(open_all(f), 0);
	assert_int_equal(walk(&f->r, &n), -EBADMSG);
	assert_int_equal(n, 9);
	assert_int_equal(f->r.bad_at, f->h.at[9]);
}

static void a_payload_must_end_within_the_data(void **state)
{
	static const uint64_t size[] = { 1 << 16, UINT64_MAX, UINT64_MAX - 47,
					 UINT64_C(1) << 63 };
	struct fix *f = *state;
	size_t n;

	handmade_file(&f->h);
	for (size_t k = 0; k < sizeof(size) / sizeof(*size); k++) {
		le_put(f->h.b.data + f->h.at[5] + 8, size[k], 8);
		assert_int_equal(open_all(f), 0);
		assert_int_equal(walk(&f->r, &n), -EBADMSG);
		assert_int_equal(n, 5);
	}
}

static void an_auxtrace_record_has_48_bytes(void **state)
{
	struct fix *f = *state;
	size_t n;

	handmade_file(&f->h);
	le_put(f->h.b.data + f->h.at[5] + 6, 40, 2);
	assert_int_equal(open_all(f), 0);
	assert_int_equal(walk(&f->r, &n), -EBADMSG);
	assert_int_equal(n, 5);
}

static void tracing_data_is_stepped_over_where_perf_puts_it(void **state)
{
	struct fix *f = *state;
	struct fmt_rec rec;

	handmade_pipe_header(&f->h.b);
	fmt_put_le(&f->h.b, UINT64_C(12) << 48 | 66, 8);
	fmt_put_le(&f->h.b, 16, 4);
	fmt_put_zero(&f->h.b, 16);
	fmt_put_le(&f->h.b, UINT64_C(8) << 48 | 68, 8);
	assert_int_equal(open_all(f), 0);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(rec.payload_len, 16);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(rec.type, FMT_REC_FINISHED_ROUND);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 0);
}

static void tracing_data_is_stepped_over_where_simpleperf_puts_it(void **state)
{
	struct fix *f = *state;
	struct fmt_rec rec;

	handmade_pipe_header(&f->h.b);
	fmt_put_le(&f->h.b, UINT64_C(32) << 48 | 66, 8);
	fmt_put_le(&f->h.b, 16, 4);
	fmt_put_zero(&f->h.b, 20);
	fmt_put_le(&f->h.b, UINT64_C(8) << 48 | 68, 8);
	assert_int_equal(open_all(f), 0);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(rec.payload_len, 0);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(rec.type, FMT_REC_FINISHED_ROUND);
}

static void a_pipe_gathers_what_passes_once(void **state)
{
	struct fix *f = *state;
	size_t n;

	handmade_pipe(&f->h);
	assert_int_equal(open_all(f), 0);
	for (unsigned turn = 0; turn < 2; turn++) {
		fmt_reader_rewind(&f->r);
		assert_int_equal(walk(&f->r, &n), 0);
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
	struct fix *f = *state;
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
	assert_int_equal(open_all(f), 0);
	assert_int_equal(walk(&f->r, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(f->r.events[0].name, "cycles");
}

static void what_cannot_be_understood_is_passed_over_and_noted(void **state)
{
	struct fix *f = *state;
	struct fmt_buf *b = &f->h.b;
	size_t n;

	handmade_pipe_header(b);
	fmt_put_le(b, UINT64_C(32) << 48 | 64, 8); /* HEADER_ATTR without room */
	fmt_put_zero(b, 24);
	fmt_put_le(b, UINT64_C(8) << 48 | 80, 8); /* HEADER_FEATURE without a number */
	handmade_header_attr(b, 6, 1 << 18, 1);
	assert_int_equal(open_all(f), 0);
	assert_int_equal(walk(&f->r, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(f->r.nr_events, 1);
	assert_int_equal(f->r.odd_at, 16);
	assert_non_null(f->r.odd_what);
}

static void an_attr_larger_than_known_is_read_as_far_as_known(void **state)
{
	struct fix *f = *state;
	struct fmt_buf *b = &f->h.b;
	size_t n;

	handmade_pipe_header(b);
	fmt_put_le(b, UINT64_C(176) << 48 | 64, 8);
	handmade_attr(b, 1, 9, 6, 1 << 18, 160);
	fmt_put_le(b, 77, 8);
	assert_int_equal(open_all(f), 0);
	assert_int_equal(walk(&f->r, &n), 0);
	assert_int_equal(f->r.events[0].attr_size, 144);
	assert_int_equal(f->r.events[0].nr_ids, 1);
	assert_int_equal(le_get(f->r.events[0].ids, 8), 77);
}

static void foreign_files_are_refused_in_words(void **state)
{
	static const struct {
		const char *magic;
		uint64_t size;
		int err;
	} file[] = {
		{ "2ELIFREP", UINT64_C(104) << 56, -ENOTSUP }, /* other byte order */
		{ "PERFFILE", 104, -ENOTSUP },		       /* version 1 */
		{ "ELFELFEL", 104, -EBADMSG },
		{ "PERFILE2", 112, -EBADMSG },
		{ "PERFILE2", 0, -EBADMSG },
		{ "PERFILE2", 17, -EBADMSG },
	};
	struct fix *f = *state;

	for (size_t k = 0; k < sizeof(file) / sizeof(*file); k++) {
		fmt_buf_reset(&f->h.b);
		fmt_put(&f->h.b, file[k].magic, 8);
		fmt_put_le(&f->h.b, file[k].size, 8);
		fmt_put_zero(&f->h.b, 256);
		assert_int_equal(open_all(f), file[k].err);
		assert_non_null(f->r.bad_what);
		assert_int_equal(f->r.bad_at, k < 3 ? 0 : 8);
	}
}

/* One field of the header replaced by a value that cannot be. */
static void impossible_headers_are_refused(void **state)
{
	static const struct { size_t at; uint64_t v; int err; } bad[] = {
		{ 16, 0, -EBADMSG }, { 16, 79, -EBADMSG }, { 16, 152, -EBADMSG },
		{ 24, UINT64_MAX, -ENODATA }, { 32, UINT64_MAX, -ENODATA },
		{ 40, 0, -EBADMSG }, { 40, 103, -EBADMSG }, { 40, UINT64_MAX, -ENODATA },
		{ 256, UINT64_MAX, -ENODATA }, { 264, UINT64_MAX, -ENODATA },
		{ 128 + 4, 63, -EBADMSG }, { 128 + 4, UINT32_MAX, -EBADMSG },
	};
	struct fix *f = *state;

	for (size_t k = 0; k < sizeof(bad) / sizeof(*bad); k++) {
		fmt_buf_done(&f->h.b);
		handmade_file(&f->h);
		le_put(f->h.b.data + bad[k].at, bad[k].v, bad[k].at == 132 ? 4 : 8);
		assert_int_equal(open_all(f), bad[k].err);
		assert_non_null(f->r.bad_what);
		assert_int_equal(f->r.nr_events, 0);
		assert_null(f->r.events);
	}
}

/* Many attrs that all point at the same long list would multiply it in memory. */
static void id_lists_must_not_add_up_to_more_than_the_file(void **state)
{
	struct fix *f = *state;

	handmade_file(&f->h);
	le_put(f->h.b.data + 256, 0, 8);
	le_put(f->h.b.data + 264, f->h.b.len / 8 * 8, 8);
	le_put(f->h.b.data + 400, 0, 8);
	le_put(f->h.b.data + 408, f->h.b.len / 8 * 8, 8);
	assert_int_equal(open_all(f), -EBADMSG);
}

static void the_old_header_has_no_features(void **state)
{
	struct fix *f = *state;
	size_t n;

	handmade_file(&f->h);
	le_put(f->h.b.data + FMT_HDR_SIZE, 72, 8);
	assert_int_equal(open_all(f), 0);
	assert_false(f->r.finished);
	assert_null(fmt_reader_feature_str(&f->r, FMT_FEAT_HOSTNAME));
	assert_int_equal(walk(&f->r, &n), 0);
	assert_int_equal(n, HANDMADE_RECORDS);
}

/* Two events that disagree on where an id stands: nothing can be said. */
static void an_ambiguous_layout_is_not_guessed(void **state)
{
	struct fix *f = *state;
	struct fmt_when w;
	struct fmt_rec rec;

	handmade_pipe_header(&f->h.b);
	handmade_header_attr(&f->h.b, 0x10006, 1 << 18, 1);
	handmade_header_attr(&f->h.b, 0x46, 1 << 18, 2); /* ID, not IDENTIFIER */
	fmt_put_le(&f->h.b, UINT64_C(32) << 48 | 14, 8);
	fmt_put_zero(&f->h.b, 24);
	assert_int_equal(open_all(f), 0);
	while (fmt_reader_next(&f->r, &rec) > 0 && rec.type != FMT_REC_SWITCH)
		;
	assert_int_equal(rec.type, FMT_REC_SWITCH);
	/* The id ends both trailers, but begins a sample only where it is IDENTIFIER. */
	assert_int_equal(fmt_reader_event_of(&f->r, &rec), -1);
	assert_int_equal(fmt_reader_when(&f->r, &rec, &w), -ENOENT);
}

static void the_layout_is_that_of_the_events_own_id(void **state)
{
	struct fix *f = *state;
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
	assert_int_equal(open_all(f), 0);
	while (fmt_reader_next(&f->r, &rec) > 0 && rec.type != FMT_REC_SWITCH)
		;
	assert_int_equal(fmt_reader_event_of(&f->r, &rec), 1);
	assert_int_equal(fmt_reader_when(&f->r, &rec, &w), 0);
	assert_true(w.has_time && !w.has_tid);
	assert_int_equal(w.time, 99);
	assert_int_equal(w.id, 2);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(fmt_reader_event_of(&f->r, &rec), -1);
	assert_int_equal(fmt_reader_when(&f->r, &rec, &w), -ENOENT);
}

/* perf_event_open(2): IDENTIFIER IP TID TIME ADDR ID STREAM_ID CPU, here all of them. */
static void fields_of_a_sample_are_in_their_order(void **state)
{
	struct fix *f = *state;
	struct fmt_when w;
	struct fmt_rec rec;

	handmade_pipe_header(&f->h.b);
	handmade_header_attr(&f->h.b, 0x102cf, 0, 5);
	fmt_put_le(&f->h.b, UINT64_C(72) << 48 | 9, 8);
	for (unsigned k = 1; k <= 8; k++)
		fmt_put_le(&f->h.b, k == 6 ? 1 : k, 8);
	fmt_put_le(&f->h.b, UINT64_C(64) << 48 | 9, 8);
	fmt_put_zero(&f->h.b, 56);
	assert_int_equal(open_all(f), 0);
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
	struct fix *f = *state;
	struct fmt_when w;
	struct fmt_rec rec;

	handmade_pipe_header(&f->h.b);
	handmade_header_attr(&f->h.b, 6, 0, 5);
	fmt_put_le(&f->h.b, UINT64_C(8) << 48 | 14, 8);
	assert_int_equal(open_all(f), 0);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(fmt_reader_next(&f->r, &rec), 1);
	assert_int_equal(fmt_reader_event_of(&f->r, &rec), 0);
	assert_int_equal(fmt_reader_when(&f->r, &rec, &w), -ENOENT);
}

/* Everything a user of the reader may call, on bytes that may be anything. */
static void use(const void *p, size_t len)
{
	struct fmt_reader r;
	struct fmt_when w;
	struct fmt_rec rec;
	const uint8_t *q;
	uint64_t n, turns = 0;

	if (fmt_reader_open(&r, p, len)) {
		assert_non_null(r.bad_what);
		fmt_reader_done(&r);
		return;
	}
	while (fmt_reader_next(&r, &rec) > 0) {
		assert_true(turns++ < len / 8);
		assert_true(rec.at + rec.size + rec.payload_len <= len);
		fmt_reader_event_of(&r, &rec);
		fmt_reader_when(&r, &rec, &w);
	}
	for (unsigned k = 0; k < 256; k++) {
		fmt_reader_feature(&r, (enum fmt_feat)k, &q, &n);
		fmt_reader_feature_str(&r, (enum fmt_feat)k);
		fmt_reader_feature_list(&r, (enum fmt_feat)k, 3);
	}
	fmt_reader_done(&r);
}

static void flip_each_byte(struct fix *f)
{
	static const uint8_t flips[] = { 0x01, 0x10, 0x80, 0xff };
	size_t len = f->h.b.len;
	uint8_t *p = malloc(len);

	f->copy = p;
	assert_non_null(p);
	memcpy(p, f->h.b.data, len);
	for (size_t at = 0; at < len; at++)
		for (size_t k = 0; k < sizeof(flips); k++) {
			p[at] ^= flips[k];
			use(p, len);
			p[at] ^= flips[k];
		}
}

static void no_flipped_byte_of_a_file_upsets_the_reader(void **state)
{
	struct fix *f = *state;

	handmade_file(&f->h);
	flip_each_byte(f);
}

static void no_flipped_byte_of_a_pipe_upsets_the_reader(void **state)
{
	struct fix *f = *state;

	handmade_pipe(&f->h);
	flip_each_byte(f);
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

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_golden_pipe_is_read_field_by_field),
		T(header_form_yields_every_record),
		T(events_have_attrs_ids_and_names),
		T(records_find_their_event_by_id),
		T(features_are_found_by_their_bit),
		T(a_feature_outside_the_file_is_refused),
		T(a_text_must_end_within_its_section),
		T(every_truncation_gives_the_whole_records_and_no_more),
		T(every_truncation_of_a_pipe_is_noticed_except_between_records),
		T(a_killed_recording_is_read_as_far_as_it_is_whole),
		T(zeros_in_a_killed_recording_are_damage),
		T(a_cut_payload_is_handed_out_apart),
		T(bytes_behind_the_data_do_not_matter),
		T(a_data_size_beyond_the_file_is_told_at_the_end),
		T(a_record_shorter_than_its_header_ends_the_walk),
		T(a_record_must_end_within_the_data),
		T(a_payload_must_end_within_the_data),
		T(an_auxtrace_record_has_48_bytes),
		T(tracing_data_is_stepped_over_where_perf_puts_it),
		T(tracing_data_is_stepped_over_where_simpleperf_puts_it),
		T(a_pipe_gathers_what_passes_once),
		T(names_may_come_before_their_events),
		T(what_cannot_be_understood_is_passed_over_and_noted),
		T(an_attr_larger_than_known_is_read_as_far_as_known),
		T(foreign_files_are_refused_in_words),
		T(impossible_headers_are_refused),
		T(id_lists_must_not_add_up_to_more_than_the_file),
		T(the_old_header_has_no_features),
		T(an_ambiguous_layout_is_not_guessed),
		T(the_layout_is_that_of_the_events_own_id),
		T(fields_of_a_sample_are_in_their_order),
		T(records_without_sample_id_all_have_no_trailer),
		T(no_flipped_byte_of_a_file_upsets_the_reader),
		T(no_flipped_byte_of_a_pipe_upsets_the_reader),
		T(every_named_type_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
