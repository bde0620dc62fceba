/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/away.h"
#include "perfio/soft/attach.h"
#include "perfio/soft/resume.h"
#include "perfio/soft/wait.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>

int soft_away_go(struct soft *s, struct soft_thread *t)
{
	soft_sigtrap_enter(&t->trap);
	soft_unpin(s, t);
	t->mode = SOFT_AWAY;
	t->parked = t->injected = t->restarting = t->called = false;
	t->wakes_at = 0;
	t->insn = (struct soft_insn){ .cls = SOFT_BAD };
	return soft_let_go(s, t, PTRACE_CONT, t->signal);
}

/* It is traced from here. What it has done to mappings nobody saw; where others run to a plant
 * they shall find it. */
static void welcome(struct soft *s, struct soft_thread *t)
{
	soft_pin(s, t);
	soft_quiesce(s, t);
	soft_mem_changed(t->mem, 0, UINT64_MAX, true, 0);
	t->mem->code_time = soft_ticks(s);
	soft_attach_renew(s, t->mem);
}

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
	soft_sigtrap_unknown(&t->trap);
	if (!t->restarting)
		soft_sigtrap_return(&t->trap, &t->regs, t->mem, false);
	soft_thread_goto(t, t->restarting ? t->regs.rip - SOFT_ENTRY_LEN : t->regs.rip);
	return 0;
}

/* Others of its memory are traced already, and it met what is planted for them. */
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
	return soft_sigtrap_ignores(&t->trap, &si) ? 0 : SIGTRAP;
}

static int goes_on(struct soft *s, struct soft_thread *t, int sig)
{
	int err = soft_away_wanted(s) ? 0 : come_back(s, t);

	return err ? soft_unless_killed(err) : soft_resume(s, t, sig);
}

int soft_away_stop(struct soft *s, struct soft_thread *t, int sig)
{
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
	if (t->called)
		soft_attach_mend(t);
	return goes_on(s, t, 0);
}

void soft_away_caught(struct soft *s, struct soft_thread *t)
{
	if (t->mode != SOFT_AWAY)
		return;
	t->mode = SOFT_KERNEL;
	t->called = false;
	t->wakes_at = 0;
	t->withdrawals = t->mem->plants.withdrawals - 1; /* nobody saw it enter */
	soft_sigtrap_unknown(&t->trap);
	if (!soft_away_wanted(s))
		welcome(s, t);
}

/* ---- pause ---- */

void soft_pause(struct soft *s)
{
	s->gate.paused = true;
	for (size_t i = 0; i < s->nr_live; i++)
		soft_thread_cut(s->live[i]);
}

/* It waited for others before it could go: now it need not go. */
static int stay(struct soft *s, struct soft_thread *t)
{
	t->parked = false;
	return soft_resume(s, t, t->signal);
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
