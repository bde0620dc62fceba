/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/decode/queues.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "tests/unit/handmade.h"

#define ST (FMT_SAMPLE_IP | FMT_SAMPLE_TID | FMT_SAMPLE_TIME | FMT_SAMPLE_CPU | \
	    FMT_SAMPLE_IDENTIFIER)

struct world {
	struct queues v;
	struct fmt_reader r;
	struct fmt_buf b, file;
	uint8_t stream[4096]; /* the AUX stream that pieces are cut from */
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	w->v = QUEUES_INIT;
	for (size_t i = 0; i < sizeof(w->stream); i++)
		w->stream[i] = (uint8_t)(1 + i % 251);
	*state = w;
	return fmt_reader_open_bare(&w->r, ST, "", 0);
}

static int teardown(void **state)
{
	struct world *w = *state;

	queues_done(&w->v);
	fmt_reader_done(&w->r);
	fmt_buf_done(&w->b);
	fmt_buf_done(&w->file);
	free(w);
	return 0;
}

/* n bytes of the stream from `offset` on, as a piece that says so. */
static void piece(struct world *w, uint32_t idx, uint64_t offset, const uint8_t *p, uint64_t n)
{
	struct fmt_auxtrace a = { .size = n, .offset = offset, .reference = 1000 + offset,
				  .idx = idx, .tid = UINT32_MAX, .cpu = 5 };
	struct fmt_rec rec = { .at = 10000 + offset, .type = FMT_REC_AUXTRACE, .payload = p,
			       .payload_len = n };

	fmt_buf_reset(&w->b);
	assert_int_equal(fmt_put_auxtrace(&w->b, &a), 0);
	rec.p = w->b.data;
	rec.size = (uint16_t)w->b.len;
	assert_int_equal(queues_take(&w->v, &w->r, &rec), 0);
}

static void cut(struct world *w, uint64_t offset, uint64_t n)
{
	piece(w, 0, offset, w->stream + offset, n);
}

/* What can be read from `at` on. */
static void holds(struct world *w, uint64_t at, uint64_t stream_at, size_t n)
{
	uint8_t *got = malloc(n + 100);

	assert_non_null(got);
	assert_int_equal(queue_read(&w->v.q[0], at, got, n + 100), n);
	assert_memory_equal(got, w->stream + stream_at, n);
	free(got);
}

static void pieces_are_one_stream(void **state)
{
	struct world *w = *state;

	cut(w, 0, 100);
	cut(w, 100, 8);
	cut(w, 108, 500);
	assert_int_equal(w->v.nr, 1);
	assert_int_equal(w->v.q[0].bytes, 608);
	assert_int_equal(w->v.q[0].cpu, 5);
	assert_true(w->v.q[0].tid == QUEUES_NONE);
	holds(w, 0, 0, 608);
	holds(w, 99, 99, 509);
	holds(w, 107, 107, 501);
	holds(w, 608, 608, 0);
	assert_int_equal(queue_piece_at(&w->v.q[0], 107)->reference, 1100);
	assert_int_equal(queue_piece_at(&w->v.q[0], 108)->reference, 1108);
}

static void padding_is_dropped_where_bytes_follow(void **state)
{
	struct world *w = *state;
	uint8_t padded[104] = { 0 };

	memcpy(padded, w->stream, 99);
	piece(w, 0, 0, padded, 104);
	cut(w, 99, 200);
	assert_int_equal(w->v.q[0].bytes, 299);
	assert_int_equal(w->v.q[0].gaps, 0);
	holds(w, 0, 0, 299);
}

static void missing_bytes_begin_a_stretch(void **state)
{
	struct world *w = *state;

	cut(w, 0, 100);
	cut(w, 200, 100);
	cut(w, 300, 50);
	assert_int_equal(w->v.q[0].gaps, 1);
	holds(w, 0, 0, 100);
	holds(w, 100, 200, 150);
	assert_int_equal(queue_piece_at(&w->v.q[0], 110)->file_at, 10000 + 200 + 48);
}

/* Recorders that write 0 in every offset: full trace is one stream. */
static void offsets_that_do_not_count_are_not_believed(void **state)
{
	struct world *w = *state;

	piece(w, 0, 0, w->stream, 100);
	piece(w, 0, 0, w->stream + 100, 100);
	assert_int_equal(w->v.q[0].gaps, 0);
	holds(w, 0, 0, 200);
}

static void snapshots_that_overlap_are_joined(void **state)
{
	struct world *w = *state;

	queues_mode(&w->v, true, true);
	cut(w, 0, 200);
	cut(w, 120, 200);
	cut(w, 1000, 100); /* nothing in common */
	cut(w, 1040, 40);  /* nothing new */
	cut(w, 1090, 30);
	assert_int_equal(w->v.q[0].gaps, 0);
	assert_int_equal(w->v.q[0].bytes, 320 + 120);
	holds(w, 0, 0, 320);
	holds(w, 320, 1000, 120);
}

static void a_snapshots_padding_is_dropped(void **state)
{
	struct world *w = *state;
	uint8_t padded[104] = { 0 };

	queues_mode(&w->v, true, true);
	memcpy(padded, w->stream, 101);
	piece(w, 0, 0, padded, 104);
	cut(w, 40, 200);
	assert_int_equal(w->v.q[0].bytes, 240);
	holds(w, 0, 0, 240);
}

static void queues_are_kept_by_number(void **state)
{
	struct world *w = *state;

	for (uint32_t k = 0; k < 100; k++)
		piece(w, k * 37 % 101, 0, w->stream + k, 8);
	assert_int_equal(w->v.nr, 100);
	for (size_t k = 1; k < w->v.nr; k++)
		assert_true(w->v.q[k - 1].idx < w->v.q[k].idx);
	for (uint32_t k = 0; k < 10000; k++)
		piece(w, 200 + k, 0, w->stream, 8);
	assert_int_equal(w->v.nr, 8192);
	assert_int_equal(w->v.left_out, (100 + 10000 - 8192) * 8);
}

static void empty_and_foreign_records_are_passed_over(void **state)
{
	struct world *w = *state;
	struct fmt_rec rec = { .p = w->stream, .type = FMT_REC_AUXTRACE, .size = 8,
			       .payload = w->stream, .payload_len = 8 };

	cut(w, 0, 0);
	assert_int_equal(queues_take(&w->v, &w->r, &rec), 0);
	rec.type = 1000;
	assert_int_equal(queues_take(&w->v, &w->r, &rec), 0);
	assert_int_equal(w->v.nr, 0);
}

/* A reader of an event that takes AUX samples, id 77. */
static void open_sampling(struct world *w)
{
	struct fmt_rec rec;

	fmt_reader_done(&w->r);
	handmade_pipe_header(&w->file);
	handmade_header_attr(&w->file, ST | FMT_SAMPLE_AUX, FMT_ATTR_F_SAMPLE_ID_ALL, 77);
	assert_int_equal(fmt_reader_open(&w->r, w->file.data, w->file.len), 0);
	assert_int_equal(fmt_reader_next(&w->r, &rec), 1);
	assert_int_equal(w->r.nr_events, 1);
}

/* An inflated one: its bytes are gone with the next record. */
static void sample(struct world *w, uint64_t id, const uint8_t *p, size_t n)
{
	struct fmt_rec rec = { .at = 5000, .type = FMT_REC_SAMPLE, .inflated = true };
	struct fmt_buf *b = &w->b;
	size_t at;

	fmt_buf_reset(b);
	at = fmt_record_begin(b, FMT_REC_SAMPLE, 2);

	fmt_put_le(b, id, 8);
	fmt_put_le(b, 0, 8);
	fmt_put_le(b, 0, 8);
	fmt_put_le(b, 1234, 8);
	fmt_put_le(b, 0, 8);
	fmt_put_le(b, n, 8);
	fmt_put(b, p, n);
	assert_int_equal(fmt_record_end(b, at), 0);
	rec.p = b->data;
	rec.size = (uint16_t)b->len;
	assert_int_equal(queues_take(&w->v, &w->r, &rec), 0);
	memset(b->data, 0xee, b->len);
}

static void tell_id(struct world *w)
{
	const struct fmt_id id = { .id = 77, .idx = 3, .cpu = 3, .tid = -1 };
	struct fmt_rec rec = { .type = FMT_REC_ID_INDEX };

	fmt_buf_reset(&w->b);
	assert_int_equal(fmt_put_id_index(&w->b, &id, 1), 0);
	rec.p = w->b.data;
	rec.size = (uint16_t)w->b.len;
	assert_int_equal(queues_take(&w->v, &w->r, &rec), 0);
}

static void a_psb_at(struct world *w, size_t at)
{
	for (size_t i = 0; i < 16; i++)
		w->stream[at + i] = i % 2 ? 0x82 : 0x02;
}

static void samples_are_joined_by_their_bytes(void **state)
{
	struct world *w = *state;

	open_sampling(w);
	queues_mode(&w->v, false, true);
	tell_id(w);
	a_psb_at(w, 64);
	a_psb_at(w, 300);
	a_psb_at(w, 520);
	sample(w, 77, w->stream, 400);	/* last PSB at 300 */
	sample(w, 77, w->stream + 200, 400);	/* has it, too */
	sample(w, 77, w->stream + 1000, 200); /* has nothing of it */
	assert_int_equal(w->v.nr, 1);
	assert_int_equal(w->v.q[0].idx, 3);
	assert_int_equal(w->v.q[0].cpu, 3);
	assert_int_equal(w->v.q[0].bytes, 600 + 200);
	holds(w, 0, 0, 600);
	holds(w, 600, 1000, 200);
}

static void samples_of_unknown_ids_are_left_out(void **state)
{
	struct world *w = *state;

	open_sampling(w);
	sample(w, 77, w->stream, 400);
	assert_int_equal(w->v.nr, 0);
	assert_int_equal(w->v.left_out, 400);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pieces_are_one_stream),
		TEST(padding_is_dropped_where_bytes_follow),
		TEST(missing_bytes_begin_a_stretch),
		TEST(offsets_that_do_not_count_are_not_believed),
		TEST(snapshots_that_overlap_are_joined),
		TEST(a_snapshots_padding_is_dropped),
		TEST(queues_are_kept_by_number),
		TEST(empty_and_foreign_records_are_passed_over),
		TEST(samples_are_joined_by_their_bytes),
		TEST(samples_of_unknown_ids_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
