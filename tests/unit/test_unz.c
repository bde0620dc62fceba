/* SPDX-License-Identifier: Apache-2.0 */
/* COMPRESSED records: zstd itself makes the frames that the reader inflates. */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <setjmp.h>
#include <cmocka.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/unz.h"
#include "tests/unit/readfix.h"

enum { MANY = 3000 };

/* A pipe that holds compressed records: what is inside, and as one frame. */
struct fix {
	struct readfix f;
	struct fmt_buf plain;
	uint8_t *frame;
	size_t frame_len;
};

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct fix));
	return *state ? 0 : 1;
}

static int teardown(void **state)
{
	struct fix *x = *state;

	fmt_reader_done(&x->f.r);
	free(x->f.copy);
	fmt_buf_done(&x->f.h.b);
	fmt_buf_done(&x->plain);
	free(x->frame);
	free(x);
	return 0;
}

static void squeeze(struct fix *x)
{
	size_t room = ZSTD_compressBound(x->plain.len);

	assert_int_equal(x->plain.err, 0);
	free(x->frame);
	x->frame = malloc(room);
	assert_non_null(x->frame);
	x->frame_len = ZSTD_compress(x->frame, room, x->plain.data, x->plain.len, 1);
	assert_false(ZSTD_isError(x->frame_len));
}

/* n SWITCH records of 40 bytes, of time 1, 2, 3 ... */
static void switches(struct fix *x, unsigned n)
{
	for (unsigned i = 1; i <= n; i++) {
		fmt_put_le(&x->plain, UINT64_C(40) << 48 | FMT_REC_SWITCH, 8);
		handmade_trailer(&x->plain, i, 0, 5);
	}
	squeeze(x);
}

static void begin(struct fix *x)
{
	handmade_pipe_header(&x->f.h.b);
	handmade_header_attr(&x->f.h.b, HANDMADE_SAMPLE_TYPE, 1 << 18, 5);
}

/* n bytes of the frame, from `from` on, in a COMPRESSED record. */
static void put_piece(struct fix *x, size_t from, size_t n)
{
	fmt_put_le(&x->f.h.b, (uint64_t)(8 + n) << 48 | FMT_REC_COMPRESSED, 8);
	fmt_put(&x->f.h.b, x->frame + from, n);
}

/* Walks over a file of nothing but COMPRESSED records and SWITCH records in them, whose
 * times must go up by one. Returns how many there were. */
static unsigned count_switches(struct fix *x)
{
	struct fmt_when w;
	struct fmt_rec rec;
	unsigned n = 0;
	int got;

	while ((got = fmt_reader_next(&x->f.r, &rec)) > 0) {
		if (!rec.inflated)
			continue;
		assert_int_equal(rec.type, FMT_REC_SWITCH);
		assert_int_equal(rec.inner_at, 40 * n);
		assert_int_equal(fmt_reader_when(&x->f.r, &rec, &w), 0);
		assert_int_equal(w.time, ++n);
	}
	assert_int_equal(got, 0);
	return n;
}

static void records_come_right_behind_the_one_they_were_in(void **state)
{
	struct fix *x = *state;
	struct fmt_rec rec;

	switches(x, 2);
	begin(x);
	put_piece(x, 0, x->frame_len);
	fmt_put_le(&x->f.h.b, UINT64_C(8) << 48 | FMT_REC_FINISHED_ROUND, 8);
	assert_int_equal(readfix_open(&x->f), 0);
	assert_int_equal(fmt_reader_next(&x->f.r, &rec), 1);
	assert_int_equal(rec.type, FMT_REC_HEADER_ATTR);
	assert_int_equal(fmt_reader_next(&x->f.r, &rec), 1);
	assert_int_equal(rec.type, FMT_REC_COMPRESSED);
	assert_false(rec.inflated);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(fmt_reader_next(&x->f.r, &rec), 1);
		assert_true(rec.inflated);
		assert_memory_equal(rec.p, x->plain.data + 40 * i, 40);
	}
	assert_int_equal(fmt_reader_next(&x->f.r, &rec), 1);
	assert_int_equal(rec.type, FMT_REC_FINISHED_ROUND);
	assert_false(rec.inflated);
	assert_int_equal(fmt_reader_next(&x->f.r, &rec), 0);
	assert_null(x->f.r.odd_what);
}

static void a_stream_may_be_cut_into_records_anywhere(void **state)
{
	struct fix *x = *state;

	switches(x, MANY);
	for (size_t piece = 1; piece < x->frame_len; piece = piece * 3 + 1) {
		fmt_buf_reset(&x->f.h.b);
		begin(x);
		for (size_t at = 0, n; at < x->frame_len; at += n) {
			n = x->frame_len - at < piece ? x->frame_len - at : piece;
			put_piece(x, at, n);
		}
		assert_int_equal(readfix_open(&x->f), 0);
		assert_int_equal(count_switches(x), MANY);
		fmt_reader_rewind(&x->f.r);
		assert_int_equal(count_switches(x), MANY);
		assert_null(x->f.r.odd_what);
	}
}

static void compressed2_holds_as_much_as_it_says(void **state)
{
	struct fix *x = *state;

	switches(x, 5);
	for (int64_t more = -1; more <= 9; more += 5) { /* too few, all, beyond */
		size_t pad = 8 - x->frame_len % 8;

		fmt_buf_reset(&x->f.h.b);
		begin(x);
		fmt_put_le(&x->f.h.b,
			   (uint64_t)(16 + x->frame_len + pad) << 48 |
				   FMT_REC_COMPRESSED2, 8);
		fmt_put_le(&x->f.h.b,
			   more > 0 ? x->frame_len + pad + 1 :
				      x->frame_len - (more < 0 ? 9 : 0), 8);
		fmt_put(&x->f.h.b, x->frame, x->frame_len);
		fmt_put_zero(&x->f.h.b, pad);
		assert_int_equal(readfix_open(&x->f), 0);
		count_switches(x);
		/* Never past the record; a number that says so is told. */
		assert_int_equal(!!x->f.r.odd_what, more > 0);
	}
}

static void a_damaged_frame_is_told_and_the_next_one_read(void **state)
{
	struct fix *x = *state;
	struct fmt_rec rec;
	unsigned n = 0;
	size_t at;

	switches(x, 5);
	begin(x);
	at = x->f.h.b.len;
	x->frame[0] ^= 1;
	put_piece(x, 0, x->frame_len);
	x->frame[0] ^= 1;
	put_piece(x, 0, x->frame_len);
	assert_int_equal(readfix_open(&x->f), 0);
	while (fmt_reader_next(&x->f.r, &rec) > 0)
		n += rec.inflated;
	assert_int_equal(n, 5);
	assert_string_equal(x->f.r.odd_what, "a sound zstd frame");
	assert_int_equal(x->f.r.odd_at, at);
	assert_int_equal(x->f.r.nr_odd, 1);
}

static void a_record_without_its_end_is_told(void **state)
{
	struct fix *x = *state;

	switches(x, 5);
	x->plain.len -= 8;
	squeeze(x);
	begin(x);
	put_piece(x, 0, x->frame_len);
	assert_int_equal(readfix_open(&x->f), 0);
	assert_int_equal(count_switches(x), 4);
	assert_string_equal(x->f.r.odd_what, "the end of the last inflated record");
}

static void an_impossible_size_inside_ends_that_frame_only(void **state)
{
	struct fix *x = *state;
	struct fmt_rec rec;
	unsigned n = 0;

	switches(x, 5);
	le_put(x->plain.data + 80 + FMT_REC_AT_SIZE, 7, 2);
	squeeze(x);
	begin(x);
	put_piece(x, 0, x->frame_len);
	put_piece(x, 0, x->frame_len);
	assert_int_equal(readfix_open(&x->f), 0);
	while (fmt_reader_next(&x->f.r, &rec) > 0)
		n += rec.inflated;
	assert_int_equal(n, 4);
	assert_int_equal(x->f.r.nr_odd, 2);
}

/* 48 bytes say 24 more follow in the stream: where no reader looks for them. */
static void trace_inside_is_passed_over_and_told(void **state)
{
	struct fix *x = *state;
	struct fmt_rec rec;
	unsigned n = 0;

	fmt_put_le(&x->plain, UINT64_C(48) << 48 | FMT_REC_AUXTRACE, 8);
	fmt_put_le(&x->plain, 24, 8);
	fmt_put_zero(&x->plain, 32 + 24);
	switches(x, 1);
	begin(x);
	put_piece(x, 0, x->frame_len);
	assert_int_equal(readfix_open(&x->f), 0);
	while (fmt_reader_next(&x->f.r, &rec) > 0)
		n += rec.inflated;
	assert_int_equal(n, 2);
	assert_string_equal(x->f.r.odd_what, "AUXTRACE outside of COMPRESSED records");
}

/* A frame of 64 MiB of zeros is some kilobytes; a record of size 0 ends it at once. And one
 * record that says 64 KiB again and again takes no more memory than the first did. */
static void a_bomb_is_read_in_small_pieces(void **state)
{
	struct fix *x = *state;
	struct fmt_rec rec;
	unsigned n = 0;

	fmt_put_zero(&x->plain, 64 << 20);
	for (size_t at = 0; at + 65528 <= x->plain.len; at += 65528)
		le_put(x->plain.data + at, UINT64_C(65528) << 48 | FMT_REC_SAMPLE, 8);
	squeeze(x);
	assert_in_range(x->frame_len, 1, 65000);
	begin(x);
	put_piece(x, 0, x->frame_len);
	assert_int_equal(readfix_open(&x->f), 0);
	while (fmt_reader_next(&x->f.r, &rec) > 0)
		n += rec.inflated;
	assert_int_equal(n, (64 << 20) / 65528);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(records_come_right_behind_the_one_they_were_in),
		T(a_stream_may_be_cut_into_records_anywhere),
		T(compressed2_holds_as_much_as_it_says),
		T(a_damaged_frame_is_told_and_the_next_one_read),
		T(a_record_without_its_end_is_told),
		T(an_impossible_size_inside_ends_that_frame_only),
		T(trace_inside_is_passed_over_and_told),
		T(a_bomb_is_read_in_small_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
