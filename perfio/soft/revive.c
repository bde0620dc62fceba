/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/revive.h"
#include "perfio/soft/attach.h"
#include "perfio/soft/cleanse.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { INT3 = 0xcc, STOP_MS = 500 };

static bool await(pid_t tid)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	int status;

	for (int n = 0; n < STOP_MS; n++) {
		pid_t got = waitpid(tid, &status, __WALL | WNOHANG);

		if (got)
			return got == tid && WIFSTOPPED(status);
		nanosleep(&ms, NULL);
	}
	return false;
}

static bool is_int3(pid_t pid, uint64_t at)
{
	uint8_t byte = 0;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (pread(fd, &byte, 1, (off_t)at) != 1)
		byte = 0;
	close(fd);
	return byte == INT3;
}

/* Behind the trap of a stop, which the tracer has not put right. It may have taken the stop from
 * the kernel, and been killed before it knew. */
static bool is_behind(const struct soft_life *f, uint64_t ip)
{
	return f->running ? ip != f->from : f->trapped && !f->moved;
}

/* The kernel has let it go on behind a breakpoint before it could be stopped: it is in the middle
 * of nowhere. */
static bool is_lost(const struct soft_life *f, uint64_t ip)
{
	if (!f->running)
		return f->from && f->trapped && !f->moved && !f->steps;
	if (!f->end)
		return false;
	if (ip == f->from && ip == f->end + 1)
		return true; /* once round a loop, or not: nobody knows */
	return f->end >= f->from && ip - f->from > f->end - f->from;
}

static bool peek(pid_t tid, struct user_regs_struct *r)
{
	return !ptrace(PTRACE_GETREGS, tid, NULL, r);
}

/* Where an int3 was ours, there is none any more. A call that SIGSTOP has cut short begins anew. */
static void put_back(const struct soft_life *f)
{
	struct user_regs_struct r;

	if (!peek(f->tid, &r))
		return;
	if (f->met && !is_int3(f->pid, r.rip - 1))
		r.rip--;
	else if (!soft_attach_renews(&r))
		return;
	(void)ptrace(PTRACE_SETREGS, f->tid, NULL, &r);
}

static bool of(const struct soft_life *f, pid_t pid)
{
	return f->tid && f->pid == pid;
}

/* All of them stand before the first one goes on. True: one of them is lost. */
static bool hold(struct soft_lifeline *l, pid_t pid)
{
	bool lost = false;

	for (size_t i = 0; i < l->nr; i++)
		if (of(&l->life[i], pid) && ptrace(PTRACE_SEIZE, l->life[i].tid, NULL, NULL))
			l->life[i].tid = 0;
	for (size_t i = 0; i < l->nr; i++) {
		struct soft_life *f = &l->life[i];
		struct user_regs_struct r;

		if (!of(f, pid))
			continue;
		ptrace(PTRACE_INTERRUPT, f->tid, NULL, NULL);
		if (!await(f->tid) || !peek(f->tid, &r))
			continue;
		f->met = is_behind(f, r.rip) && is_int3(pid, r.rip - 1);
		lost |= !f->met && is_lost(f, r.rip);
	}
	return lost;
}

static void give_cpus(struct soft_life *f)
{
	if (f->pinned)
		sched_setaffinity(f->tid, sizeof(f->cpus), &f->cpus);
}

/* One that job control has stopped stays so. */
static bool may_go_on(const struct soft_lifeline *l, pid_t pid)
{
	for (size_t i = 0; i < l->nr; i++)
		if (of(&l->life[i], pid) && l->life[i].halted)
			return false;
	return l->stopped;
}

static void let_go(struct soft_lifeline *l, pid_t pid, bool torn)
{
	for (size_t i = 0; i < l->nr; i++) {
		struct soft_life *f = &l->life[i];

		if (!of(f, pid))
			continue;
		if (l->stopped && !torn)
			put_back(f);
		if (l->stopped)
			ptrace(PTRACE_DETACH, f->tid, NULL, NULL);
		f->tid = 0;
	}
}

bool soft_revive(struct soft_lifeline *l, struct soft_revived *ret)
{
	size_t at = 0;
	pid_t pid;
	bool goes_on;

	while (at < l->nr && !l->life[at].tid)
		at++;
	if (at == l->nr)
		return false;
	pid = l->life[at].pid;
	*ret = (struct soft_revived){ .pid = pid, .stopped = l->stopped };
	for (size_t i = 0; i < l->nr; i++) {
		if (!of(&l->life[i], pid))
			continue;
		ret->torn |= l->life[i].tid == l->dirty;
		give_cpus(&l->life[i]);
	}
	goes_on = may_go_on(l, pid);
	if (l->stopped && !ret->torn)
		ret->torn = hold(l, pid);
	if (ret->torn)
		kill(pid, SIGKILL);
	ret->mended = soft_cleanse(pid);
	let_go(l, pid, ret->torn);
	if (goes_on)
		kill(pid, SIGCONT);
	return true;
}
