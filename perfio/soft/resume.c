/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/resume.h"
#include "perfio/soft/again.h"
#include "perfio/soft/away.h"
#include "perfio/soft/block.h"
#include "perfio/soft/fence.h"
#include "perfio/soft/trapflag.h"
#include "perfio/soft/wait.h"

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

int soft_peek_regs(const struct soft_thread *t, struct user_regs_struct *ret)
{
	return ptrace(PTRACE_GETREGS, t->tid, NULL, ret) ? -errno : 0;
}

/* Linux 6.1 include/linux/errno.h: never seen by the program, only by its tracer. */
enum { ERESTARTSYS = 512, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK = 516 };

void soft_restart(struct user_regs_struct *r)
{
	r->rax = (unsigned long long)-ERESTARTNOINTR;
}

bool soft_restarts(const struct user_regs_struct *r)
{
	long long v = (long long)r->rax;

	return (long long)r->orig_rax >= 0 &&
	       (v == -ERESTARTSYS || v == -ERESTARTNOINTR || v == -ERESTARTNOHAND ||
		v == -ERESTART_RESTARTBLOCK);
}

bool soft_trap_pends(const struct soft_thread *t)
{
	struct __ptrace_peeksiginfo_args from = { .nr = 16 };
	siginfo_t si[16];
	long n = ptrace(PTRACE_PEEKSIGINFO, t->tid, &from, si);

	for (long i = 0; i < n; i++)
		if (si[i].si_signo == SIGTRAP && si[i].si_code == SI_KERNEL)
			return true;
	return false;
}

int soft_regs(struct soft_thread *t)
{
	int err = t->has_regs ? 0 : soft_peek_regs(t, &t->regs);

	t->has_regs = !err;
	return err;
}

int soft_peek_ip(const struct soft_thread *t, uint64_t *ret)
{
	if (!t->has_regs)
		return soft_peek(t, offsetof(struct user_regs_struct, rip), ret);
	*ret = t->regs.rip;
	return 0;
}

int soft_put_regs(struct soft_thread *t)
{
	bool set = t->new_regs;

	t->new_regs = false;
	if (set && ptrace(PTRACE_SETREGS, t->tid, NULL, &t->regs))
		return -errno;
	if (set && t->life)
		t->life->moved = true;
	if (t->cfg->lifeline)
		t->cfg->lifeline->dirty = 0;
	return 0;
}

static void tell(const struct soft_thread *t, int how)
{
	const bool runs = t->mode == SOFT_USER && t->running && t->run.how == SOFT_RUN_PLANT;

	t->life->steps = how == PTRACE_SINGLESTEP;
	t->life->from = t->mode == SOFT_USER ? t->insn.ip : 0;
	t->life->end = runs ? t->run.end : 0;
	t->life->running = true;
}

int soft_let_go(struct soft *s, struct soft_thread *t, int how, int sig)
{
	int err = how == PTRACE_SINGLESTEP ? 0 : soft_trapflag_take_back(t);

	if (!err)
		err = soft_put_regs(t);
	t->has_regs = false;
	if (t->mode == SOFT_USER && !t->running)
		soft_code_see(t, &t->insn);
	t->resumed = soft_ticks(s);
	if (t->life)
		tell(t, how);
	if (!err && ptrace((enum __ptrace_request)how, t->tid, NULL, (long)sig))
		err = -errno;
	/* Nothing of what it was told, nor of what its registers were to be, came about. */
	t->dying = err == -ESRCH;
	return soft_unless_killed(err);
}

/* Longest instruction: SDM vol. 2A, 2.3.11. */
enum { INSN_MAX = 15 };

static size_t length(const struct soft_insn *i)
{
	return i->len ? i->len : INSN_MAX;
}

/* While an instruction is as the program wrote it, no other thread may come by. */
int soft_step(struct soft *s, struct soft_thread *t, int sig)
{
	struct soft_plants *p = t->mode == SOFT_USER && t->mem ? &t->mem->plants : NULL;
	bool shared;
	int err;

	s->stats.steps++;
	soft_trapflag_lend(t);
	if (!p || !soft_plants_among(p, t->insn.ip, length(&t->insn)))
		return soft_let_go(s, t, PTRACE_SINGLESTEP, sig);
	shared = t->mem->refs > 1;
	if (shared)
		soft_quiesce(s, t);
	soft_plants_lift(p, t->insn.ip, length(&t->insn));
	t->lifted = true;
	err = soft_let_go(s, t, PTRACE_SINGLESTEP, sig);
	if (shared && !err && soft_await(s, t))
		soft_stepped(t);
	return err;
}

void soft_stepped(struct soft_thread *t)
{
	if (t->lifted)
		soft_plants_lower(&t->mem->plants, t->insn.ip, length(&t->insn));
	t->lifted = false;
}

/* Whoever is away runs among entries, unless all that is planted is to be taken out. */
static bool meets_plants(const struct soft *s, const struct soft_thread *t)
{
	if (soft_runs_user(t))
		return true;
	return t->mode == SOFT_AWAY && t->watched && !t->in_kernel && !t->listening &&
	       (s->detaching || s->gate.paused);
}

bool soft_needs_plants(const struct soft *s, const struct soft_mem *m)
{
	for (size_t i = 0; i < s->nr_live; i++)
		if (s->live[i]->mem == m && !s->live[i]->parked && meets_plants(s, s->live[i]))
			return true;
	return false;
}

static int detach(struct soft *s, struct soft_thread *t)
{
	int err = soft_trapflag_take_back(t);

	if (!err)
		err = soft_put_regs(t);
	t->has_regs = false;
	soft_sigtrap_enter(&t->trap);
	if (!err)
		soft_ignore_again(t);
	if (!err && ptrace(PTRACE_DETACH, t->tid, NULL, (long)t->signal))
		err = -errno;
	t->parked = false;
	if (!err)
		soft_table_remove(s, t);
	return soft_unless_killed(err);
}

static int leave_all(struct soft *s, struct soft_mem *m)
{
	int err = 0;

	for (size_t i = s->nr_live; i-- > 0 && !err;) {
		struct soft_thread *t = s->live[i];

		if (t->mem == m && t->parked)
			err = s->detaching ? detach(s, t) : soft_away_go(s, t);
	}
	return err;
}

/* Nobody steps in m: nothing of ours may harm those who leave. False: they must stay. */
static bool make_way(struct soft *s, struct soft_mem *m)
{
	if (!s->detaching && !s->gate.paused)
		return soft_fence_arm(s, m);
	m->fenced = false;
	m->stepped |= s->detaching;
	soft_plants_withdraw(&m->plants, 0, UINT64_MAX, 0);
	m->fence_gen = 0;
	return true;
}

int soft_clear_mem(struct soft *s, struct soft_mem *m)
{
	int err;

	soft_mem_get(m);
	err = make_way(s, m) ? leave_all(s, m) : soft_away_stay(s, m);
	soft_mem_put(m);
	return err;
}

int soft_clear(struct soft *s)
{
	int err = 0;

	for (size_t i = 0; i < s->nr_live && !err;) {
		const struct soft_thread *t = s->live[i++];

		if (!t->mem || soft_needs_plants(s, t->mem) ||
		    (!t->parked && !t->mem->plants.planted))
			continue;
		err = soft_clear_mem(s, t->mem);
		i = 0; /* others may have gone with it */
	}
	return err;
}

int soft_leave(struct soft *s, struct soft_thread *t, int sig)
{
	if (t->running) /* it has met a plant, and has yet to tell */
		return soft_let_go(s, t, PTRACE_SYSCALL, sig);
	t->signal = sig;
	if (!t->mem)
		return detach(s, t);
	t->parked = true;
	return soft_needs_plants(s, t->mem) ? 0 : soft_clear_mem(s, t->mem);
}

/*
 * Only a step shows whether a handler was entered. What it puts on the handler's stack is the
 * mask as it is; but without a handler it ends in a trap, which must not be blocked, and over a
 * system call, in which the thread may sleep, it would not tell that it went there.
 */
static int inject(struct soft *s, struct soft_thread *t, int sig)
{
	const bool caught = soft_sigtrap_caught(&t->trap, sig);

	if (!caught && t->insn.cls == SOFT_SYSCALL)
		return soft_let_go(s, t, PTRACE_SYSCALL, sig);
	if (caught && t->trap.blocked)
		soft_sigtrap_show(&t->trap);
	t->injected = true;
	return soft_step(s, t, sig);
}

int soft_resume(struct soft *s, struct soft_thread *t, int sig)
{
	bool leaves;
	int err = 0;

	if (s->detaching)
		return soft_leave(s, t, sig);
	if (t->mode == SOFT_FREE || t->mode == SOFT_EXITING)
		return soft_let_go(s, t, PTRACE_CONT, sig);
	leaves = soft_away_wanted(s, t);
	if (leaves && (!sig || s->gate.paused))
		return soft_leave(s, t, sig);
	if (!leaves && s->gate.filters.n && t->mode == SOFT_USER)
		err = soft_fence_enter(s, t);
	if (err)
		return err;
	if (sig)
		return inject(s, t, sig);
	if (t->mode != SOFT_USER || t->insn.cls == SOFT_SYSCALL)
		return soft_let_go(s, t, PTRACE_SYSCALL, 0);
	if (s->cfg.step || t->mem->stepped)
		return soft_step(s, t, 0);
	return soft_block_resume(s, t);
}

/* A new position in user space that no instruction of the program led to. */
int soft_resume_at(struct soft *s, struct soft_thread *t, uint64_t ip)
{
	t->mode = SOFT_USER;
	t->injected = false;
	t->restarting = false;
	t->arrived = true;
	soft_thread_goto(t, ip);
	return soft_resume(s, t, 0);
}

void soft_set_free(struct soft *s, struct soft_thread *t)
{
	s->stats.refused++;
	if (t->mem) {
		soft_quiesce(s, t);
		t->mem->stepped = true;
		soft_plants_withdraw(&t->mem->plants, 0, UINT64_MAX, 0);
	}
	t->mode = SOFT_FREE;
	t->injected = false;
}

/* A program we do not step: of 32 bits. Children of it may become ours again. */
int soft_resume_free(struct soft *s, struct soft_thread *t)
{
	soft_set_free(s, t);
	return soft_resume(s, t, 0);
}
