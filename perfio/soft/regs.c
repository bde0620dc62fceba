/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/regs.h"

#define AT(name) (offsetof(struct user_regs_struct, name) / sizeof(unsigned long long))

static const uint8_t where[16] = {
	AT(rax), AT(rcx), AT(rdx), AT(rbx), AT(rsp), AT(rbp), AT(rsi), AT(rdi),
	AT(r8),	 AT(r9),  AT(r10), AT(r11), AT(r12), AT(r13), AT(r14), AT(r15),
};

unsigned long long *soft_reg(struct user_regs_struct *r, unsigned reg)
{
	return (unsigned long long *)r + where[reg];
}

uint64_t soft_reg_value(const struct user_regs_struct *r, unsigned reg)
{
	switch (reg) {
	case SOFT_REG_FS:
		return r->fs_base;
	case SOFT_REG_GS:
		return r->gs_base;
	case SOFT_REG_RIP:
	case SOFT_REG_NONE:
		return 0;
	default:
		return ((const unsigned long long *)r)[where[reg]];
	}
}

uint64_t soft_address(const struct soft_insn *i, const struct user_regs_struct *r)
{
	const struct soft_operand *o = &i->from;
	uint64_t a = o->base == SOFT_REG_RIP ? soft_insn_end(i) : soft_reg_value(r, o->base);

	a += (soft_reg_value(r, o->index) << o->scale) + (uint64_t)(int64_t)o->disp;
	return (o->narrow ? (uint32_t)a : a) + soft_reg_value(r, o->seg);
}

/* The eight conditions and their opposites: SDM vol. 1, appendix B. */
bool soft_cond_holds(uint64_t f, unsigned cond)
{
	const bool less = !(f & SOFT_SF) != !(f & SOFT_OF);
	bool holds = false;

	switch (cond >> 1) {
	case 0: holds = f & SOFT_OF; break;
	case 1: holds = f & SOFT_CF; break;
	case 2: holds = f & SOFT_ZF; break;
	case 3: holds = f & (SOFT_CF | SOFT_ZF); break;
	case 4: holds = f & SOFT_SF; break;
	case 5: holds = f & SOFT_PF; break;
	case 6: holds = less; break;
	case 7: holds = less || f & SOFT_ZF; break;
	}
	return holds != (cond & 1);
}
