/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/block.h"
#include "perfio/soft/away.h"
#include "perfio/soft/carry.h"
#include "perfio/soft/resume.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>

static bool prepare(struct soft_thread *t)
{
	soft_run_at(&t->run, t->mem, &t->insn);
	soft_run_open(&t->run, t->mem);
	switch ((enum soft_run_end)t->run.how) {
	case SOFT_RUN_STOPS:
		return true;
	case SOFT_RUN_PLANT:
		return soft_plants_put(&t->mem->plants, t->run.end);
	default:
		return false;
	}
}

int soft_block_resume(struct soft *s, struct soft_thread *t)
{
	if (!t->running) {
		int err;

		/* Others may have changed it since. */
		if (t->insn.loose || t->insn.gen != t->mem->code_gen)
			soft_thread_goto(t, t->insn.ip);
		err = soft_carry(s, t);
		if (!err && s->cfg.lifeline)
			err = soft_put_regs(t);
		if (err)
			return soft_unless_killed(err);
		if (soft_away_wanted(s, t))
			return soft_leave(s, t, 0);
		soft_plants_open(&t->mem->plants, t->insn.ip, t->insn.len);
		if (t->insn.cls != SOFT_SYSCALL && !prepare(t))
			return soft_step(s, t, 0);
		t->running = t->insn.cls != SOFT_SYSCALL;
		s->stats.runs++;
	}
	return soft_let_go(s, t, PTRACE_SYSCALL, 0);
}

static void came(struct soft_thread *t, uint64_t ip)
{
	t->running = false;
	soft_thread_came(t, ip);
}

int soft_block_syscall(struct soft_thread *t)
{
	uint64_t ip;
	int err;

	if (t->run.how == SOFT_RUN_STOPS) {
		came(t, t->run.end);
		return 0;
	}
	/* It has left its run. */
	err = soft_peek_ip(t, &ip);
	if (!err)
		came(t, ip - SOFT_ENTRY_LEN);
	return err;
}

static bool met_end(const struct soft_thread *t, uint64_t ip)
{
	return t->run.how == SOFT_RUN_PLANT && ip - 1 == t->run.end && ip != t->run.begin;
}

int soft_block_cut(struct soft_thread *t)
{
	uint64_t ip;
	int err = soft_peek_ip(t, &ip);

	if (!err)
		came(t, met_end(t, ip) ? ip - 1 : ip);
	return err;
}

int soft_block_paused(struct soft_thread *t)
{
	uint64_t ip;
	int err = soft_peek_ip(t, &ip);

	if (!err && !met_end(t, ip) && !soft_trap_pends(t))
		came(t, ip);
	return err;
}

/* Another run's end, planted when this run was known already. */
static int met_other(const struct soft_thread *t, uint64_t ip, bool *ret)
{
	siginfo_t si;

	bool end = t->run.how == SOFT_RUN_PLANT && ip - 1 == t->run.end;

	*ret = false;
	if (!end && !soft_plants_met(&t->mem->plants, ip - 1))
		return 0;
	if (ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &si))
		return -errno;
	*ret = si.si_code == SI_KERNEL;
	return 0;
}

/* The program's own int3, or whatever else traps at the end of a run. */
static bool own_trap(const struct soft_thread *t, uint64_t ip)
{
	struct soft_insn i;

	if (t->run.how != SOFT_RUN_STOPS)
		return false;
	soft_insn_at(&i, t->mem, t->run.end);
	return i.cls == SOFT_INT && ip == soft_insn_end(&i);
}

int soft_block_trap(struct soft_thread *t, bool *hit)
{
	int err = soft_regs(t);
	uint64_t ip = t->regs.rip;

	*hit = !err && met_end(t, ip);
	if (!err && !*hit)
		err = met_other(t, ip, hit);
	if (err)
		return err;
	if (*hit) {
		t->regs.rip = --ip;
		t->new_regs = true;
	} else if (own_trap(t, ip)) {
		ip = t->run.end;
	}
	came(t, ip);
	return 0;
}
