/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is asked of a running recording, over a kernel made of memory: whatever came before, an
 * action leaves each event on every cpu in the state that a few lines of a model say.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "perfio/attrs.h"
#include "recorder/log.h"
#include "recorder/session.h"
#include "tests/unit/fake_sys.h"

enum { PAGE = 4096, NR_CPUS = 2, PT = 0, SW = 1, TRACK = 2, TP = 3, NR_EV = 4 };

static struct session s;
static struct rec_config cfg;
static struct event_arg tp_arg;
static struct pio_event ev[NR_EV];
static int cpus[NR_CPUS + 1] = { 0, 1, 5 };
static uint64_t id;
static struct fmt_event described;

static int open_set(void)
{
	struct pio_attr_common c = { .read_format = PERF_FORMAT_ID, .clockid = -1 };
	struct pio_target t = { .cpus = { cpus, NR_CPUS }, .data_len = PAGE,
				.aux_len = 2 * PAGE, .overwrite = cfg.snapshot };
	struct pio_pmu pmu = { .type = 8 };
	struct pio_config conf = { 0 };
	struct pio_fault why;

	ev[PT] = (struct pio_event){ .attr = pio_attr_aux(&c, &pmu, &conf),
				     .name = "intel_pt//u" };
	ev[SW] = (struct pio_event){ .attr = pio_attr_switch(&c), .leader = 1,
				     .name = "context-switches" };
	ev[TRACK] = (struct pio_event){ .attr = pio_attr_tracking(&c), .name = "tracking" };
	ev[TRACK].attr.disabled = 0;
	ev[TP] = (struct pio_event){ .attr = pio_attr_tracepoint(&c, 7),
				     .name = "sched:sched_switch" };
	for (size_t i = 0; i < NR_EV; i++)
		s.plan.start_late[i] = i != TRACK;
	return pio_evset_open(&s.set, &fake_sys, ev, NR_EV, &t, &why);
}

/* What is written is for other tests to look at. */
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

static int begin(void)
{
	const struct fmt_sink sink = { .append = nothing, .patch = nor_here };

	log_level = -1;
	fake_reset();
	tp_arg.text = (char *)"sched:*switch";
	s = (struct session){ .sys = &fake_sys, .cfg = &cfg, .plan.source = SOURCE_KERNEL,
			      .events = &described, .plan.arg[TP] = &tp_arg };
	if (open_set())
		return -EIO;
	s.source.set = &s.set;
	s.stalled = calloc(NR_CPUS + 1, sizeof(*s.stalled));
	s.flight.place = calloc(NR_CPUS + 1, sizeof(*s.flight.place));
	s.flight.begun = s.out.published = true; /* the file has its head */
	id = fake_event(0)->id;
	pio_attr_bytes(&ev[0].attr, described.attr);
	described = (struct fmt_event){ .ids = &id, .nr_ids = 1, .name = "pt" };
	fmt_writer_init(&s.writer, &sink, false);
	control_setup(&s);
	return flight_setup(&s) || fmt_writer_begin(&s.writer, &described, 1, NULL);
}

/* As the session does it, once. */
static void session_enables(void)
{
	for (size_t i = 0; i < NR_EV; i++)
		if (s.plan.start_late[i])
			assert_int_equal(pio_evset_enable(&s.set, i), 0);
	s.enabled = true;
	s.on_ns = 1;
}

static int setup(void **state)
{
	(void)state;
	cfg = (struct rec_config){ .snapshot = true, .output = "f" };
	if (begin())
		return -1;
	session_enables();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	pio_evset_done(&s.set);
	fmt_writer_done(&s.writer);
	ledger_done(&s.ledger);
	spans_done(&s.spans);
	free(s.stalled);
	flight_done(&s);
	fmt_buf_done(&s.buf);
	if (fake_lent_fds() || fake_lent_maps() || fake_slips())
		return -1;
	fake_reset();
	return 0;
}

/* ---- the model ---- */

static struct {
	unsigned paused;
	bool off[NR_EV];
} model;

static bool model_counts(size_t i)
{
	if (i == TRACK)
		return true;
	return s.enabled && !model.paused && !model.off[i] && !(i == SW && model.off[PT]);
}

/* A member of a group counts when it is on and its leader is, too. */
static bool counts(size_t i, size_t k)
{
	const struct fake_event *e = fake_event_of(ev[i].fd[k].fd);
	const struct fake_event *lead = fake_event_of(e->group_fd);

	assert_false(e->enabled && e->stuck);
	return e->enabled && (!lead || lead->enabled);
}

static void assert_as_model(void)
{
	for (size_t i = 0; i < NR_EV; i++) {
		for (size_t k = 0; k < ev[i].nr_fd; k++)
			if (counts(i, k) != model_counts(i))
				fail_msg("%s is %s", ev[i].name, counts(i, k) ? "on" : "off");
		assert_int_equal(control_counts(&s, i), model_counts(i));
	}
}

static void model_off(bool off, size_t but)
{
	for (size_t i = 0; i < NR_EV; i++)
		if (i != but && i != TRACK)
			model.off[i] = off;
}

static void model_enable(size_t i)
{
	model.off[i] = false;
	if (model.paused & CONTROL_ASKED)
		model_off(true, i);
	model.paused &= ~(unsigned)CONTROL_ASKED;
}

/* ---- the actions ---- */

static void pause_asked(void)
{
	assert_int_equal(control_pause(&s, CONTROL_ASKED), 0);
	model.paused |= CONTROL_ASKED;
}

static void pause_stopped(void)
{
	assert_int_equal(control_pause(&s, CONTROL_STOPPED), 0);
	model.paused |= CONTROL_STOPPED;
}

static void resume_asked(void)
{
	assert_int_equal(control_resume(&s, CONTROL_ASKED), 0);
	model.paused &= ~(unsigned)CONTROL_ASKED;
}

static void resume_stopped(void)
{
	assert_int_equal(control_resume(&s, CONTROL_STOPPED), 0);
	model.paused &= ~(unsigned)CONTROL_STOPPED;
}

static void enable_all(void)
{
	assert_int_equal(control_enable(&s, NULL), 0);
	model_off(false, NR_EV);
	model.paused &= ~(unsigned)CONTROL_ASKED;
}

static void disable_all(void)
{
	assert_int_equal(control_disable(&s, NULL), 0);
	model_off(true, NR_EV);
}

static void enable_trace(void)
{
	assert_int_equal(control_enable(&s, "intel_pt"), 0);
	model_enable(PT);
}

static void disable_trace(void)
{
	assert_int_equal(control_disable(&s, "intel_pt//u"), 0);
	model.off[PT] = true;
}

static void enable_switches(void)
{
	assert_int_equal(control_enable(&s, "context-switches"), 0);
	model_enable(SW);
}

static void disable_switches(void)
{
	assert_int_equal(control_disable(&s, "context-switches"), 0);
	model.off[SW] = true;
}

static void enable_tracepoint(void)
{
	assert_int_equal(control_enable(&s, "sched:*switch"), 0);
	model_enable(TP);
}

static void disable_tracepoint(void)
{
	assert_int_equal(control_disable(&s, "sched:sched_switch"), 0);
	model.off[TP] = true;
}

static void snapshot(void)
{
	unsigned taken = s.flight.taken;

	assert_int_equal(control_snapshot(&s, NULL, "test"), s.on_ns ? 0 : -EAGAIN);
	assert_int_equal(s.flight.taken, taken + (s.on_ns != 0));
}

/* What others do meanwhile, and must not switch anything on that is off. */
static void area_was_full(void)
{
	if (s.enabled)
		assert_int_equal(pio_evset_restart(&s.set, PT, 1), 0);
}

static void cpu_returns(void)
{
	struct pio_fault why;

	pio_evset_retire(&s.set, 1);
	assert_int_equal(pio_evset_add_cpu(&s.set, 1, &why), 1);
	for (size_t i = 0; i < NR_EV && s.enabled; i++)
		if (s.plan.start_late[i])
			assert_int_equal(pio_evset_enable_place(&s.set, i, 1), 0);
}

static void stop(void)
{
	control_stop(&s);
	assert_int_equal(s.signal, SIGTERM);
}

static void (*const action[])(void) = {
	pause_asked, pause_stopped, resume_asked, resume_stopped, enable_all, disable_all,
	enable_trace, disable_trace, enable_switches, disable_switches, enable_tracepoint,
	disable_tracepoint, snapshot, area_was_full, cpu_returns, stop,
};
enum { ACTIONS = sizeof(action) / sizeof(action[0]) };

/* Every order of three, each from where the last one ended. */
static void walk(void)
{
	for (size_t n = 0; n < ACTIONS * ACTIONS * ACTIONS; n++)
		for (size_t k = n, i = 0; i < 3; i++, k /= ACTIONS) {
			if (action[k % ACTIONS] == cpu_returns && fake_nr_events() > 1000)
				continue; /* that kernel has room for so many */
			action[k % ACTIONS]();
			assert_as_model();
		}
}

static void actions_come_in_every_order(void **state)
{
	(void)state;
	memset(&model, 0, sizeof(model));
	assert_as_model();
	walk();
}

static void before_the_delay_is_over_nothing_is_switched_on(void **state)
{
	(void)state;
	assert_int_equal(teardown(NULL), 0);
	assert_int_equal(begin(), 0);
	memset(&model, 0, sizeof(model));
	walk();
	enable_all();
	pause_asked();
	session_enables();
	assert_as_model();
	resume_asked();
	assert_as_model();
	assert_true(counts(PT, 0));
}

static void paused_from_the_start_waits_to_be_resumed(void **state)
{
	static void (*const how[])(void) = { resume_asked, enable_all, enable_tracepoint };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(teardown(NULL), 0);
		cfg.start_paused = true;
		assert_int_equal(begin(), 0);
		memset(&model, 0, sizeof(model));
		model.paused = CONTROL_ASKED;
		assert_as_model();
		session_enables();
		assert_as_model();
		pause_stopped();
		resume_stopped();
		assert_as_model();
		how[i]();
		assert_as_model();
		assert_true(counts(TP, 0));
		assert_int_equal(counts(PT, 0), i != 2);
	}
}

static void what_tracks_tasks_stays_on(void **state)
{
	(void)state;
	assert_int_equal(control_disable(&s, "tracking"), -EPERM);
	assert_non_null(strstr(s.control.words, "tracking"));
	assert_true(counts(TRACK, 0));
	assert_int_equal(control_enable(&s, "nonsense"), -ENOENT);
	assert_non_null(strstr(s.control.words, "nonsense"));
	assert_int_equal(control_disable(&s, "intel"), -ENOENT);
	assert_int_equal(control_disable(&s, ""), -ENOENT);
}

/* The state is what was asked for; the answer tells of the failure. */
static void a_failing_switch_is_told(void **state)
{
	(void)state;
	fake_fail(FAKE_IOCTL, 1, EIO);
	assert_int_equal(control_pause(&s, CONTROL_ASKED), -EIO);
	assert_non_null(strstr(s.control.words, "disable"));
	assert_true(s.control.paused && s.set.held);
	assert_false(counts(PT, 1));
	fake_fail(FAKE_IOCTL, 1, ENODEV);
	assert_int_equal(control_resume(&s, CONTROL_ASKED), -ENODEV);
	assert_int_equal(s.control.paused, 0);
	assert_true(counts(PT, 1));
}

static void pauses_are_counted_once(void **state)
{
	(void)state;
	assert_int_equal(control_pause(&s, CONTROL_ASKED), 0);
	assert_int_equal(control_pause(&s, CONTROL_ASKED), 0);
	assert_int_equal(control_pause(&s, CONTROL_STOPPED), 0);
	assert_int_equal(s.control.pauses, 1);
	assert_true(s.control.paused_ns != 0);
	assert_int_equal(control_resume(&s, CONTROL_ASKED), 0);
	assert_int_equal(s.control.paused, CONTROL_STOPPED);
	assert_int_equal(control_resume(&s, CONTROL_STOPPED), 0);
	assert_int_equal(control_pause(&s, CONTROL_ASKED), 0);
	assert_int_equal(s.control.pauses, 2);
}

static void snapshots_need_a_flight_and_a_file(void **state)
{
	(void)state;
	assert_int_equal(control_snapshot(&s, "/dev/null", "test"), -EINVAL);
	assert_int_equal(control_snapshot(&s, "/nowhere/at/all", "test"), -ENOENT);
	assert_int_equal(control_snapshot(&s, "./f", "test"), -EEXIST);
	assert_int_equal(s.write_err, 0);
	assert_false(s.flight.own);
	assert_int_equal(control_rotate(&s), -EOPNOTSUPP);
	assert_int_equal(teardown(NULL), 0);
	cfg.snapshot = false;
	assert_int_equal(begin(), 0);
	assert_int_equal(control_snapshot(&s, NULL, "test"), -EOPNOTSUPP);
	assert_int_equal(control_rotate(&s), -EOPNOTSUPP); /* there are no names for more */
	assert_non_null(strstr(s.control.words, "--switch-output"));
	assert_int_equal(tasktable_new(&s.rotation.table, 1 << 20), 0);
	assert_int_equal(control_rotate(&s), 0);
	assert_true(s.control.rotate_wanted);
	s.out.stream = true;
	assert_int_equal(control_rotate(&s), -EOPNOTSUPP);
	tasktable_free(s.rotation.table);
	s.rotation.table = NULL;
}

static void the_software_source_is_switched_as_an_event(void **state)
{
	const struct soft_config c = { .pt.psb_bytes = 4096 };

	(void)state;
	assert_int_equal(soft_new(&s.source.soft, &c), 0);
	s.plan.cfg = &cfg;
	s.plan.pt_name = (char *)"intel_pt/soft/u";
	s.enabled = false;
	assert_false(control_traces(&s)); /* --delay */
	s.enabled = true;
	assert_true(control_traces(&s));
	assert_int_equal(control_pause(&s, CONTROL_ASKED), 0);
	assert_false(control_traces(&s));
	assert_int_equal(control_resume(&s, CONTROL_ASKED), 0);
	assert_true(control_traces(&s));
	assert_int_equal(control_disable(&s, NULL), 0);
	assert_false(control_traces(&s));
	assert_int_equal(control_enable(&s, "sched:sched_switch"), 0);
	assert_false(control_traces(&s)); /* that one alone */
	assert_int_equal(control_enable(&s, "intel_pt"), 0);
	assert_true(control_traces(&s));
	assert_int_equal(control_disable(&s, "intel_pt/soft/u"), 0);
	assert_int_equal(control_pause(&s, CONTROL_ASKED), 0);
	assert_int_equal(control_resume(&s, CONTROL_ASKED), 0);
	assert_false(control_traces(&s));
	assert_int_equal(control_pause(&s, CONTROL_ASKED), 0);
	assert_int_equal(control_enable(&s, "intel_pt"), 0);
	assert_true(control_traces(&s));
	assert_false(control_counts(&s, TP));
	assert_int_equal(control_enable(&s, NULL), 0);
	assert_true(control_traces(&s) && control_counts(&s, TP));
	assert_int_equal(control_disable(&s, "intel_ptx"), -ENOENT);
	s.plan.pt_name = NULL;
	soft_free(s.source.soft);
	s.source.soft = NULL;
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(actions_come_in_every_order),
		T(before_the_delay_is_over_nothing_is_switched_on),
		T(paused_from_the_start_waits_to_be_resumed),
		T(what_tracks_tasks_stays_on),
		T(a_failing_switch_is_told),
		T(pauses_are_counted_once),
		T(snapshots_need_a_flight_and_a_file),
		T(the_software_source_is_switched_as_an_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
