/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real programs from end to end: what libipt decodes from the trace must be, address by
 * address, what the stepper saw.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/softrun.h"
#include "tests/unit/tinyprog.h"

#include <errno.h>
#include <intel-pt.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

struct world {
	struct softrun run;
	struct softrun_verdict verdict;
	char dir[32], path[48], path32[48];
	char *argv[3];
};

/* .step: of the tests that are running. */
static struct soft_config plain = { .pt = { .psb_bytes = 4096, .noretcomp = true,
						 .tsc = true, .branch = true } };

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	strcpy(w->dir, "/tmp/test_soft.XXXXXX");
	if (!mkdtemp(w->dir))
		return -1;
	snprintf(w->path, sizeof(w->path), "%s/tiny", w->dir);
	snprintf(w->path32, sizeof(w->path32), "%s/tiny32", w->dir);
	w->argv[0] = w->path;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	softrun_end(&w->run);
	unlink(w->path);
	unlink(w->path32);
	rmdir(w->dir);
	free(w);
	return 0;
}

static void begin(struct world *w, enum tinyprog which, struct soft_config c)
{
	assert_int_equal(tinyprog_write(w->path, which), 0);
	assert_int_equal(softrun_begin(&w->run, &c, w->argv), 0);
}

static void judge(struct world *w)
{
	softrun_judge(&w->run, &w->verdict, stdout);
	assert_true(w->verdict.logged > 0);
	assert_true(w->verdict.logged == w->run.stats.instructions);
	assert_int_equal(w->verdict.errors, 0);
	assert_int_equal(w->verdict.differ, 0);
	assert_int_equal(w->run.stats.unexplained, 0);
	assert_int_equal(w->run.stats.dropped, 0);
}

static void run_whole(struct world *w, enum tinyprog which, struct soft_config c, int status)
{
	begin(w, which, c);
	assert_int_equal(softrun_all(&w->run), 0);
	assert_true(WIFEXITED(w->run.status));
	assert_int_equal(WEXITSTATUS(w->run.status), status);
	assert_int_equal(w->run.stats.live, 0);
	judge(w);
}

static struct pt_packet_decoder *packets_of(const struct softrun_trace *t, uint64_t from)
{
	struct pt_packet_decoder *d;
	struct pt_config c;

	pt_config_init(&c);
	c.begin = t->v;
	c.end = t->v + t->n;
	d = pt_pkt_alloc_decoder(&c);
	assert_non_null(d);
	assert_int_equal(pt_pkt_sync_set(d, from), 0);
	return d;
}

/* TSC packets that belong neither to a PSB+ nor to a return to user space. */
static int lone_times(const struct softrun_trace *t)
{
	struct pt_packet_decoder *d = packets_of(t, 0);
	enum pt_packet_type last = ppt_invalid;
	struct pt_packet k;
	int n = 0;

	while (pt_pkt_next(d, &k, sizeof(k)) > 0) {
		n += last == ppt_tsc && k.type != ppt_mode;
		last = k.type;
	}
	pt_pkt_free_decoder(d);
	return n;
}

/* The next short TNT packet; false if there is none from `from` on. */
static bool find_tnt(const struct softrun_trace *t, uint64_t from, uint64_t *at)
{
	struct pt_packet_decoder *d = packets_of(t, from);
	struct pt_packet k;
	int n;

	do {
		pt_pkt_get_offset(d, at);
		n = pt_pkt_next(d, &k, sizeof(k));
	} while (n > 0 && k.type != ppt_tnt_8);
	pt_pkt_free_decoder(d);
	return n > 0;
}

static void branches_decode_as_they_ran(void **state)
{
	struct world *w = *state;

	run_whole(w, TINY_FLOW, plain, 0);
	/* Counted by hand; a string instruction is one, however many rounds it takes. */
	assert_int_equal(w->run.stats.instructions, 1 + 6 + 2 + 4 + 7 + 1 + 5 + 4 + 2 + 4 +
						    2 + 2);
}

static void compressed_returns_decode_as_they_ran(void **state)
{
	struct soft_config c = plain;

	c.pt.noretcomp = false;
	run_whole(*state, TINY_FLOW, c, 0);
}

static void a_trace_without_time_decodes_as_well(void **state)
{
	struct soft_config c = plain;

	c.pt.tsc = false;
	run_whole(*state, TINY_FLOW, c, 0);
}

static void signals_and_own_breakpoints_decode_and_reach_the_program(void **state)
{
	struct world *w = *state;

	run_whole(w, TINY_SIGNALS, plain, 5);
	assert_int_equal(w->run.stats.signals, 5);
}

static void a_forked_child_has_a_trace_of_its_own(void **state)
{
	struct world *w = *state;

	run_whole(w, TINY_FORK, plain, 3);
	assert_int_equal(w->verdict.traces, 2);
	assert_int_equal(w->run.stats.processes, 2);
}

static void a_program_executed_anew_goes_on_in_its_trace(void **state)
{
	struct world *w = *state;

	run_whole(w, TINY_EXEC, plain, 7);
	assert_int_equal(w->verdict.traces, 2);
}

static void threads_killed_in_the_middle_decode_to_their_end(void **state)
{
	struct world *w = *state;

	run_whole(w, TINY_THREADS, plain, 4);
	assert_int_equal(w->verdict.traces, 2);
	assert_int_equal(w->run.stats.processes, 1);
	assert_int_equal(w->run.stats.threads, 2);
}

static void a_mapping_of_another_thread_asks_for_a_time(void **state)
{
	struct world *w = *state;

	run_whole(w, TINY_THREADS, plain, 4);
	assert_int_equal(lone_times(&w->run.trace[0]), 1);
	assert_int_equal(lone_times(&w->run.trace[1]), 0);
}

static void a_thread_that_executes_takes_over_the_first_one(void **state)
{
	struct world *w = *state;

	run_whole(w, TINY_THREADEXEC, plain, 7);
	assert_int_equal(w->verdict.traces, 2);
}

static void pinning_ends_with_the_source(void **state)
{
	struct world *w = *state;
	struct soft_config c = plain;
	cpu_set_t before, after;

	c.pin = true;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	run_whole(w, TINY_THREADS, c, 4);
	softrun_end(&w->run);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
}

static void a_dynamic_program_decodes_as_it_ran(void **state)
{
	struct world *w = *state;
	char path[] = "/bin/true";
	char *argv[] = { path, NULL };
	struct soft_config c = plain;

	c.pin = true;
	c.pt.noretcomp = false;
	if (access(path, X_OK))
		skip();
	assert_int_equal(softrun_begin(&w->run, &c, argv), 0);
	assert_int_equal(softrun_all(&w->run), 0);
	assert_int_equal(w->run.status, 0);
	judge(w);
}

static void each_flipped_branch_bit_is_noticed(void **state)
{
	struct world *w = *state;
	uint64_t at = 0;
	int flips = 0;

	run_whole(w, TINY_FLOW, plain, 0);
	for (; find_tnt(&w->run.trace[0], at, &at); at++) {
		uint8_t *p = &w->run.trace[0].v[at], was = *p;

		/* From the newest bit up to the one below the stop bit. */
		for (unsigned bit = 1; was >> (bit + 1); bit++) {
			*p = was ^ (uint8_t)(1u << bit);
			softrun_judge(&w->run, &w->verdict, NULL);
			assert_true(w->verdict.differ + w->verdict.errors > 0);
			flips++;
		}
		*p = was;
	}
	/* jnz three times, jz twice, jrcxz once, loop four times */
	assert_int_equal(flips, 3 + 2 + 1 + 4);
}

static void run_until_idle(struct world *w)
{
	int state;

	do
		state = softrun_some(&w->run, 1);
	while (state == SOFT_BUSY);
	assert_int_equal(state, SOFT_IDLE);
}

static void a_sleeping_program_is_idle_and_its_trace_is_out(void **state)
{
	struct world *w = *state;

	begin(w, TINY_SLEEP, plain);
	run_until_idle(w);
	while (!w->run.stats.instructions)
		run_until_idle(w);
	/* The log is written later than the trace: count only. */
	softrun_judge(&w->run, &w->verdict, NULL);
	assert_int_equal(w->verdict.errors, 0);
	assert_true(w->verdict.decoded == w->run.stats.instructions);
	assert_int_equal(w->verdict.enabled, 1);
	assert_int_equal(softrun_all(&w->run), 0);
	assert_int_equal(WEXITSTATUS(w->run.status), 6);
	judge(w);
}

static void a_stopped_sleep_is_resumed_by_the_kernel(void **state)
{
	struct world *w = *state;

	begin(w, TINY_SLEEP, plain);
	while (!w->run.stats.instructions)
		softrun_some(&w->run, 1);
	run_until_idle(w);
	assert_int_equal(soft_kill(w->run.soft, SIGSTOP), 0);
	usleep(5000);
	run_until_idle(w);
	assert_int_equal(soft_kill(w->run.soft, SIGCONT), 0);
	assert_int_equal(softrun_all(&w->run), 0);
	assert_int_equal(WEXITSTATUS(w->run.status), 6);
	judge(w);
	/* The system call was left and entered once more, unseen by the program. */
	assert_int_equal(w->verdict.enabled, 3);
}

static void pending_bits_are_handed_out_on_demand(void **state)
{
	struct world *w = *state;

	begin(w, TINY_FOREVER, plain);
	while (w->run.stats.instructions < 300)
		softrun_some(&w->run, 1);
	softrun_drain(&w->run, true);
	softrun_judge(&w->run, &w->verdict, NULL);
	assert_int_equal(w->verdict.errors, 0);
	/* A reader stops at the last branch it was told of. */
	assert_true(w->verdict.decoded >= 299);
	assert_int_equal(soft_kill(w->run.soft, SIGKILL), 0);
	assert_int_equal(softrun_all(&w->run), 0);
	assert_true(WIFSIGNALED(w->run.status));
	judge(w);
}

/* What has run so far is all in a copy with an end of its own, wherever that is. */
static void judge_copy(struct world *w)
{
	const struct softrun_trace *t = &w->run.trace[0];
	struct softrun copy = w->run;
	struct softrun_trace whole = *t;
	struct softrun_verdict v;

	whole.v = malloc(t->n + SOFT_END_MAX);
	assert_non_null(whole.v);
	memcpy(whole.v, t->v, t->n);
	whole.n += soft_queue_end(w->run.soft, 0, whole.v + t->n);
	copy.trace = &whole;
	softrun_judge(&copy, &v, NULL);
	assert_int_equal(v.decoded, w->run.stats.instructions);
	assert_int_equal(v.errors, 0);
	free(whole.v);
}

static void a_copy_is_readable_to_the_last_instruction(void **state)
{
	struct world *w = *state;

	begin(w, TINY_FLOW, plain);
	while (softrun_some(&w->run, 1) != SOFT_DONE)
		if (w->run.nr_traces && w->run.stats.instructions)
			judge_copy(w);
	judge(w); /* the stream itself goes on as if nobody had looked */
}

static void expect_own_end(struct world *w, int code)
{
	int status;

	assert_int_equal(soft_detach(w->run.soft), 0);
	softrun_some(&w->run, 1);
	assert_int_equal(w->run.stats.live, 0);
	judge(w);
	assert_int_equal(waitpid(w->run.child, &status, 0), w->run.child);
	w->run.child = 0;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), code);
}

static void a_detached_spinner_runs_to_its_end(void **state)
{
	struct world *w = *state;

	begin(w, TINY_SPIN, plain);
	while (w->run.stats.instructions < 500)
		softrun_some(&w->run, 50);
	expect_own_end(w, 6);
}

static void a_detached_sleeper_runs_to_its_end(void **state)
{
	struct world *w = *state;

	begin(w, TINY_SLEEP, plain);
	while (!w->run.stats.instructions)
		softrun_some(&w->run, 1);
	run_until_idle(w);
	expect_own_end(w, 6);
}

static void a_stopped_spinner_is_detached_and_stays_stopped(void **state)
{
	struct world *w = *state;
	int status;

	begin(w, TINY_SPIN, plain);
	while (w->run.stats.instructions < 500)
		softrun_some(&w->run, 50);
	assert_int_equal(soft_kill(w->run.soft, SIGSTOP), 0);
	run_until_idle(w);
	assert_int_equal(soft_detach(w->run.soft), 0);
	assert_int_equal(waitpid(w->run.child, &status, WUNTRACED), w->run.child);
	assert_true(WIFSTOPPED(status));
	kill(w->run.child, SIGCONT);
	expect_own_end(w, 6);
}

static void a_freed_source_leaves_no_process(void **state)
{
	struct world *w = *state;
	pid_t child;

	begin(w, TINY_THREADS, plain);
	while (w->run.stats.instructions < 20)
		softrun_some(&w->run, 1);
	child = w->run.child;
	softrun_end(&w->run);
	assert_int_equal(kill(child, 0), -1);
	assert_int_equal(errno, ESRCH);
}

static void programs_of_32_bits_run_unstepped(void **state)
{
	struct world *w = *state;
	struct soft_config c = plain;

	assert_int_equal(tinyprog_write(w->path, TINY_TO_32), 0);
	assert_int_equal(tinyprog_write(w->path32, TINY_32), 0);
	w->argv[1] = w->path32;
	assert_int_equal(softrun_begin(&w->run, &c, w->argv), 0);
	assert_int_equal(softrun_all(&w->run), 0);
	if (WIFEXITED(w->run.status) && WEXITSTATUS(w->run.status) == 9)
		skip(); /* the kernel does not run such programs */
	assert_int_equal(w->run.stats.refused, 1);
	assert_int_equal(w->run.stats.instructions, 5);
	judge(w);
}

static void packets_that_no_unit_writes_are_refused(void **state)
{
	struct soft_config c = plain;
	struct soft *s = NULL;

	(void)state;
	c.pt.psb_bytes = 2047;
	assert_int_equal(soft_new(&s, &c), -EINVAL);
	c.pt.psb_bytes = (1 << 20) + 1;
	assert_int_equal(soft_new(&s, &c), -EINVAL);
	c = plain;
	c.pt.mtc_period = 16;
	assert_int_equal(soft_new(&s, &c), -EINVAL);
	c = plain;
	c.pt.cyc_thresh = 16;
	assert_int_equal(soft_new(&s, &c), -EINVAL);
	assert_null(s);
	soft_free(s);
}

static void a_child_that_is_none_is_refused(void **state)
{
	struct soft *s;

	(void)state;
	assert_int_equal(soft_new(&s, &plain), 0);
	assert_int_equal(soft_start(s, 0x7ffffff0), -ESRCH);
	assert_int_equal(soft_kill(s, SIGTERM), -ESRCH);
	assert_int_equal(soft_run(s, 10, 1000), SOFT_DONE);
	soft_free(s);
}

static void cpus_have_queues_before_there_are_threads(void **state)
{
	struct soft_config c = plain;
	struct soft_queue q;
	cpu_set_t set;
	struct soft *s;

	(void)state;
	c.per_cpu = true;
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	assert_int_equal(soft_new(&s, &c), 0);
	assert_int_equal(soft_nr_queues(s), CPU_COUNT(&set));
	for (size_t i = 0; i < soft_nr_queues(s); i++) {
		assert_int_equal(soft_queue_kept(s, i, &q), 0);
		assert_true(q.of_cpu);
		assert_true(CPU_ISSET((size_t)q.cpu, &set));
		CPU_CLR((size_t)q.cpu, &set);
		soft_queue_peek(s, i, true, &q);
		assert_int_equal(q.nv, 0);
	}
	soft_free(s);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(branches_decode_as_they_ran),
		T(compressed_returns_decode_as_they_ran),
		T(a_trace_without_time_decodes_as_well),
		T(signals_and_own_breakpoints_decode_and_reach_the_program),
		T(a_forked_child_has_a_trace_of_its_own),
		T(a_program_executed_anew_goes_on_in_its_trace),
		T(threads_killed_in_the_middle_decode_to_their_end),
		T(a_mapping_of_another_thread_asks_for_a_time),
		T(a_thread_that_executes_takes_over_the_first_one),
		T(pinning_ends_with_the_source),
		T(a_dynamic_program_decodes_as_it_ran),
		T(each_flipped_branch_bit_is_noticed),
		T(a_sleeping_program_is_idle_and_its_trace_is_out),
		T(a_stopped_sleep_is_resumed_by_the_kernel),
		T(a_copy_is_readable_to_the_last_instruction),
		T(pending_bits_are_handed_out_on_demand),
		T(a_detached_spinner_runs_to_its_end),
		T(a_detached_sleeper_runs_to_its_end),
		T(a_stopped_spinner_is_detached_and_stays_stopped),
		T(a_freed_source_leaves_no_process),
		T(programs_of_32_bits_run_unstepped),
		cmocka_unit_test(packets_that_no_unit_writes_are_refused),
		cmocka_unit_test(a_child_that_is_none_is_refused),
		cmocka_unit_test(cpus_have_queues_before_there_are_threads),
	};

	int failed;

	if (!softrun_permitted()) {
		puts("ptrace(2) is not permitted here");
		return 77;
	}
	failed = cmocka_run_group_tests_name("from branch to branch", tests, NULL, NULL);
	plain.step = true;
	return failed + cmocka_run_group_tests_name("step by step", tests, NULL, NULL);
}
