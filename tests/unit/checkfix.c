/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/checkfix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/abi.h"
#include "format/le.h"

int checkfix_setup(void **state)
{
	*state = calloc(1, sizeof(struct checkfix));
	return *state ? 0 : 1;
}

int checkfix_teardown(void **state)
{
	struct checkfix *f = *state;

	for (size_t i = 0; i < f->nr_features; i++)
		fmt_buf_done(&f->feature[i].b);
	fmt_reader_done(&f->in.r);
	fmt_buf_done(&f->b);
	free(f->copy);
	free(f);
	return 0;
}

void checkfix_begin(struct checkfix *f)
{
	struct handmade h;

	handmade_file(&h);
	fmt_put(&f->b, h.b.data, h.data_at);
	fmt_buf_done(&h.b);
	memset(f->b.data + FMT_HDR_FEATURES, 0, 32);
}

void checkfix_user(struct checkfix *f, uint32_t type, const uint64_t *words, size_t n)
{
	f->at = f->b.len;
	fmt_put_le(&f->b, type, 4);
	fmt_put_le(&f->b, 0, 2);
	fmt_put_le(&f->b, 8 + 8 * n, 2);
	for (size_t i = 0; i < n; i++)
		fmt_put_le(&f->b, words[i], 8);
}

void checkfix_kernel(struct checkfix *f, uint32_t type, uint16_t misc,
		     const uint64_t *words, size_t n, struct checkfix_who who)
{
	checkfix_user(f, type, words, n);
	le_put(f->b.data + f->at + FMT_REC_AT_MISC, misc, 2);
	le_put(f->b.data + f->at + FMT_REC_AT_SIZE, 8 + 8 * n + 32, 2);
	fmt_put_le(&f->b, who.tid, 4);
	fmt_put_le(&f->b, who.tid, 4);
	fmt_put_le(&f->b, who.time, 8);
	fmt_put_le(&f->b, who.cpu, 8);
	fmt_put_le(&f->b, who.id, 8);
}

void checkfix_info(uint64_t words[CHECKFIX_INFO_WORDS])
{
	const uint64_t w[CHECKFIX_INFO_WORDS] = {
		8, 10, 1024, 0, 1, /* PMU type; a TSC of 1 GHz */
		0x400, 0x800, 3, 0, 1, /* TSC, no-ret; CPU-wide switches, full, per cpu */
		0x200, 0x3c000, 0, 0, 0x2, 10, 0,
	};

	memcpy(words, w, sizeof(w));
}

void checkfix_put_info(struct checkfix *f, uint32_t kind, const uint64_t *words, size_t n)
{
	checkfix_user(f, FMT_REC_AUXTRACE_INFO, &(uint64_t){ kind }, 1);
	le_put(f->b.data + f->at + FMT_REC_AT_SIZE, 16 + 8 * n, 2);
	for (size_t i = 0; i < n; i++)
		fmt_put_le(&f->b, words[i], 8);
}

void checkfix_begin_pt(struct checkfix *f)
{
	const uint64_t ids[] = { 3, CHECKFIX_PT_ID, 0, 0, UINT64_MAX,
				 CHECKFIX_PT_ID_1, 1, 1, UINT64_MAX,
				 CHECKFIX_DUMMY_ID, 0, 0, UINT64_MAX };
	uint64_t words[CHECKFIX_INFO_WORDS];

	checkfix_begin(f);
	checkfix_user(f, FMT_REC_ID_INDEX, ids, 13);
	checkfix_info(words);
	checkfix_put_info(f, FMT_AUXTRACE_INTEL_PT, words, CHECKFIX_INFO_WORDS);
}

void checkfix_round(struct checkfix *f)
{
	checkfix_user(f, FMT_REC_FINISHED_ROUND, NULL, 0);
}

static void put_switch(struct checkfix *f, uint16_t misc, uint32_t tid, uint32_t other,
		       uint64_t time)
{
	checkfix_kernel(f, FMT_REC_SWITCH_CPU_WIDE, misc,
			&(uint64_t){ other | (uint64_t)other << 32 }, 1,
			(struct checkfix_who){ tid, time, 0, CHECKFIX_DUMMY_ID });
}

void checkfix_in(struct checkfix *f, uint32_t tid, uint32_t other, uint64_t time)
{
	put_switch(f, 0, tid, other, time);
}

void checkfix_out(struct checkfix *f, uint32_t tid, uint32_t other, uint64_t time)
{
	put_switch(f, FMT_MISC_SWITCH_OUT, tid, other, time);
}

void checkfix_aux(struct checkfix *f, uint64_t offset, uint64_t size, uint64_t flags)
{
	checkfix_kernel(f, FMT_REC_AUX, 0, (uint64_t[]){ offset, size, flags }, 3,
			(struct checkfix_who){ 700, 5000, 0, CHECKFIX_PT_ID });
}

void checkfix_trace_of(struct checkfix *f, uint32_t idx, uint32_t cpu, uint32_t tid,
		       uint64_t offset, uint64_t size)
{
	f->index[f->nr_index++] = f->b.len;
	checkfix_user(f, FMT_REC_AUXTRACE,
		      (uint64_t[]){ size, offset, 0x1234, idx | (uint64_t)tid << 32, cpu },
		      5);
	fmt_put_zero(&f->b, size);
}

void checkfix_trace(struct checkfix *f, uint64_t offset, uint64_t size)
{
	checkfix_trace_of(f, 0, 0, UINT32_MAX, offset, size);
}

struct fmt_buf *checkfix_feature(struct checkfix *f, unsigned bit)
{
	assert_true(f->nr_features < sizeof(f->feature) / sizeof(*f->feature));
	f->feature[f->nr_features].bit = bit;
	return &f->feature[f->nr_features++].b;
}

void checkfix_text(struct fmt_buf *b, const char *s)
{
	fmt_put_le(b, 64, 4);
	fmt_put_str(b, s, 64);
}

void checkfix_index(struct checkfix *f)
{
	struct fmt_buf *b = checkfix_feature(f, FMT_FEAT_AUXTRACE);

	fmt_put_le(b, f->nr_index, 8);
	for (size_t i = 0; i < f->nr_index; i++) {
		fmt_put_le(b, f->index[i], 8);
		fmt_put_le(b, FMT_AUXTRACE_RECORD_SIZE, 8);
	}
}

void checkfix_end(struct checkfix *f)
{
	size_t table = f->b.len, at;
	uint8_t *bits;

	le_put(f->b.data + FMT_HDR_DATA_SIZE,
	       f->b.len - le_get(f->b.data + FMT_HDR_DATA, 8), 8);
	if (!f->nr_features)
		checkfix_text(checkfix_feature(f, FMT_FEAT_HOSTNAME), "box");
	fmt_put_zero(&f->b, 16 * f->nr_features);
	for (size_t i = 0; i < f->nr_features; i++) {
		at = f->b.len;
		fmt_put(&f->b, f->feature[i].b.data, f->feature[i].b.len);
		le_put(f->b.data + table + 16 * i, at, 8);
		le_put(f->b.data + table + 16 * i + 8, f->b.len - at, 8);
		bits = f->b.data + FMT_HDR_FEATURES + f->feature[i].bit / 8;
		*bits |= (uint8_t)(1 << f->feature[i].bit % 8);
	}
}

void checkfix_judge_cut(struct checkfix *f, size_t n)
{
	int err;

	assert_int_equal(f->b.err, 0);
	fmt_reader_done(&f->in.r);
	free(f->copy);
	/* Of exactly that size, so that a sanitizer sees reads beyond it. */
	f->copy = malloc(n ? n : 1);
	assert_non_null(f->copy);
	memcpy(f->copy, f->b.data, n);
	f->in = (struct input){ .path = "made", .bytes = { .p = f->copy, .len = n } };
	err = fmt_reader_open(&f->in.r, f->copy, n);
	assert_int_equal(check_file(&f->rep, &f->in, err), 0);
}

void checkfix_judge(struct checkfix *f)
{
	checkfix_judge_cut(f, f->b.len);
}

void checkfix_finish(struct checkfix *f)
{
	checkfix_end(f);
	checkfix_judge(f);
}

static void others(const struct checkfix *f, enum check_kind but)
{
	for (enum check_kind k = 0; k < CHECK_NR_KINDS; k++)
		if (k != but && f->rep.found[k].n)
			fail_msg("%s at %zu: found %s, expected %s", check_kind_name(k),
				 (size_t)f->rep.found[k].at, f->rep.found[k].found,
				 f->rep.found[k].expected);
}

void checkfix_sound(const struct checkfix *f)
{
	others(f, CHECK_NR_KINDS);
	assert_int_equal(check_verdict(&f->rep), CHECK_REMARK);
}

void checkfix_has(const struct checkfix *f, enum check_kind k, uint64_t n, uint64_t at)
{
	assert_int_equal(f->rep.found[k].n, n);
	assert_int_equal(f->rep.found[k].at, at);
	assert_int_equal(f->rep.found[k].has_at, at != 0);
	assert_true(check_verdict(&f->rep) >= check_severity_of(k));
}

void checkfix_only(const struct checkfix *f, enum check_kind k, uint64_t n, uint64_t at)
{
	others(f, k);
	checkfix_has(f, k, n, at);
	assert_int_equal(check_verdict(&f->rep), check_severity_of(k));
}
