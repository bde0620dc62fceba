/* SPDX-License-Identifier: Apache-2.0 */
/* A stream that arrives bit by bit, the parts of a directory, and bare records. */
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

/* Gives no more than was asked for; `all` bytes come at most. */
struct source {
	uint64_t all, given;
	int err;
};

static int dribble(void *ctx, uint64_t want, uint64_t *len)
{
	struct source *s = ctx;

	if (want > s->given)
		s->given = want < s->all ? want : s->all;
	*len = s->given;
	return want > s->all ? s->err : 0;
}

static int open_stream(struct readfix *f, struct source *s)
{
	fmt_reader_done(&f->r);
	free(f->copy);
	f->copy = malloc(f->h.b.len);
	assert_non_null(f->copy);
	memcpy(f->copy, f->h.b.data, f->h.b.len);
	return fmt_reader_open_stream(&f->r, f->copy, dribble, s);
}

static void a_stream_gives_each_record_as_soon_as_it_is_there(void **state)
{
	struct readfix *f = *state;
	struct fmt_rec rec;
	struct source s = { 0 };
	unsigned n = 0;

	handmade_pipe(&f->h);
	s.all = f->h.b.len;
	assert_int_equal(open_stream(f, &s), 0);
	while (fmt_reader_next(&f->r, &rec) > 0) {
		assert_int_equal(s.given, rec.at + rec.size + rec.payload_len);
		n++;
	}
	assert_int_equal(s.given, s.all);
	assert_int_equal(n, HANDMADE_RECORDS + 5);
	assert_int_equal(f->r.nr_events, 2);
}

static void a_stream_may_end_anywhere(void **state)
{
	struct readfix *f = *state;
	size_t whole, n;

	handmade_pipe(&f->h);
	for (size_t all = 0; all < f->h.b.len; all++) {
		struct source s = { .all = all };
		int err = readfix_open_cut(f, all);

		if (!err)
			err = readfix_walk(&f->r, &whole);
		n = 0;
		if (open_stream(f, &s)) {
			assert_true(err != 0);
			continue;
		}
		assert_int_equal(readfix_walk(&f->r, &n), err);
		assert_int_equal(n, whole);
	}
}

static void what_receiving_failed_with_is_handed_on(void **state)
{
	struct readfix *f = *state;
	struct source s = { .err = -EIO };
	size_t n;

	handmade_pipe(&f->h);
	s.all = f->h.b.len - 1;
	assert_int_equal(open_stream(f, &s), 0);
	assert_int_equal(readfix_walk(&f->r, &n), -EIO);
	assert_null(f->r.bad_what);
	s = (struct source){ .err = -EIO, .all = 3 };
	assert_int_equal(open_stream(f, &s), -EIO);
}

static void header_form_does_not_stream(void **state)
{
	struct readfix *f = *state;
	struct source s = { 0 };

	handmade_file(&f->h);
	s.all = f->h.b.len;
	assert_true(open_stream(f, &s) < 0);
	assert_non_null(f->r.bad_what);
}

static void a_part_knows_the_events_of_the_whole(void **state)
{
	struct readfix *f = *state;
	struct handmade bare = { 0 };
	struct fmt_reader part;
	struct fmt_rec rec;
	struct fmt_when w;
	unsigned n = 0, timed = 0;

	handmade_file(&f->h);
	assert_int_equal(readfix_open(f), 0);
	handmade_records(&bare);
	assert_int_equal(fmt_reader_open_part(&part, &f->r, bare.b.data, bare.b.len), 0);
	for (; fmt_reader_next(&part, &rec) > 0; n++)
		if (!fmt_reader_when(&part, &rec, &w) && w.has_time) {
			timed++;
			assert_int_equal(w.event, w.id == 21);
		}
	assert_int_equal(n, HANDMADE_RECORDS);
	assert_int_equal(timed, 6);
	fmt_reader_done(&part);
	assert_int_equal(f->r.nr_events, 2); /* still there */
	fmt_buf_done(&bare.b);
}

/* The five records that declare events in a pipe: anywhere else the header has done so. */
static void only_a_pipe_declares_events_in_its_records(void **state)
{
	struct readfix *f = *state;
	struct handmade pipe = { 0 };
	struct fmt_reader part;
	struct fmt_rec rec;
	unsigned n = 0;

	handmade_file(&f->h);
	handmade_pipe(&pipe);
	assert_int_equal(readfix_open(f), 0);
	assert_int_equal(fmt_reader_open_part(&part, &f->r,
					      pipe.b.data + FMT_PIPE_HEADER_SIZE,
					      pipe.b.len - FMT_PIPE_HEADER_SIZE), 0);
	for (; fmt_reader_next(&part, &rec) > 0; n++)
		assert_ptr_equal(part.events, f->r.events);
	assert_int_equal(n, HANDMADE_RECORDS + 5);
	assert_int_equal(part.nr_events, 2);
	fmt_reader_done(&part);
	fmt_buf_done(&pipe.b);
}

static void the_records_of_a_file_leave_its_events_and_features_alone(void **state)
{
	struct readfix *f = *state;
	const struct fmt_reader_event *events;
	struct fmt_rec rec;
	uint64_t bits;

	handmade_file(&f->h);
	/* The first two kernel records turn into declarations, in their old sizes. */
	le_put(f->h.b.data + f->h.at[0], FMT_REC_HEADER_ATTR, 4);
	le_put(f->h.b.data + f->h.at[2], FMT_REC_HEADER_FEATURE, 4);
	le_put(f->h.b.data + f->h.at[2] + 8, FMT_FEAT_ARCH, 8);
	assert_int_equal(readfix_open(f), 0);
	events = f->r.events;
	bits = f->r.feat_bits[0];
	while (fmt_reader_next(&f->r, &rec) > 0)
		;
	assert_ptr_equal(f->r.events, events);
	assert_int_equal(f->r.nr_events, 2);
	assert_int_equal(f->r.feat_bits[0], bits);
	assert_string_equal(fmt_reader_feature_str(&f->r, FMT_FEAT_HOSTNAME), "box");
	assert_null(f->r.odd_what);
}

static void bare_records_have_the_trailer_they_are_said_to_have(void **state)
{
	struct readfix *f = *state;
	struct fmt_reader r;
	struct fmt_when w;
	struct fmt_rec rec;

	fmt_put_le(&f->h.b, UINT64_C(40) << 48 | FMT_REC_SWITCH, 8);
	handmade_trailer(&f->h.b, 77, 3, 5);
	assert_int_equal(fmt_reader_open_bare(&r, HANDMADE_SAMPLE_TYPE, f->h.b.data,
					      f->h.b.len), 0);
	assert_int_equal(fmt_reader_next(&r, &rec), 1);
	assert_int_equal(fmt_reader_when(&r, &rec, &w), 0);
	assert_int_equal(w.time, 77);
	assert_int_equal(w.cpu, 3);
	assert_int_equal(fmt_reader_next(&r, &rec), 0);
	fmt_reader_done(&r);
	/* TID|TIME alone: the last 16 bytes. */
	assert_int_equal(fmt_reader_open_bare(&r, 6, f->h.b.data, f->h.b.len), 0);
	assert_int_equal(fmt_reader_next(&r, &rec), 1);
	assert_int_equal(fmt_reader_when(&r, &rec, &w), 0);
	assert_int_equal(w.time, 5);
	fmt_reader_done(&r);
}

#define T(f) cmocka_unit_test_setup_teardown(f, readfix_setup, readfix_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_stream_gives_each_record_as_soon_as_it_is_there),
		T(a_stream_may_end_anywhere),
		T(what_receiving_failed_with_is_handed_on),
		T(header_form_does_not_stream),
		T(a_part_knows_the_events_of_the_whole),
		T(only_a_pipe_declares_events_in_its_records),
		T(the_records_of_a_file_leave_its_events_and_features_alone),
		T(bare_records_have_the_trailer_they_are_said_to_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
