/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread in user space is told to run one instruction with PTRACE_SINGLESTEP, except for
 * a system call: PTRACE_SYSCALL stops on both sides of it, so that no trap is needed there
 * (a forced trap would undo the program's treatment of SIGTRAP). ptrace(2), "Stopped
 * states"; order of stops: Linux 6.1 kernel/signal.c get_signal(), kernel/entry/common.c.
 */
#include "perfio/soft/tracer.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

enum { OPTIONS = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC |
		 PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
		 PTRACE_O_TRACEEXIT };

/* Linux 6.1 arch/x86/include/asm/segment.h: __USER32_CS. */
enum { CS_32BIT = 0x23 };
/* Linux 6.1 include/linux/errno.h: never seen by the program, only by its tracer. */
enum { ERESTARTSYS = 512, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK = 516 };
/* Second half of a system call number that selects the x32 table. */
enum { X32_BIT = 0x40000000 };

enum { TRAP_FLAG = 0x100 };

static int peek(const struct soft_thread *t, size_t at, uint64_t *ret)
{
	long v;

	errno = 0;
	v = ptrace(PTRACE_PEEKUSER, t->tid, at, NULL);
	if (errno)
		return -errno;
	*ret = (uint64_t)v;
	return 0;
}

static int peek_ip(const struct soft_thread *t, uint64_t *ret)
{
	return peek(t, offsetof(struct user_regs_struct, rip), ret);
}

static int get_regs(const struct soft_thread *t, struct user_regs_struct *ret)
{
	return ptrace(PTRACE_GETREGS, t->tid, NULL, ret) ? -errno : 0;
}

/*
 * Any call on a thread fails with ESRCH once it was killed; its next stop will be the one
 * of its end, so nothing is lost by going on.
 */
static int unless_killed(int err)
{
	return err == -ESRCH ? 0 : err;
}

int soft_tracer_seize(struct soft *s, pid_t child)
{
	struct soft_thread *t;
	int err;

	if (ptrace(PTRACE_SEIZE, child, NULL, OPTIONS))
		return -errno;
	err = soft_table_add(&t, s, child, child);
	if (err)
		return err;
	t->mode = SOFT_FREE;
	s->root = child;
	return 0;
}

/* It runs on without us; a signal that was to be delivered still is. */
static int detach(struct soft *s, struct soft_thread *t, int sig)
{
	int err = ptrace(PTRACE_DETACH, t->tid, NULL, (long)sig) ? -errno : 0;

	if (err)
		return unless_killed(err);
	soft_table_remove(s, t);
	return 0;
}

/* Let t go on, with a signal for it or 0. */
static int resume(struct soft *s, struct soft_thread *t, int sig)
{
	enum __ptrace_request how = PTRACE_SYSCALL;

	if (s->detaching)
		return detach(s, t, sig);
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
	return ptrace(how, t->tid, NULL, (long)sig) ? unless_killed(-errno) : 0;
}

/* A new position in user space that no instruction of the program led to. */
static int go_on_at(struct soft *s, struct soft_thread *t, uint64_t ip)
{
	t->mode = SOFT_USER;
	t->injected = false;
	t->restarting = false;
	soft_thread_goto(t, ip);
	return resume(s, t, 0);
}

/*
 * The traps of stepping are forced on the program: with SIGTRAP blocked, the kernel would
 * reset its handler for good. So keep it unblocked.
 */
static void unblock_trap(const struct soft_thread *t)
{
	const uint64_t trap = (uint64_t)1 << (SIGTRAP - 1);
	uint64_t mask;

	if (ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(mask), &mask) || !(mask & trap))
		return;
	mask &= ~trap;
	ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(mask), &mask);
}

static bool changes_mappings(const struct soft_insn *i, long nr)
{
	if (i->legacy)
		return true;
	switch (nr & ~X32_BIT) {
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_pkey_mprotect:
	case SYS_mremap:
	case SYS_remap_file_pages:
	case SYS_shmat:
	case SYS_shmdt:
		return true;
	default:
		return false;
	}
}

static bool restarts(const struct user_regs_struct *r)
{
	long long v = (long long)r->rax;

	return (long long)r->orig_rax >= 0 &&
	       (v == -ERESTARTSYS || v == -ERESTARTNOINTR || v == -ERESTARTNOHAND ||
		v == -ERESTART_RESTARTBLOCK);
}

/* A program we do not step: of 32 bits. Children of it may become ours again. */
static int let_run(struct soft *s, struct soft_thread *t)
{
	s->stats.refused++;
	t->mode = SOFT_FREE;
	t->injected = false;
	return resume(s, t, 0);
}

/* The system call at t->insn, if there is one, is over. */
static int returned(struct soft *s, struct soft_thread *t)
{
	struct user_regs_struct r;
	int err = get_regs(t, &r);
	long nr;

	if (err)
		return unless_killed(err);
	if (r.cs == CS_32BIT)
		return let_run(s, t);
	nr = (long)r.orig_rax;
	/* rt_sigreturn leaves no number behind. */
	if (nr < 0 || nr == SYS_rt_sigprocmask)
		unblock_trap(t);
	if (changes_mappings(&t->insn, nr))
		soft_mem_changed(t->mem);
	if (!restarts(&r))
		return go_on_at(s, t, r.rip);
	/* All instructions that enter the kernel have two bytes. */
	t->mode = SOFT_USER;
	t->injected = false;
	t->restarting = true;
	soft_thread_goto(t, r.rip - 2);
	return resume(s, t, 0);
}

static int on_syscall(struct soft *s, struct soft_thread *t)
{
	if (t->mode == SOFT_KERNEL)
		return returned(s, t);
	if (t->mode == SOFT_USER && t->insn.cls == SOFT_SYSCALL) {
		soft_thread_entered(t);
		t->mode = SOFT_KERNEL;
		t->restarting = false;
	}
	return resume(s, t, 0);
}

/* A signal is about to be delivered; nothing of the program ran for it. */
static int on_signal(struct soft *s, struct soft_thread *t, int sig)
{
	uint64_t ip;
	int err = peek_ip(t, &ip);

	if (err)
		return unless_killed(err);
	s->stats.signals++;
	if (t->mode == SOFT_NEW) {
		t->mode = SOFT_USER;
		soft_thread_goto(t, ip);
	} else if (t->mode == SOFT_USER && !t->restarting && ip != t->insn.ip) {
		/* A trap was swallowed, and what came then faulted. */
		soft_thread_ran(t, ip);
		soft_thread_goto(t, ip);
	}
	return resume(s, t, sig);
}

/* Clear the trap flag in what pushf has just written. */
static void hide_trap_flag(const struct soft_thread *t)
{
	uint64_t sp;
	uint16_t flags;

	if (peek(t, offsetof(struct user_regs_struct, rsp), &sp) ||
	    soft_mem_read(t->mem, sp, &flags, sizeof(flags)) != sizeof(flags))
		return;
	flags &= (uint16_t)~TRAP_FLAG;
	soft_mem_write(t->mem, sp, &flags, sizeof(flags));
}

/* The step that was asked for is done; the next instruction is at ip. */
static int stepped(struct soft *s, struct soft_thread *t, uint64_t ip)
{
	bool far = t->insn.cls == SOFT_FAR;
	uint64_t cs;

	soft_thread_ran(t, ip);
	if (t->insn.cls == SOFT_PUSHF)
		hide_trap_flag(t);
	if (t->insn.cls == SOFT_SYSCALL && ip == soft_insn_end(&t->insn))
		return returned(s, t); /* it ran in the shadow of its neighbour */
	if (far && !peek(t, offsetof(struct user_regs_struct, cs), &cs) && cs == CS_32BIT) {
		soft_pt_cut(&t->pt, ip);
		return let_run(s, t);
	}
	soft_thread_goto(t, ip);
	return resume(s, t, 0);
}

/* The program's own int3: it has run, and its signal is still to be delivered. */
static int on_breakpoint(struct soft *s, struct soft_thread *t, uint64_t ip)
{
	soft_thread_ran(t, ip);
	s->stats.signals++;
	soft_thread_goto(t, ip);
	return resume(s, t, SIGTRAP);
}

/* A trap of which the address alone does not tell what it means. */
static int on_odd_trap(struct soft *s, struct soft_thread *t, uint64_t ip)
{
	siginfo_t si;

	if (ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &si))
		return unless_killed(-errno);
	if (si.si_code <= 0 || t->mode == SOFT_FREE || t->mode == SOFT_NEW)
		return on_signal(s, t, SIGTRAP);
	if (si.si_code == SIGTRAP) {
		/* ptrace(2): a handler's frame is ready, nothing of it ran. */
		soft_thread_cut(t);
		unblock_trap(t);
		return go_on_at(s, t, ip);
	}
	if (t->mode == SOFT_USER && t->insn.cls == SOFT_INT && ip == soft_insn_end(&t->insn))
		return on_breakpoint(s, t, ip);
	if (ip == t->insn.ip && si.si_code > TRAP_BRANCH)
		return on_signal(s, t, SIGTRAP); /* a watchpoint of the program's */
	t->injected = false;
	if (t->mode == SOFT_USER && t->insn.cls == SOFT_SYSCALL && ip != t->insn.ip) {
		/* Stepped over, because a signal that had no handler went in with it. */
		soft_thread_entered(t);
		t->mode = SOFT_KERNEL;
	}
	if (t->mode == SOFT_KERNEL)
		return returned(s, t);
	return stepped(s, t, ip);
}

static int on_trap(struct soft *s, struct soft_thread *t)
{
	uint64_t ip;
	int err = peek_ip(t, &ip);

	if (err)
		return unless_killed(err);
	if (t->mode != SOFT_USER || t->injected || ip == t->insn.ip ||
	    t->insn.cls == SOFT_INT || t->insn.cls == SOFT_SYSCALL)
		return on_odd_trap(s, t, ip);
	return stepped(s, t, ip);
}

/* Events inside a system call prove that its instruction has run. */
static void caught_in_syscall(struct soft_thread *t)
{
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

	if (!get_regs(t, &r)) {
		long nr = (long)r.orig_rax & ~X32_BIT;

		if (nr == SYS_clone)
			return r.rdi;
		if (nr == SYS_clone3 && t->mem &&
		    soft_mem_read(t->mem, r.rdi, &flags, sizeof(flags)) == sizeof(flags))
			return flags;
	}
	return event == PTRACE_EVENT_VFORK ? CLONE_VM | CLONE_VFORK : 0;
}

static int on_clone(struct soft *s, struct soft_thread *t, int event)
{
	unsigned long tid = 0;
	struct soft_thread *c;
	uint64_t flags;
	int err = 0;

	caught_in_syscall(t);
	if (ptrace(PTRACE_GETEVENTMSG, t->tid, NULL, &tid))
		return unless_killed(-errno);
	flags = clone_flags(t, event);
	if (soft_table_find(s, (pid_t)tid))
		return resume(s, t, 0); /* was found before its parent could tell */
	err = soft_table_add(&c, s, flags & CLONE_THREAD ? t->pid : (pid_t)tid, (pid_t)tid);
	if (err)
		return err;
	c->mode = SOFT_FREE;
	if (t->mode != SOFT_FREE) {
		c->mode = SOFT_NEW;
		if (flags & CLONE_VM)
			c->mem = soft_mem_get(t->mem);
		else
			err = soft_mem_open(&c->mem, c->tid);
	}
	if (err)
		return unless_killed(err);
	return resume(s, t, 0);
}

static int on_exec(struct soft *s, struct soft_thread *t)
{
	unsigned long old = 0;
	struct soft_thread *o;

	caught_in_syscall(t);
	if (ptrace(PTRACE_GETEVENTMSG, t->tid, NULL, &old))
		return unless_killed(-errno);
	/* Another thread's execve: it goes on under the number of the first. */
	o = (pid_t)old == t->tid ? NULL : soft_table_find(s, (pid_t)old);
	if (o) {
		caught_in_syscall(o);
		soft_table_remove(s, o);
	}
	soft_thread_cut(t);
	soft_pt_forget(&t->pt);
	soft_mem_put(t->mem);
	t->mem = NULL;
	t->mode = SOFT_KERNEL;
	t->injected = false;
	t->restarting = false;
	t->insn = (struct soft_insn){ .cls = SOFT_BAD };
	if (soft_mem_open(&t->mem, t->tid))
		return let_run(s, t);
	return resume(s, t, 0);
}

static int on_exit_event(struct soft *s, struct soft_thread *t)
{
	uint64_t ip;

	/* Killed after its last step, but before that could be reported. */
	if (t->mode == SOFT_USER && !t->restarting && !peek_ip(t, &ip) && ip != t->insn.ip) {
		soft_thread_ran(t, ip);
		t->insn.ip = ip;
	}
	if (t->mode != SOFT_FREE)
		soft_thread_cut(t);
	t->mode = SOFT_EXITING;
	return resume(s, t, 0);
}

/*
 * A group stop can come between a step and its trap. Whoever detaches there would leave
 * the trap to the program, which dies of it.
 */
static int on_group_stop(struct soft *s, struct soft_thread *t)
{
	uint64_t ip;

	if (s->detaching) {
		if (t->mode != SOFT_USER || t->restarting || peek_ip(t, &ip) ||
		    ip == t->insn.ip)
			return detach(s, t, 0);
		return ptrace(PTRACE_SINGLESTEP, t->tid, NULL, NULL) ?
		       unless_killed(-errno) : 0;
	}
	t->listening = true;
	return ptrace(PTRACE_LISTEN, t->tid, NULL, NULL) ? unless_killed(-errno) : 0;
}

static int on_event_stop(struct soft *s, struct soft_thread *t, int sig)
{
	uint64_t ip;
	int err;

	if (sig != SIGTRAP || (s->detaching && t->mode == SOFT_USER))
		return on_group_stop(s, t);
	if (t->mode != SOFT_NEW)
		return resume(s, t, 0);
	err = peek_ip(t, &ip);
	if (err)
		return unless_killed(err);
	return go_on_at(s, t, ip);
}

static int on_event(struct soft *s, struct soft_thread *t, int event, int sig)
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
		return resume(s, t, 0);
	}
}

static void on_end(struct soft *s, struct soft_thread *t, int status)
{
	if (t->tid == s->root && !s->root_ended) {
		s->root_ended = true;
		s->root_status = status;
	}
	soft_table_remove(s, t);
}

int soft_tracer_stop(struct soft *s, struct soft_thread *t, int status)
{
	int sig, event;

	if (!WIFSTOPPED(status)) {
		on_end(s, t, status);
		return s->log_err;
	}
	sig = WSTOPSIG(status);
	event = status >> 16;
	s->stats.stops++;
	t->listening = false;
	if (event)
		return on_event(s, t, event, sig);
	if (sig == SIGTRAP)
		return on_trap(s, t);
	if (sig == (SIGTRAP | 0x80))
		return on_syscall(s, t);
	return on_signal(s, t, sig);
}
