/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of events, features and compressed records; mending a file where it is. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/auxtrace.h"
#include "format/le.h"
#include "format/record.h"
#include "format/zip.h"
#include "tests/unit/handmade.h"
#include "tests/unit/recfix.h"

static struct mem_sink out;
static struct recfix good, got;
static struct recover c;
static struct fmt_reader r;

static int setup(void **state)
{
	(void)state;
	mem_sink(&out);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	recover_done(&c);
	fmt_reader_done(&r);
	recfix_done(&good);
	recfix_done(&got);
	return 0;
}

/* Recovers the bytes and reads what is written. */
static void recover(const struct fmt_buf *b)
{
	recover_done(&c);
	fmt_reader_done(&r);
	assert_int_equal(recfix_recover(&c, b->data, b->len, &out), 0);
	recfix_read(&got, &out);
	assert_int_equal(fmt_reader_open(&r, out.bytes, out.len), 0);
}

static enum recover_fate fate(enum fmt_feat feat)
{
	return c.features[feat].fate;
}

/* The same bytes in both files. */
static void is_copied(enum fmt_feat feat)
{
	const uint8_t *p, *q;
	struct fmt_reader from;
	uint64_t n, m;

	assert_int_equal(fate(feat), RECOVER_KEPT);
	assert_int_equal(fmt_reader_open(&from, good.b.data, good.b.len), 0);
	assert_int_equal(fmt_reader_feature(&from, feat, &p, &n), 0);
	assert_int_equal(fmt_reader_feature(&r, feat, &q, &m), 0);
	assert_int_equal(n, m);
	assert_memory_equal(p, q, n);
	fmt_reader_done(&from);
}

static void a_sound_file_is_written_as_it_was(void **state)
{
	(void)state;
	recfix_make(&good, false, 3);
	recover(&good.b);
	assert_true(recover_sound(&c));
	assert_int_equal(out.len, good.b.len);
	assert_memory_equal(out.bytes, good.b.data, out.len);
}

static void a_killed_file_gets_what_its_records_tell(void **state)
{
	const uint8_t *p;
	uint64_t len;

	(void)state;
	recfix_make(&good, false, 3);
	le_put(good.b.data + FMT_HDR_DATA_SIZE, 0, 8);
	good.b.len = good.data_end;
	recover(&good.b);
	assert_string_equal(recover_state(&c), "incomplete");
	assert_int_equal(got.n, good.n);
	assert_string_equal(r.events[0].name, "intel_pt//");
	assert_string_equal(r.events[1].name, "dummy:u");
	assert_int_equal(fmt_reader_feature(&r, FMT_FEAT_NRCPUS, &p, &len), 0);
	assert_int_equal(le_get32(p), 2);
	assert_int_equal(fmt_reader_feature(&r, FMT_FEAT_SAMPLE_TIME, &p, &len), 0);
	assert_int_equal(le_get64(p), 1);
	assert_int_equal(le_get64(p + 8), 2002);
	assert_int_equal(fmt_reader_feature(&r, FMT_FEAT_BUILD_ID, &p, &len), 0);
	assert_int_equal(len, 20 * 56); /* each library */
	assert_string_equal((const char *)p + 36, "/usr/lib/lib0.so");
	assert_int_equal(fmt_reader_feature(&r, FMT_FEAT_HOSTNAME, &p, &len), -ENOENT);
}

static void sound_features_are_copied_and_others_named(void **state)
{
	struct fmt_reader from;
	const uint8_t *p;
	uint64_t len;

	(void)state;
	recfix_make(&good, false, 3);
	assert_int_equal(fmt_reader_open(&from, good.b.data, good.b.len), 0);
	assert_int_equal(fmt_reader_feature(&from, FMT_FEAT_ARCH, &p, &len), 0);
	fmt_reader_done(&from);
	le_put(good.b.data + (p - good.b.data), 0xb3972f84, 4);
	recover(&good.b);
	assert_string_equal(recover_state(&c), "damaged");
	assert_int_equal(fate(FMT_FEAT_ARCH), RECOVER_DROPPED);
	assert_int_equal(c.features[FMT_FEAT_ARCH].at, p - good.b.data);
	assert_string_equal(c.features[FMT_FEAT_ARCH].expected,
			    "a text that ends within the section");
	is_copied(FMT_FEAT_HOSTNAME);
	is_copied(FMT_FEAT_CMDLINE);
	is_copied(FMT_FEAT_BUILD_ID);
	is_copied(FMT_FEAT_EVENT_DESC);
	assert_int_equal(fmt_reader_feature(&r, FMT_FEAT_ARCH, &p, &len), -ENOENT);
}

static void a_pipe_becomes_a_file(void **state)
{
	struct recfix file = { 0 };
	const uint8_t *p;
	uint64_t len;
	size_t k = 0;
	bool shorter;

	(void)state;
	recfix_make(&file, false, 3);
	recfix_make(&good, true, 3);
	recover(&good.b);
	assert_true(recover_sound(&c));
	assert_int_equal(got.n, file.n);
	for (; k < got.n; k++)
		assert_true(recfix_same(&file, k, &got, k, &shorter) && !shorter);
	assert_int_equal(r.nr_events, 2);
	assert_int_equal(r.events[1].nr_ids, 2);
	assert_int_equal(le_get64(r.events[1].ids + 8), 22);
	assert_string_equal(fmt_reader_feature_str(&r, FMT_FEAT_HOSTNAME), "box");
	assert_int_equal(fmt_reader_feature(&r, FMT_FEAT_BUILD_ID, &p, &len), 0);
	assert_string_equal((const char *)p + 36, "/bin/x"); /* as the recorder sent it, */
	assert_int_equal(len, 48 + 20 * 56);		      /* and the libraries */
	recfix_done(&file);
}

/* Header, one event with one id, records of that event. */
static void make_small(struct fmt_buf *b, uint32_t type, size_t attr_size, uint8_t last,
		       const struct fmt_buf *records)
{
	fmt_put_le(b, FMT_MAGIC, 8);
	fmt_put_le(b, FMT_HEADER_SIZE, 8);
	fmt_put_le(b, attr_size + 16, 8);
	fmt_put_le(b, 112, 8); /* attrs */
	fmt_put_le(b, attr_size + 16, 8);
	fmt_put_le(b, 128 + attr_size, 8); /* data */
	fmt_put_le(b, 0, 8);
	fmt_put_zero(b, 16 + 32);
	fmt_put_le(b, 33, 8); /* the id */
	handmade_attr(b, type, 77, HANDMADE_SAMPLE_TYPE, FMT_ATTR_F_SAMPLE_ID_ALL, attr_size);
	b->data[b->len - 1] = last;
	fmt_put_le(b, 104, 8);
	fmt_put_le(b, 8, 8);
	fmt_put(b, records->data, records->len);
	assert_int_equal(b->err, 0);
}

static void put_switches(struct fmt_buf *b, unsigned n)
{
	struct fmt_trailer t = { 7, 7, 1, 0, 33 };

	for (unsigned i = 0; i < n; i++) {
		t.time = 100 + i;
		fmt_put_itrace_start(b, 7, 7, &t);
	}
}

static void attrs_are_as_small_as_they_can_be(void **state)
{
	static const struct { size_t size; uint8_t last; uint32_t want; } t[] = {
		{ 64, 0, 64 }, { 112, 5, 112 }, { 128, 5, 128 },
		{ 136, 0, 128 }, { 136, 5, 136 }, { 144, 0, 128 }, { 144, 9, 144 },
	};
	struct fmt_buf b = { 0 }, records = { 0 };

	(void)state;
	put_switches(&records, 3);
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		fmt_buf_reset(&b);
		make_small(&b, 8, t[i].size, t[i].last, &records);
		recover(&b);
		assert_int_equal(r.events[0].attr_size, t[i].want);
		assert_int_equal(le_get32(r.events[0].attr + FMT_ATTR_AT_SIZE), t[i].want);
		assert_int_equal(r.events[0].attr[t[i].want - 1], t[i].last);
		assert_int_equal(le_get64(r.events[0].ids), 33);
		assert_int_equal(got.n, 3);
	}
	fmt_buf_done(&b);
	fmt_buf_done(&records);
}

/* perf opens no file with a tracepoint but without tracing data. */
static void a_tracepoint_without_its_format_is_raw(void **state)
{
	struct fmt_buf b = { 0 }, records = { 0 };

	(void)state;
	put_switches(&records, 2);
	make_small(&b, FMT_TYPE_TRACEPOINT, 128, 0, &records);
	recover(&b); /* mem_check_file() looks, too */
	assert_int_equal(le_get32(r.events[0].attr), FMT_TYPE_RAW);
	assert_int_equal(le_get64(r.events[0].attr + FMT_ATTR_AT_CONFIG), 77);
	assert_false(recover_can_patch(&c));
	fmt_buf_done(&b);
	fmt_buf_done(&records);
}

static void put_zipped(struct fmt_buf *b, const struct fmt_buf *records)
{
	struct iovec v = { records->data, records->len };
	struct fmt_zip *z;
	struct iovec rec;
	size_t n;

	assert_int_equal(fmt_zip_new(&z, 1), 0);
	fmt_zip_feed(z, &v, 1);
	while (fmt_zip_more(z)) {
		assert_true(fmt_zip_next(z, &rec, &n) >= 0);
		fmt_put(b, rec.iov_base, rec.iov_len);
	}
	fmt_zip_free(z);
}

static void compressed_records_are_stored_inflated(void **state)
{
	struct fmt_buf b = { 0 }, plain = { 0 }, records = { 0 };
	size_t at;

	(void)state;
	put_switches(&plain, 2000); /* more than one COMPRESSED record holds */
	at = fmt_record_begin(&records, FMT_REC_HEADER_FEATURE, 0);
	fmt_put_le(&records, FMT_FEAT_COMPRESSED, 8);
	fmt_put_zero(&records, 24);
	fmt_record_end(&records, at);
	put_switches(&records, 1);
	put_zipped(&records, &plain);
	put_switches(&records, 1);
	make_small(&b, 8, 128, 0, &records);
	recover(&b);
	assert_int_equal(c.inflated, 2000);
	assert_int_equal(c.nr_data, 2002);
	assert_int_equal(got.n, 2002);
	assert_memory_equal(got.b.data + got.at[1], plain.data, plain.len);
	assert_int_equal(c.nr_gaps, 0);
	assert_false(recover_can_patch(&c));
	fmt_buf_done(&b);
	fmt_buf_done(&plain);
	fmt_buf_done(&records);
}

enum { WRONG_SIZE = 12345 };

/* A sink whose file is there already: what is killed at any call must be no worse. */
static void start_in_place(const struct fmt_buf *b)
{
	recover_done(&c);
	assert_int_equal(recover_scan(&c, b->data, b->len, NULL, NULL), 0);
	assert_true(recover_can_patch(&c));
	mem_sink_again(&out);
	memcpy(out.bytes, b->data, b->len);
	out.len = b->len;
}

static void check_no_worse(size_t n)
{
	struct fmt_buf half = { 0 };
	struct mem_sink *whole = calloc(1, sizeof(*whole));
	bool shorter;

	assert_non_null(whole);
	/* A size that was stored is right, and so is what the header promises besides. */
	if (le_get64(out.bytes + FMT_HDR_DATA_SIZE) != WRONG_SIZE)
		mem_check_file(&out);
	fmt_put(&half, out.bytes, out.len);
	recover_done(&c);
	assert_int_equal(recfix_recover(&c, half.data, half.len, whole), 0);
	recfix_read(&got, whole);
	assert_true(got.n == n || got.n == n + 1);
	for (size_t i = 0; i < n; i++)
		assert_true(recfix_same(&good, i, &got, i, &shorter) && !shorter);
	fmt_buf_done(&half);
	free(whole);
}

static void mend_in_place(const struct fmt_buf *b, size_t n)
{
	struct fmt_sink sink = mem_sink_again(&out);
	bool shorter;
	int err = -EIO;

	for (unsigned fault = 0; fault < 2; fault++)
		for (unsigned k = 1; err; k++) {
			start_in_place(b);
			out.fail_at = k;
			out.err = -EIO;
			out.fault = fault ? MEM_FAULT_TORN : MEM_FAULT_CLEAN;
			err = recover_patch(&c, &sink);
			out.fail_at = 0;
			if (err)
				check_no_worse(n);
			assert_true(k < 40);
			if (!err && !fault) {
				err = -EIO;
				break;
			}
		}
	recfix_read(&got, &out);
	assert_true(got.n == n || got.n == n + 1);
	for (size_t i = 0; i < n; i++)
		assert_true(recfix_same(&good, i, &got, i, &shorter) && !shorter);
	assert_int_equal(fmt_reader_open(&r, out.bytes, out.len), 0);
	assert_true(r.finished);
	assert_string_equal(r.events[0].name, "intel_pt//");
}

static void a_killed_file_is_mended_where_it_is(void **state)
{
	struct fmt_buf b;

	(void)state;
	recfix_make(&good, false, 3);
	b = good.b;
	le_put(b.data + FMT_HDR_DATA_SIZE, WRONG_SIZE, 8); /* stands for 0 */
	b.len = good.at[good.n - 2] + 48 + 100; /* in the middle of trace */
	assert_int_equal(le_get32(b.data + good.at[good.n - 2]), FMT_REC_AUXTRACE);
	mend_in_place(&b, good.n - 2);
	assert_int_equal(le_get64(out.bytes + good.at[good.n - 2] + 8), 96);
}

static void a_wrong_size_is_put_right_where_it_is(void **state)
{
	struct fmt_buf b = { 0 };

	(void)state;
	recfix_make(&good, false, 3);
	fmt_put(&b, good.b.data, good.b.len);
	le_put(b.data + FMT_HDR_DATA_SIZE, WRONG_SIZE, 8);
	mend_in_place(&b, good.n);
	assert_int_equal(out.len, good.b.len);
	assert_memory_equal(out.bytes, good.b.data, out.len);
	assert_string_equal(out.log, "sy");
	fmt_buf_done(&b);
}

/* What would be lost under new features, or does not stand in one row. */
static void other_files_are_not_mended_where_they_are(void **state)
{
	(void)state;
	recfix_make(&good, false, 3);
	le_put(good.b.data + good.at[5], UINT64_MAX, 8);
	assert_int_equal(recfix_recover(&c, good.b.data, good.b.len, &out), 0);
	assert_false(recover_can_patch(&c));
	recfix_done(&good);
	recover_done(&c);
	recfix_make(&good, false, 3);
	le_put(good.b.data + good.b.len - 2048, UINT64_MAX, 8);
	memset(good.b.data + good.data_end + 16, 0xff, 16); /* one entry of the table */
	assert_int_equal(recfix_recover(&c, good.b.data, good.b.len, &out), 0);
	assert_true(recover_lost(&c));
	assert_false(recover_can_patch(&c));
	recfix_done(&good);
	recover_done(&c);
	recfix_make(&good, true, 3);
	assert_int_equal(recfix_recover(&c, good.b.data, good.b.len - 9, &out), 0);
	assert_false(recover_can_patch(&c));
}

static void every_failure_to_write_is_told(void **state)
{
	struct fmt_sink sink = mem_sink_again(&out);
	int err = -ENOSPC;

	(void)state;
	recfix_make(&good, false, 3);
	assert_int_equal(recover_scan(&c, good.b.data, good.b.len - 1, NULL, NULL), 0);
	for (unsigned k = 1; err; k++) {
		mem_sink_again(&out);
		out.fail_at = k;
		out.err = -ENOSPC;
		err = recover_write(&c, &sink);
		assert_true(!err || err == -ENOSPC);
		assert_true(k < 100);
	}
	out.fail_at = 0;
	recfix_read(&got, &out);
	assert_int_equal(got.n, good.n);
}

static void the_mark_of_a_directory_stays_in_it(void **state)
{
	(void)state;
	recfix_make(&good, false, 1);
	recover(&good.b);
	c.features[FMT_FEAT_DIR_FORMAT].fate = RECOVER_KEPT;
	c.features[FMT_FEAT_DIR_FORMAT].p = c.p;
	assert_false(recover_lost(&c));
	recover_leave_dir(&c);
	assert_true(recover_lost(&c));
	assert_int_equal(fate(FMT_FEAT_DIR_FORMAT), RECOVER_DROPPED);
}

/* Two chunks of trace of one queue: the second is cut in a TIP that began in it. */
static void a_packet_that_is_cut_becomes_padding(void **state)
{
	static const uint8_t psb[] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
				       2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };
	static const uint8_t tip[] = { 0x6d, 1, 2, 3, 4, 5, 6 }; /* 48 bits of IP */
	struct fmt_auxtrace a = { .size = 24, .tid = UINT32_MAX };
	struct fmt_pt_info info = { .pmu_type = 8 };
	struct fmt_buf b = { 0 }, records = { 0 };

	(void)state;
	fmt_put_pt_info(&records, &info);
	fmt_put_auxtrace(&records, &a);
	fmt_put(&records, psb, sizeof(psb));
	fmt_put(&records, tip, 7);
	fmt_put_zero(&records, 1);
	a.size = 32;
	fmt_put_auxtrace(&records, &a);
	for (int i = 0; i < 3; i++)
		fmt_put(&records, tip, 7);
	make_small(&b, 8, 128, 0, &records);
	recover(&b);
	assert_int_equal(c.nr_torn, 1);
	assert_int_equal(got.n, 3);
	assert_int_equal(got.b.len - got.data_end > 0, 1);
	/* 16 of the 21 bytes: two TIPs, and two bytes of the third that are PAD now. */
	assert_int_equal(le_get64(got.b.data + got.at[2] + 8), 16);
	assert_memory_equal(got.b.data + got.at[2] + 48, tip, 7);
	assert_memory_equal(got.b.data + got.at[2] + 48 + 7, tip, 7);
	assert_int_equal(le_get16(got.b.data + got.at[2] + 48 + 14), 0);
	fmt_buf_done(&b);
	fmt_buf_done(&records);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_sound_file_is_written_as_it_was),
		TEST(a_killed_file_gets_what_its_records_tell),
		TEST(sound_features_are_copied_and_others_named),
		TEST(a_pipe_becomes_a_file),
		TEST(attrs_are_as_small_as_they_can_be),
		TEST(a_tracepoint_without_its_format_is_raw),
		TEST(compressed_records_are_stored_inflated),
		TEST(a_killed_file_is_mended_where_it_is),
		TEST(a_wrong_size_is_put_right_where_it_is),
		TEST(other_files_are_not_mended_where_they_are),
		TEST(every_failure_to_write_is_told),
		TEST(the_mark_of_a_directory_stays_in_it),
		TEST(a_packet_that_is_cut_becomes_padding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
