/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "recorder/ledger.h"

enum { RECORD = 104, AREA = 1024 };

static struct ledger l;
static struct ledger_row *row;
static uint8_t area[AREA];
static size_t end; /* of the records that put() has put into area */

static int setup(void **state)
{
	(void)state;
	end = 0;
	row = ledger_row(&l, 0, 1, -1);
	return row ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	ledger_done(&l);
	return 0;
}

/* A record whose bytes count up. */
static uint8_t *put(uint32_t type, size_t size)
{
	uint8_t *r = area + end;

	assert_true(end + size <= AREA);
	for (size_t i = 0; i < size; i++)
		r[i] = (uint8_t)i;
	le_put(r, type, 4);
	le_put(r + 4, 0, 2);
	le_put(r + 6, size, 2);
	end += size;
	return r;
}

static int walk(const struct ledger_visit *visit)
{
	struct iovec v = { area, end };

	return ledger_walk(&l, row, &v, 1, visit);
}

/* What visit() was shown, and what it answers. */
struct shown {
	unsigned n;
	size_t pos;
	uint8_t rec[RECORD];
	int answer;
};

static int visit(void *ctx, const uint8_t *rec, size_t size, size_t pos)
{
	struct shown *s = ctx;

	assert_int_equal(size, RECORD);
	s->n++;
	s->pos = pos;
	memcpy(s->rec, rec, size);
	return s->answer;
}

/* Who wants MMAP2 and AUX records. */
static struct ledger_visit visitor(struct shown *s)
{
	return (struct ledger_visit){
		.types = UINT64_C(1) << FMT_REC_MMAP2 | UINT64_C(1) << FMT_REC_AUX,
		.fn = visit,
		.ctx = s,
	};
}

static void records_are_counted_by_type(void **state)
{
	struct shown s = { 0 };
	const struct ledger_visit v = visitor(&s);
	uint8_t *lost;

	(void)state;
	put(FMT_REC_COMM, 64);
	put(FMT_REC_MMAP2, RECORD);
	lost = put(FMT_REC_LOST, 56);
	le_put(lost + 16, 1000, 8);
	lost = put(FMT_REC_LOST_SAMPLES, 48);
	le_put(lost + 8, 20, 8);
	lost = put(FMT_REC_AUX, RECORD);
	le_put(lost + 24, FMT_AUX_TRUNCATED | FMT_AUX_PARTIAL, 8);
	put(FMT_REC_COMM, 64);
	assert_int_equal(walk(&v), 0);
	assert_int_equal(l.records, 6);
	assert_int_equal(l.by_type[FMT_REC_COMM], 2);
	assert_int_equal(l.by_type[FMT_REC_MMAP2], 1);
	assert_int_equal(row->lost, 1000);
	assert_int_equal(row->lost_samples, 20);
	assert_int_equal(row->truncated, 1);
	assert_int_equal(row->partial, 1);
	assert_int_equal(row->collision, 0);
	assert_true(ledger_lossy(&l));
	assert_int_equal(s.n, 2);
}

static void what_is_asked_for_alone_is_shown(void **state)
{
	struct shown s = { 0 };
	struct ledger_visit v = visitor(&s);

	(void)state;
	put(FMT_REC_COMM, RECORD);
	put(FMT_REC_MMAP, RECORD);
	assert_int_equal(walk(&v), 0);
	assert_int_equal(s.n, 0);
	put(FMT_REC_AUX, RECORD);
	assert_int_equal(walk(&v), 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.pos, end - RECORD);
	s.n = 0;
	end = 0;
	put(FMT_REC_COMM, RECORD);
	put(FMT_REC_MMAP2, RECORD);
	assert_int_equal(walk(&v), 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.pos, end - RECORD);
	assert_memory_equal(s.rec, area + end - RECORD, RECORD);
	assert_int_equal(walk(NULL), 0);
	assert_int_equal(l.by_type[FMT_REC_MMAP2], 2);
	v.types |= UINT64_C(1) << FMT_REC_COMM;
	assert_int_equal(walk(&v), 0);
	assert_int_equal(s.n, 3);
	v.types = 0;
	assert_int_equal(walk(&v), 0);
	assert_int_equal(s.n, 3);
}

/* The ring ends after any 8 bytes of the record. */
static void a_record_across_the_wrap_is_shown_in_one_piece(void **state)
{
	uint8_t first[64 + RECORD], second[RECORD + 64];

	(void)state;
	put(FMT_REC_COMM, 64);
	put(FMT_REC_MMAP2, RECORD);
	put(FMT_REC_EXIT, 64);
	for (size_t cut = 64; cut <= 64 + RECORD; cut += 8) {
		struct iovec v[2] = { { first, cut }, { second, end - cut } };
		struct shown s = { 0 };
		const struct ledger_visit who = visitor(&s);

		memcpy(first, area, cut);
		memcpy(second, area + cut, end - cut);
		assert_int_equal(ledger_walk(&l, row, v, 2, &who), 0);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.pos, 64);
		assert_memory_equal(s.rec, area + 64, RECORD);
	}
}

static void what_the_visitor_says_ends_the_walk(void **state)
{
	struct shown s = { .answer = -ENOMEM };
	const struct ledger_visit v = visitor(&s);

	(void)state;
	put(FMT_REC_MMAP2, RECORD);
	put(FMT_REC_MMAP2, RECORD);
	assert_int_equal(walk(&v), -ENOMEM);
	assert_int_equal(s.n, 1);
	assert_int_equal(l.records, 1);
}

static void bytes_that_are_no_records_end_the_walk(void **state)
{
	uint8_t *r;

	(void)state;
	put(FMT_REC_COMM, 64);
	r = put(FMT_REC_COMM, 64);
	le_put(r + 6, 0, 2);
	assert_int_equal(walk(NULL), -EBADMSG);
	le_put(r + 6, 60, 2); /* no multiple of 8 */
	assert_int_equal(walk(NULL), -EBADMSG);
	le_put(r + 6, 72, 2); /* beyond the end */
	assert_int_equal(walk(NULL), -EBADMSG);
	le_put(r + 6, 64, 2);
	le_put(r, LEDGER_TYPES, 4);
	assert_int_equal(walk(NULL), -EBADMSG);
	assert_int_equal(l.records, 4);
	le_put(r, FMT_REC_COMM, 4);
	assert_int_equal(walk(NULL), 0);
	assert_int_equal(l.records, 6);
}

static void the_span_of_time_is_that_of_the_outer_records(void **state)
{
	(void)state;
	/* the common trailer: pid, tid, time, ... 32 bytes from the end on */
	le_put(put(FMT_REC_COMM, 64) + 64 - 24, 500, 8);
	le_put(put(FMT_REC_COMM, 64) + 64 - 24, 600, 8);
	le_put(put(FMT_REC_SAMPLE, 64) + 32, 700, 8);
	assert_int_equal(walk(NULL), 0);
	assert_int_equal(l.first_ns, 500);
	assert_int_equal(l.last_ns, 700);
	ledger_time(&l, 0); /* no time */
	ledger_time(&l, 400);
	assert_int_equal(l.first_ns, 400);
	assert_int_equal(l.last_ns, 700);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(records_are_counted_by_type),
		T(what_is_asked_for_alone_is_shown),
		T(a_record_across_the_wrap_is_shown_in_one_piece),
		T(what_the_visitor_says_ends_the_walk),
		T(bytes_that_are_no_records_end_the_walk),
		T(the_span_of_time_is_that_of_the_outer_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
