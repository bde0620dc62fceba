/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/resume.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>

/*
 * Any call on a thread fails with ESRCH once it was killed; its next stop will be the one
 * of its end, so nothing is lost by going on.
 */
int soft_unless_killed(int err)
{
	return err == -ESRCH ? 0 : err;
}

int soft_peek(const struct soft_thread *t, size_t at, uint64_t *ret)
{
	long v;

	errno = 0;
	v = ptrace(PTRACE_PEEKUSER, t->tid, at, NULL);
	if (errno)
		return -errno;
	*ret = (uint64_t)v;
	return 0;
}

int soft_peek_ip(const struct soft_thread *t, uint64_t *ret)
{
	return soft_peek(t, offsetof(struct user_regs_struct, rip), ret);
}

int soft_peek_regs(const struct soft_thread *t, struct user_regs_struct *ret)
{
	return ptrace(PTRACE_GETREGS, t->tid, NULL, ret) ? -errno : 0;
}

/* It runs on without us; a signal that was to be delivered still is. */
int soft_detach_thread(struct soft *s, struct soft_thread *t, int sig)
{
	int err = ptrace(PTRACE_DETACH, t->tid, NULL, (long)sig) ? -errno : 0;

	if (err)
		return soft_unless_killed(err);
	soft_table_remove(s, t);
	return 0;
}

/* Let t go on, with a signal for it or 0. */
int soft_resume(struct soft *s, struct soft_thread *t, int sig)
{
	enum __ptrace_request how = PTRACE_SYSCALL;

	if (s->detaching)
		return soft_detach_thread(s, t, sig);
	if (t->mode == SOFT_FREE || t->mode == SOFT_EXITING)
		how = PTRACE_CONT;
	else if (sig || (t->mode == SOFT_USER && t->insn.cls != SOFT_SYSCALL))
		how = PTRACE_SINGLESTEP;
	/* Only a step shows whether a handler was entered. */
	if (how == PTRACE_SINGLESTEP && sig) {
		t->injected = true;
		t->signal = sig;
	}
	t->resumed = soft_ticks(s);
	return ptrace(how, t->tid, NULL, (long)sig) ? soft_unless_killed(-errno) : 0;
}

/* A new position in user space that no instruction of the program led to. */
int soft_resume_at(struct soft *s, struct soft_thread *t, uint64_t ip)
{
	t->mode = SOFT_USER;
	t->injected = false;
	t->restarting = false;
	soft_thread_goto(t, ip);
	return soft_resume(s, t, 0);
}

/* A program we do not step: of 32 bits. Children of it may become ours again. */
int soft_resume_free(struct soft *s, struct soft_thread *t)
{
	s->stats.refused++;
	t->mode = SOFT_FREE;
	t->injected = false;
	return soft_resume(s, t, 0);
}
