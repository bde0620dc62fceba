/* SPDX-License-Identifier: Apache-2.0 */
/* The writer with ring bytes that are compressed: rounds, rollback, and what a reader finds. */
#include "format/writer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/reader.h"
#include "tests/unit/hex.h"
#include "tests/unit/mem_sink.h"

enum { SIZE = 4096, RING = 32 * SIZE }; /* of the records, and of the ring */

static struct mem_sink file;
static struct fmt_writer w;
static struct fmt_buf rec;
static uint8_t ring[RING];
static uint32_t seed;

static const uint64_t ids[] = { 0x11 };
static struct fmt_event event = { .ids = ids, .nr_ids = 1, .name = "intel_pt//" };
static struct fmt_features feat = { .hostname = "box", .have_aux = true, .zip_level = 1,
				    .zip_inflated_max = FMT_ZIP_INFLATED_MAX };

static int start(bool pipe)
{
	struct fmt_sink s = mem_sink(&file);
	int err;

	seed = 1;
	le_put(event.attr + FMT_ATTR_AT_SIZE, FMT_ATTR_SIZE, 4);
	fmt_writer_init(&w, &s, pipe);
	err = fmt_writer_zip(&w, 1);
	return err ? err : fmt_writer_begin(&w, &event, 1, &feat);
}

static int setup(void **state)
{
	(void)state;
	return start(false);
}

static int teardown(void **state)
{
	(void)state;
	fmt_writer_done(&w);
	fmt_buf_done(&rec);
	return 0;
}

/* The ring is full of records that carry their number and, where they shall not compress,
 * noise. */
static void fill_ring(uint32_t first, bool noisy)
{
	memset(ring, 0, sizeof(ring));
	for (uint32_t i = 0; i < RING / SIZE; i++) {
		uint8_t *r = ring + SIZE * i;

		le_put(r, FMT_REC_SAMPLE, 4);
		le_put(r + 6, SIZE, 2);
		for (size_t k = 12; noisy && k < SIZE; k++) {
			seed = seed * 1664525 + 1013904223;
			r[k] = (uint8_t)(seed >> 24);
		}
		le_put(r + 8, first + i, 4);
	}
}

/* A round of n records, which wrap in the ring. */
static int round_of(uint32_t first, uint32_t n, bool noisy)
{
	struct iovec v[3] = { { ring, SIZE + 8 }, { ring + SIZE + 8, SIZE * n - SIZE - 8 } };

	fill_ring(first, noisy);
	return fmt_writer_round_spans(&w, v, 2, true);
}

struct found {
	unsigned inside, compressed, rounds, traces, sent;
};

/* Everything a reader sees; records inside must be numbered from 0. */
static struct found read_all(void)
{
	struct found f = { 0 };
	struct fmt_reader r;
	struct fmt_rec got;
	int err;

	assert_int_equal(fmt_reader_open(&r, file.bytes, file.len), 0);
	while ((err = fmt_reader_next(&r, &got)) > 0) {
		if (got.inflated) {
			assert_int_equal(got.type, FMT_REC_SAMPLE);
			assert_int_equal(got.size, SIZE);
			assert_int_equal(le_get32(got.p + 8), f.inside++);
			continue;
		}
		assert_int_not_equal(got.type, FMT_REC_SAMPLE);
		f.compressed += got.type == FMT_REC_COMPRESSED;
		f.rounds += got.type == FMT_REC_FINISHED_ROUND;
		f.traces += got.type == FMT_REC_AUXTRACE;
		f.sent += got.type == FMT_REC_HEADER_FEATURE &&
			  le_get(got.p + 8, 8) == FMT_FEAT_COMPRESSED;
	}
	assert_int_equal(err, 0);
	assert_null(r.odd_what);
	fmt_reader_done(&r);
	return f;
}

static void a_small_round_leaves_in_one_call_with_its_marker(void **state)
{
	struct found f;

	(void)state;
	assert_int_equal(round_of(0, 4, false), 0);
	assert_string_equal(file.log, "aays");
	assert_int_equal(file.nr_seen, 2);
	f = read_all();
	assert_int_equal(f.inside, 4);
	assert_int_equal(f.compressed, 1);
	assert_int_equal(f.rounds, 1);
	assert_int_equal(mem_check_file(&file), 2);
}

static void a_large_round_is_several_records(void **state)
{
	struct found f;

	(void)state;
	assert_int_equal(round_of(0, 32, true), 0);
	assert_string_equal(file.log, "aaaays"); /* the head, three of at most 15 records */
	f = read_all();
	assert_int_equal(f.inside, 32);
	assert_int_equal(f.compressed, 3);
	assert_int_equal(f.rounds, 1);
}

static void what_is_not_of_the_rings_stays_outside(void **state)
{
	const struct fmt_auxtrace a = { .idx = 1, .tid = UINT32_MAX, .cpu = 1 };
	struct iovec trace = { (void *)(uintptr_t)"trace of 24 bytes......", 24 };
	struct found f;

	(void)state;
	fmt_put_header_feature(&rec, FMT_FEAT_COMPRESSED, &feat);
	assert_int_equal(fmt_writer_put(&w, &rec), 0);
	assert_int_equal(fmt_writer_aux(&w, &a, &trace, 1), 0);
	assert_int_equal(round_of(0, 2, false), 0);
	assert_int_equal(fmt_writer_round(&w, true), 0); /* nothing in it */
	feat.zip_ratio = fmt_writer_zip_ratio(&w);
	assert_int_equal(fmt_writer_finish(&w, &feat), 0);
	mem_check_file(&file);
	f = read_all();
	assert_int_equal(f.inside, 2);
	assert_int_equal(f.traces, 1);
	assert_int_equal(f.rounds, 1);
	assert_int_equal(f.sent, 1);
}

static void the_feature_says_how_much_smaller(void **state)
{
	struct fmt_reader r;
	const uint8_t *p;
	uint64_t len;

	(void)state;
	assert_int_equal(fmt_writer_zip_ratio(&w), 0);
	assert_int_equal(round_of(0, 4, false), 0);
	assert_true(w.zipped.in == 4 * SIZE && w.zipped.out < SIZE);
	feat.zip_ratio = fmt_writer_zip_ratio(&w);
	assert_int_equal(feat.zip_ratio, (w.zipped.in + w.zipped.out / 2) / w.zipped.out);
	assert_int_equal(fmt_writer_finish(&w, &feat), 0);
	assert_int_equal(fmt_reader_open(&r, file.bytes, file.len), 0);
	assert_int_equal(fmt_reader_feature(&r, FMT_FEAT_COMPRESSED, &p, &len), 0);
	assert_int_equal(len, 20);
	assert_int_equal(le_get32(p + 12), feat.zip_ratio);
	assert_int_equal(le_get32(p + 16), FMT_ZIP_INFLATED_MAX);
	fmt_reader_done(&r);
}

/* One round stands; the next fails at its n-th call; it is taken back, and a third follows.
 * Whatever the compressor had seen of the second must not show. */
static bool one_fault(unsigned n, enum mem_fault fault)
{
	struct fmt_zipped before;
	uint64_t dropped = 0;
	unsigned calls;
	int err;

	fmt_writer_done(&w);
	assert_int_equal(start(false), 0);
	file.check_each = true;
	assert_int_equal(round_of(0, 8, false), 0);
	calls = file.calls;
	before = w.zipped;
	file.fail_at = calls + n;
	file.fault = fault;
	file.err = -ENOSPC;
	err = round_of(8, 32, true);
	if (!err)
		return false;
	assert_int_equal(err, -ENOSPC);
	file.fail_at = 0;
	assert_int_equal(fmt_writer_rollback(&w, &dropped), 0);
	assert_true(w.zipped.in == before.in && w.zipped.out == before.out);
	assert_int_equal(read_all().inside, 8);
	assert_int_equal(round_of(8, 20, true), 0);
	assert_int_equal(fmt_writer_finish(&w, &feat), 0);
	assert_int_equal(read_all().inside, 28);
	return true;
}

static void a_round_that_fails_leaves_no_trace(void **state)
{
	unsigned n = 0, torn = 0;

	(void)state;
	while (one_fault(n + 1, MEM_FAULT_CLEAN))
		n++;
	while (one_fault(torn + 1, MEM_FAULT_TORN))
		torn++;
	assert_int_equal(n, 5); /* three records, the sync, data.size */
	assert_int_equal(torn, n);
}

static void what_cannot_be_compressed_is_an_error(void **state)
{
	struct iovec v[2] = { { ring, SIZE } };
	uint64_t dropped;

	(void)state;
	assert_int_equal(round_of(0, 3, false), 0);
	le_put(ring + 6, 4, 2);
	assert_int_equal(fmt_writer_round_spans(&w, v, 1, true), -EBADMSG);
	assert_int_equal(fmt_writer_rollback(&w, &dropped), 0);
	assert_int_equal(round_of(3, 3, false), 0);
	assert_int_equal(read_all().inside, 6);
}

static void a_stream_has_the_feature_at_its_head(void **state)
{
	struct found f;

	(void)state;
	fmt_writer_done(&w);
	assert_int_equal(start(true), 0);
	assert_int_equal(round_of(0, 32, true), 0);
	assert_int_equal(fmt_writer_finish(&w, &feat), 0);
	f = read_all();
	assert_int_equal(f.inside, 32);
	assert_int_equal(f.sent, 1);
}

static void other_levels_are_refused(void **state)
{
	struct fmt_sink s = mem_sink(&file);

	(void)state;
	fmt_writer_done(&w);
	fmt_writer_init(&w, &s, false);
	assert_int_equal(fmt_writer_zip(&w, 0), -EINVAL);
	assert_int_equal(fmt_writer_zip(&w, 23), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_small_round_leaves_in_one_call_with_its_marker),
		TEST(a_large_round_is_several_records),
		TEST(what_is_not_of_the_rings_stays_outside),
		TEST(the_feature_says_how_much_smaller),
		TEST(a_round_that_fails_leaves_no_trace),
		TEST(what_cannot_be_compressed_is_an_error),
		TEST(a_stream_has_the_feature_at_its_head),
		TEST(other_levels_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
