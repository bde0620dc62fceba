/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/wait.h"
#include "perfio/soft/attach.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/* A thread in user space stops within microseconds, unless it needs a page that does not come:
 * of a network, or one that a thread which waits for us ought to fetch (userfaultfd(2)). */
enum { AWAIT_NS = 20000000 };

uint64_t soft_now(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ptrace(2), "Group-stop". */
static bool by_job_control(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP;
}

static void tell(struct soft_life *f, int status)
{
	f->halted = WIFSTOPPED(status) && by_job_control(status);
	f->trapped = WIFSTOPPED(status) && status >> 8 == SIGTRAP;
	f->moved = false;
	f->running = false;
}

static pid_t wait_for(struct soft *s, const struct soft_thread *t, int *status, int flags)
{
	pid_t got;

	do
		got = waitpid(t->tid, status, __WALL | flags);
	while (got < 0 && errno == EINTR);
	if (got > 0 && t->life)
		tell(t->life, *status);
	if (got > 0 && s->cfg.note_stops && WIFSTOPPED(*status) && !by_job_control(*status))
		soft_notes_add(&s->notes, &(struct soft_note){
			.ticks = soft_ticks(s), .pid = t->pid, .tid = t->tid, .cpu = -1 });
	return got;
}

bool soft_take(struct soft *s, struct soft_thread *t, bool block, int *status)
{
	pid_t got;

	if (t->stashed) {
		t->stashed = false;
		*status = t->stash;
		return true;
	}
	if (t->parked)
		return false;
	if (block && s->userfaults)
		return soft_await(s, t) && soft_take(s, t, false, status);
	got = wait_for(s, t, status, block ? 0 : WNOHANG);
	if (got < 0)
		soft_table_remove(s, t);
	return got > 0;
}

bool soft_look(struct soft *s, struct soft_thread *t)
{
	if (!t->stashed && !t->parked)
		t->stashed = wait_for(s, t, &t->stash, WNOHANG) > 0;
	return t->parked || (t->stashed && WIFSTOPPED(t->stash));
}

bool soft_await(struct soft *s, struct soft_thread *t)
{
	uint64_t since = 0;

	while (!t->stashed) {
		pid_t got = wait_for(s, t, &t->stash, WNOHANG);

		t->stashed = got > 0;
		if (got)
			break;
		sched_yield();
		if (!since)
			since = soft_now(CLOCK_MONOTONIC);
		else if (soft_now(CLOCK_MONOTONIC) - since > AWAIT_NS)
			break;
		else if (s->userfaults && soft_attach_faults(t))
			break;
	}
	return t->stashed;
}

bool soft_quiesce_mem(struct soft *s, const struct soft_mem *m, const struct soft_thread *t)
{
	bool all = true;

	for (size_t i = 0; i < s->nr_live; i++) {
		struct soft_thread *o = s->live[i];

		if (o != t && o->mem == m && soft_runs_user(o) && !o->parked)
			all &= soft_await(s, o);
	}
	return all;
}

bool soft_quiesce(struct soft *s, const struct soft_thread *t)
{
	return t->mem->refs == 1 || soft_quiesce_mem(s, t->mem, t);
}

bool soft_all_still(const struct soft *s, const struct soft_thread *t)
{
	if (t->mem->refs == 1)
		return true;
	for (size_t i = 0; i < s->nr_live; i++) {
		const struct soft_thread *o = s->live[i];

		if (o != t && o->mem == t->mem && !o->parked &&
		    !(o->stashed && WIFSTOPPED(o->stash)))
			return false;
	}
	return true;
}
