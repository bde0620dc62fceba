/* SPDX-License-Identifier: Apache-2.0 */
/* Stops that tell of the birth, the change or the end of a thread: ptrace(2). */
#include "perfio/soft/away.h"
#include "perfio/soft/block.h"
#include "perfio/soft/cleanse.h"
#include "perfio/soft/resume.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

/* Events inside a system call prove that its instruction has run. */
static void caught_in_syscall(struct soft *s, struct soft_thread *t)
{
	soft_away_caught(s, t);
	if (t->mode != SOFT_USER || t->insn.cls != SOFT_SYSCALL)
		return;
	soft_thread_entered(t);
	t->mode = SOFT_KERNEL;
	t->injected = false;
	t->restarting = false;
}

/* clone(2), clone3(2): the flags, of which clone3's lie in memory. */
static uint64_t clone_flags(const struct soft_thread *t, int event)
{
	struct user_regs_struct r;
	uint64_t flags = 0;

	if (!soft_peek_regs(t, &r)) {
		long nr = (long)r.orig_rax & ~SOFT_X32_BIT;

		if (nr == SYS_clone)
			return r.rdi;
		if (nr == SYS_clone3 && t->mem &&
		    soft_mem_read(t->mem, r.rdi, &flags, sizeof(flags)) == sizeof(flags))
			return flags;
	}
	return event == PTRACE_EVENT_VFORK ? CLONE_VM | CLONE_VFORK : 0;
}

/* A child's memory is a copy of its parent's, with what is planted in that, or was while it was
 * copied. */
static int copy_memory(const struct soft_thread *t, struct soft_thread *child)
{
	int err = soft_mem_open(&child->mem, child->tid);

	if (!err)
		err = soft_mem_inherit(child->mem, t->mem, t->mem->refs > 1);
	if (!err && t->withdrawals != t->mem->plants.withdrawals) {
		soft_plants_withdraw(&child->mem->plants, 0, UINT64_MAX, 0);
		(void)soft_cleanse(child->tid);
	}
	return err;
}

static int on_clone(struct soft *s, struct soft_thread *t, int event)
{
	unsigned long tid = 0;
	struct soft_thread *c;
	uint64_t flags;
	int err = 0;

	caught_in_syscall(s, t);
	if (ptrace(PTRACE_GETEVENTMSG, t->tid, NULL, &tid))
		return soft_unless_killed(-errno);
	flags = clone_flags(t, event);
	if (soft_table_find(s, (pid_t)tid))
		return soft_resume(s, t, 0); /* was found before its parent could tell */
	err = soft_table_add(&c, s, flags & CLONE_THREAD ? t->pid : (pid_t)tid, (pid_t)tid, t);
	if (err)
		return err;
	c->mode = SOFT_FREE;
	if (t->mode != SOFT_FREE) {
		c->mode = SOFT_NEW;
		c->hides = t->hides;
		if (flags & CLONE_VM)
			c->mem = soft_mem_get(t->mem);
		else
			err = copy_memory(t, c);
		if (c->mem && !c->mem->code_time)
			c->mem->code_time = soft_ticks(s);
	}
	if (err)
		return soft_unless_killed(err);
	return soft_resume(s, t, 0);
}

static int on_exec(struct soft *s, struct soft_thread *t)
{
	unsigned long old = 0;
	struct soft_thread *o;
	int err;

	caught_in_syscall(s, t);
	if (ptrace(PTRACE_GETEVENTMSG, t->tid, NULL, &old))
		return soft_unless_killed(-errno);
	/* Another thread's execve: it goes on under the number of the first. */
	o = (pid_t)old == t->tid ? NULL : soft_table_find(s, (pid_t)old);
	if (o) {
		caught_in_syscall(s, o);
		soft_cpu_inherit(t, o);
		soft_table_remove(s, o);
	}
	if ((pid_t)old != t->tid) /* that may be gone already */
		soft_pin_other(s, t);
	soft_thread_cut(t);
	soft_pt_forget(&t->pt);
	soft_filtered_init(&t->filtered, &s->gate.filters, NULL);
	soft_mem_put(t->mem);
	t->mem = NULL;
	/* Killed for the execve, it may not have told how far it came. */
	t->running = false;
	t->mode = SOFT_KERNEL;
	t->injected = false;
	t->restarting = false;
	t->insn = (struct soft_insn){ .cls = SOFT_BAD };
	soft_sigtrap_unknown(&t->trap);
	err = soft_mem_open(&t->mem, t->tid);
	soft_setid_look(s, t->pid, err != -EACCES && err != -EPERM);
	if (err)
		return soft_resume_free(s, t);
	t->mem->code_time = soft_ticks(s);
	return soft_resume(s, t, 0);
}

/* It was killed; before that it may have got on, and nobody could report it. */
static void got_on(struct soft_thread *t)
{
	uint64_t ip;

	if (t->dying || t->mode != SOFT_USER || t->restarting)
		return;
	if (t->running) {
		if (soft_block_cut(t))
			soft_thread_cut(t);
	} else if (!soft_peek_ip(t, &ip) && ip != t->insn.ip) {
		soft_thread_ran(t, ip);
		t->insn.ip = ip;
	}
}

static int on_exit_event(struct soft *s, struct soft_thread *t)
{
	got_on(t);
	t->running = false;
	if (t->mode != SOFT_FREE)
		soft_thread_cut(t);
	t->mode = SOFT_EXITING;
	return soft_resume(s, t, 0);
}

/*
 * A group stop can come between a step and its trap. Whoever detaches there would leave
 * the trap to the program, which dies of it.
 */
static int on_group_stop(struct soft *s, struct soft_thread *t)
{
	uint64_t ip;

	if (s->detaching) {
		int err = t->running ? soft_block_paused(t) : 0;

		if (err)
			return soft_unless_killed(err);
		if (t->running)
			return soft_let_go(s, t, PTRACE_CONT, 0);
		if (t->mode != SOFT_USER || t->restarting || soft_peek_ip(t, &ip) ||
		    ip == t->insn.ip)
			return soft_leave(s, t, 0);
		return soft_step(s, t, 0);
	}
	t->listening = true;
	return ptrace(PTRACE_LISTEN, t->tid, NULL, NULL) ? soft_unless_killed(-errno) : 0;
}

static int on_event_stop(struct soft *s, struct soft_thread *t, int sig)
{
	uint64_t ip;
	int err;

	if (sig != SIGTRAP || (s->detaching && t->mode == SOFT_USER))
		return on_group_stop(s, t);
	if (t->mode == SOFT_AWAY)
		return soft_away_halted(s, t);
	err = t->running ? soft_block_paused(t) : 0;
	if (!err && t->mode != SOFT_NEW)
		return soft_resume(s, t, 0);
	if (!err)
		err = soft_peek_ip(t, &ip);
	if (err)
		return soft_unless_killed(err);
	soft_sigtrap_hide(&t->trap);
	return soft_resume_at(s, t, ip);
}

int soft_event_stop(struct soft *s, struct soft_thread *t, int event, int sig)
{
	switch (event) {
	case PTRACE_EVENT_STOP:
		return on_event_stop(s, t, sig);
	case PTRACE_EVENT_EXEC:
		return on_exec(s, t);
	case PTRACE_EVENT_EXIT:
		return on_exit_event(s, t);
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		return on_clone(s, t, event);
	default:
		return soft_resume(s, t, 0);
	}
}
