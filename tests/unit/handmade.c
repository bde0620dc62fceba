/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/handmade.h"

#include <string.h>

#include "format/le.h"

enum { SAMPLE_ID_ALL = 1 << 18 };

static void record(struct fmt_buf *b, uint32_t type, uint16_t misc, uint16_t size)
{
	fmt_put_le(b, type, 4);
	fmt_put_le(b, misc, 2);
	fmt_put_le(b, size, 2);
}

void handmade_trailer(struct fmt_buf *b, uint64_t time, uint32_t cpu, uint64_t id)
{
	fmt_put_le(b, time ? 700 : 0, 4); /* pid */
	fmt_put_le(b, time ? 701 : 0, 4); /* tid */
	fmt_put_le(b, time, 8);
	fmt_put_le(b, cpu, 4);
	fmt_put_le(b, 0, 4);
	fmt_put_le(b, id, 8);
}

void handmade_attr(struct fmt_buf *b, uint32_t type, uint64_t config,
		   uint64_t sample_type, uint64_t flags, size_t size)
{
	fmt_put_le(b, type, 4);
	fmt_put_le(b, size, 4);
	fmt_put_le(b, config, 8);
	fmt_put_le(b, 1, 8); /* sample_period */
	fmt_put_le(b, sample_type, 8);
	fmt_put_le(b, 4, 8); /* read_format ID */
	fmt_put_le(b, flags, 8);
	fmt_put_zero(b, size - 48);
}

static void ten_records(struct fmt_buf *b, size_t at[HANDMADE_RECORDS + 1])
{
	size_t *next = at;

	*next++ = b->len;
	record(b, 3, 0, 8 + 16 + 32); /* COMM, synthesised */
	fmt_put_le(b, 700, 4);
	fmt_put_le(b, 700, 4);
	fmt_put(b, "true\0\0\0\0", 8);
	handmade_trailer(b, 0, 0, 0);

	*next++ = b->len;
	record(b, 70, 0, 16 + 80); /* AUXTRACE_INFO, Intel PT */
	fmt_put_le(b, 1, 8);
	fmt_put_le(b, 8, 8); /* pmu_type */
	fmt_put_zero(b, 72);

	*next++ = b->len;
	record(b, 12, 0, 16 + 32); /* ITRACE_START */
	fmt_put_le(b, 700, 4);
	fmt_put_le(b, 701, 4);
	handmade_trailer(b, 1000, 0, 11);

	*next++ = b->len;
	record(b, 15, 1 << 13, 16 + 32); /* SWITCH_CPU_WIDE out */
	fmt_put_le(b, 0, 8);
	handmade_trailer(b, 2000, 1, 21);

	*next++ = b->len;
	record(b, 11, 0, 32 + 32); /* AUX, TRUNCATED */
	fmt_put_le(b, 0, 8);
	fmt_put_le(b, HANDMADE_TRACE, 8);
	fmt_put_le(b, 1, 8);
	handmade_trailer(b, 1500, 0, 11);

	*next++ = b->len;
	record(b, 71, 0, 48); /* AUXTRACE of queue 0, cpu 0 */
	fmt_put_le(b, HANDMADE_TRACE, 8);
	fmt_put_le(b, 0, 8);
	fmt_put_le(b, 0x1234, 8);
	fmt_put_le(b, 0, 4);
	fmt_put_le(b, UINT32_MAX, 4);
	fmt_put_le(b, 0, 8);
	for (unsigned i = 0; i < HANDMADE_TRACE; i++)
		fmt_put_le(b, i % 2 ? 0x82 : 0x02, 1);

	*next++ = b->len;
	record(b, 2, 0, 24 + 32); /* LOST */
	fmt_put_le(b, 21, 8);
	fmt_put_le(b, 7, 8);
	handmade_trailer(b, 2500, 1, 21);

	*next++ = b->len;
	record(b, 13, 0, 16 + 32); /* LOST_SAMPLES */
	fmt_put_le(b, 3, 8);
	handmade_trailer(b, 2600, 1, 21);

	*next++ = b->len;
	record(b, 200, 0, 16); /* nobody's type */
	fmt_put_le(b, UINT64_MAX, 8);

	*next++ = b->len;
	record(b, 68, 0, 8); /* FINISHED_ROUND */
	*next = b->len;
}

void handmade_records(struct handmade *h)
{
	*h = (struct handmade){ 0 };
	ten_records(&h->b, h->at);
}

/* u32 length with the padding, the text, zeros up to 64. */
static void text(struct fmt_buf *b, const char *s)
{
	fmt_put_le(b, 64, 4);
	fmt_put_str(b, s, 64);
}

static void pt_attr(struct fmt_buf *b)
{
	handmade_attr(b, 8, 0x300e601, HANDMADE_SAMPLE_TYPE, SAMPLE_ID_ALL, 128);
}

static void dummy_attr(struct fmt_buf *b)
{
	handmade_attr(b, 1, 9, HANDMADE_SAMPLE_TYPE, SAMPLE_ID_ALL, 128);
}

static void event_desc(struct fmt_buf *b)
{
	fmt_put_le(b, 2, 4);
	fmt_put_le(b, 128, 4);
	pt_attr(b);
	fmt_put_le(b, 2, 4);
	text(b, "intel_pt/soft/u");
	fmt_put_le(b, 11, 8);
	fmt_put_le(b, 12, 8);
	dummy_attr(b);
	fmt_put_le(b, 1, 4);
	text(b, "dummy:u");
	fmt_put_le(b, 21, 8);
}

static void cmdline(struct fmt_buf *b)
{
	fmt_put_le(b, 2, 4);
	text(b, "/usr/bin/auxrec");
	text(b, "record");
}

static void features(struct handmade *h)
{
	struct fmt_buf *b = &h->b;
	size_t table = b->len, at;

	fmt_put_zero(b, 3 * 16);
	at = b->len;
	text(b, "box"); /* HOSTNAME 3 */
	le_put(b->data + table, at, 8);
	le_put(b->data + table + 8, b->len - at, 8);
	at = b->len;
	cmdline(b); /* CMDLINE 11 */
	le_put(b->data + table + 16, at, 8);
	le_put(b->data + table + 24, b->len - at, 8);
	at = b->len;
	event_desc(b); /* EVENT_DESC 12 */
	le_put(b->data + table + 32, at, 8);
	le_put(b->data + table + 40, b->len - at, 8);
}

void handmade_file(struct handmade *h)
{
	struct fmt_buf *b = &h->b;

	*h = (struct handmade){ 0 };
	fmt_put(b, "PERFILE2", 8);
	fmt_put_le(b, 104, 8);
	fmt_put_le(b, 144, 8);		 /* attr_size */
	fmt_put_le(b, 128, 8);		 /* attrs */
	fmt_put_le(b, 288, 8);
	fmt_put_le(b, 416, 8);		 /* data */
	fmt_put_zero(b, 8);		 /* data.size: below */
	fmt_put_zero(b, 16);
	fmt_put_le(b, 1 << 3 | 1 << 11 | 1 << 12, 8);
	fmt_put_zero(b, 24);
	fmt_put_le(b, 11, 8);		 /* ids, at 104 */
	fmt_put_le(b, 12, 8);
	fmt_put_le(b, 21, 8);
	pt_attr(b);			 /* at 128 */
	fmt_put_le(b, 104, 8);
	fmt_put_le(b, 16, 8);
	dummy_attr(b);
	fmt_put_le(b, 120, 8);
	fmt_put_le(b, 8, 8);
	h->data_at = b->len;
	ten_records(b, h->at);
	le_put(b->data + 48, b->len - h->data_at, 8);
	features(h);
}

void handmade_pipe_header(struct fmt_buf *b)
{
	fmt_put(b, "PERFILE2", 8);
	fmt_put_le(b, 16, 8);
}

void handmade_header_attr(struct fmt_buf *b, uint64_t sample_type, uint64_t flags,
			  uint64_t id)
{
	record(b, 64, 0, 8 + 64 + 8);
	handmade_attr(b, 1, 9, sample_type, flags, 64);
	fmt_put_le(b, id, 8);
}

/* The patch of a HEADER_FEATURE record's size, once its payload is there. */
static void end_feature(struct fmt_buf *b, size_t at)
{
	fmt_put_zero(b, (8 - (b->len - at) % 8) % 8);
	le_put(b->data + at + 6, b->len - at, 2);
}

void handmade_pipe(struct handmade *h)
{
	struct fmt_buf *b = &h->b;
	size_t at;

	*h = (struct handmade){ 0 };
	handmade_pipe_header(b);
	h->data_at = b->len;
	record(b, 64, 0, 8 + 128 + 16);
	pt_attr(b);
	fmt_put_le(b, 11, 8);
	fmt_put_le(b, 12, 8);
	record(b, 64, 0, 8 + 128 + 8);
	dummy_attr(b);
	fmt_put_le(b, 21, 8);
	at = b->len;
	record(b, 80, 0, 0);
	fmt_put_le(b, 3, 8);
	text(b, "box");
	end_feature(b, at);
	record(b, 80, 0, 16); /* the end mark */
	fmt_put_le(b, 32, 8);
	record(b, 78, 0, 8 + 16 + 16); /* EVENT_UPDATE, name of id 12's event */
	fmt_put_le(b, 2, 8);
	fmt_put_le(b, 12, 8);
	fmt_put_str(b, "intel_pt/soft/u", 8);
	ten_records(b, h->at);
}
