/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread in user space is told to run up to the next branch (block.h) or one instruction with
 * PTRACE_SINGLESTEP, except for a system call: PTRACE_SYSCALL stops on both sides of it, so that
 * no trap is needed there (a forced trap would undo the program's treatment of SIGTRAP).
 * ptrace(2), "Stopped states"; order of stops: Linux 6.1 kernel/signal.c get_signal(),
 * kernel/entry/common.c.
 */
#include "perfio/soft/attach.h"
#include "perfio/soft/away.h"
#include "perfio/soft/block.h"
#include "perfio/soft/faults.h"
#include "perfio/soft/poke.h"
#include "perfio/soft/ptwrite.h"
#include "perfio/soft/resume.h"
#include "perfio/soft/trapflag.h"
#include "perfio/soft/untraced.h"
#include "perfio/soft/wait.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

enum { TRAP_FLAG = 0x100 };

int soft_tracer_seize(struct soft *s, pid_t child)
{
	struct soft_thread *t;
	int err;

	if (ptrace(PTRACE_SEIZE, child, NULL, SOFT_OPTIONS | PTRACE_O_EXITKILL))
		return -errno;
	err = soft_table_add(&t, s, child, child, NULL);
	if (err)
		return err;
	t->mode = SOFT_FREE;
	s->root = child;
	soft_pin(s, t);
	return 0;
}

static void note_altered(struct soft_ranges *altered, const struct soft_remap *m)
{
	const int last = m->nr - 1;

	if (m->fresh)
		soft_ranges_drop(altered, m->v[last].begin, m->v[last].end);
	if (m->loose)
		soft_ranges_add(altered, m->v[last].begin, m->v[last].end);
}

void soft_note_mappings(struct soft *s, struct soft_thread *t, const struct user_regs_struct *r)
{
	struct soft_remap m;

	soft_remap(&m, r, t->insn.legacy);
	for (int i = 0; i < m.nr; i++) {
		/* Where others run to a plant they shall find it. */
		if (soft_plants_within(&t->mem->plants, m.v[i].begin, m.v[i].end))
			soft_quiesce(s, t);
		soft_mem_changed(t->mem, m.v[i].begin, m.v[i].end, m.code, m.v[i].by);
	}
	note_altered(&t->mem->altered, &m);
	if (m.code)
		soft_attach_renew(s, t->mem);
	if (!m.nr)
		return;
	t->mem->gen_time = soft_ticks(s);
	if (!t->mem->code_time)
		t->mem->code_time = t->mem->gen_time;
}

/* The system call at t->insn, if there is one, is over. */
static int returned(struct soft *s, struct soft_thread *t)
{
	struct user_regs_struct r;
	int err = soft_peek_regs(t, &r);

	if (!err && t->hides)
		err = soft_untraced_show(t);
	if (err)
		return soft_unless_killed(err);
	if (r.cs == SOFT_CS_32BIT)
		return soft_resume_free(s, t);
	soft_note_mappings(s, t, &r);
	s->userfaults |= soft_faults_made(&r, t->insn.legacy);
	if (!soft_restarts(&r)) {
		soft_sigtrap_return(&t->trap, &r, t->mem, t->insn.legacy);
		return soft_resume_at(s, t, r.rip);
	}
	t->mode = SOFT_USER;
	t->injected = false;
	t->restarting = true;
	soft_thread_goto(t, r.rip - SOFT_ENTRY_LEN);
	return soft_resume(s, t, 0);
}

static int on_syscall(struct soft *s, struct soft_thread *t)
{
	int err = t->running ? soft_block_syscall(t) : 0;

	if (err)
		return soft_unless_killed(err);
	if (t->mode == SOFT_KERNEL)
		return returned(s, t);
	if (t->mode == SOFT_USER && t->insn.cls == SOFT_SYSCALL) {
		soft_thread_entered(t);
		soft_sigtrap_enter(&t->trap);
		t->withdrawals = t->mem->plants.withdrawals;
		t->mode = SOFT_KERNEL;
		t->restarting = false;
		err = soft_poke_enter(s, t);
		if (!err && !s->detaching && !soft_away_wanted(s, t))
			err = soft_untraced_hide(t);
	}
	return err ? soft_unless_killed(err) : soft_resume(s, t, 0);
}

/* A signal is about to be delivered, or (0) is not to be after all; nothing of the program ran
 * for it. */
static int on_signal(struct soft *s, struct soft_thread *t, int sig)
{
	int err = t->running ? soft_block_cut(t) : 0;
	uint64_t ip;

	if (!err)
		err = soft_peek_ip(t, &ip);
	if (err)
		return soft_unless_killed(err);
	s->stats.signals += sig != 0;
	if (t->mode == SOFT_NEW) {
		soft_sigtrap_hide(&t->trap);
		t->mode = SOFT_USER;
		soft_thread_goto(t, ip);
	} else if (t->mode == SOFT_USER && !t->restarting && ip != t->insn.ip) {
		/* A trap was swallowed, and what came then faulted. */
		soft_thread_ran(t, ip);
		soft_thread_goto(t, ip);
	}
	if (s->cfg.ptwrite && soft_ptwrite_carry(t, sig))
		sig = 0;
	return soft_resume(s, t, sig);
}

/* Clear the trap flag in what pushf has just written. */
static void hide_trap_flag(const struct soft_thread *t)
{
	uint64_t sp;
	uint16_t flags;

	if (soft_peek(t, offsetof(struct user_regs_struct, rsp), &sp) ||
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
	if (far && !soft_peek(t, offsetof(struct user_regs_struct, cs), &cs) &&
	    cs == SOFT_CS_32BIT) {
		soft_pt_cut(&t->pt, ip);
		return soft_resume_free(s, t);
	}
	soft_thread_goto(t, ip);
	return soft_resume(s, t, 0);
}

/* A SIGTRAP that no instruction caused. */
static int on_sent_trap(struct soft *s, struct soft_thread *t, const siginfo_t *si)
{
	return on_signal(s, t, soft_sigtrap_takes(&t->trap, si) ? 0 : SIGTRAP);
}

/* The program's own int3, while it blocks SIGTRAP: it dies of that. So let it run into it once
 * more, with the mask as it wants it. */
static int again_blocked(struct soft *s, struct soft_thread *t)
{
	int err = soft_regs(t);

	if (err)
		return soft_unless_killed(err);
	soft_sigtrap_show(&t->trap);
	t->trap.blocked = false;
	t->regs.rip = t->insn.ip;
	t->new_regs = true;
	return soft_step(s, t, 0);
}

/* The program's own int3: it has run, and its signal is still to be delivered. */
static int on_breakpoint(struct soft *s, struct soft_thread *t, uint64_t ip)
{
	if (t->trap.blocked)
		return again_blocked(s, t);
	soft_thread_ran(t, ip);
	s->stats.signals++;
	soft_thread_goto(t, ip);
	return soft_resume(s, t, SIGTRAP);
}

/* A trap of which the address alone does not tell what it means. */
static int on_odd_trap(struct soft *s, struct soft_thread *t, uint64_t ip)
{
	siginfo_t si;

	if (ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &si))
		return soft_unless_killed(-errno);
	if (t->mode == SOFT_FREE)
		return on_signal(s, t, SIGTRAP);
	if (si.si_code <= 0 || t->mode == SOFT_NEW)
		return on_sent_trap(s, t, &si);
	if (si.si_code == SIGTRAP) {
		/* ptrace(2): a handler's frame is ready, nothing of it ran. */
		soft_thread_cut(t);
		soft_trapflag_framed(t);
		soft_sigtrap_hide(&t->trap);
		return soft_resume_at(s, t, ip);
	}
	if (t->mode == SOFT_USER && t->insn.cls == SOFT_INT && ip == soft_insn_end(&t->insn))
		return on_breakpoint(s, t, ip);
	if (ip == t->insn.ip && si.si_code > TRAP_BRANCH)
		return on_signal(s, t, SIGTRAP); /* a watchpoint of the program's */
	/* Of an int1, which some hypervisors make a fault. */
	if (t->mode == SOFT_USER && t->insn.cls == SOFT_INT && ip == t->insn.ip)
		return t->trap.blocked ? again_blocked(s, t) : on_signal(s, t, SIGTRAP);
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

/* The run it was told to make is over. */
static int on_run_trap(struct soft *s, struct soft_thread *t)
{
	siginfo_t si;
	bool hit;
	int err = soft_block_trap(t, &hit);

	if (err)
		return soft_unless_killed(err);
	if (hit)
		return soft_resume(s, t, 0);
	if (ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &si))
		return soft_unless_killed(-errno);
	if (si.si_code <= 0)
		return on_sent_trap(s, t, &si);
	if (t->insn.cls == SOFT_INT && t->regs.rip == soft_insn_end(&t->insn))
		return on_breakpoint(s, t, t->regs.rip);
	return on_signal(s, t, SIGTRAP);
}

static int on_trap(struct soft *s, struct soft_thread *t)
{
	uint64_t ip;
	int err = soft_peek_ip(t, &ip);

	if (err)
		return soft_unless_killed(err);
	if (t->mode != SOFT_USER || t->injected || ip == t->insn.ip ||
	    t->insn.cls == SOFT_INT || t->insn.cls == SOFT_SYSCALL)
		return on_odd_trap(s, t, ip);
	return stepped(s, t, ip);
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
	int sig, event, err = 0;

	if (!WIFSTOPPED(status)) {
		on_end(s, t, status);
		return s->log_err;
	}
	sig = WSTOPSIG(status);
	event = status >> 16;
	s->stats.stops++;
	t->listening = false;
	t->has_regs = false;
	soft_stepped(t);
	if (t->mode == SOFT_NEW && t->hides)
		err = soft_untraced_show(t);
	else if (t->roused && (event == PTRACE_EVENT_STOP || sig == (SIGTRAP | 0x80)))
		err = soft_attach_calm(t);
	if (err)
		return soft_unless_killed(err);
	if (event)
		return soft_event_stop(s, t, event, sig);
	if (t->mode == SOFT_AWAY)
		return soft_away_stop(s, t, sig);
	if (sig == SIGTRAP)
		return t->running ? on_run_trap(s, t) : on_trap(s, t);
	if (sig == (SIGTRAP | 0x80))
		return on_syscall(s, t);
	return on_signal(s, t, sig);
}
