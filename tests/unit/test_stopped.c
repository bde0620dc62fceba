/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether what is traced is stopped: a /proc made of files, a kernel made of memory, and tasks
 * that stop and go on in every order. Whatever happened, once all is looked at the recording is
 * paused exactly when all tasks are stopped, and what the user asked for is left alone.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfio/attrs.h"
#include "recorder/log.h"
#include "recorder/session.h"
#include "tests/unit/fake_sys.h"
#include "tests/unit/fixture.h"

enum { PAGE = 4096, NR_CPUS = 2, TID = 100, MOST = 8, SAMPLE_SIZE = 64, STEPS = 3000 };

static struct fixture *fix;
static struct pio_sys sys;
static struct session s;
static struct rec_config cfg;
static pid_t watched = TID;
static int cpus[NR_CPUS] = { 0, 1 };
static struct pio_event ev[1];

/* The tasks: 0 is none, else the letter of its state. */
static char state_of[MOST];

static void set_state(int i, char state)
{
	char path[128], text[64];

	state_of[i] = state;
	if (state) {
		snprintf(path, sizeof(path), "proc/%d/stat", TID + i);
		snprintf(text, sizeof(text), "%d (a) T) %c 1 1 1\n", TID + i, state);
		fixture_file(fix, path, text);
	} else {
		snprintf(path, sizeof(path), "%s/%d/stat", fix->proc, TID + i);
		unlink(path);
	}
}

static void make_tree(void)
{
	fixture_file(fix, "sys/devices/system/cpu/online", "0-1\n");
	fixture_file(fix, "tracing/events/sched/sched_switch/id", "11\n");
	fixture_file(fix, "tracing/events/sched/sched_switch/format", "x\n");
	fixture_file(fix, "tracing/events/sched/sched_waking/id", "12\n");
	fixture_file(fix, "tracing/events/sched/sched_waking/format", "x\n");
}

static int open_own(void)
{
	struct pio_attr_common c = { .read_format = PERF_FORMAT_ID, .clockid = -1 };
	struct pio_target t = { .cpus = { cpus, NR_CPUS }, .data_len = PAGE };
	struct pio_fault why;

	ev[0] = (struct pio_event){ .attr = pio_attr_switch(&c), .name = "switches" };
	s.plan.start_late[0] = true;
	return pio_evset_open(&s.set, &sys, ev, 1, &t, &why);
}

static int setup(void **state)
{
	if (fixture_new(state))
		return -1;
	fix = *state;
	fake_reset();
	log_level = -1;
	make_tree();
	memset(state_of, 0, sizeof(state_of));
	sys = fake_sys;
	sys.proc = fix->proc;
	sys.sysfs = fix->sysfs;
	sys.tracefs = fix->tracefs;
	cfg = (struct rec_config){ .pause_when_stopped = true, .watch = &watched, .nr_watch = 1 };
	s = (struct session){ .sys = &sys, .cfg = &cfg, .plan = { .system_wide = true,
			      .limits.page = PAGE }, .watch = WATCH_INIT, .enabled = true };
	if (watch_init(&s.watch) || open_own() || pio_evset_enable(&s.set, 0))
		return -1;
	return stopped_add_task(&s.stopped, TID) || stopped_open(&s) ? -1 : 0;
}

static int teardown(void **state)
{
	unsigned left;

	stopped_done(&s);
	pio_evset_done(&s.set);
	watch_done(&s.watch);
	left = fake_lent_fds() + fake_lent_maps() + fake_slips();
	fake_reset();
	return fixture_done(state) || left ? -1 : 0;
}

static void begin(void)
{
	s.stopped.how = STOPPED_EVENTS;
	assert_int_equal(stopped_watch(&s), 0);
	assert_int_equal(stopped_wait(&s, -1), 0);
	stopped_look(&s);
}

static void put(const struct pio_event *e, const uint64_t *rec, size_t size)
{
	const struct fake_event *f = fake_event_of(e->fd[0].fd);

	if (f && f->enabled) {
		assert_true(fake_put(e->fd[0].fd, rec, size));
		s.stopped.ready = true;
	}
}

static void sample(const struct pio_event *e)
{
	const uint64_t rec[SAMPLE_SIZE / 8] = { PERF_RECORD_SAMPLE |
						(uint64_t)SAMPLE_SIZE << 48 };

	put(e, rec, sizeof(rec));
}

static void task_record(uint32_t type, int i)
{
	const uint64_t rec[8] = { type | UINT64_C(64) << 48, TID | (uint64_t)1 << 32,
				  (uint64_t)(TID + i) | (uint64_t)TID << 32 };

	put(&s.stopped.halt_ev[STOPPED_TASKS], rec, sizeof(rec));
}

static void halt(int i, char how)
{
	set_state(i, how);
	sample(&s.stopped.halt_ev[STOPPED_SWITCH]);
}

/* Whoever wakes it is seen before its state has changed. */
static void wake(int i, bool look_between)
{
	sample(&s.stopped.wake_ev[0]);
	if (look_between)
		stopped_look(&s);
	set_state(i, 'R');
}

static bool all_stopped(void)
{
	int n = 0;

	for (int i = 0; i < MOST; i++) {
		if (state_of[i] == 'R' || state_of[i] == 'S')
			return false;
		n += state_of[i] == 'T' || state_of[i] == 't';
	}
	return n;
}

static void assert_as_it_is(bool asked)
{
	stopped_look(&s);
	if (s.stopped.doubt_ns) { /* a moment later */
		s.stopped.doubt_ns = 1;
		stopped_look(&s);
	}
	if (s.stopped.is && !all_stopped()) { /* woken while nobody waited for that */
		s.stopped.look_ns = 1;
		stopped_look(&s);
	}
	assert_int_equal(s.stopped.is, all_stopped());
	assert_int_equal(s.control.paused, (all_stopped() ? CONTROL_STOPPED : 0) |
					   (asked ? CONTROL_ASKED : 0));
	assert_int_equal(fake_event_of(ev[0].fd[0].fd)->enabled, !s.control.paused);
}

static void test_stop_and_go_on(void **state)
{
	(void)state;
	set_state(0, 'R');
	begin();
	assert_as_it_is(false);
	assert_int_equal(stopped_wait(&s, -1), -1);
	halt(0, 'T');
	assert_as_it_is(false);
	assert_true(s.stopped.is);
	assert_in_range(stopped_wait(&s, -1), 0, 11);
	wake(0, false);
	assert_as_it_is(false);
	assert_int_equal(s.stopped.times, 1);
	assert_int_equal(stopped_wait(&s, 7), 7);
}

/* Stopped when we came, and nobody tells. */
static void test_from_the_start(void **state)
{
	(void)state;
	set_state(0, 't');
	begin();
	assert_true(s.stopped.is);
	assert_as_it_is(false);
	wake(0, false);
	assert_as_it_is(false);
}

/* It was being woken while we began to wait for that: seen when we look anyway. */
static void test_missed(void **state)
{
	(void)state;
	set_state(0, 'R');
	begin();
	halt(0, 'T');
	stopped_look(&s);
	set_state(0, 'R');
	s.stopped.look_ns = session_now();
	assert_as_it_is(false);
	assert_false(s.stopped.is);
}

/* It went on and stopped again before we looked. */
static void test_again(void **state)
{
	(void)state;
	set_state(0, 'R');
	begin();
	halt(0, 'T');
	stopped_look(&s);
	wake(0, false);
	halt(0, 'T');
	assert_as_it_is(false);
	assert_true(s.stopped.is);
	wake(0, false);
	assert_as_it_is(false);
	assert_false(s.stopped.is);
}

/* More than the ring of tasks had room for. */
static void test_lost(void **state)
{
	const uint64_t rec[7] = { PERF_RECORD_LOST | UINT64_C(56) << 48, 0, 5 };

	(void)state;
	set_state(0, 'R');
	begin();
	halt(0, 'T');
	stopped_look(&s);
	put(&s.stopped.halt_ev[STOPPED_TASKS], rec, sizeof(rec));
	stopped_look(&s);
	assert_int_equal(s.control.paused, 0);
	assert_int_equal(s.stopped.how, STOPPED_UNWATCHED);
	assert_int_equal(stopped_wait(&s, -1), -1);
}

/* The trigger is pulled once for each stop that was seen to begin. */
static void test_trigger(void **state)
{
	(void)state;
	cfg.triggers = TRIGGER_STOP;
	s.on_ns = 1;
	set_state(0, 'T');
	begin();
	assert_false(trigger_waits(&s));
	wake(0, false);
	stopped_look(&s);
	halt(0, 'T');
	stopped_look(&s);
	if (s.stopped.doubt_ns)
		s.stopped.doubt_ns = 1;
	stopped_look(&s);
	assert_string_equal(s.trigger.why, "process 100 was stopped");
	assert_int_equal(s.trigger.merged, 0);
}

static uint32_t seed;

static unsigned pick(unsigned n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % n;
}

static void step(bool *asked)
{
	int i = (int)pick(MOST);

	switch (pick(7)) {
	case 0:
	case 1:
		if (state_of[i] == 'R')
			halt(i, pick(2) ? 'T' : 't');
		break;
	case 2:
	case 3:
		if (state_of[i] == 'T' || state_of[i] == 't')
			wake(i, pick(2));
		break;
	case 4:
		if (!state_of[i] && state_of[0] == 'R') {
			set_state(i, 'R');
			task_record(PERF_RECORD_FORK, i);
		}
		break;
	case 5:
		if (!i || state_of[i] != 'R')
			break;
		set_state(i, 0);
		if (all_stopped()) /* the last that runs: its end tells nobody */
			set_state(i, 'R');
		else
			task_record(PERF_RECORD_EXIT, i);
		break;
	default:
		*asked = !*asked;
		assert_int_equal(*asked ? control_pause(&s, CONTROL_ASKED)
					: control_resume(&s, CONTROL_ASKED), 0);
	}
}

static void test_every_order(void **state)
{
	unsigned steps = 0;
	bool asked = false;

	(void)state;
	set_state(0, 'R');
	begin();
	for (seed = 1; steps < STEPS; steps++) {
		uint32_t kept = seed;

		step(&asked);
		if (pick(2))
			stopped_look(&s);
		if (pick(3))
			continue;
		seed += kept;
		assert_as_it_is(asked);
	}
	assert_true(s.stopped.times > 20);
}

static void test_filter(void **state)
{
	char *f = stopped_filter(&s.stopped);

	(void)state;
	assert_string_equal(f, "pid == 100");
	free(f);
	assert_int_equal(stopped_add_task(&s.stopped, 7), 0);
	assert_int_equal(stopped_add_task(&s.stopped, 7), 0);
	f = stopped_filter(&s.stopped);
	assert_string_equal(f, "pid == 100 || pid == 7");
	free(f);
	for (pid_t t = 1000; t < 1100; t++)
		assert_int_equal(stopped_add_task(&s.stopped, t), 0);
	f = stopped_filter(&s.stopped);
	assert_string_equal(f, "pid >= 7 && pid <= 1099");
	free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_stop_and_go_on, setup, teardown),
		cmocka_unit_test_setup_teardown(test_from_the_start, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_trigger, setup, teardown),
		cmocka_unit_test_setup_teardown(test_every_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_filter, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
