/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/carry.h"
#include "perfio/soft/branch.h"
#include "perfio/soft/code.h"
#include "perfio/soft/op.h"
#include "perfio/soft/resume.h"
#include "perfio/soft/tracer.h"
#include "perfio/soft/view.h"
#include "perfio/soft/wait.h"

#include <signal.h>
#include <sys/ptrace.h>

/* Instructions in a row, before the thread itself runs some: a loop of nothing else must still
 * meet its signals. */
enum { CARRY_MAX = 16384 };
/* Instructions that may share a time. */
enum { SAME_TIME = 64 };

struct carry {
	struct soft *s;
	struct soft_thread *t;
	struct soft_access mem;
	int n;
	bool inside; /* a filter concerned it when it began */
};

/* The instruction that t is at. */
static bool one(struct carry *c)
{
	struct soft_thread *t = c->t;
	bool done = soft_branch_is(&t->insn) ? soft_branch(&t->insn, &t->regs, &c->mem)
					     : soft_op_run(&t->insn, &t->regs, &c->mem);

	if (!done)
		return false;
	if (c->n++ % SAME_TIME == 0)
		t->resumed = soft_ticks(c->s);
	t->new_regs = true;
	soft_code_see(t, &t->insn);
	soft_thread_ran(t, t->regs.rip);
	soft_thread_goto(t, t->regs.rip);
	if (c->inside && !soft_filter_concerns(t))
		return false; /* behind that it may go faster by itself */
	return c->n < CARRY_MAX && !soft_gate_shut(t->gate);
}

/* A run with an instruction for the CPU costs a stop, however much of it is carried out. */
static bool run(struct carry *c)
{
	struct soft_run r;

	if (!soft_mem_is_fixed(c->t->mem, c->t->insn.ip))
		return one(c);
	soft_run_at(&r, c->t->mem, &c->t->insn);
	if (!r.easy)
		return false;
	do
		if (!one(c))
			return false;
	while (c->t->insn.ip != r.end);
	return true;
}

static bool begin(struct soft *s, struct soft_thread *t)
{
	bool alone;

	if (!s->view)
		s->view = soft_view_new(s->cfg.lifeline ? &s->cfg.lifeline->dirty : NULL);
	if (!s->view)
		return false;
	if (!s->stubs && !s->no_stubs)
		s->stubs = soft_stubs_new();
	s->no_stubs = !s->stubs;
	alone = soft_quiesce(s, t);
	soft_view_open(s->view, t->mem, t->tid, alone, alone && soft_all_still(s, t));
	if (s->stubs)
		soft_stubs_open(s->stubs, t->tid);
	return true;
}

/* Once its vectors are written, they are ahead of its other registers. */
static int end(struct soft *s, const struct soft_thread *t)
{
	int err, err2;

	if (s->stubs && soft_stubs_changed(s->stubs) && s->cfg.lifeline)
		__atomic_store_n(&s->cfg.lifeline->dirty, t->tid, __ATOMIC_SEQ_CST);
	err = s->stubs ? soft_stubs_close(s->stubs) : 0;
	err2 = soft_view_close(s->view);

	return err ? err : err2;
}

/*
 * Signals that came while it was in the kernel are handled before anything else runs: what it
 * sent itself, what its call let through. One at a time, so that there may be another one.
 */
static bool has_signals(const struct soft_thread *t)
{
	struct __ptrace_peeksiginfo_args one = { .nr = 1 };
	siginfo_t si;

	if (ptrace(PTRACE_PEEKSIGINFO, t->tid, &one, &si))
		return true;
	one.flags = PTRACE_PEEKSIGINFO_SHARED;
	return ptrace(PTRACE_PEEKSIGINFO, t->tid, &one, &si) != 0;
}

/* Who serves the fault may wait for us. */
static bool refuse_read(void *arg, uint64_t addr, void *to, size_t n)
{
	(void)arg;
	(void)addr;
	(void)to;
	(void)n;
	return false;
}

static bool refuse_write(void *arg, uint64_t addr, const void *from, size_t n)
{
	(void)arg;
	(void)addr;
	(void)from;
	(void)n;
	return false;
}

static bool refuse_owned(void *arg, uint64_t addr, size_t n, bool write, bool locked)
{
	(void)arg;
	(void)addr;
	(void)n;
	(void)write;
	(void)locked;
	return false;
}

int soft_carry(struct soft *s, struct soft_thread *t)
{
	struct carry c = { .s = s, .t = t };
	const bool arrived = t->arrived;
	int err;

	t->arrived = false;
	c.inside = t->gate->filters.n && soft_filter_concerns(t);
	if (!soft_branch_is(&t->insn) && t->insn.op.what == SOFT_LEFT)
		return 0;
	if (arrived && has_signals(t))
		return 0;
	err = soft_regs(t);
	if (err || (!s->userfaults && !begin(s, t)))
		return err;
	c.mem = s->userfaults ?
		(struct soft_access){ refuse_read, refuse_write, refuse_owned, NULL, NULL } :
		(struct soft_access){ soft_view_read, soft_view_write, soft_view_owned, s->view,
				      s->stubs };
	while (soft_branch_is(&t->insn) ? one(&c) : run(&c))
		;
	return s->userfaults ? 0 : end(s, t);
}
