/* SPDX-License-Identifier: Apache-2.0 */
/* Feature sections, COMPRESSED records, build ids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <zstd.h>

#include "format/abi.h"
#include "format/le.h"
#include "tests/unit/checkfix.h"

static void begin(struct checkfix *f)
{
	checkfix_begin(f);
	checkfix_round(f);
}

/* Where the payload of the first of n features will stand. */
static uint64_t payload_at(const struct checkfix *f, size_t n)
{
	return f->b.len + 16 * n;
}

static void put_words(struct fmt_buf *b, const uint64_t *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fmt_put_le(b, w[i], 8);
}

static void a_feature_outside_of_the_file_is_damage(void **state)
{
	struct checkfix *f = *state;
	uint64_t table;

	begin(f);
	table = f->b.len;
	checkfix_end(f);
	le_put(f->b.data + table + 8, 1 << 20, 8);
	checkfix_judge(f);
	checkfix_has(f, CHECK_FEATURE, 1, table);
}

static void a_text_without_its_end_is_damage(void **state)
{
	struct checkfix *f = *state;
	static const char length[] = "\x84\x2f\x97\xb3, the length of a text";
	uint64_t at;

	begin(f);
	at = payload_at(f, 1);
	fmt_put(checkfix_feature(f, FMT_FEAT_HOSTNAME), length, sizeof(length));
	checkfix_finish(f);
	checkfix_only(f, CHECK_FEATURE, 1, at);
}

static void an_empty_feature_is_a_remark(void **state)
{
	struct checkfix *f = *state;
	uint64_t at;

	begin(f);
	at = payload_at(f, 1);
	checkfix_feature(f, FMT_FEAT_CPUDESC);
	checkfix_finish(f);
	checkfix_only(f, CHECK_EMPTY_FEATURE, 1, at);
}

static void the_feature_branch_stack_is_empty(void **state)
{
	struct checkfix *f = *state;

	begin(f);
	checkfix_feature(f, FMT_FEAT_BRANCH_STACK);
	checkfix_finish(f);
	checkfix_sound(f);
}

static void features_of_others_are_a_remark(void **state)
{
	struct checkfix *f = *state;
	uint64_t at;

	begin(f);
	at = payload_at(f, 1);
	checkfix_text(checkfix_feature(f, 129), "meta");
	checkfix_finish(f);
	checkfix_only(f, CHECK_UNKNOWN_FEATURE, 1, at);
}

static void a_new_version_is_a_remark(void **state)
{
	struct checkfix *f = *state;
	struct fmt_buf *b;
	uint64_t at;

	begin(f);
	at = payload_at(f, 1);
	b = checkfix_feature(f, FMT_FEAT_CLOCK_DATA);
	fmt_put_le(b, 2, 4);
	fmt_put_zero(b, 20);
	checkfix_finish(f);
	checkfix_only(f, CHECK_UNKNOWN_FEATURE, 1, at);
}

/* NRCPUS says 2; ids of cores and sockets of n. */
static void put_topology(struct checkfix *f, unsigned n)
{
	struct fmt_buf *b = checkfix_feature(f, FMT_FEAT_NRCPUS);

	fmt_put_le(b, 2, 4);
	fmt_put_le(b, 2, 4);
	b = checkfix_feature(f, FMT_FEAT_CPU_TOPOLOGY);
	for (unsigned i = 0; i < 2; i++) {
		fmt_put_le(b, 1, 4);
		checkfix_text(b, "0-1");
	}
	fmt_put_zero(b, 8 * n);
}

static void each_cpu_has_its_place_in_the_topology(void **state)
{
	struct checkfix *f = *state;
	uint64_t at;

	begin(f);
	at = payload_at(f, 2) + 8;
	put_topology(f, 1);
	checkfix_finish(f);
	checkfix_only(f, CHECK_FEATURE, 1, at + 2 * (4 + 4 + 64));
}

static void the_topology_of_old_recorders_is_shorter(void **state)
{
	struct checkfix *f = *state;

	begin(f);
	put_topology(f, 0);
	checkfix_finish(f);
	checkfix_sound(f);
}

/* Dies, and what comes after them. */
static void the_topology_of_new_recorders_is_longer(void **state)
{
	struct checkfix *f = *state;
	struct fmt_buf *b;

	begin(f);
	put_topology(f, 2);
	b = &f->feature[1].b;
	fmt_put_le(b, 1, 4);
	checkfix_text(b, "0-1");
	fmt_put_zero(b, 8);
	fmt_put_zero(b, 40);
	checkfix_finish(f);
	checkfix_sound(f);
}

/* The layout of version 0.6, with files of a few bytes. */
static void put_tracing(struct fmt_buf *b)
{
	fmt_put(b, "\27\10\104tracing0.6\0\0\10\0\20\0\0", 20);
	fmt_put(b, "header_page\0", 12);
	fmt_put_le(b, 3, 8);
	fmt_put(b, "abc", 3);
	fmt_put(b, "header_event\0", 13);
	fmt_put_le(b, 2, 8);
	fmt_put(b, "de", 2);
	fmt_put_le(b, 0, 4); /* formats of ftrace */
	fmt_put_le(b, 1, 4); /* systems */
	fmt_put(b, "sched\0", 6);
	fmt_put_le(b, 1, 4);
	fmt_put_le(b, 4, 8);
	fmt_put(b, "fghi", 4);
	fmt_put_le(b, 0, 4); /* kallsyms */
	fmt_put_le(b, 0, 4); /* printk_formats */
	fmt_put_le(b, 0, 8); /* saved_cmdlines */
}

static void tracing_data_is_followed_to_its_end(void **state)
{
	struct checkfix *f = *state;
	struct fmt_buf *b;
	uint64_t at;

	begin(f);
	at = payload_at(f, 1);
	b = checkfix_feature(f, FMT_FEAT_TRACING_DATA);
	put_tracing(b);
	checkfix_end(f);
	checkfix_judge(f);
	checkfix_sound(f);
	/* The one format is said to be longer than what is there. */
	le_put(f->b.data + at + b->len - 16 - 4 - 8, 100, 8);
	checkfix_judge(f);
	checkfix_only(f, CHECK_FEATURE, 1, at + b->len - 16 - 4);
}

static void the_time_of_samples_covers_them(void **state)
{
	struct checkfix *f = *state;
	uint64_t at;

	checkfix_begin(f);
	checkfix_user(f, FMT_REC_SAMPLE, /* IDENTIFIER IP TID TIME CPU */
		      (uint64_t[]){ CHECKFIX_PT_ID, 0x1000, 7, 5000, 0 }, 5);
	checkfix_round(f);
	at = payload_at(f, 1);
	put_words(checkfix_feature(f, FMT_FEAT_SAMPLE_TIME), (uint64_t[]){ 5000, 5000 }, 2);
	checkfix_end(f);
	checkfix_judge(f);
	checkfix_sound(f);
	le_put(f->b.data + at, 5001, 8);
	le_put(f->b.data + at + 8, 6000, 8);
	checkfix_judge(f);
	checkfix_only(f, CHECK_OUTSIDE_TIME, 1, at);
	le_put(f->b.data + at + 8, 5000, 8);
	checkfix_judge(f);
	checkfix_has(f, CHECK_FEATURE, 1, at);
	memset(f->b.data + at, 0, 16); /* a recorder that looked at no sample */
	checkfix_judge(f);
	checkfix_sound(f);
}

/* What handmade_file() says of its events, in the right order. */
static struct fmt_buf *put_descriptions(struct checkfix *f)
{
	struct fmt_buf *b = checkfix_feature(f, FMT_FEAT_EVENT_DESC);

	fmt_put_le(b, 2, 4);
	fmt_put_le(b, 128, 4);
	fmt_put(b, f->b.data + 128, 128);
	fmt_put_le(b, 2, 4);
	checkfix_text(b, "intel_pt//");
	put_words(b, (uint64_t[]){ CHECKFIX_PT_ID, CHECKFIX_PT_ID_1 }, 2);
	fmt_put(b, f->b.data + 272, 128);
	fmt_put_le(b, 1, 4);
	checkfix_text(b, "dummy:u");
	put_words(b, (uint64_t[]){ CHECKFIX_DUMMY_ID }, 1);
	return b;
}

static void descriptions_are_of_the_events(void **state)
{
	struct checkfix *f = *state;
	uint64_t at;
	uint8_t *p;

	begin(f);
	at = payload_at(f, 1);
	put_descriptions(f);
	checkfix_end(f);
	checkfix_judge(f);
	checkfix_sound(f);
	p = f->b.data + at;
	p[8 + FMT_ATTR_AT_CONFIG] ^= 1;
	checkfix_judge(f);
	checkfix_only(f, CHECK_EVENT_DESC, 1, at + 8);
	p[8 + FMT_ATTR_AT_CONFIG] ^= 1;
	/* Flags may be cleared, so that old readers keep the names. */
	p[8 + FMT_ATTR_AT_FLAGS + 3] ^= 0x80;
	checkfix_judge(f);
	checkfix_sound(f);
	p[8 + 128 + 4 + 68 + 8] ^= 1; /* the second id */
	checkfix_judge(f);
	checkfix_only(f, CHECK_EVENT_DESC, 1, at + 8 + 128 + 4 + 68 + 8);
}

static void there_are_as_many_descriptions_as_events(void **state)
{
	struct checkfix *f = *state;
	uint64_t at;

	begin(f);
	at = payload_at(f, 1);
	le_put(put_descriptions(f)->data, 1, 4);
	checkfix_finish(f);
	checkfix_only(f, CHECK_EVENT_DESC, 1, at);
}

static void groups_are_made_of_events(void **state)
{
	struct checkfix *f = *state;
	struct fmt_buf *b;
	uint64_t at;

	begin(f);
	at = payload_at(f, 1) + 4 + 68;
	b = checkfix_feature(f, FMT_FEAT_GROUP_DESC);
	fmt_put_le(b, 1, 4);
	checkfix_text(b, "{anon_group}");
	fmt_put_le(b, 0, 4);
	fmt_put_le(b, 2, 4);
	checkfix_end(f);
	checkfix_judge(f);
	checkfix_sound(f);
	le_put(f->b.data + at, 1, 4);
	checkfix_judge(f);
	checkfix_only(f, CHECK_GROUP_DESC, 1, at);
}

static void an_index_shorter_than_it_says_is_damage(void **state)
{
	struct checkfix *f = *state;
	struct fmt_buf *b;
	uint64_t at;

	begin(f);
	at = payload_at(f, 1);
	b = checkfix_feature(f, FMT_FEAT_AUXTRACE);
	put_words(b, (uint64_t[]){ 2, 416, 48 }, 3);
	checkfix_finish(f);
	checkfix_has(f, CHECK_FEATURE, 1, at + 24);
}

/* ---- COMPRESSED ---- */

/* A frame with n switch records. Returns the bytes that are in it. */
static size_t put_frame(struct checkfix *f, size_t n, uint64_t time)
{
	struct checkfix inner = { 0 };
	size_t plain, len;
	char *z;

	for (size_t i = 0; i < n; i++)
		checkfix_kernel(&inner, FMT_REC_ITRACE_START, 0, (uint64_t[]){ 7 }, 1,
				(struct checkfix_who){ 7, time + i, 0, CHECKFIX_PT_ID });
	plain = inner.b.len;
	z = malloc(ZSTD_compressBound(plain));
	assert_non_null(z);
	len = ZSTD_compress(z, ZSTD_compressBound(plain), inner.b.data, plain, 1);
	assert_false(ZSTD_isError(len));
	checkfix_user(f, FMT_REC_COMPRESSED, NULL, 0);
	le_put(f->b.data + f->at + FMT_REC_AT_SIZE, 8 + len, 2);
	fmt_put(&f->b, z, len);
	free(z);
	fmt_buf_done(&inner.b);
	return plain;
}

static void put_compressed(struct checkfix *f, uint32_t type, uint32_t mmap_len)
{
	struct fmt_buf *b = checkfix_feature(f, FMT_FEAT_COMPRESSED);

	fmt_put_le(b, 0, 4);
	fmt_put_le(b, type, 4);
	fmt_put_le(b, 1, 4);
	fmt_put_le(b, 5, 4);
	fmt_put_le(b, mmap_len, 4);
}

static void compressed_records_need_their_feature(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	put_frame(f, 10, 1000);
	checkfix_finish(f);
	checkfix_only(f, CHECK_COMPRESSED, 1, f->at);
	assert_int_equal(f->rep.records, 11);
}

static void they_hold_no_more_than_their_feature_says(void **state)
{
	struct checkfix *f = *state;

	checkfix_begin(f);
	assert_true(put_frame(f, 6000, 1000) > 3 * 65536);
	put_compressed(f, 1, 1 << 20);
	checkfix_end(f);
	checkfix_judge(f);
	checkfix_sound(f);
	le_put(f->b.data + f->b.len - 4, 65536, 4);
	checkfix_judge(f);
	checkfix_only(f, CHECK_COMPRESSED, 1, f->at);
}

static void they_are_made_by_zstd(void **state)
{
	struct checkfix *f = *state;
	uint64_t at;

	checkfix_begin(f);
	put_frame(f, 10, 1000);
	at = payload_at(f, 1);
	put_compressed(f, 2, 1 << 20);
	checkfix_finish(f);
	checkfix_only(f, CHECK_COMPRESSED, 1, at + 4);
}

static void a_frame_that_does_not_inflate_is_damage(void **state)
{
	struct checkfix *f = *state;
	uint64_t bad;

	checkfix_begin(f);
	put_frame(f, 10, 1000);
	put_frame(f, 10, 2000);
	bad = f->at;
	put_frame(f, 10, 3000);
	f->b.data[bad + 8] ^= 1; /* zstd's magic */
	put_compressed(f, 1, 1 << 20);
	checkfix_finish(f);
	checkfix_only(f, CHECK_ODD, 1, bad);
	assert_int_equal(f->rep.records, 23); /* what stands behind it is read */
}

/* COMPRESSED2 tells how long its frame is; behind it may be padding. */
static void a_frame_ends_within_its_record(void **state)
{
	struct checkfix *f = *state;
	uint64_t said;

	checkfix_begin(f);
	put_frame(f, 10, 1000);
	said = f->b.len - f->at - 8;
	fmt_put_zero(&f->b, 8 + (8 - said % 8) % 8);
	memmove(f->b.data + f->at + 16, f->b.data + f->at + 8, said);
	le_put(f->b.data + f->at, FMT_REC_COMPRESSED2, 4);
	le_put(f->b.data + f->at + FMT_REC_AT_SIZE, f->b.len - f->at, 2);
	le_put(f->b.data + f->at + 8, said, 8);
	put_compressed(f, 1, 1 << 20);
	checkfix_end(f);
	checkfix_judge(f);
	checkfix_only(f, CHECK_UNKNOWN_TYPE, 1, f->at); /* newer than perf 6.1 */
	assert_int_equal(f->rep.records, 11);
	le_put(f->b.data + f->at + 8, UINT64_MAX, 8);
	checkfix_judge(f);
	checkfix_has(f, CHECK_SHORT, 1, f->at);
}

static void trace_in_a_frame_is_found_by_nobody(void **state)
{
	struct checkfix *f = *state;
	struct checkfix inner = { 0 };
	char z[256];
	size_t len;

	checkfix_begin_pt(f);
	checkfix_trace(&inner, 0, 64);
	len = ZSTD_compress(z, sizeof(z), inner.b.data, inner.b.len, 1);
	assert_false(ZSTD_isError(len));
	fmt_buf_done(&inner.b);
	checkfix_user(f, FMT_REC_COMPRESSED, NULL, 0);
	le_put(f->b.data + f->at + FMT_REC_AT_SIZE, 8 + len, 2);
	fmt_put(&f->b, z, len);
	put_compressed(f, 1, 1 << 20);
	checkfix_finish(f);
	checkfix_only(f, CHECK_HIDDEN_TRACE, 1, f->at);
}

/* ---- build ids ---- */

static void put_mmap2(struct checkfix *f, const char *name, uint8_t id)
{
	uint64_t w[10] = { 7, 0x1000, 0x1000, 0, 20, 0, 0, 5 };

	for (size_t i = 0; i < 20; i++)
		((uint8_t *)w)[36 + i] = id;
	memcpy(w + 8, name, strlen(name));
	checkfix_kernel(f, FMT_REC_MMAP2, FMT_MISC_USER | FMT_MISC_MMAP_BUILD_ID, w, 10,
			(struct checkfix_who){ 7, 5000, 0, CHECKFIX_DUMMY_ID });
}

static void a_name_has_one_build_id(void **state)
{
	struct checkfix *f = *state;
	struct fmt_buf *b;

	checkfix_begin(f);
	put_mmap2(f, "/bin/true", 0x11);
	put_mmap2(f, "/bin/false", 0x22);
	put_mmap2(f, "/bin/true", 0x33);
	b = checkfix_feature(f, FMT_FEAT_BUILD_ID);
	fmt_put_le(b, 67, 4);
	fmt_put_le(b, FMT_MISC_USER | FMT_MISC_BUILD_ID_SIZE, 2);
	fmt_put_le(b, 36 + 16, 2);
	fmt_put_le(b, UINT32_MAX, 4);
	for (size_t i = 0; i < 20; i++)
		fmt_put_le(b, 0x11, 1);
	fmt_put_le(b, 20, 4);
	fmt_put_str(b, "/bin/true", 16);
	checkfix_finish(f);
	checkfix_only(f, CHECK_BUILD_ID, 1, f->at);
	assert_non_null(strstr(f->rep.found[CHECK_BUILD_ID].found, "/bin/true"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, checkfix_setup, checkfix_teardown)
	const struct CMUnitTest tests[] = {
		T(a_feature_outside_of_the_file_is_damage),
		T(a_text_without_its_end_is_damage),
		T(an_empty_feature_is_a_remark),
		T(the_feature_branch_stack_is_empty),
		T(features_of_others_are_a_remark),
		T(a_new_version_is_a_remark),
		T(each_cpu_has_its_place_in_the_topology),
		T(the_topology_of_old_recorders_is_shorter),
		T(the_topology_of_new_recorders_is_longer),
		T(tracing_data_is_followed_to_its_end),
		T(the_time_of_samples_covers_them),
		T(descriptions_are_of_the_events),
		T(there_are_as_many_descriptions_as_events),
		T(groups_are_made_of_events),
		T(an_index_shorter_than_it_says_is_damage),
		T(compressed_records_need_their_feature),
		T(they_hold_no_more_than_their_feature_says),
		T(they_are_made_by_zstd),
		T(a_frame_that_does_not_inflate_is_damage),
		T(a_frame_ends_within_its_record),
		T(trace_in_a_frame_is_found_by_nobody),
		T(a_name_has_one_build_id),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
