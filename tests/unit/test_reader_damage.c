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
#include "tests/unit/readfix.h"

static size_t whole_records(const struct handmade *h, size_t n)
{
	size_t k = 0;

	while (k < HANDMADE_RECORDS && h->at[k + 1] <= n)
		k++;
	return k;
}

static void a_feature_outside_the_file_is_refused(void **state)
{
	static const struct { uint64_t at, len; } bad[] = {
		{ UINT64_MAX, 1 },
		{ 0, UINT64_MAX },
		{ 1 << 20, 4 },
		{ 500, UINT64_MAX - 499 },
	};
	struct readfix *f = *state;
	size_t table;
	const uint8_t *p;
	uint64_t len;

	handmade_file(&f->h);
	table = f->h.at[HANDMADE_RECORDS];
	for (size_t k = 0; k < sizeof(bad) / sizeof(*bad); k++) {
		le_put(f->h.b.data + table, bad[k].at, 8);
		le_put(f->h.b.data + table + 8, bad[k].len, 8);
		assert_int_equal(readfix_open(f), 0);
		assert_int_equal(fmt_reader_feature(&f->r, FMT_FEAT_HOSTNAME, &p, &len),
				 -EBADMSG);
		assert_null(fmt_reader_feature_str(&f->r, FMT_FEAT_HOSTNAME));
	}
}

/* As in a report of a viewer that asked for 3 GB: the length of a text is nonsense. */
static void a_text_must_end_within_its_section(void **state)
{
	struct readfix *f = *state;
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
	assert_int_equal(readfix_open(f), 0);
	assert_null(fmt_reader_feature_str(&f->r, FMT_FEAT_HOSTNAME));
	assert_string_equal(fmt_reader_feature_list(&f->r, FMT_FEAT_CMDLINE, 1),
			    "record");
	assert_null(fmt_reader_feature_list(&f->r, FMT_FEAT_CMDLINE, 2));
	assert_null(f->r.events[0].name);
	le_put(host, 65, 4); /* NULs enough, but one byte beyond the section */
	assert_int_equal(readfix_open(f), 0);
	assert_null(fmt_reader_feature_str(&f->r, FMT_FEAT_HOSTNAME));
	le_put(host, 64, 4);
	memset(host + 4, 'x', 64);
	assert_int_equal(readfix_open(f), 0);
	assert_null(fmt_reader_feature_str(&f->r, FMT_FEAT_HOSTNAME));
}

static void every_truncation_gives_the_whole_records_and_no_more(void **state)
{
	struct readfix *f = *state;
	size_t n, end, cut;

	handmade_file(&f->h);
	end = f->h.at[HANDMADE_RECORDS];
	for (cut = 0; cut < f->h.data_at; cut++) {
		assert_int_equal(readfix_open_cut(f, cut), -ENODATA);
		assert_non_null(f->r.bad_what);
	}
	for (; cut < end; cut++) {
		assert_int_equal(readfix_open_cut(f, cut), 0);
		assert_false(f->r.finished);
		assert_int_equal(readfix_walk(&f->r, &n), -ENODATA);
		assert_int_equal(n, whole_records(&f->h, cut));
		assert_int_equal(f->r.bad_at, f->h.at[n]);
		assert_non_null(f->r.bad_what);
	}
	for (; cut <= f->h.b.len; cut++) {
		assert_int_equal(readfix_open_cut(f, cut), 0);
		assert_int_equal(f->r.finished, cut >= end + 48);
		assert_int_equal(readfix_walk(&f->r, &n), 0);
		assert_int_equal(n, HANDMADE_RECORDS);
	}
}

static void every_truncation_of_a_pipe_is_noticed_except_between_records(void **state)
{
	struct readfix *f = *state;
	size_t n, cut;
	int got;

	handmade_pipe(&f->h);
	for (cut = 0; cut < 16; cut++)
		assert_int_equal(readfix_open_cut(f, cut), -ENODATA);
	for (; cut <= f->h.b.len; cut++) {
		assert_int_equal(readfix_open_cut(f, cut), 0);
		got = readfix_walk(&f->r, &n);
		assert_true(got == 0 || got == -ENODATA);
		assert_int_equal(got == 0, f->r.at == cut);
		if (cut >= f->h.at[0])
			assert_int_equal(n, 5 + whole_records(&f->h, cut));
	}
}

static void a_killed_recording_is_read_as_far_as_it_is_whole(void **state)
{
	struct readfix *f = *state;
	const uint8_t *p;
	uint64_t len;
	size_t n, cut;

	handmade_file(&f->h);
	le_put(f->h.b.data + FMT_HDR_DATA_SIZE, 0, 8);
	for (cut = f->h.data_at; cut <= f->h.at[HANDMADE_RECORDS]; cut++) {
		assert_int_equal(readfix_open_cut(f, cut), 0);
		assert_false(f->r.finished);
		assert_int_equal(readfix_walk(&f->r, &n), 0);
		assert_int_equal(n, whole_records(&f->h, cut));
		assert_int_equal(f->r.data_end, f->h.at[n]);
		/* The bits were set in advance; there is no table. */
		assert_int_equal(fmt_reader_feature(&f->r, FMT_FEAT_HOSTNAME, &p, &len),
				 -ENOENT);
	}
}

static void zeros_in_a_killed_recording_are_damage(void **state)
{
	struct readfix *f = *state;
	size_t n;

	handmade_file(&f->h);
	le_put(f->h.b.data + FMT_HDR_DATA_SIZE, 0, 8);
	f->h.b.len = f->h.at[HANDMADE_RECORDS];
	fmt_put_zero(&f->h.b, 64);
	assert_int_equal(readfix_open(f), 0);
	assert_int_equal(readfix_walk(&f->r, &n), -EBADMSG);
	assert_int_equal(n, HANDMADE_RECORDS);
	assert_int_equal(f->r.bad_at, f->h.at[HANDMADE_RECORDS]);
}

static void a_cut_payload_is_handed_out_apart(void **state)
{
	struct readfix *f = *state;
	size_t n;

	handmade_file(&f->h);
	assert_int_equal(readfix_open_cut(f, f->h.at[5] + 48 + 10), 0);
	assert_int_equal(readfix_walk(&f->r, &n), -ENODATA);
	assert_int_equal(n, 5);
	assert_int_equal(f->r.cut.type, FMT_REC_AUXTRACE);
	assert_int_equal(f->r.cut.at, f->h.at[5]);
	assert_int_equal(f->r.cut.payload_len, 10);
	fmt_reader_rewind(&f->r);
	assert_null(f->r.cut.p);
}

static void bytes_behind_the_data_do_not_matter(void **state)
{
	struct readfix *f = *state;
	size_t n;

	handmade_file(&f->h);
	memset(f->h.b.data + FMT_HDR_FEATURES, 0, 32);
	f->h.b.len = f->h.at[HANDMADE_RECORDS];
	for (unsigned i = 0; i < 100; i++)
		fmt_put_le(&f->h.b, 0xff, 1);
	assert_int_equal(readfix_open(f), 0);
	assert_false(f->r.finished);
	assert_int_equal(readfix_walk(&f->r, &n), 0);
	assert_int_equal(n, HANDMADE_RECORDS);
}

static void a_data_size_beyond_the_file_is_told_at_the_end(void **state)
{
	static const uint64_t size[] = { 1 << 20, UINT64_MAX, UINT64_MAX - 415,
					 UINT64_C(1) << 63 };
	struct readfix *f = *state;
	size_t n;

	handmade_file(&f->h);
	f->h.b.len = f->h.at[HANDMADE_RECORDS];
	for (size_t k = 0; k < sizeof(size) / sizeof(*size); k++) {
		le_put(f->h.b.data + FMT_HDR_DATA_SIZE, size[k], 8);
		assert_int_equal(readfix_open(f), 0);
		assert_int_equal(readfix_walk(&f->r, &n), -ENODATA);
		assert_int_equal(n, HANDMADE_RECORDS);
		assert_int_equal(f->r.bad_at, f->h.b.len);
	}
}

static void a_record_shorter_than_its_header_ends_the_walk(void **state)
{
	struct readfix *f = *state;
	size_t n;

	handmade_file(&f->h);
	for (unsigned size = 0; size < 8; size++) {
		le_put(f->h.b.data + f->h.at[3] + 6, size, 2);
		assert_int_equal(readfix_open(f), 0);
		assert_int_equal(readfix_walk(&f->r, &n), -EBADMSG);
		assert_int_equal(n, 3);
		assert_int_equal(f->r.bad_at, f->h.at[3]);
		/* The cursor stays. */
		assert_int_equal(readfix_walk(&f->r, &n), -EBADMSG);
		assert_int_equal(n, 0);
	}
}

static void a_record_must_end_within_the_data(void **state)
{
	struct readfix *f = *state;
	size_t n;

	handmade_file(&f->h);
	le_put(f->h.b.data + f->h.at[9] + 6, 16, 2);
	assert_int_equal(readfix_open(f), 0);
	assert_int_equal(readfix_walk(&f->r, &n), -EBADMSG);
	assert_int_equal(n, 9);
	assert_int_equal(f->r.bad_at, f->h.at[9]);
}

static void a_payload_must_end_within_the_data(void **state)
{
	static const uint64_t size[] = { 1 << 16, UINT64_MAX, UINT64_MAX - 47,
					 UINT64_C(1) << 63 };
	struct readfix *f = *state;
	size_t n;

	handmade_file(&f->h);
	for (size_t k = 0; k < sizeof(size) / sizeof(*size); k++) {
		le_put(f->h.b.data + f->h.at[5] + 8, size[k], 8);
		assert_int_equal(readfix_open(f), 0);
		assert_int_equal(readfix_walk(&f->r, &n), -EBADMSG);
		assert_int_equal(n, 5);
	}
}

static void an_auxtrace_record_has_48_bytes(void **state)
{
	struct readfix *f = *state;
	size_t n;

	handmade_file(&f->h);
	le_put(f->h.b.data + f->h.at[5] + 6, 40, 2);
	assert_int_equal(readfix_open(f), 0);
	assert_int_equal(readfix_walk(&f->r, &n), -EBADMSG);
	assert_int_equal(n, 5);
}

static void a_tracing_data_record_has_12_bytes(void **state)
{
	struct readfix *f = *state;
	size_t n;

	handmade_pipe_header(&f->h.b);
	fmt_put_le(&f->h.b, UINT64_C(8) << 48 | 66, 8);
	assert_int_equal(readfix_open(f), 0);
	assert_int_equal(readfix_walk(&f->r, &n), -EBADMSG);
	assert_int_equal(n, 0);
	assert_int_equal(f->r.bad_at, 16);
}

static void an_update_without_room_is_passed_over_and_noted(void **state)
{
	struct readfix *f = *state;
	size_t n;

	handmade_pipe_header(&f->h.b);
	fmt_put_le(&f->h.b, UINT64_C(16) << 48 | 78, 8);
	fmt_put_zero(&f->h.b, 8);
	assert_int_equal(readfix_open(f), 0);
	assert_int_equal(readfix_walk(&f->r, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(f->r.odd_at, 16);
	assert_non_null(strstr(f->r.odd_what, "EVENT_UPDATE"));
}

static void what_cannot_be_understood_is_passed_over_and_noted(void **state)
{
	struct readfix *f = *state;
	struct fmt_buf *b = &f->h.b;
	size_t n;

	handmade_pipe_header(b);
	fmt_put_le(b, UINT64_C(32) << 48 | 64, 8); /* HEADER_ATTR without room */
	fmt_put_zero(b, 24);
	fmt_put_le(b, UINT64_C(8) << 48 | 80, 8); /* HEADER_FEATURE without a number */
	handmade_header_attr(b, 6, 1 << 18, 1);
	assert_int_equal(readfix_open(f), 0);
	assert_int_equal(readfix_walk(&f->r, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(f->r.nr_events, 1);
	assert_int_equal(f->r.odd_at, 16);
	assert_non_null(f->r.odd_what);
	assert_int_equal(f->r.nr_odd, 2);
	/* Each walk notes it; what was understood is not taken twice. */
	fmt_reader_rewind(&f->r);
	assert_int_equal(readfix_walk(&f->r, &n), 0);
	assert_int_equal(f->r.nr_odd, 2);
	assert_int_equal(f->r.odd_at, 16);
	assert_int_equal(f->r.nr_events, 1);
}

static void foreign_files_are_refused_in_words(void **state)
{
	static const struct {
		const char *magic;
		uint64_t size;
		int err;
	} file[] = {
		{ "2ELIFREP", UINT64_C(104) << 56, -ENOTSUP }, /* other byte order */
		{ "ELFELFEL", 104, -EBADMSG },
		{ "PERFILE2", 112, -EBADMSG },
		{ "PERFILE2", 0, -EBADMSG },
		{ "PERFILE2", 17, -EBADMSG },
	};
	struct readfix *f = *state;

	for (size_t k = 0; k < sizeof(file) / sizeof(*file); k++) {
		fmt_buf_reset(&f->h.b);
		fmt_put(&f->h.b, file[k].magic, 8);
		fmt_put_le(&f->h.b, file[k].size, 8);
		fmt_put_zero(&f->h.b, 256);
		assert_int_equal(readfix_open(f), file[k].err);
		assert_non_null(f->r.bad_what);
		assert_int_equal(f->r.bad_at, k < 2 ? 0 : 8);
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
	struct readfix *f = *state;

	for (size_t k = 0; k < sizeof(bad) / sizeof(*bad); k++) {
		fmt_buf_done(&f->h.b);
		handmade_file(&f->h);
		le_put(f->h.b.data + bad[k].at, bad[k].v, bad[k].at == 132 ? 4 : 8);
		assert_int_equal(readfix_open(f), bad[k].err);
		assert_non_null(f->r.bad_what);
		assert_int_equal(f->r.nr_events, 0);
		assert_null(f->r.events);
	}
}

/* Many attrs that all point at the same long list would multiply it in memory. */
static void id_lists_must_not_add_up_to_more_than_the_file(void **state)
{
	struct readfix *f = *state;

	handmade_file(&f->h);
	le_put(f->h.b.data + 256, 0, 8);
	le_put(f->h.b.data + 264, f->h.b.len / 8 * 8, 8);
	le_put(f->h.b.data + 400, 0, 8);
	le_put(f->h.b.data + 408, f->h.b.len / 8 * 8, 8);
	assert_int_equal(readfix_open(f), -EBADMSG);
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

static void flip_each_byte(struct readfix *f)
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
	struct readfix *f = *state;

	handmade_file(&f->h);
	flip_each_byte(f);
}

static void no_flipped_byte_of_a_pipe_upsets_the_reader(void **state)
{
	struct readfix *f = *state;

	handmade_pipe(&f->h);
	flip_each_byte(f);
}

#define T(name) cmocka_unit_test_setup_teardown(name, readfix_setup, readfix_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
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
		T(a_tracing_data_record_has_12_bytes),
		T(an_update_without_room_is_passed_over_and_noted),
		T(what_cannot_be_understood_is_passed_over_and_noted),
		T(foreign_files_are_refused_in_words),
		T(impossible_headers_are_refused),
		T(id_lists_must_not_add_up_to_more_than_the_file),
		T(no_flipped_byte_of_a_file_upsets_the_reader),
		T(no_flipped_byte_of_a_pipe_upsets_the_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
