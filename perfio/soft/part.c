/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/part.h"
#include "perfio/soft/again.h"
#include "perfio/soft/attach.h"
#include "perfio/soft/resume.h"
#include "perfio/soft/wait.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

/* How long threads may take to stop when tracing ends, in ms. */
enum { PARTING_MS = 2000, ENDED_MS = 50 };

/* One look at every thread. Returns the number that stopped, or -errno. */
static int detach_round(struct soft *s)
{
	int n = 0;

	for (size_t i = 0; i < s->nr_live; i++) {
		struct soft_thread *t = s->live[i];
		int status, err;

		if (!soft_take(s, t, false, &status))
			continue;
		err = soft_tracer_stop(s, t, status);
		if (err)
			return err;
		n++;
	}
	return n;
}

/* A first thread that has ended stays until the others of its process have. */
static bool only_ended(const struct soft *s)
{
	for (size_t i = 0; i < s->nr_live; i++)
		if (s->live[i]->mode != SOFT_EXITING)
			return false;
	return true;
}

/* Those that the end of the lane will let go, as they are. */
static bool may_sleep_on(const struct soft *s, const struct soft_thread *t)
{
	if (!s->lane || t->listening || t->stashed || t->parked)
		return false;
	if (t->mode == SOFT_AWAY || t->mode == SOFT_KERNEL)
		return soft_attach_sleeps(t);
	return t->mode == SOFT_FREE || t->mode == SOFT_EXITING;
}

static bool all_sleep_on(const struct soft *s)
{
	for (size_t i = 0; i < s->nr_live; i++)
		if (!may_sleep_on(s, s->live[i]))
			return false;
	return true;
}

/* Threads in user space stop by themselves, after their step, and those in a system call behind
 * it. */
static bool comes_by_itself(const struct soft *s, const struct soft_thread *t)
{
	return soft_runs_user(t) || (s->lane && t->mode == SOFT_KERNEL && !t->listening);
}

static void call(struct soft_thread *t)
{
	t->roused = t->mode == SOFT_KERNEL || t->mode == SOFT_AWAY;
	ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
}

static void call_in(struct soft *s)
{
	for (size_t i = 0; i < s->nr_live; i++)
		if (!comes_by_itself(s, s->live[i]) && !may_sleep_on(s, s->live[i]))
			call(s->live[i]);
}

/* Until all have gone, or may be left. */
static int part(struct soft *s)
{
	uint64_t end = soft_now(CLOCK_MONOTONIC) + PARTING_MS * (uint64_t)1000000;
	const struct timespec ms = { .tv_nsec = 1000000 };
	unsigned quiet = 0;

	while (s->nr_live) {
		int n = detach_round(s), err = n < 0 ? n : soft_clear(s);

		if (err)
			return err;
		if (n)
			continue;
		if (all_sleep_on(s) && !soft_ignore_rouse(s))
			break;
		call_in(s);
		nanosleep(&ms, NULL);
		if (soft_now(CLOCK_MONOTONIC) > end)
			return -ETIMEDOUT;
		if (++quiet > ENDED_MS && only_ended(s))
			break;
	}
	return 0;
}

int soft_part(struct soft *s)
{
	int err;

	s->detaching = true;
	soft_pace_halt(&s->pace, s->stats.instructions);
	soft_unpin_all(s);
	err = soft_clear(s);
	if (!err) {
		call_in(s);
		err = part(s);
	}
	for (size_t i = 0; err && i < s->nr_live; i++)
		if (s->live[i]->mem)
			soft_plants_withdraw(&s->live[i]->mem->plants, 0, UINT64_MAX, 0);
	while (!err && s->nr_live)
		soft_table_remove(s, s->live[0]);
	return err;
}

/* A killed thread still stops once, at its end, and the first thread of a process is not
 * over before the others are. True: something happened. */
static bool kill_round(struct soft *s)
{
	bool any = false;

	for (size_t i = s->nr_live; i-- > 0;) {
		struct soft_thread *t = s->live[i];
		int status;

		if (!soft_take(s, t, false, &status))
			continue;
		any = true;
		if (WIFSTOPPED(status))
			ptrace(PTRACE_CONT, t->tid, NULL, NULL);
		else
			soft_table_remove(s, t);
	}
	return any;
}

void soft_kill_rest(struct soft *s)
{
	uint64_t end = soft_now(CLOCK_MONOTONIC) + PARTING_MS * (uint64_t)1000000;

	for (size_t i = 0; i < s->nr_live; i++) {
		s->live[i]->parked = s->live[i]->stashed = false;
		kill(s->live[i]->pid, SIGKILL);
	}
	while (s->nr_live && soft_now(CLOCK_MONOTONIC) < end)
		if (!kill_round(s))
			sched_yield();
	while (s->nr_live)
		soft_table_remove(s, s->live[0]);
}
