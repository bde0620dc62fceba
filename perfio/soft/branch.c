/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/branch.h"

#include <stddef.h>

/* Bits of rflags: SDM vol. 1, 3.4.3. */
enum { CF = 1, PF = 1 << 2, ZF = 1 << 6, SF = 1 << 7, TF = 1 << 8, OF = 1 << 11 };

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

uint64_t soft_register(const struct user_regs_struct *r, unsigned reg)
{
	switch (reg) {
	case 0: return r->rax;
	case 1: return r->rcx;
	case 2: return r->rdx;
	case 3: return r->rbx;
	case 4: return r->rsp;
	case 5: return r->rbp;
	case 6: return r->rsi;
	case 7: return r->rdi;
	case 8: return r->r8;
	case 9: return r->r9;
	case 10: return r->r10;
	case 11: return r->r11;
	case 12: return r->r12;
	case 13: return r->r13;
	case 14: return r->r14;
	case 15: return r->r15;
	case SOFT_REG_FS: return r->fs_base;
	case SOFT_REG_GS: return r->gs_base;
	default: return 0;
	}
}

/* The eight conditions and their opposites: SDM vol. 1, appendix B. */
static bool by_flags(uint64_t f, unsigned cond)
{
	const bool less = !(f & SF) != !(f & OF);
	const bool holds[] = { f & OF, f & CF,	     f & ZF, f & (CF | ZF),
			       f & SF, f & PF,	     less,   f & ZF || less };

	return holds[cond >> 1] != (cond & 1);
}

/* Counts rcx down where the instruction does. */
static bool jumps(const struct soft_insn *i, struct user_regs_struct *r)
{
	switch (i->cond) {
	case SOFT_IF_LOOPNE:
		return --r->rcx && !(r->eflags & ZF);
	case SOFT_IF_LOOPE:
		return --r->rcx && r->eflags & ZF;
	case SOFT_IF_LOOP:
		return --r->rcx;
	case SOFT_IF_RCXZ:
		return !r->rcx;
	default:
		return by_flags(r->eflags, i->cond);
	}
}

uint64_t soft_operand_address(const struct soft_insn *i, const struct user_regs_struct *r)
{
	const struct soft_operand *o = &i->from;
	uint64_t a = o->base == SOFT_REG_RIP ? soft_insn_end(i) : soft_register(r, o->base);

	a += (soft_register(r, o->index) << o->scale) + (uint64_t)(int64_t)o->disp;
	return (i->sized ? (uint32_t)a : a) + soft_register(r, o->seg);
}

static bool operand(const struct soft_insn *i, const struct user_regs_struct *r,
		    const struct soft_branch_mem *m, uint64_t *ret)
{
	if (i->from.memory)
		return m->read(m->arg, soft_operand_address(i, r), ret);
	*ret = soft_register(r, i->from.base);
	return true;
}

/* Where i goes, and what it does to n, all but the memory it writes. */
static bool goes(const struct soft_insn *i, struct user_regs_struct *n,
		 const struct soft_branch_mem *m, uint64_t *to)
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
		if (!m->read(m->arg, n->rsp, to))
			return false;
		n->rsp += 8u + i->pops;
		return true;
	default:
		return false;
	}
}

bool soft_branch(const struct soft_insn *i, struct user_regs_struct *r,
		 const struct soft_branch_mem *m)
{
	struct user_regs_struct n = *r;
	uint64_t to;

	if (!soft_branch_is(i) || r->eflags & TF || !goes(i, &n, m, &to) || to >= USER_END)
		return false;
	if (i->cls == SOFT_CALL || i->cls == SOFT_CALL_IND) {
		n.rsp -= 8;
		if (!m->write(m->arg, n.rsp, soft_insn_end(i)))
			return false;
	}
	n.rip = to;
	*r = n;
	return true;
}
