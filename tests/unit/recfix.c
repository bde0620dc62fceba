/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/recfix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/auxtrace.h"
#include "format/le.h"
#include "format/record.h"

#define SAMPLE_TYPE 0x10087 /* IP|TID|TIME|CPU|IDENTIFIER */

static struct mem_sink made;

static void attr(struct fmt_event *e, uint32_t type, uint64_t config)
{
	memset(e->attr, 0, sizeof(e->attr));
	le_put(e->attr + FMT_ATTR_AT_TYPE, type, 4);
	le_put(e->attr + FMT_ATTR_AT_SIZE, FMT_ATTR_SIZE, 4);
	le_put(e->attr + FMT_ATTR_AT_CONFIG, config, 8);
	le_put(e->attr + FMT_ATTR_AT_SAMPLE_TYPE, SAMPLE_TYPE, 8);
	le_put(e->attr + FMT_ATTR_AT_FLAGS, FMT_ATTR_F_SAMPLE_ID_ALL, 8);
}

static void put_head(struct fmt_buf *b)
{
	const struct fmt_id ids[] = { { 11, 0, 0, -1 }, { 12, 1, 1, -1 },
				      { 21, 0, 0, -1 }, { 22, 1, 1, -1 } };
	const struct fmt_pt_info info = { .pmu_type = 8, .per_cpu_mmaps = 1 };
	const struct fmt_trailer none = { 0 };
	struct fmt_mmap2 m = { .pid = 700, .tid = 700, .len = 4096, .misc = FMT_MISC_USER,
			       .build_id_size = 20 };
	char name[32];

	fmt_put_id_index(b, ids, 4);
	fmt_put_pt_info(b, &info);
	fmt_put_mmap(b, FMT_MISC_KERNEL, UINT32_MAX, 0, 0, 4096, 0, "[kernel.kallsyms]_text",
		     &none);
	for (unsigned i = 0; i < 20; i++) {
		fmt_put_comm(b, false, 700 + i, 700 + i, "some program", &none);
		snprintf(name, sizeof(name), "/usr/lib/lib%u.so", i);
		m.name = name;
		m.addr = 0x7f0000000000 + 4096 * i;
		memset(m.build_id, (int)i, 20);
		fmt_put_mmap2(b, &m, &none);
	}
	fmt_put_event_name(b, 11, "intel_pt//");
	fmt_put_event_name(b, 21, "dummy:u");
	fmt_put_finished_init(b);
}

static void put_round(struct fmt_writer *w, unsigned round)
{
	static uint8_t trace[1000];
	struct fmt_buf b = { 0 };
	struct iovec v = { trace, 600 + round };

	for (unsigned cpu = 0; cpu < 2; cpu++) {
		struct fmt_trailer t = { 700 + round, 700 + round, 1000 * round + cpu + 1,
					 cpu, 21 + cpu };
		struct fmt_auxtrace a = { .offset = 1000 * round, .idx = cpu,
					  .tid = UINT32_MAX, .cpu = cpu };

		fmt_buf_reset(&b);
		fmt_put_itrace_start(&b, 700, 700, &t);
		fmt_put_task(&b, FMT_REC_FORK, 700, 1, 701 + round, 700, t.time, &t);
		fmt_put_comm(&b, true, 700, 701 + round, "other", &t);
		t.id = 11 + cpu;
		fmt_put_aux(&b, 1000 * round, v.iov_len, round % 7 ? 0 : FMT_AUX_TRUNCATED, &t);
		assert_int_equal(fmt_writer_put(w, &b), 0);
		for (size_t i = 0; i < sizeof(trace); i++)
			trace[i] = (uint8_t)(i * i + round * cpu + (i >> 7));
		assert_int_equal(fmt_writer_aux(w, &a, &v, 1), 0);
	}
	fmt_buf_done(&b);
	assert_int_equal(fmt_writer_round(w, true), 0);
}

void recfix_make(struct recfix *f, bool pipe, unsigned rounds)
{
	static const uint64_t ids[] = { 11, 12, 21, 22 };
	static const char *const args[] = { "auxrec", "record" };
	static const struct fmt_build_id id = { .misc = 2, .id_size = 20, .name = "/bin/x" };
	struct fmt_event ev[2] = {
		{ .ids = ids, .nr_ids = 2, .name = "intel_pt//" },
		{ .ids = ids + 2, .nr_ids = 2, .name = "dummy:u" },
	};
	struct fmt_features v = {
		.hostname = "box", .arch = "x86_64", .nr_cpus_avail = 2, .nr_cpus_online = 2,
		.cmdline = args, .nr_cmdline = 2, .events = ev, .nr_events = 2,
		.have_aux = true, .have_sample_time = true, .first_ns = 1, .last_ns = 2,
		.build_ids = &id, .nr_build_ids = 1,
	};
	struct fmt_sink sink = mem_sink(&made);
	struct fmt_buf b = { 0 };
	struct fmt_writer w;

	attr(&ev[0], 8, 0x2000);
	attr(&ev[1], FMT_TYPE_SOFTWARE, FMT_COUNT_SW_DUMMY);
	fmt_writer_init(&w, &sink, pipe);
	assert_int_equal(fmt_writer_begin(&w, ev, 2, &v), 0);
	put_head(&b);
	assert_int_equal(fmt_writer_put(&w, &b), 0);
	for (unsigned i = 0; i < rounds; i++)
		put_round(&w, i);
	assert_int_equal(fmt_writer_finish(&w, &v), 0);
	fmt_writer_done(&w);
	fmt_buf_done(&b);
	*f = (struct recfix){ 0 };
	fmt_put(&f->b, made.bytes, made.len);
	recfix_index(f);
}

void recfix_index(struct recfix *f)
{
	uint64_t at = 16, end = f->b.len;

	if (le_get64(f->b.data + FMT_HDR_SIZE) == FMT_HEADER_SIZE) {
		at = le_get64(f->b.data + FMT_HDR_DATA);
		end = at + le_get64(f->b.data + FMT_HDR_DATA_SIZE);
	}
	free(f->at);
	f->at = calloc(f->b.len / 8 + 2, sizeof(*f->at));
	assert_non_null(f->at);
	f->data_at = at;
	f->data_end = end;
	for (f->n = 0; at < end; f->n++) {
		f->at[f->n] = at;
		if (le_get32(f->b.data + at) == FMT_REC_AUXTRACE)
			at += le_get64(f->b.data + at + 8);
		at += le_get16(f->b.data + f->at[f->n] + 6);
	}
	f->at[f->n] = at;
	assert_true(at == end && end <= f->b.len);
}

void recfix_done(struct recfix *f)
{
	fmt_buf_done(&f->b);
	free(f->at);
	*f = (struct recfix){ 0 };
}

int recfix_recover(struct recover *c, const uint8_t *bytes, size_t n, struct mem_sink *out)
{
	static uint8_t *copy; /* good until the next call: c points into it */
	struct fmt_sink sink = mem_sink_again(out);
	int err;

	free(copy);
	copy = malloc(n ? n : 1);
	assert_non_null(copy);
	memcpy(copy, bytes, n);
	err = recover_scan(c, copy, n, NULL, NULL);
	return err ? err : recover_write(c, &sink);
}

void recfix_read(struct recfix *ret, const struct mem_sink *out)
{
	struct fmt_reader r;
	struct fmt_rec rec;
	size_t n;
	int got;

	recfix_done(ret);
	fmt_put(&ret->b, out->bytes, out->len);
	recfix_index(ret);
	mem_check_file(out);
	assert_int_equal(fmt_reader_open(&r, out->bytes, out->len), 0);
	for (n = 0; (got = fmt_reader_next(&r, &rec)) > 0; n++)
		;
	assert_int_equal(got, 0);
	assert_int_equal(n, ret->n);
	fmt_reader_done(&r);
}

bool recfix_same(const struct recfix *a, size_t i, const struct recfix *b, size_t k,
		 bool *ret_shorter)
{
	const uint8_t *p = a->b.data + a->at[i], *q = b->b.data + b->at[k];
	uint64_t n = a->at[i + 1] - a->at[i], m = b->at[k + 1] - b->at[k];

	*ret_shorter = m < n;
	if (n == m)
		return !memcmp(p, q, n);
	return m < n && m > 48 && le_get32(q) == FMT_REC_AUXTRACE && !memcmp(p, q, 8) &&
	       !memcmp(p + 16, q + 16, m - 16);
}
