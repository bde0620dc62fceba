/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a trigger to its snapshot, over a kernel made of memory: what waits, what is merged, what
 * is told; hits of tracepoints in their rings.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "perfio/attrs.h"
#include "recorder/log.h"
#include "recorder/session.h"
#include "tests/unit/fake_sys.h"

enum { PAGE = 4096, NR_CPUS = 2, SAMPLE_SIZE = 72, MS = 1000000 };

static struct session s;
static struct rec_config cfg;
static struct pio_event ev[2];
static int cpus[NR_CPUS] = { 0, 1 };
static uint64_t id;
static struct fmt_event described;

static int nothing(void *ctx, struct iovec *v, int n)
{
	(void)ctx;
	(void)v;
	(void)n;
	return 0;
}

static int nor_here(void *ctx, uint64_t at, const void *p, size_t n)
{
	(void)ctx;
	(void)at;
	(void)p;
	(void)n;
	return 0;
}

static struct pio_target target(size_t newest)
{
	return (struct pio_target){ .cpus = { cpus, NR_CPUS }, .data_len = PAGE,
				    .newest_len = newest };
}

/* One tracepoint triggers. */
static int open_hits(void)
{
	struct pio_attr_common c = { .read_format = PERF_FORMAT_ID, .clockid = -1 };
	struct pio_target t = target(0);
	struct pio_fault why;

	s.trigger.ev = calloc(1, sizeof(*s.trigger.ev));
	s.trigger.name = calloc(1, sizeof(*s.trigger.name));
	if (!s.trigger.ev || !s.trigger.name)
		return -ENOMEM;
	s.trigger.name[0] = strdup("probe:it");
	s.trigger.ev[0] = (struct pio_event){ .attr = pio_attr_tracepoint(&c, 5),
					      .name = s.trigger.name[0] };
	s.trigger.nr_ev = 1;
	return pio_evset_open(&s.trigger.set, &fake_sys, s.trigger.ev, 1, &t, &why);
}

static int open_own(void)
{
	struct pio_attr_common c = { .read_format = PERF_FORMAT_ID, .clockid = -1 };
	struct pio_target t = target(PAGE);
	struct pio_fault why;

	ev[0] = (struct pio_event){ .attr = pio_attr_switch(&c), .name = "switches",
				    .newest = true };
	ev[1] = (struct pio_event){ .attr = pio_attr_tracking(&c), .name = "tracking" };
	return pio_evset_open(&s.set, &fake_sys, ev, 2, &t, &why);
}

static int setup(void **state)
{
	const struct fmt_sink sink = { .append = nothing, .patch = nor_here };

	(void)state;
	log_level = -1;
	fake_reset();
	cfg = (struct rec_config){ .snapshot = true };
	s = (struct session){ .sys = &fake_sys, .cfg = &cfg, .plan.source = SOURCE_NONE,
			      .plan.clockid = CLOCK_MONOTONIC, .events = &described,
			      .trigger = TRIGGER_INIT, .signal_fd = -1, .on_ns = 1 };
	s.stalled = calloc(NR_CPUS + 1, sizeof(*s.stalled));
	s.flight.place = calloc(NR_CPUS + 1, sizeof(*s.flight.place));
	s.flight.begun = s.out.published = true; /* the file has its head */
	if (open_own() || open_hits())
		return -1;
	id = fake_event(0)->id;
	pio_attr_bytes(&ev[0].attr, described.attr);
	described = (struct fmt_event){ .ids = &id, .nr_ids = 1, .name = "switches" };
	fmt_writer_init(&s.writer, &sink, false);
	return flight_setup(&s) || fmt_writer_begin(&s.writer, &described, 1, NULL) ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	trigger_done(&s);
	pio_evset_done(&s.set);
	fmt_writer_done(&s.writer);
	ledger_done(&s.ledger);
	spans_done(&s.spans);
	free(s.stalled);
	flight_done(&s);
	fmt_buf_done(&s.buf);
	return fake_lent_fds() || fake_lent_maps() || fake_slips() ? -1 : 0;
}

static void put_hit(size_t cpu, uint64_t time)
{
	struct pio_fd *f = &s.trigger.ev[0].fd[cpu];
	uint64_t rec[SAMPLE_SIZE / 8] = { PERF_RECORD_SAMPLE | (uint64_t)SAMPLE_SIZE << 48,
					  f->id, 0, 42, time };

	assert_true(fake_put(f->fd, rec, sizeof(rec)));
	s.trigger.ready = true;
}

static void put_lost(size_t cpu, uint64_t n)
{
	struct pio_fd *f = &s.trigger.ev[0].fd[cpu];
	uint64_t rec[7] = { PERF_RECORD_LOST | UINT64_C(56) << 48, f->id, n };

	assert_true(fake_put(f->fd, rec, sizeof(rec)));
	s.trigger.ready = true;
}

static void assert_taken(unsigned n)
{
	assert_int_equal(trigger_act(&s), 0);
	assert_int_equal(s.flight.taken, n);
	assert_int_equal(s.flight.from_ns, 0);
}

static void test_one_each(void **state)
{
	(void)state;
	assert_taken(0);
	assert_int_equal(trigger_wait(&s, -1), -1);
	trigger_pull(&s, 0, "one");
	assert_true(trigger_waits(&s));
	assert_int_equal(trigger_wait(&s, -1), 0);
	assert_taken(1);
	assert_false(trigger_waits(&s));
	assert_taken(1);
	s.snapshot_wanted = true;
	assert_taken(2);
	assert_taken(2);
}

static void test_hits(void **state)
{
	(void)state;
	put_hit(0, 1000);
	assert_taken(1);
	assert_taken(1);
	put_hit(1, 3000); /* in one batch: one snapshot, the others are merged */
	put_hit(0, 2000);
	put_lost(0, 5);
	trigger_hit_look(&s);
	assert_true(trigger_waits(&s));
	assert_int_equal(s.trigger.merged, 6);
	assert_string_equal(s.trigger.why, "probe:it in process 42");
	assert_taken(2);
	assert_int_equal(s.trigger.merged, 0);
	s.snapshot_wanted = true;
	put_hit(0, 4000);
	assert_taken(3);
}

/* Before anything is recorded there is nothing to be had. */
static void test_too_early(void **state)
{
	(void)state;
	s.on_ns = 0;
	trigger_pull(&s, 0, "early");
	assert_false(trigger_waits(&s));
	assert_taken(0);
}

static void test_post(void **state)
{
	(void)state;
	cfg.post_ns = 3600 * UINT64_C(1000000000);
	trigger_pull(&s, 0, "first");
	assert_taken(0);
	assert_int_equal(trigger_wait(&s, 20), 20);
	assert_in_range(trigger_wait(&s, -1), 3590 * 1000, 3600 * 1000);
	trigger_pull(&s, 0, "second");
	assert_int_equal(s.trigger.merged, 1);
	assert_string_equal(s.trigger.why, "first");
	s.trigger.due_ns = session_now(); /* an hour later */
	assert_taken(1);
	assert_int_equal(trigger_wait(&s, 20), 20);
}

/* What waits is not forgotten at the end, and the end itself is one of it. */
static void test_last(void **state)
{
	(void)state;
	cfg.post_ns = 3600 * UINT64_C(1000000000);
	trigger_pull(&s, 0, "first");
	trigger_last(&s, true);
	assert_int_equal(s.flight.taken, 1);
	trigger_last(&s, true);
	assert_int_equal(s.flight.taken, 2);
	trigger_last(&s, false);
	assert_int_equal(s.flight.taken, 2);
	s.snapshot_wanted = true;
	trigger_last(&s, false);
	assert_int_equal(s.flight.taken, 3);
	s.trigger.ended = true;
	trigger_last(&s, true);
	assert_int_equal(s.flight.taken, 3);
}

/* What time it was is remembered until the snapshot is taken. */
static void test_pre(void **state)
{
	(void)state;
	cfg.pre_ns = 5 * MS;
	put_hit(0, 7 * MS);
	trigger_hit_look(&s);
	assert_int_equal(s.trigger.at_ns, 7 * MS);
	assert_taken(1);
	assert_true(trigger_now(&s) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_each, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_early, setup, teardown),
		cmocka_unit_test_setup_teardown(test_post, setup, teardown),
		cmocka_unit_test_setup_teardown(test_last, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pre, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
