/* SPDX-License-Identifier: Apache-2.0 */
#include "format/salvage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/abi.h"
#include "format/le.h"
#include "tests/unit/readfix.h"

enum { STRANGE = 8 }; /* the record of a type that nobody has */

/* What one walk gave. */
struct walk {
	size_t n;		      /* records */
	uint32_t seen;		      /* bit i: record i of the handmade ones, byte for byte */
	struct fmt_gap gaps[8];
	size_t nr_gaps;
	struct fmt_salvage s;
};

/* Which of the ten records rec is, or -1. */
static int which(const struct handmade *h, const struct fmt_rec *rec)
{
	for (int i = 0; i < HANDMADE_RECORDS; i++) {
		size_t n = h->at[i + 1] - h->at[i];

		if (n >= rec->size + rec->payload_len &&
		    !memcmp(h->b.data + h->at[i], rec->p, rec->size + rec->payload_len) &&
		    (n == rec->size + rec->payload_len || rec->type == FMT_REC_AUXTRACE))
			return i;
	}
	return -1;
}

/* The file b, in memory of exactly its size; each record it yields is one of h's. */
static struct walk walk_over(struct readfix *f, const struct handmade *h,
			     const struct fmt_buf *b)
{
	struct fmt_rec rec;
	struct fmt_gap gap;
	struct walk w = { 0 };
	int got, i;

	fmt_reader_done(&f->r);
	free(f->copy);
	f->copy = malloc(b->len ? b->len : 1);
	assert_non_null(f->copy);
	memcpy(f->copy, b->data, b->len);
	assert_int_equal(fmt_reader_open(&f->r, f->copy, b->len), 0);
	fmt_salvage_begin(&w.s, &f->r);
	while ((got = fmt_salvage_next(&w.s, &rec, &gap)) > 0) {
		if (got == FMT_SALVAGE_GAP) {
			assert_true(w.nr_gaps < 8 && gap.at <= b->len &&
				    gap.len <= b->len - gap.at && gap.expected);
			w.gaps[w.nr_gaps++] = gap;
			continue;
		}
		w.n++;
		i = which(h, &rec);
		if (i < 0 && !(f->r.pipe && rec.type >= FMT_REC_HEADER_ATTR))
			fail_msg("type %u at %llu is no record of the file", rec.type,
				 (unsigned long long)rec.at);
		if (i >= 0)
			w.seen |= 1u << i;
	}
	assert_int_equal(got, 0);
	return w;
}

/* The handmade file with n bytes of `with` put in at `at`, `less` bytes of it taken out. */
static struct walk walk_changed(struct readfix *f, size_t at, size_t less, const void *with,
				size_t n)
{
	struct fmt_buf b = { 0 };
	struct walk w;

	fmt_put(&b, f->h.b.data, at);
	fmt_put(&b, with, n);
	fmt_put(&b, f->h.b.data + at + less, f->h.b.len - at - less);
	assert_int_equal(b.err, 0);
	w = walk_over(f, &f->h, &b);
	fmt_buf_done(&b);
	return w;
}

enum { ALL = (1 << HANDMADE_RECORDS) - 1 };

static void a_sound_file_is_trusted(void **state)
{
	struct readfix *f = *state;
	struct walk w;

	handmade_file(&f->h);
	w = walk_changed(f, 0, 0, NULL, 0);
	assert_true(w.s.trusted && w.s.table);
	assert_int_equal(w.n, HANDMADE_RECORDS);
	assert_int_equal(w.seen, ALL);
	assert_int_equal(w.nr_gaps, 0);
	assert_int_equal(w.s.end, f->h.at[HANDMADE_RECORDS]);
	assert_string_equal(f->r.events[0].name, "intel_pt/soft/u");
}

static void data_size_may_say_anything(void **state)
{
	static const int64_t by[] = { -8, 8, -1, 1, -100, 100, 1000000, INT64_MAX };
	struct readfix *f = *state;
	uint64_t size;
	struct walk w;

	handmade_file(&f->h);
	size = le_get(f->h.b.data + FMT_HDR_DATA_SIZE, 8);
	for (size_t i = 0; i <= sizeof(by) / sizeof(*by); i++) {
		uint64_t says = i ? size + (uint64_t)by[i - 1] : 0;

		le_put(f->h.b.data + FMT_HDR_DATA_SIZE, says, 8);
		w = walk_changed(f, 0, 0, NULL, 0);
		assert_int_equal(w.seen, ALL);
		assert_int_equal(w.n, HANDMADE_RECORDS);
		assert_int_equal(w.nr_gaps, 0);
		assert_int_equal(w.s.end, f->h.at[HANDMADE_RECORDS]);
		assert_true(w.s.table);
		assert_string_equal(f->r.events[1].name, "dummy:u");
		assert_true(w.s.killed == !says);
	}
}

/* At each place, as many zeros as may be, and text: the sections of features move along. */
static void what_stands_between_records_is_passed_over(void **state)
{
	static const char zeros[64], text[] = "[ perf record: Woken up 1 times ]\n";
	struct readfix *f = *state;
	struct walk w;

	handmade_file(&f->h);
	for (size_t i = 0; i < HANDMADE_RECORDS; i++)
		for (size_t n = 8; n <= sizeof(zeros); n++) {
			w = walk_changed(f, f->h.at[i], 0, n & 1 ? text : zeros,
					 n & 1 ? sizeof(text) - 1 : n);
			/* Of a type that is not known, only company speaks for it. */
			if ((w.seen | 1 << STRANGE) != ALL ||
			    (w.seen != ALL && i != STRANGE && i != STRANGE + 1))
				fail_msg("%zu at record %zu: only 0x%x", n, i, w.seen);
			assert_int_equal(w.nr_gaps, 1);
			if (i < STRANGE) {
				assert_int_equal(w.gaps[0].at, f->h.at[i]);
				assert_string_equal(w.gaps[0].expected,
						    n & 1 ? "a record, not text" :
							    "a record, not zeros");
			}
			assert_true(w.s.table);
			assert_string_equal(fmt_reader_feature_str(&f->r, FMT_FEAT_HOSTNAME),
					    "box");
		}
}

/* Is more than one record concerned? Inside of trace, or of a type that is not known, nobody
 * can tell. */
static bool crosses(const struct handmade *h, size_t at, size_t n)
{
	if ((at + n > h->at[5] + 48 && at < h->at[6]) ||
	    (at + n > h->at[STRANGE] && at < h->at[STRANGE + 1]))
		return true;
	for (int i = 1; i <= HANDMADE_RECORDS; i++)
		if (at < h->at[i] && at + n > h->at[i])
			return true;
	return false;
}

static void bytes_that_are_missing_cost_their_record_alone(void **state)
{
	struct readfix *f = *state;
	struct walk w;
	uint32_t may, i;

	handmade_file(&f->h);
	for (size_t at = f->h.at[0]; at < f->h.at[HANDMADE_RECORDS]; at++)
		for (size_t n = 1; n <= 16 && !crosses(&f->h, at, n); n++) {
			w = walk_changed(f, at, n, NULL, 0);
			may = 1u << STRANGE;
			for (i = 0; i < HANDMADE_RECORDS; i++)
				if (at < f->h.at[i + 1] && at + n > f->h.at[i])
					may |= 1u << i;
			if ((w.seen | may) != ALL)
				fail_msg("%zu bytes at %zu: only 0x%x", n, at, w.seen);
		}
}

static void a_file_cut_anywhere_has_each_whole_record(void **state)
{
	struct readfix *f = *state;
	struct fmt_buf b = { 0 };
	struct walk w;
	size_t whole;

	for (int killed = 0; killed < 2; killed++) {
		fmt_buf_done(&f->h.b);
		handmade_file(&f->h);
		if (killed)
			le_put(f->h.b.data + FMT_HDR_DATA_SIZE, 0, 8);
		for (size_t n = f->h.data_at; n < f->h.at[HANDMADE_RECORDS]; n++) {
			b = f->h.b;
			b.len = n;
			for (whole = 0; f->h.at[whole + 1] <= n; whole++)
				;
			w = walk_over(f, &f->h, &b);
			/* The last may be trace that is there in part. */
			if ((w.seen & ((1u << whole) - 1)) != (1u << whole) - 1)
				fail_msg("cut at %zu: 0x%x of %zu", n, w.seen, whole);
			assert_true(w.n == whole || w.n == whole + 1);
			assert_true(n == f->h.at[whole] || w.nr_gaps == 1);
			assert_true(killed || w.s.missing == f->h.at[HANDMADE_RECORDS] - n);
		}
	}
}

static void cut_trace_is_kept_in_whole_words(void **state)
{
	struct readfix *f = *state;
	struct fmt_rec rec;
	struct fmt_gap gap;
	struct walk w;
	struct fmt_buf b;
	size_t body;

	handmade_file(&f->h);
	body = f->h.at[5] + 48;
	for (size_t n = 0; n < HANDMADE_TRACE; n++) {
		b = f->h.b;
		b.len = body + n;
		w = walk_over(f, &f->h, &b);
		assert_int_equal(w.n, n < 8 ? 5 : 6);
		assert_int_equal(w.nr_gaps, 1);
		assert_int_equal(w.gaps[0].len, n < 8 ? 48 + n : n % 8);
		fmt_salvage_rewind(&w.s);
		while (w.n--)
			assert_int_equal(fmt_salvage_next(&w.s, &rec, &gap), FMT_SALVAGE_REC);
		assert_int_equal(rec.payload_len, n < 8 ? 0 : n & ~7u);
		assert_int_equal(fmt_salvage_next(&w.s, &rec, &gap), FMT_SALVAGE_GAP);
		assert_int_equal(gap.missing, n < 8 ? 0 : HANDMADE_TRACE - n);
		assert_int_equal(fmt_salvage_next(&w.s, &rec, &gap), FMT_SALVAGE_END);
		assert_int_equal(w.s.end, body + (n & ~7u) - (n < 8 ? 48 : 0));
	}
}

/* Trace is found again by what follows it, whatever its record says of its size. */
static void a_wrong_size_of_trace_costs_no_record(void **state)
{
	static const uint64_t sizes[] = { 32, 100, 1 << 20, UINT64_MAX, UINT64_MAX - 47, 0, 8 };
	struct readfix *f = *state;
	struct walk w;

	handmade_file(&f->h);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		le_put(f->h.b.data + f->h.at[5] + 8, sizes[i], 8);
		w = walk_changed(f, 0, 0, NULL, 0);
		assert_int_equal(w.seen, ALL);
		assert_int_equal(w.nr_gaps, 1);
	}
}

/* The rounds of a recorder that was killed: data.size is right for those completed. */
static void records_behind_the_data_are_found(void **state)
{
	struct readfix *f = *state;
	struct walk w;

	handmade_file(&f->h);
	memset(f->h.b.data + FMT_HDR_FEATURES, 0, 32);
	f->h.b.len = f->h.at[9];
	for (size_t i = 1; i < 9; i++) {
		le_put(f->h.b.data + FMT_HDR_DATA_SIZE, f->h.at[i] - f->h.data_at, 8);
		w = walk_changed(f, 0, 0, NULL, 0);
		assert_int_equal(w.seen, i == STRANGE ? 0xff : 0x1ff);
		assert_int_equal(w.nr_gaps, i == STRANGE);
	}
}

static void a_pipe_is_walked_in_the_same_way(void **state)
{
	static const char zeros[24];
	struct readfix *f = *state;
	struct walk w;

	handmade_pipe(&f->h);
	w = walk_changed(f, 0, 0, NULL, 0);
	assert_true(w.s.trusted);
	assert_int_equal(w.seen, ALL);
	for (size_t i = 0; i < HANDMADE_RECORDS; i++) {
		w = walk_changed(f, f->h.at[i], 0, zeros, sizeof(zeros));
		assert_int_equal(w.seen | 1 << STRANGE, ALL);
		assert_int_equal(w.nr_gaps, 1);
	}
}

/* Where nothing can be believed, nothing is: no record is made up. */
static void noise_holds_no_record(void **state)
{
	struct readfix *f = *state;
	uint32_t x = 1;
	struct walk w;

	handmade_file(&f->h);
	for (int turn = 0; turn < 200; turn++) {
		for (size_t i = f->h.data_at; i < f->h.at[HANDMADE_RECORDS]; i++) {
			x = x * 1664525u + 1013904223u;
			f->h.b.data[i] = (uint8_t)(x >> (turn % 3 * 8 + 8));
		}
		w = walk_changed(f, 0, 0, NULL, 0);
		assert_int_equal(w.n, 0);
		assert_true(w.s.table);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, readfix_setup, readfix_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_sound_file_is_trusted),
		TEST(data_size_may_say_anything),
		TEST(what_stands_between_records_is_passed_over),
		TEST(bytes_that_are_missing_cost_their_record_alone),
		TEST(a_file_cut_anywhere_has_each_whole_record),
		TEST(cut_trace_is_kept_in_whole_words),
		TEST(a_wrong_size_of_trace_costs_no_record),
		TEST(records_behind_the_data_are_found),
		TEST(a_pipe_is_walked_in_the_same_way),
		TEST(noise_holds_no_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
