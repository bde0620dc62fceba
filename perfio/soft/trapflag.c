/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/trapflag.h"
#include "perfio/soft/regs.h"
#include "perfio/soft/resume.h"

#include <stddef.h>
#include <ucontext.h>

/* From the stack pointer on: a return address and this, struct rt_sigframe in Linux 6.1
 * arch/x86/include/asm/sigframe.h. */
#define FRAME_FLAGS (sizeof(uint64_t) + offsetof(ucontext_t, uc_mcontext.gregs[REG_EFL]))

void soft_trapflag_lend(struct soft_thread *t)
{
	uint64_t flags;

	if (t->mode == SOFT_USER && t->insn.loads_flags && !t->flag_lent)
		t->flag_lent = !soft_peek(t, offsetof(struct user_regs_struct, eflags), &flags) &&
			       !(flags & SOFT_TF);
}

int soft_trapflag_take_back(struct soft_thread *t)
{
	int err = t->flag_lent ? soft_regs(t) : 0;

	if (err || !t->flag_lent)
		return err;
	t->flag_lent = false;
	t->regs.eflags &= ~(unsigned long long)SOFT_TF;
	t->new_regs = true;
	return 0;
}

void soft_trapflag_framed(struct soft_thread *t)
{
	struct user_regs_struct r;
	uint64_t flags;

	if (!t->flag_lent || soft_peek_regs(t, &r))
		return;
	t->flag_lent = false;
	if (soft_mem_read(t->mem, r.rsp + FRAME_FLAGS, &flags, sizeof(flags)) != sizeof(flags))
		return;
	flags &= ~(uint64_t)SOFT_TF;
	soft_mem_write(t->mem, r.rsp + FRAME_FLAGS, &flags, sizeof(flags));
}
