/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/away.h"
#include "perfio/soft/attach.h"
#include "perfio/soft/fence.h"
#include "perfio/soft/poke.h"
#include "perfio/soft/resume.h"
#include "perfio/soft/wait.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>

bool soft_away_wanted(const struct soft *s, const struct soft_thread *t)
{
	if (s->gate.paused)
		return true;
	return s->gate.filters.n && t->mode == SOFT_USER && !soft_fence_holds(s, t);
}

/* A program shall find its cpus when it looks for them at its start, and threads use them. One
 * thread that comes and goes does so faster on ours. */
static bool keeps_cpus(const struct soft *s, const struct soft_thread *t)
{
	return s->gate.paused || t->mem->refs > 1 || !t->pt.begun;
}

int soft_away_go(struct soft *s, struct soft_thread *t)
{
	t->watched = !s->gate.paused;
	if (!t->watched)
		soft_sigtrap_enter(&t->trap);
	else
		(void)soft_filter_admits(t, t->insn.ip); /* it has come there */
	if (keeps_cpus(s, t))
		soft_unpin(s, t);
	t->mode = SOFT_AWAY;
	t->parked = t->injected = t->restarting = t->in_kernel = t->called = false;
	t->wakes_at = 0;
	t->insn = (struct soft_insn){ .cls = SOFT_BAD };
	return soft_let_go(s, t, t->watched ? PTRACE_SYSCALL : PTRACE_CONT, t->signal);
}

/* It is stepped from here. Of one that was out of sight nobody knows what it has done to mappings;
 * where others run to a plant they shall find it. */
static void welcome(struct soft *s, struct soft_thread *t)
{
	soft_pin(s, t);
	if (t->watched)
		return;
	soft_quiesce(s, t);
	soft_mem_changed(t->mem, 0, UINT64_MAX, true, 0);
	t->mem->code_time = t->mem->gen_time = soft_ticks(s);
	soft_attach_renew(s, t->mem);
}

/* It has stopped, and its position is known now. */
static int come_back(struct soft *s, struct soft_thread *t)
{
	int err = soft_regs(t);

	if (err)
		return err;
	if (t->regs.cs == SOFT_CS_32BIT) {
		soft_set_free(s, t);
		return 0;
	}
	if (soft_attach_met(s, t)) /* it has slept all the time */
		soft_pin(s, t);
	else
		welcome(s, t);
	t->mode = SOFT_USER;
	t->restarting = soft_restarts(&t->regs);
	if (!t->watched)
		soft_sigtrap_unknown(&t->trap);
	if (!t->watched && !t->restarting)
		soft_sigtrap_return(&t->trap, &t->regs, t->mem, false);
	soft_thread_goto(t, t->restarting ? t->regs.rip - SOFT_ENTRY_LEN : t->regs.rip);
	return 0;
}

/* It met what is planted for it, or for others of its memory. */
static bool met_plant(struct soft_thread *t, const siginfo_t *si)
{
	return si->si_code == SI_KERNEL && !soft_regs(t) &&
	       soft_plants_met(&t->mem->plants, t->regs.rip - 1);
}

/* The signal that a SIGTRAP comes to. */
static int trap(struct soft_thread *t)
{
	siginfo_t si;

	if (ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &si))
		return SIGTRAP;
	if (met_plant(t, &si)) {
		t->regs.rip--;
		t->new_regs = true;
		return 0;
	}
	if (t->watched && si.si_code <= 0)
		return soft_sigtrap_takes(&t->trap, &si) ? 0 : SIGTRAP;
	return soft_sigtrap_ignores(&t->trap, &si) ? 0 : SIGTRAP;
}

/* Nobody steps there, and t is not where it has to be. */
static bool stays_away(struct soft *s, struct soft_thread *t)
{
	if (!t->watched || !t->mem->fenced || soft_regs(t))
		return false;
	soft_thread_goto(t, t->regs.rip);
	return !soft_fence_holds(s, t);
}

/* A handler may block SIGTRAP, and the mask that is saved for it has to be the program's own: a
 * signal needs a step (resume.c). */
static int goes_on(struct soft *s, struct soft_thread *t, int sig)
{
	int err = 0;

	if (!soft_away_wanted(s, t) && !s->detaching) {
		if (!sig && stays_away(s, t)) {
			t->called = false;
			return soft_let_go(s, t, PTRACE_SYSCALL, 0);
		}
		err = come_back(s, t);
	}
	return err ? soft_unless_killed(err) : soft_resume(s, t, sig);
}

static int enters(struct soft *s, struct soft_thread *t)
{
	uint8_t b[SOFT_ENTRY_LEN];
	int err = soft_regs(t);

	if (err)
		return soft_unless_killed(err);
	soft_insn_decode(&t->insn, t->regs.rip - sizeof(b), b,
			 soft_mem_read(t->mem, t->regs.rip - sizeof(b), b, sizeof(b)));
	soft_sigtrap_enter(&t->trap);
	t->in_kernel = true;
	t->withdrawals = t->mem->plants.withdrawals;
	t->called = false;
	err = soft_poke_enter(s, t);
	return err ? soft_unless_killed(err) : soft_let_go(s, t, PTRACE_SYSCALL, 0);
}

static int returns(struct soft *s, struct soft_thread *t)
{
	uint32_t gen = t->mem->code_gen;
	int err = soft_regs(t);

	if (err)
		return soft_unless_killed(err);
	t->in_kernel = false;
	if (t->regs.cs == SOFT_CS_32BIT)
		return soft_resume_free(s, t);
	soft_note_mappings(s, t, &t->regs);
	if (!soft_restarts(&t->regs))
		soft_sigtrap_return(&t->trap, &t->regs, t->mem, t->insn.legacy);
	if (gen == t->mem->code_gen || s->gate.paused)
		return goes_on(s, t, 0);
	err = come_back(s, t); /* there may be new entries */
	return err ? soft_unless_killed(err) : soft_resume(s, t, 0);
}

int soft_away_stop(struct soft *s, struct soft_thread *t, int sig)
{
	if (sig == (SIGTRAP | 0x80) && t->watched)
		return t->in_kernel ? returns(s, t) : enters(s, t);
	if (sig == (SIGTRAP | 0x80))
		sig = 0;
	if (sig == SIGTRAP)
		sig = trap(t);
	s->stats.signals += sig != 0;
	return goes_on(s, t, sig);
}

int soft_away_halted(struct soft *s, struct soft_thread *t)
{
	int err = t->called ? soft_regs(t) : 0;

	if (err)
		return soft_unless_killed(err);
	if (soft_trap_pends(t))
		return soft_let_go(s, t, t->watched ? PTRACE_SYSCALL : PTRACE_CONT, 0);
	if (t->called)
		soft_attach_mend(t);
	t->called &= !t->in_kernel;
	if (t->in_kernel && !s->detaching && !s->gate.paused)
		return soft_let_go(s, t, PTRACE_SYSCALL, 0);
	return goes_on(s, t, 0);
}

void soft_away_caught(struct soft *s, struct soft_thread *t)
{
	if (t->mode != SOFT_AWAY)
		return;
	t->mode = SOFT_KERNEL;
	t->in_kernel = t->called = false;
	t->wakes_at = 0;
	if (!t->watched) { /* nobody saw it enter */
		t->withdrawals = t->mem->plants.withdrawals - 1;
		soft_sigtrap_unknown(&t->trap);
	}
	if (!s->gate.paused)
		welcome(s, t);
}

/* It waited for others before it could go: now it need not go. */
static int stay(struct soft *s, struct soft_thread *t)
{
	t->parked = false;
	return soft_resume(s, t, t->signal);
}

int soft_away_stay(struct soft *s, struct soft_mem *m)
{
	int err = 0;

	for (size_t i = s->nr_live; i-- > 0 && !err;)
		if (s->live[i]->mem == m && s->live[i]->parked)
			err = stay(s, s->live[i]);
	return err;
}

/* ---- pause ---- */

void soft_away_all(struct soft *s)
{
	s->gate.paused = true;
	for (size_t i = 0; i < s->nr_live; i++) {
		struct soft_thread *t = s->live[i];

		soft_thread_cut(t);
		/* Breakpoints wait for it. */
		if (t->mode == SOFT_AWAY && t->watched && !t->in_kernel && !t->listening)
			ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
	}
}

int soft_away_back(struct soft *s)
{
	int err = 0;

	if (!s->gate.paused)
		return 0;
	s->gate.paused = false;
	for (size_t i = s->nr_live; i-- > 0 && !err;)
		if (s->live[i]->parked)
			err = stay(s, s->live[i]);
	if (!err)
		soft_attach_call(s, 0);
	return err;
}
