/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/ptwrite.h"
#include "perfio/soft/regs.h"
#include "perfio/soft/resume.h"

#include <signal.h>
#include <sys/ptrace.h>

static bool operand(struct soft_thread *t, const struct soft_insn *i, uint64_t *ret)
{
	const size_t n = i->wide ? 8 : 4;
	uint64_t v = 0;

	if (soft_regs(t))
		return false;
	if (!i->from.memory)
		v = soft_reg_value(&t->regs, i->from.base);
	else if (soft_mem_read(t->mem, soft_address(i, &t->regs), &v, n) != n)
		return false;
	*ret = i->wide ? v : (uint32_t)v;
	return true;
}

void soft_ptwrite_ran(struct soft_thread *t, const struct soft_insn *i)
{
	uint64_t v;

	if (operand(t, i, &v))
		soft_pt_ptwrite(&t->pt, i->ip, v, i->wide);
}

/* By the CPU, not by a process. */
static bool raised(const struct soft_thread *t)
{
	siginfo_t si;

	return !ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &si) && si.si_code > 0;
}

bool soft_ptwrite_carry(struct soft_thread *t, int sig)
{
	uint64_t v;

	if (sig != SIGILL || t->mode != SOFT_USER || t->insn.cls != SOFT_PTWRITE ||
	    soft_regs(t) || t->regs.rip != t->insn.ip || !raised(t) ||
	    !operand(t, &t->insn, &v))
		return false;
	soft_thread_ran(t, soft_insn_end(&t->insn));
	t->regs.rip = soft_insn_end(&t->insn);
	t->new_regs = true;
	soft_thread_goto(t, t->regs.rip);
	return true;
}
