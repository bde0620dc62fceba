/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/branch.h"

#include <stddef.h>

/* What lies above may be the kernel's, or no address: there the CPU faults, one way or the
 * other. Linux 6.1 Documentation/x86/x86_64/mm.rst; programs get more than that only if they
 * ask for it. */
#define USER_END ((uint64_t)1 << 47)

bool soft_branch_is(const struct soft_insn *i)
{
	switch ((enum soft_class)i->cls) {
	case SOFT_JCC:
	case SOFT_JMP:
	case SOFT_CALL:
	case SOFT_JMP_IND:
	case SOFT_CALL_IND:
	case SOFT_RET:
		return !i->sized;
	default:
		return false;
	}
}

/* Counts rcx down where the instruction does. */
static bool jumps(const struct soft_insn *i, struct user_regs_struct *r)
{
	switch (i->cond) {
	case SOFT_IF_LOOPNE:
		return --r->rcx && !(r->eflags & SOFT_ZF);
	case SOFT_IF_LOOPE:
		return --r->rcx && r->eflags & SOFT_ZF;
	case SOFT_IF_LOOP:
		return --r->rcx;
	case SOFT_IF_RCXZ:
		return !r->rcx;
	default:
		return soft_cond_holds(r->eflags, i->cond);
	}
}

static bool operand(const struct soft_insn *i, const struct user_regs_struct *r,
		    const struct soft_access *m, uint64_t *ret)
{
	if (i->from.memory)
		return m->read(m->arg, soft_address(i, r), ret, sizeof(*ret));
	*ret = soft_reg_value(r, i->from.base);
	return true;
}

/* Where i goes, and what it does to n, all but the memory it writes. */
static bool goes(const struct soft_insn *i, struct user_regs_struct *n,
		 const struct soft_access *m, uint64_t *to)
{
	switch ((enum soft_class)i->cls) {
	case SOFT_JCC:
		*to = jumps(i, n) ? soft_insn_target(i) : soft_insn_end(i);
		return true;
	case SOFT_JMP:
	case SOFT_CALL:
		*to = soft_insn_target(i);
		return true;
	case SOFT_JMP_IND:
	case SOFT_CALL_IND:
		return operand(i, n, m, to);
	case SOFT_RET:
		if (!m->read(m->arg, n->rsp, to, sizeof(*to)))
			return false;
		n->rsp += 8u + i->pops;
		return true;
	default:
		return false;
	}
}

bool soft_branch(const struct soft_insn *i, struct user_regs_struct *r,
		 const struct soft_access *m)
{
	struct user_regs_struct n = *r;
	const uint64_t ret = soft_insn_end(i);
	uint64_t to;

	if (!soft_branch_is(i) || r->eflags & SOFT_TF || !goes(i, &n, m, &to) || to >= USER_END)
		return false;
	if (i->cls == SOFT_CALL || i->cls == SOFT_CALL_IND) {
		n.rsp -= 8;
		if (!m->write(m->arg, n.rsp, &ret, sizeof(ret)))
			return false;
	}
	n.rip = to;
	*r = n;
	return true;
}
