/* SPDX-License-Identifier: Apache-2.0 */
/* What a dead tracer has left behind: a child of ours, traced and let go as the kernel does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "perfio/soft/revive.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENDS = 7 };

static struct soft_lifeline *l;

static int begin(void **state)
{
	(void)state;
	l = soft_lifeline_new();
	return l ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	return munmap(l, sizeof(*l));
}

/* Where the breakpoint will be. */
__attribute__((noinline, noclone)) static int answer(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

static pid_t child_at_breakpoint(void)
{
	const uint8_t int3 = 0xcc;
	char path[64];
	pid_t child;
	int mem, status;

	child = fork();
	if (!child) {
		raise(SIGSTOP);
		_exit(answer(ENDS - 1));
	}
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	if (ptrace(PTRACE_SEIZE, child, NULL, NULL)) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		return 0;
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)child);
	mem = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(pwrite(mem, &int3, 1, (off_t)(uintptr_t)answer), 1);
	close(mem);
	kill(child, SIGCONT);
	do {
		assert_int_equal(waitpid(child, &status, 0), child);
		if (WSTOPSIG(status) != SIGTRAP || status >> 16)
			ptrace(PTRACE_CONT, child, NULL, NULL);
	} while (WSTOPSIG(status) != SIGTRAP || status >> 16);
	return child;
}

/* The trap is told, so that it kills nobody, and SIGSTOP was in time. */
static struct soft_life *let_go(pid_t child)
{
	struct soft_life *f = soft_life_new(l, child, child);
	int status;

	assert_non_null(f);
	kill(child, SIGSTOP);
	assert_int_equal(ptrace(PTRACE_DETACH, child, NULL, NULL), 0);
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	assert_true(WIFSTOPPED(status));
	l->stopped = true;
	f->end = f->from = (uintptr_t)answer;
	f->trapped = true;
	return f;
}

static int status_of(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void who_has_met_a_breakpoint_goes_back(void **state)
{
	struct soft_revived r;
	struct soft_life *f;
	pid_t child = child_at_breakpoint();
	cpu_set_t had, one, has;

	(void)state;
	if (!child)
		skip();
	f = let_go(child);
	assert_int_equal(sched_getaffinity(child, sizeof(had), &had), 0);
	CPU_ZERO(&one);
	for (size_t i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &had))
			CPU_SET(i, &one);
	assert_int_equal(sched_setaffinity(child, sizeof(one), &one), 0);
	f->cpus = had;
	f->pinned = true;
	assert_true(soft_revive(l, &r));
	assert_int_equal(r.pid, child);
	assert_int_equal(r.mended, 1);
	assert_false(r.torn);
	if (!sched_getaffinity(child, sizeof(has), &has))
		assert_true(CPU_EQUAL(&has, &had));
	assert_false(soft_revive(l, &r));
	assert_int_equal(status_of(child), ENDS << 8);
}

static void who_was_stopped_stays_so(void **state)
{
	struct soft_revived r;
	pid_t child = child_at_breakpoint();
	siginfo_t si = { 0 };

	(void)state;
	if (!child)
		skip();
	let_go(child)->halted = true;
	assert_true(soft_revive(l, &r));
	assert_int_equal(r.mended, 1);
	assert_int_equal(waitid(P_PID, (id_t)child, &si, WEXITED | WCONTINUED | WNOHANG), 0);
	assert_int_equal(si.si_pid, 0);
	kill(child, SIGCONT);
	assert_int_equal(status_of(child), ENDS << 8);
}

/* The tracer had told it to run, and has not lived to hear that it stopped. */
static void a_stop_that_nobody_heard_of_is_seen(void **state)
{
	struct soft_revived r;
	struct soft_life *f;
	pid_t child = child_at_breakpoint();

	(void)state;
	if (!child)
		skip();
	f = let_go(child);
	f->running = true;
	f->from = (uintptr_t)answer - 16;
	f->trapped = false;
	assert_true(soft_revive(l, &r));
	assert_false(r.torn);
	assert_int_equal(status_of(child), ENDS << 8);
}

/* Its instruction pointer, where no breakpoint is before it. */
static void move_on(pid_t child)
{
	struct user_regs_struct r;
	int status;

	assert_int_equal(ptrace(PTRACE_SEIZE, child, NULL, NULL), 0);
	ptrace(PTRACE_INTERRUPT, child, NULL, NULL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(ptrace(PTRACE_GETREGS, child, NULL, &r), 0);
	r.rip++;
	assert_int_equal(ptrace(PTRACE_SETREGS, child, NULL, &r), 0);
	assert_int_equal(ptrace(PTRACE_DETACH, child, NULL, NULL), 0);
}

static void ends_killed(void (*spoil)(struct soft_life *f))
{
	struct soft_revived r;
	struct soft_life *f;
	pid_t child = child_at_breakpoint();

	if (!child)
		skip();
	f = let_go(child);
	spoil(f);
	assert_true(soft_revive(l, &r));
	assert_true(r.torn);
	assert_int_equal(status_of(child), SIGKILL);
}

static void half_done(struct soft_life *f)
{
	l->dirty = f->tid;
}

static void what_is_half_done_is_not_left_so(void **state)
{
	(void)state;
	ends_killed(half_done);
}

/* It was told to run elsewhere: the kernel has let it go before it was stopped. */
static void elsewhere(struct soft_life *f)
{
	f->running = true;
	f->from = f->end = 4096;
	move_on(f->tid);
}

static void who_was_let_go_too_early_is_not_trusted(void **state)
{
	(void)state;
	ends_killed(elsewhere);
}

static void the_end_of_a_tracer_stops_what_it_traced(void **state)
{
	pid_t traced = fork(), tracer;
	struct soft_life *f;
	int status;

	(void)state;
	if (!traced)
		for (;;)
			pause();
	f = soft_life_new(l, traced, traced);
	assert_non_null(f);
	tracer = fork();
	if (!tracer) {
		soft_lifeline_hold(l);
		kill(getpid(), SIGKILL);
	}
	soft_lifeline_wait(l);
	assert_true(l->stopped);
	assert_int_equal(waitpid(traced, &status, WUNTRACED), traced);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	kill(traced, SIGKILL);
	assert_int_equal(status_of(traced), SIGKILL);
	assert_int_equal(status_of(tracer), SIGKILL);
}

static void a_tracer_that_ends_in_order_stops_nobody(void **state)
{
	pid_t tracer = fork();

	(void)state;
	if (!tracer) {
		soft_lifeline_hold(l);
		soft_lifeline_drop(l);
		_exit(0);
	}
	soft_lifeline_wait(l);
	assert_false(l->stopped);
	assert_int_equal(status_of(tracer), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(who_has_met_a_breakpoint_goes_back, begin, end),
		cmocka_unit_test_setup_teardown(who_was_stopped_stays_so, begin, end),
		cmocka_unit_test_setup_teardown(a_stop_that_nobody_heard_of_is_seen, begin, end),
		cmocka_unit_test_setup_teardown(what_is_half_done_is_not_left_so, begin, end),
		cmocka_unit_test_setup_teardown(who_was_let_go_too_early_is_not_trusted, begin,
						end),
		cmocka_unit_test_setup_teardown(the_end_of_a_tracer_stops_what_it_traced, begin,
						end),
		cmocka_unit_test_setup_teardown(a_tracer_that_ends_in_order_stops_nobody, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
