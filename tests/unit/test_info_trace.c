/* SPDX-License-Identifier: Apache-2.0 */
/* What info gathers beyond counting: trace, times, threads, losses with their time. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "format/abi.h"
#include "format/auxtrace.h"
#include "format/le.h"
#include "recorder/info.h"
#include "tests/unit/handmade.h"

#define PSB "\2\202\2\202\2\202\2\202\2\202\2\202\2\202\2\202"

enum { SAMPLE_ID_ALL = 1 << 18, CONTEXT_SWITCH = 1 << 26, TRAILER = 32 };

struct fix {
	struct fmt_buf b;
	struct input in;
	struct info i;
};

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(struct fix));

	*state = f;
	handmade_pipe_header(&f->b);
	handmade_header_attr(&f->b, HANDMADE_SAMPLE_TYPE, SAMPLE_ID_ALL | CONTEXT_SWITCH, 5);
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	info_done(&f->i);
	fmt_reader_done(&f->in.r);
	fmt_buf_done(&f->b);
	free(f);
	return 0;
}

static void fold(struct fix *f)
{
	info_done(&f->i);
	fmt_reader_done(&f->in.r);
	f->in.part = 0;
	assert_int_equal(f->b.err, 0);
	assert_int_equal(fmt_reader_open(&f->in.r, f->b.data, f->b.len), 0);
	assert_int_equal(info_fold(&f->i, &f->in), 0);
}

static void header(struct fmt_buf *b, uint32_t type, uint16_t misc, size_t size)
{
	fmt_put_le(b, type, 4);
	fmt_put_le(b, misc, 2);
	fmt_put_le(b, size, 2);
}

static void trailer(struct fmt_buf *b, uint32_t tid, uint64_t time, uint32_t cpu)
{
	size_t at = b->len;

	handmade_trailer(b, time, cpu, 5);
	le_put(b->data + at, tid, 4);
	le_put(b->data + at + 4, tid, 4);
}

/* A record whose body is `words` u64. */
static void put_words(struct fmt_buf *b, uint32_t type, uint16_t misc, const uint64_t *words,
		      size_t n, uint32_t tid, uint64_t time, uint32_t cpu)
{
	header(b, type, misc, 8 + 8 * n + TRAILER);
	for (size_t i = 0; i < n; i++)
		fmt_put_le(b, words[i], 8);
	trailer(b, tid, time, cpu);
}

static void put_switch(struct fmt_buf *b, bool out, uint32_t tid, uint32_t next, uint64_t time,
		       uint32_t cpu)
{
	uint64_t both = (uint64_t)next << 32 | next;

	put_words(b, FMT_REC_SWITCH_CPU_WIDE, out ? FMT_MISC_SWITCH_OUT : 0, &both, 1, tid, time,
		  cpu);
}

static void put_one_switch(struct fmt_buf *b, bool out, uint32_t tid, uint64_t time,
			   uint32_t cpu)
{
	put_words(b, FMT_REC_SWITCH, out ? FMT_MISC_SWITCH_OUT : 0, NULL, 0, tid, time, cpu);
}

static void put_trace(struct fmt_buf *b, uint32_t idx, uint64_t offset, uint64_t reference,
		      const void *p, size_t n)
{
	struct fmt_auxtrace a = { .size = n, .offset = offset, .reference = reference,
				  .idx = idx, .tid = UINT32_MAX, .cpu = idx };

	fmt_put_auxtrace(b, &a);
	fmt_put(b, p, n);
}

static void put_pt_info(struct fmt_buf *b, uint64_t shift, uint64_t mult, bool snapshot)
{
	struct fmt_pt_info pt = { .pmu_type = 8, .time_shift = shift, .time_mult = mult,
				  .time_zero = 1000, .cap_user_time_zero = 1,
				  .snapshot_mode = snapshot };

	fmt_put_pt_info(b, &pt);
}

static const struct info_queue *queue(const struct fix *f, size_t n)
{
	return rows_at(&f->i.aux.queues, n);
}

static const struct fmt_ptwalk *walk(const struct fix *f, size_t n)
{
	assert_non_null(queue(f, n)->pt);
	return &queue(f, n)->pt->walk;
}

static const struct info_task *task(const struct fix *f, uint32_t tid)
{
	const struct info_task *t = rows_find(&f->i.tasks.tasks, tid);

	assert_non_null(t);
	return t;
}

/* ---- snapshots ---- */

/* A cpu frozen at `tsc`, whose trace begins `ago` before. A tick is 1 ns, and ns 1000 is tick 0. */
static void put_shot(struct fmt_buf *b, uint32_t cpu, uint64_t tsc, uint64_t ago, uint32_t pause)
{
	uint8_t p[32] = PSB "\x19";
	struct fmt_auxtrace a = { .size = sizeof(p), .reference = tsc, .idx = cpu,
				  .tid = UINT32_MAX, .cpu = cpu, .pause_ns = pause };

	le_put(p + 17, tsc - ago, 7);
	fmt_put_auxtrace(b, &a);
	fmt_put(b, p, sizeof(p));
}

static const struct info_shot *shot(const struct fix *f, uint32_t nr, uint32_t cpu)
{
	for (size_t k = 0; k < f->i.shots.rows.nr; k++) {
		const struct info_shot *s = rows_at(&f->i.shots.rows, k);

		if (s->nr == nr && s->cpu == cpu)
			return s;
	}
	return NULL;
}

static void assert_span(struct info_span s, uint64_t first, uint64_t last)
{
	assert_true(s.known);
	assert_int_equal(s.first_ns, first);
	assert_int_equal(s.last_ns, last);
}

static void each_snapshot_tells_what_it_spans(void **state)
{
	struct fix *f = *state;
	struct info_shot_spans at;

	put_pt_info(&f->b, 10, 1024, true);
	put_shot(&f->b, 0, 5000, 300, 70);
	put_shot(&f->b, 1, 5010, 10, 80);
	put_switch(&f->b, true, 1, 2, 5800, 0); /* later than the trace */
	put_switch(&f->b, true, 1, 2, 5900, 0);
	put_switch(&f->b, true, 3, 4, 1100, 1); /* earlier */
	put_shot(&f->b, 0, 7000, 100, 0);
	put_shot(&f->b, 0, 9000, 100, 0); /* nothing switched in between */
	fold(f);
	assert_int_equal(f->i.shots.nr, 3);
	at = info_shot_spans(&f->i, shot(f, 1, 0));
	assert_span(at.frozen, 6000, 6000);
	assert_span(at.trace, 5700, 6000);
	assert_span(at.switches, 5800, 5900);
	assert_span(at.both, 5800, 6000);
	assert_int_equal(shot(f, 1, 0)->pause_ns, 70);
	at = info_shot_spans(&f->i, shot(f, 1, 1));
	assert_span(at.both, 6000, 6010);
	at = info_shot_spans(&f->i, shot(f, 2, 0));
	assert_span(at.trace, 7900, 8000);
	assert_false(at.switches.known);
	assert_false(at.both.known);
	assert_null(shot(f, 2, 1));
	assert_non_null(shot(f, 3, 0));
}

/* As perf does it: nothing tells which belong to a snapshot, and all are there. */
static void switches_that_are_recorded_throughout_serve_every_snapshot(void **state)
{
	struct fix *f = *state;

	put_pt_info(&f->b, 10, 1024, true);
	put_switch(&f->b, true, 1, 2, 5100, 0);
	put_shot(&f->b, 0, 5000, 300, 0);
	put_switch(&f->b, true, 1, 2, 6100, 0);
	put_shot(&f->b, 0, 7000, 100, 0);
	put_switch(&f->b, true, 1, 2, 9100, 0);
	fold(f);
	assert_int_equal(f->i.shots.nr, 2);
	assert_span(info_shot_spans(&f->i, shot(f, 1, 0)).both, 5700, 6000);
	assert_span(info_shot_spans(&f->i, shot(f, 2, 0)).both, 7900, 8000);
}

static void without_snapshots_there_are_none(void **state)
{
	struct fix *f = *state;

	put_pt_info(&f->b, 10, 1024, false);
	put_shot(&f->b, 0, 5000, 300, 0);
	fold(f);
	assert_int_equal(f->i.shots.nr, 0);
}

/* ---- trace ---- */

static void a_packet_goes_on_in_the_next_piece(void **state)
{
	struct fix *f = *state;

	put_pt_info(&f->b, 0, 1, false);
	put_trace(&f->b, 0, 0, 1, PSB "\x6d\1\2\3\4\5\6\x19", 24);
	put_trace(&f->b, 0, 24, 2, "\5\0\0\0\0\0\0\2", 8);
	put_trace(&f->b, 0, 32, 3, "\xf3\0\0\0\0\0\0\0", 8);
	fold(f);
	assert_int_equal(queue(f, 0)->gaps, 0);
	assert_int_equal(walk(f, 0)->n[FMT_PT_TIP], 1);
	assert_int_equal(walk(f, 0)->first_tsc, 5);
	assert_int_equal(walk(f, 0)->n[FMT_PT_OVF], 1);
	assert_int_equal(walk(f, 0)->skipped + walk(f, 0)->tail, 0);
	assert_int_equal(queue(f, 0)->pt->time.first_ns, 1005);
}

/* The offset of the next piece tells that four of the zeros were no trace. */
static void padding_is_no_part_of_a_packet(void **state)
{
	struct fix *f = *state;

	put_pt_info(&f->b, 0, 1, false);
	put_trace(&f->b, 0, 0, 1, PSB "\x6d\1\2\3\0\0\0\0", 24);
	put_trace(&f->b, 0, 20, 2, "\4\5\6\4\4\4\4\4", 8);
	fold(f);
	assert_int_equal(queue(f, 0)->gaps + queue(f, 0)->doubled, 0);
	assert_int_equal(walk(f, 0)->n[FMT_PT_PAD], 0);
	assert_int_equal(walk(f, 0)->n[FMT_PT_TIP], 1);
	assert_int_equal(walk(f, 0)->n[FMT_PT_TNT_8], 5);
	assert_int_equal(walk(f, 0)->bytes, 28);
}

static void a_gap_between_pieces_is_a_loss_of_its_time(void **state)
{
	struct fix *f = *state;
	const struct info_cpu *c;

	put_pt_info(&f->b, 1, 4, false); /* ns = 1000 + 2 tsc */
	put_trace(&f->b, 3, 0, 100, PSB "\x6d\1\2\3\4\4\4\4", 24);
	put_trace(&f->b, 3, 1024, 200, PSB "\4\4\4\4\4\4\4\4", 24);
	put_trace(&f->b, 3, 2048, 300, PSB "\4\4\4\4\4\4\4\4", 24);
	fold(f);
	assert_int_equal(queue(f, 0)->gaps, 2);
	assert_int_equal(queue(f, 0)->gap_bytes, 1000 + 1000);
	assert_int_equal(walk(f, 0)->n[FMT_PT_PSB], 3);
	assert_int_equal(walk(f, 0)->nr_dist, 0);
	c = rows_find(&f->i.cpus, 3);
	assert_int_equal(c->loss[INFO_TRACE_GAP].n, 2);
	assert_int_equal(c->loss[INFO_TRACE_GAP].amount, 2000);
	assert_int_equal(c->loss[INFO_TRACE_GAP].first_ns, 1200);
	assert_int_equal(c->loss[INFO_TRACE_GAP].last_ns, 1600);
	assert_int_equal(f->i.loss[INFO_TRACE_GAP].amount, 2000);
}

static void snapshots_may_overlap_and_leave_out(void **state)
{
	struct fix *f = *state;

	put_pt_info(&f->b, 0, 1, true);
	put_trace(&f->b, 0, 100, 1, PSB "\x6d\1\2\3\4\5\6\4", 24);
	put_trace(&f->b, 0, 116, 2, "\x6d\1\2\3\4\5\6\4\6\6\6\6\6\6\6\6", 16);
	put_trace(&f->b, 0, 900, 3, PSB "\4\4\4\4\4\4\4\4", 24);
	fold(f);
	assert_true(f->i.aux.snapshot);
	assert_false(info_lost(f->i.loss));
	assert_int_equal(queue(f, 0)->doubled, 8);
	assert_int_equal(walk(f, 0)->n[FMT_PT_TIP], 1);
	assert_int_equal(walk(f, 0)->n[FMT_PT_TNT_8], 1 + 8 + 8);
	assert_int_equal(walk(f, 0)->n[FMT_PT_PSB], 2);
	assert_int_equal(walk(f, 0)->skipped, 0);
}

/* A buffer that goes round: its size is no loss, nor what is missing of it. */
static void the_flag_overwrite_is_no_loss(void **state)
{
	const uint64_t aux[] = { 0, 4096, FMT_AUX_OVERWRITE };
	struct fix *f = *state;

	put_pt_info(&f->b, 0, 1, false);
	put_words(&f->b, FMT_REC_AUX, 0, aux, 3, 701, 10, 0);
	put_trace(&f->b, 0, 0, 1, PSB, 16);
	put_trace(&f->b, 0, 8192, 1, PSB, 16);
	fold(f);
	assert_false(info_lost(f->i.loss));
	assert_int_equal(queue(f, 0)->flagged.overwrite, 1);
	assert_int_equal(queue(f, 0)->gaps, 0);
}

static void each_word_of_aux_flags_is_counted(void **state)
{
	static const uint64_t flags[] = { 0x100, 1, 8, 0x100, 0x10004, 4, 2, 0x103 };
	struct fix *f = *state;
	const struct info_flags *r;

	for (size_t k = 0; k < sizeof(flags) / sizeof(*flags); k++)
		put_words(&f->b, FMT_REC_AUX, 0, (const uint64_t[]){ 0, 8, flags[k] }, 3, 701,
			  10 + k, 0);
	fold(f);
	assert_int_equal(f->i.aux.flags.nr, 7);
	r = rows_find(&f->i.aux.flags, 0x100);
	assert_int_equal(r->n, 2);
	r = rows_find(&f->i.aux.flags, 0x10004);
	assert_int_equal(r->n, 1);
	assert_int_equal(f->i.loss[INFO_AUX_TRUNCATED].n, 2);
	assert_int_equal(f->i.loss[INFO_AUX_TRUNCATED].first_ns, 11);
	assert_int_equal(f->i.loss[INFO_AUX_TRUNCATED].last_ns, 17);
	assert_int_equal(f->i.loss[INFO_AUX_PARTIAL].n, 2);
	assert_int_equal(f->i.loss[INFO_AUX_COLLISION].n, 1);
	assert_string_equal(info_flag_name(1), "overwrite");
	assert_null(info_flag_name(4));
}

static void many_queues_are_walked_at_once(void **state)
{
	static uint8_t trace[4096];
	struct fix *f = *state;
	enum { QUEUES = 40, ROUNDS = 50 };

	put_pt_info(&f->b, 0, 1, false);
	for (size_t at = 0; at < sizeof(trace); at += 64)
		memcpy(trace + at, PSB, 16);
	for (uint32_t k = 0; k < QUEUES * ROUNDS; k++)
		put_trace(&f->b, k % QUEUES, k / QUEUES * sizeof(trace), k, trace,
			  sizeof(trace));
	fold(f);
	assert_int_equal(f->i.aux.queues.nr, QUEUES);
	for (size_t k = 0; k < QUEUES; k++) {
		assert_int_equal(walk(f, k)->bytes, ROUNDS * sizeof(trace));
		assert_int_equal(walk(f, k)->n[FMT_PT_PSB], ROUNDS * sizeof(trace) / 64);
		assert_int_equal(walk(f, k)->min_dist, 64);
		assert_int_equal(walk(f, k)->max_dist, 64);
	}
}

static void trace_of_another_kind_is_not_walked(void **state)
{
	struct fix *f = *state;
	size_t at = f->b.len;

	put_pt_info(&f->b, 0, 1, false);
	le_put(f->b.data + at + FMT_AUXTRACE_INFO_AT_TYPE, FMT_AUXTRACE_CS_ETM, 4);
	put_trace(&f->b, 0, 0, 1, PSB, 16);
	fold(f);
	assert_null(queue(f, 0)->pt);
	assert_int_equal(queue(f, 0)->bytes, 16);
}

static void raw_trace_is_judged(void **state)
{
	static const struct {
		const char *p;
		size_t n, faults, at;
	} rows[] = {
		{ PSB "\2\43", 18, 0, 0 },
		{ "\0\0" PSB "\x6d\1", 20, 0, 0 }, /* a cut packet is an end */
		{ PSB "\5" PSB, 33, 1, 16 },
		{ "\2\202\2\202", 4, 1, 0 },
		{ "", 0, 1, 0 },
	};
	struct fix *f = *state;

	for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
		struct input in = { .as = { .kind = INPUT_PT },
				    .bytes = { .p = rows[k].p, .len = rows[k].n } };

		info_done(&f->i);
		assert_int_equal(info_fold(&f->i, &in), 0);
		assert_int_equal(f->i.nr_faults, rows[k].faults);
		assert_int_equal(f->i.faults[0].at, rows[k].at);
		assert_int_equal(walk(f, 0)->bytes, rows[k].n);
	}
}

/* ---- losses ---- */

/* perf_event_open(2): value, then what read_format asks for, or a group of them. */
static void read_tells_of_lost_samples(void **state)
{
	static const struct {
		uint64_t format;
		size_t n;
		uint64_t words[9], lost;
	} rows[] = {
		{ 0x10, 2, { 100, 7 }, 7 },
		{ 0x14, 3, { 100, 5, 7 }, 7 },
		{ 0x17, 5, { 100, 1, 2, 5, 7 }, 7 },
		{ 0x1f, 9, { 2, 1, 2, 100, 5, 7, 100, 5, 3 }, 10 },
		{ 0x18, 5, { 2, 100, 7, 100, 3 }, 10 },
		{ 0x04, 2, { 100, 7 }, 0 },
		{ 0x1f, 8, { 2, 1, 2, 100, 5, 7, 100, 5 }, 0 },	      /* one is cut */
		{ 0x18, 3, { UINT64_MAX, 100, 7 }, 0 },
		{ 0x10, 1, { 100 }, 0 },
	};
	struct fix *f = *state;
	uint64_t words[10] = { UINT64_C(701) << 32 | 700 };
	size_t len = f->b.len;

	for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
		f->b.len = len;
		le_put(f->b.data + FMT_PIPE_HEADER_SIZE + FMT_REC_HEADER_SIZE +
			       FMT_ATTR_AT_READ_FORMAT, rows[k].format, 8);
		memcpy(words + 1, rows[k].words, 8 * rows[k].n);
		put_words(&f->b, FMT_REC_READ, 0, words, 1 + rows[k].n, 701, 20, 2);
		fold(f);
		assert_int_equal(f->i.loss[INFO_READ_LOST].amount, rows[k].lost);
		assert_int_equal(f->i.loss[INFO_READ_LOST].n, !!rows[k].lost);
		assert_int_equal(f->i.loss[INFO_READ_LOST].last_ns, rows[k].lost ? 20 : 0);
	}
}

static void a_loss_has_its_first_and_last_time(void **state)
{
	struct fix *f = *state;
	const struct info_cpu *c;

	for (uint64_t k = 0; k < 4; k++)
		put_words(&f->b, FMT_REC_LOST, 0, (const uint64_t[]){ 5, k + 1 }, 2, 701,
			  100 * (k + 1), k % 2);
	fold(f);
	c = rows_find(&f->i.cpus, 1);
	assert_int_equal(c->loss[INFO_LOST].n, 2);
	assert_int_equal(c->loss[INFO_LOST].amount, 2 + 4);
	assert_int_equal(c->loss[INFO_LOST].first_ns, 200);
	assert_int_equal(c->loss[INFO_LOST].last_ns, 400);
	assert_int_equal(f->i.loss[INFO_LOST].first_ns, 100);
	assert_int_equal(f->i.loss[INFO_LOST].last_ns, 400);
}

/* ---- threads ---- */

static void switches_of_a_cpu_give_each_thread_its_time(void **state)
{
	struct fix *f = *state;

	put_switch(&f->b, true, 10, 20, 1000, 0);
	put_switch(&f->b, false, 20, 10, 1001, 0);
	put_switch(&f->b, true, 20, 0, 1300, 0);
	put_switch(&f->b, false, 0, 20, 1301, 0);
	put_switch(&f->b, true, 0, 20, 1500, 0);
	put_switch(&f->b, false, 20, 0, 1501, 0);
	put_switch(&f->b, true, 11, 12, 1600, 1); /* the end: 12 still runs */
	put_switch(&f->b, true, 20, 10, 1700, 0);
	fold(f);
	assert_int_equal(task(f, 20)->on_ns, 300 + 200);
	assert_int_equal(task(f, 20)->runs, 2);
	assert_int_equal(task(f, 0)->on_ns, 200);
	assert_string_equal(task(f, 0)->comm, "swapper");
	assert_int_equal(task(f, 10)->on_ns, 0); /* since when it ran is not known */
	assert_int_equal(task(f, 12)->on_ns, 100);
	assert_int_equal(f->i.tasks.tasks.nr, 5);
}

static void switches_of_threads_are_followed_on_each_cpu(void **state)
{
	struct fix *f = *state;

	/* Read cpu by cpu, so not in the order of time. */
	put_one_switch(&f->b, false, 10, 3000, 0);
	put_one_switch(&f->b, true, 10, 4000, 0);
	put_one_switch(&f->b, false, 10, 1000, 1);
	put_one_switch(&f->b, true, 10, 1500, 1);
	put_one_switch(&f->b, false, 11, 1600, 1);
	put_words(&f->b, FMT_REC_EXIT, 0, (const uint64_t[]){ 0, 0, 0 }, 3, 11, 1800, 1);
	fold(f);
	assert_int_equal(task(f, 10)->on_ns, 1000 + 500);
	assert_int_equal(task(f, 11)->on_ns, 200);
}

static void a_record_tells_who_runs_before_the_first_switch(void **state)
{
	struct fix *f = *state;

	put_words(&f->b, FMT_REC_ITRACE_START, 0, (const uint64_t[]){ 0 }, 1, 10, 500, 0);
	put_words(&f->b, FMT_REC_ITRACE_START, 0, (const uint64_t[]){ 0 }, 1, 10, 600, 0);
	put_one_switch(&f->b, true, 10, 900, 0);
	fold(f);
	assert_int_equal(task(f, 10)->on_ns, 400);
	assert_int_equal(task(f, 10)->runs, 1);
}

static void time_around_lost_records_is_not_counted(void **state)
{
	struct fix *f = *state;

	put_switch(&f->b, false, 10, 0, 1000, 0);
	put_words(&f->b, FMT_REC_LOST, 0, (const uint64_t[]){ 5, 9 }, 2, 10, 2000, 0);
	put_switch(&f->b, true, 10, 0, 3000, 0);
	put_switch(&f->b, false, 10, 0, 4000, 0);
	put_switch(&f->b, true, 11, 0, 5000, 0); /* not the one that came */
	put_switch(&f->b, true, 0, 10, 6000, 0);
	put_switch(&f->b, true, 10, 0, 6500, 0);
	fold(f);
	assert_int_equal(task(f, 10)->on_ns, 500);
}

static void threads_have_the_last_name_and_that_of_their_maker(void **state)
{
	struct fix *f = *state;
	const uint64_t fork[] = { UINT64_C(700) << 32 | 700, UINT64_C(701) << 32 | 702, 0 };
	char name[16] = "a longer name";

	header(&f->b, FMT_REC_COMM, 0, 16 + 16 + TRAILER);
	fmt_put_le(&f->b, UINT64_C(701) << 32 | 700, 8);
	fmt_put(&f->b, name, 16);
	trailer(&f->b, 701, 10, 0);
	put_words(&f->b, FMT_REC_FORK, 0, fork, 3, 701, 20, 0);
	header(&f->b, FMT_REC_COMM, 0, 16 + 32 + TRAILER);
	fmt_put_le(&f->b, UINT64_C(701) << 32 | 700, 8);
	fmt_put(&f->b, "no end of this name in sight, is", 32);
	trailer(&f->b, 701, 30, 0);
	fold(f);
	assert_string_equal(task(f, 702)->comm, "a longer name");
	assert_int_equal(task(f, 702)->pid, 700);
	assert_string_equal(task(f, 701)->comm, "no end of this ");
	assert_true(f->i.tasks.switches); /* the event would have had them */
	assert_int_equal(f->i.tasks.processes, 0); /* 700 itself was never seen */
}

/* perf reads cpu by cpu: the names come late. */
static void names_are_those_of_the_time(void **state)
{
	const uint64_t fork1[] = { UINT64_C(700) << 32 | 702, UINT64_C(701) << 32 | 702, 0 };
	const uint64_t fork2[] = { UINT64_C(702) << 32 | 703, UINT64_C(702) << 32 | 703, 0 };
	const uint64_t late[] = { UINT64_C(701) << 32 | 700, 0x646e6f636573, 0 };
	const uint64_t early[] = { UINT64_C(701) << 32 | 700, 0x7473726966, 0 };
	struct fix *f = *state;

	put_words(&f->b, FMT_REC_FORK, 0, fork1, 3, 701, 200, 0);
	put_words(&f->b, FMT_REC_FORK, 0, fork2, 3, 702, 300, 0);
	put_words(&f->b, FMT_REC_COMM, 0, late, 3, 701, 190, 1);
	put_words(&f->b, FMT_REC_COMM, 0, early, 3, 701, 100, 2);
	fold(f);
	assert_string_equal(task(f, 701)->comm, "second");
	assert_string_equal(task(f, 702)->comm, "second");
	assert_string_equal(task(f, 703)->comm, "second");
}

static void a_name_taken_after_the_fork_is_not_inherited(void **state)
{
	const uint64_t fork[] = { UINT64_C(700) << 32 | 702, UINT64_C(701) << 32 | 702, 0 };
	const uint64_t first[] = { UINT64_C(701) << 32 | 700, 0x7473726966, 0 };
	const uint64_t second[] = { UINT64_C(701) << 32 | 700, 0x646e6f636573, 0 };
	struct fix *f = *state;

	put_words(&f->b, FMT_REC_COMM, 0, first, 3, 701, 100, 0);
	put_words(&f->b, FMT_REC_FORK, 0, fork, 3, 701, 200, 0);
	put_words(&f->b, FMT_REC_COMM, 0, second, 3, 701, 300, 0);
	fold(f);
	assert_string_equal(task(f, 701)->comm, "second");
	assert_string_equal(task(f, 702)->comm, "first");
}

/* ---- times ---- */

static void late_records_are_measured(void **state)
{
	static const uint64_t times[] = { 10, 20, 30, 40, 40, 25, 50, 5, 60 };
	struct fix *f = *state;

	for (size_t k = 0; k < sizeof(times) / sizeof(*times); k++)
		put_one_switch(&f->b, true, 1, times[k], k == 5);
	fold(f);
	assert_int_equal(f->i.order.nr, 9);
	assert_int_equal(f->i.order.late, 2);
	assert_int_equal(f->i.order.worst_records, 7); /* 5 belongs before the first */
	assert_int_equal(f->i.order.worst_ns, 45);
	assert_false(f->i.order.worst_is_more);
	assert_int_equal(((const struct info_cpu *)rows_find(&f->i.cpus, 0))->late, 1);
	assert_int_equal(((const struct info_cpu *)rows_find(&f->i.cpus, 1))->late, 0);
}

static void how_late_has_a_bound(void **state)
{
	struct fix *f = *state;
	const uint64_t n = INFO_LATE_MAX + 1000;

	for (uint64_t k = 1; k <= n; k++)
		put_one_switch(&f->b, true, 1, 10 * k, 0);
	put_one_switch(&f->b, true, 1, 15, 0);
	fold(f);
	assert_int_equal(f->i.order.late, 1);
	assert_int_equal(f->i.order.worst_records, INFO_LATE_MAX);
	assert_true(f->i.order.worst_is_more);
	assert_int_equal(f->i.order.worst_ns, 10 * n - 15);
}

static void the_window_is_what_all_cpus_cover(void **state)
{
	static const struct { uint64_t time; uint32_t cpu; } recs[] = {
		{ 100, 0 }, { 500, 0 }, { 200, 1 }, { 400, 1 }, { 150, 2 }, { 600, 2 },
	};
	struct fix *f = *state;
	struct info_window w;

	for (size_t k = 0; k < 6; k++)
		put_one_switch(&f->b, true, 1, recs[k].time, recs[k].cpu);
	put_one_switch(&f->b, true, 1, 0, 3); /* made up */
	fold(f);
	w = info_window(&f->i, false);
	assert_int_equal(w.nr, 3);
	assert_int_equal(w.span.first_ns, 200);
	assert_int_equal(w.span.last_ns, 400);
	assert_false(w.empty);
	assert_int_equal(info_window(&f->i, true).nr, 0);
}

static void cpus_one_after_the_other_have_no_window(void **state)
{
	struct fix *f = *state;

	put_one_switch(&f->b, true, 1, 100, 0);
	put_one_switch(&f->b, true, 1, 200, 0);
	put_one_switch(&f->b, true, 1, 300, 1);
	fold(f);
	assert_true(info_window(&f->i, false).empty);
}

static void put_time_conv(struct fmt_buf *b, uint64_t shift, uint64_t mult)
{
	struct fmt_time_conv c = { .shift = shift, .mult = mult, .zero = 7 };

	fmt_put_time_conv(b, &c);
}

static void a_conversion_that_is_none_is_called_so(void **state)
{
	static const struct { uint64_t shift, mult; const char *problem; } rows[] = {
		{ 10, 1024, NULL },
		{ 63, 1, NULL },
		{ 10, 0, "mult is 0" },
		{ 64, 1, "shift is 64 or more" },
		{ UINT64_MAX, 1, "shift is 64 or more" },
	};
	struct fix *f = *state;
	size_t len = f->b.len;

	for (unsigned by_pt = 0; by_pt < 2; by_pt++)
		for (size_t k = 0; k < 5; k++) {
			f->b.len = len;
			if (by_pt)
				put_pt_info(&f->b, rows[k].shift, rows[k].mult, false);
			else
				put_time_conv(&f->b, rows[k].shift, rows[k].mult);
			fold(f);
			assert_string_equal(f->i.conv.from,
					    by_pt ? "AUXTRACE_INFO" : "TIME_CONV");
			if (rows[k].problem)
				assert_string_equal(f->i.conv.problem, rows[k].problem);
			else
				assert_null(f->i.conv.problem);
		}
}

static void put_feature(struct fmt_buf *b, uint64_t feat, const void *p, size_t n)
{
	header(b, FMT_REC_HEADER_FEATURE, 0, 16 + n);
	fmt_put_le(b, feat, 8);
	fmt_put(b, p, n);
}

static void clock_data_of_another_version_is_not_read(void **state)
{
	uint8_t data[24] = { 1, [4] = 1, [8] = 100, [16] = 50 };
	struct fix *f = *state;
	struct info_clock_data d;
	size_t len = f->b.len;

	put_feature(&f->b, FMT_FEAT_CLOCK_DATA, data, sizeof(data));
	fold(f);
	assert_int_equal(info_clock_data(&f->in.r, &d), 0);
	assert_int_equal(d.clockid, 1);
	assert_int_equal(d.wall_ns, 100);
	assert_int_equal(d.clock_ns, 50);
	f->b.len = len;
	data[0] = 2;
	put_feature(&f->b, FMT_FEAT_CLOCK_DATA, data, sizeof(data));
	put_feature(&f->b, 131, data, 8);
	put_feature(&f->b, 132, data, 0); /* the end mark of some perf to come */
	fold(f);
	assert_int_equal(info_clock_data(&f->in.r, &d), -ENOTSUP);
	assert_int_equal(d.version, 2);
	assert_int_equal(d.wall_ns, 0);
	assert_int_equal(f->i.features[2], 8);
}

static void the_words_that_pause_trace_have_names(void **state)
{
	uint8_t attr[120] = { [FMT_ATTR_AT_AUX_ACTION] = 0x0d };
	struct fmt_reader_event e = { .attr = attr, .attr_size = sizeof(attr) };
	unsigned at = 0;
	uint32_t rest;

	(void)state;
	assert_string_equal(info_aux_action(&e, &at, &rest), "aux_start_paused");
	assert_string_equal(info_aux_action(&e, &at, &rest), "aux_resume");
	assert_null(info_aux_action(&e, &at, &rest));
	assert_int_equal(rest, 8);
	at = 0;
	e.attr_size = 112; /* before there was that word */
	assert_null(info_aux_action(&e, &at, &rest));
	assert_int_equal(rest, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_packet_goes_on_in_the_next_piece),
		TEST(padding_is_no_part_of_a_packet),
		TEST(a_gap_between_pieces_is_a_loss_of_its_time),
		TEST(snapshots_may_overlap_and_leave_out),
		TEST(each_snapshot_tells_what_it_spans),
		TEST(switches_that_are_recorded_throughout_serve_every_snapshot),
		TEST(without_snapshots_there_are_none),
		TEST(the_flag_overwrite_is_no_loss),
		TEST(each_word_of_aux_flags_is_counted),
		TEST(many_queues_are_walked_at_once),
		TEST(trace_of_another_kind_is_not_walked),
		TEST(raw_trace_is_judged),
		TEST(read_tells_of_lost_samples),
		TEST(a_loss_has_its_first_and_last_time),
		TEST(switches_of_a_cpu_give_each_thread_its_time),
		TEST(switches_of_threads_are_followed_on_each_cpu),
		TEST(a_record_tells_who_runs_before_the_first_switch),
		TEST(time_around_lost_records_is_not_counted),
		TEST(threads_have_the_last_name_and_that_of_their_maker),
		TEST(names_are_those_of_the_time),
		TEST(a_name_taken_after_the_fork_is_not_inherited),
		TEST(late_records_are_measured),
		TEST(how_late_has_a_bound),
		TEST(the_window_is_what_all_cpus_cover),
		TEST(cpus_one_after_the_other_have_no_window),
		TEST(a_conversion_that_is_none_is_called_so),
		TEST(clock_data_of_another_version_is_not_read),
		TEST(the_words_that_pause_trace_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
