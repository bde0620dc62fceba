/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel records into COMPRESSED records. Witnesses: zstd's one-shot decompression, a reader
 * that goes about it as perf's does, and the reader of this project.
 */
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
#include "format/zip.h"
#include "tests/unit/hex.h"

enum { ROOM = 1 << 20, MOST_SPANS = 64 };

struct fix {
	struct fmt_zip *zip;
	struct fmt_unz *unz;
	ZSTD_DStream *stream; /* perf's: one for the whole file */
	uint8_t plain[ROOM];
	size_t len;
	struct iovec v[MOST_SPANS];
	uint8_t got[ROOM]; /* as inflated by one of the witnesses */
	size_t got_len;
	size_t records, bytes; /* COMPRESSED records, and what they have together */
	uint32_t seed;
};

static int setup(void **state)
{
	struct fix *x = calloc(1, sizeof(*x));

	*state = x;
	x->seed = 1;
	x->stream = ZSTD_createDStream();
	return fmt_zip_new(&x->zip, 1) || fmt_unz_new(&x->unz) || !x->stream;
}

static int teardown(void **state)
{
	struct fix *x = *state;

	fmt_zip_free(x->zip);
	fmt_unz_free(x->unz);
	ZSTD_freeDStream(x->stream);
	free(x);
	return 0;
}

static uint8_t noise(struct fix *x)
{
	x->seed = x->seed * 1664525 + 1013904223;
	return (uint8_t)(x->seed >> 24);
}

/* A record of that size, whose body is noise or its own number, over and over. */
static void put_record(struct fix *x, size_t size, bool noisy)
{
	uint8_t *r = x->plain + x->len;

	assert_true(size % 8 == 0 && size <= ROOM - x->len);
	le_put(r, FMT_REC_SAMPLE, 4);
	le_put(r + 4, 2, 2);
	le_put(r + 6, size, 2);
	for (size_t i = 8; i < size; i++)
		r[i] = noisy ? noise(x) : (uint8_t)(x->len >> 3);
	x->len += size;
}

/* The records in n spans, cut anywhere, some of them empty. */
static int spread(struct fix *x, int n)
{
	size_t at = 0;

	assert_true(n > 0 && n <= MOST_SPANS);
	for (int i = 0; i < n; i++) {
		size_t left = x->len - at, some = left / (size_t)(n - i);

		if (i == n - 1)
			some = left;
		else if (i % 3 == 1)
			some = 0;
		x->v[i] = (struct iovec){ x->plain + at, some };
		at += some;
	}
	return n;
}

/* What every COMPRESSED record must be like. The payload and its size. */
static const uint8_t *check_record(const struct iovec *rec, size_t inflated, size_t *ret)
{
	const uint8_t *p = rec->iov_base;

	assert_int_equal(le_get32(p), FMT_REC_COMPRESSED);
	assert_int_equal(le_get16(p + 4), 0);
	assert_int_equal(le_get16(p + 6), rec->iov_len);
	assert_int_equal(rec->iov_len % 8, 0);
	assert_true(rec->iov_len > 16 && rec->iov_len <= FMT_ZIP_RECORD_MAX);
	assert_true(inflated > 0 && inflated <= FMT_ZIP_INFLATED_MAX);
	*ret = rec->iov_len - 8;
	return p + 8;
}

typedef void witness_fn(struct fix *x, const uint8_t *p, size_t n);

static void zstd_itself(struct fix *x, const uint8_t *p, size_t n)
{
	size_t got = ZSTD_decompress(x->got + x->got_len, ROOM - x->got_len, p, n);

	assert_false(ZSTD_isError(got));
	x->got_len += got;
}

/* perf 6.1 and 6.12: output of as many bytes as the feature says, and behind each frame the
 * output moves by its position without that being taken back. */
static void as_perf_does(struct fix *x, const uint8_t *p, size_t n)
{
	uint8_t *to = x->got + x->got_len;
	ZSTD_inBuffer in = { p, n, 0 };
	ZSTD_outBuffer out = { to, FMT_ZIP_INFLATED_MAX, 0 };

	assert_true(ROOM - x->got_len >= FMT_ZIP_INFLATED_MAX);
	while (in.pos < in.size) {
		assert_false(ZSTD_isError(ZSTD_decompressStream(x->stream, &out, &in)));
		out.dst = to + out.pos;
		out.size = FMT_ZIP_INFLATED_MAX - out.pos;
	}
	assert_true(out.pos > 0); /* a record with nothing in it ends perf's reading */
	x->got_len += out.pos;
}

static void our_reader(struct fix *x, const uint8_t *p, size_t n)
{
	const uint8_t *rec;
	uint64_t at;
	int got;

	fmt_unz_feed(x->unz, p, n);
	while ((got = fmt_unz_next(x->unz, &rec, &at)) > 0) {
		size_t size = le_get16(rec + 6);

		assert_int_equal(at, x->got_len);
		memcpy(x->got + x->got_len, rec, size);
		x->got_len += size;
	}
	assert_int_equal(got, 0);
}

/* All of it through the compressor and a witness, which must see the same. */
static void round_trip(struct fix *x, int spans, witness_fn *witness)
{
	size_t inflated, sum = 0, n;
	const uint8_t *p;
	struct iovec rec;
	int got;

	x->got_len = x->records = x->bytes = 0;
	fmt_zip_feed(x->zip, x->v, spread(x, spans));
	while ((got = fmt_zip_next(x->zip, &rec, &inflated)) > 0) {
		p = check_record(&rec, inflated, &n);
		witness(x, p, n);
		sum += inflated;
		x->records++;
		x->bytes += rec.iov_len;
		assert_int_equal(fmt_zip_more(x->zip), sum < x->len);
	}
	assert_int_equal(got, 0);
	assert_int_equal(sum, x->len);
	assert_int_equal(x->got_len, x->len);
	assert_memory_equal(x->got, x->plain, x->len);
}

static void round_trips(struct fix *x)
{
	static witness_fn *const witnesses[] = { zstd_itself, as_perf_does, our_reader };
	static const int spans[] = { 1, 3, 60 };

	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 3; k++) {
			fmt_unz_reset(x->unz);
			round_trip(x, spans[k], witnesses[i]);
		}
}

static void a_record_is_a_frame_with_padding_before_it(void **state)
{
	struct fix *x = *state;
	uint8_t body[16];
	size_t inflated, n;
	struct iovec rec;

	put_record(x, 64, false);
	fmt_zip_feed(x->zip, x->v, spread(x, 1));
	assert_int_equal(fmt_zip_next(x->zip, &rec, &inflated), 1);
	assert_int_equal(inflated, 64);
	n = rec.iov_len - 8;
	/* Type, misc, size; a skippable frame; a frame of one segment, with a checksum and one
	 * byte of content size: 64. */
	assert_int_equal(hex_bytes(body, sizeof(body), "502a4d18"), 4);
	assert_memory_equal((uint8_t *)rec.iov_base + 8, body, 4);
	n = 8 + le_get32((uint8_t *)rec.iov_base + 12);
	assert_true(n >= 8 && n < 16);
	assert_int_equal(hex_bytes(body, sizeof(body), "28b52ffd 24 40"), 6);
	assert_memory_equal((uint8_t *)rec.iov_base + 8 + n, body, 6);
	for (size_t i = 16; i < 8 + n; i++)
		assert_int_equal(((uint8_t *)rec.iov_base)[i], 0);
	assert_int_equal(fmt_zip_next(x->zip, &rec, &inflated), 0);
}

static void small_records_come_back(void **state)
{
	struct fix *x = *state;

	for (int i = 0; i < 10000; i++)
		put_record(x, 40 + 8 * (size_t)(i % 8), false);
	round_trips(x);
	assert_true(x->bytes < x->len / 5);
	assert_true(x->records <= x->len / (FMT_ZIP_INFLATED_MAX - 96) + 1);
}

static void one_record_and_one_of_every_residue_come_back(void **state)
{
	struct fix *x = *state;

	for (size_t size = 8; size <= 512; size += 8) {
		x->len = 0;
		put_record(x, size, true);
		round_trips(x);
		assert_int_equal(x->records, 1);
	}
}

static void noise_comes_back_and_fits(void **state)
{
	struct fix *x = *state;

	for (int i = 0; i < 900; i++)
		put_record(x, 8 + 8 * (size_t)(i % 128), true);
	round_trips(x);
	assert_true(x->bytes > x->len && x->bytes < x->len + x->len / 100);
}

static void records_of_nearly_64_kib_come_back(void **state)
{
	static const size_t sizes[] = { 65528, 8, 65528, 65528, 65024, 65032, 65016, 16, 65520,
					40, 60000, 64, 65528 };
	struct fix *x = *state;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		put_record(x, sizes[i], true);
	round_trips(x);
}

/* What was read of one record must not be needed for the next. */
static void each_record_begins_with_a_record(void **state)
{
	struct fix *x = *state;
	size_t inflated, n, at;
	const uint8_t *p;
	struct iovec rec;

	for (int i = 0; i < 2000; i++)
		put_record(x, 48 + 8 * (size_t)(noise(x) % 100), false);
	fmt_zip_feed(x->zip, x->v, spread(x, 7));
	while (fmt_zip_next(x->zip, &rec, &inflated) > 0) {
		p = check_record(&rec, inflated, &n);
		x->got_len = 0;
		zstd_itself(x, p, n);
		for (at = 0; at < inflated; at += le_get16(x->got + at + 6))
			assert_int_equal(le_get32(x->got + at), FMT_REC_SAMPLE);
		assert_int_equal(at, inflated);
		x->records++;
	}
	assert_true(x->records > 10);
}

static void damage_is_noticed(void **state)
{
	struct fix *x = *state;
	size_t inflated, n;
	struct iovec rec;
	uint8_t *p;

	for (int i = 0; i < 100; i++)
		put_record(x, 400, true);
	fmt_zip_feed(x->zip, x->v, spread(x, 1));
	assert_int_equal(fmt_zip_next(x->zip, &rec, &inflated), 1);
	n = rec.iov_len - 8;
	p = (uint8_t *)rec.iov_base + 8;
	p[n / 2] ^= 1;
	assert_true(ZSTD_isError(ZSTD_decompress(x->got, ROOM, p, n)));
}

static void every_level_works(void **state)
{
	struct fix *x = *state;
	size_t first = 0;

	for (int i = 0; i < 3000; i++)
		put_record(x, 40 + 8 * (size_t)(noise(x) % 8), i % 5 == 0);
	for (int level = 1; level <= fmt_zip_level_max(); level++) {
		fmt_zip_free(x->zip);
		assert_int_equal(fmt_zip_new(&x->zip, level), 0);
		round_trip(x, 5, as_perf_does);
		if (level == 1)
			first = x->bytes;
	}
	assert_true(x->bytes < first);
	assert_int_equal(fmt_zip_level_max(), 22);
}

static void other_levels_are_refused(void **state)
{
	struct fmt_zip *z = NULL;

	(void)state;
	assert_int_equal(fmt_zip_new(&z, 0), -EINVAL);
	assert_int_equal(fmt_zip_new(&z, -5), -EINVAL);
	assert_int_equal(fmt_zip_new(&z, fmt_zip_level_max() + 1), -EINVAL);
	assert_null(z);
}

static void nothing_becomes_nothing(void **state)
{
	struct fix *x = *state;
	struct iovec rec;
	size_t inflated;

	assert_false(fmt_zip_more(x->zip));
	assert_int_equal(fmt_zip_next(x->zip, &rec, &inflated), 0);
	x->v[0] = x->v[1] = (struct iovec){ x->plain, 0 };
	fmt_zip_feed(x->zip, x->v, 2);
	assert_false(fmt_zip_more(x->zip));
	assert_int_equal(fmt_zip_next(x->zip, &rec, &inflated), 0);
}

static void what_are_no_records_is_refused(struct fix *x)
{
	size_t inflated;
	struct iovec rec;
	int got;

	fmt_zip_feed(x->zip, x->v, spread(x, 1));
	while ((got = fmt_zip_next(x->zip, &rec, &inflated)) > 0)
		;
	assert_int_equal(got, -EBADMSG);
	assert_false(fmt_zip_more(x->zip));
	assert_int_equal(fmt_zip_next(x->zip, &rec, &inflated), 0);
}

static void a_torn_or_a_tiny_record_is_refused(void **state)
{
	struct fix *x = *state;

	for (int i = 0; i < 2000; i++)
		put_record(x, 64, false);
	x->len -= 60; /* within a header */
	what_are_no_records_is_refused(x);
	x->len -= 4; /* whole records again */
	round_trip(x, 1, zstd_itself);
	le_put(x->plain + 64 * 1500 + 6, 7, 2);
	what_are_no_records_is_refused(x);
	le_put(x->plain + 64 * 1500 + 6, 64, 2);
	x->len -= 8; /* within a body */
	what_are_no_records_is_refused(x);
	x->len = 0;
	put_record(x, 65528, true);
	x->len -= 8; /* within what stands in a second piece */
	what_are_no_records_is_refused(x);
}

static void feeding_anew_forgets_what_was_fed(void **state)
{
	struct fix *x = *state;
	struct iovec rec;
	size_t inflated;

	put_record(x, 65528, true);
	put_record(x, 65528, true);
	fmt_zip_feed(x->zip, x->v, spread(x, 1));
	assert_int_equal(fmt_zip_next(x->zip, &rec, &inflated), 1);
	x->len = 0;
	put_record(x, 64, false);
	put_record(x, 65528, true);
	put_record(x, 64, false);
	round_trip(x, 3, zstd_itself);
	round_trip(x, 3, as_perf_does);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_record_is_a_frame_with_padding_before_it),
		TEST(small_records_come_back),
		TEST(one_record_and_one_of_every_residue_come_back),
		TEST(noise_comes_back_and_fits),
		TEST(records_of_nearly_64_kib_come_back),
		TEST(each_record_begins_with_a_record),
		TEST(damage_is_noticed),
		TEST(every_level_works),
		TEST(other_levels_are_refused),
		TEST(nothing_becomes_nothing),
		TEST(a_torn_or_a_tiny_record_is_refused),
		TEST(feeding_anew_forgets_what_was_fed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
