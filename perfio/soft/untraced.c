/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/untraced.h"
#include "perfio/soft/remap.h"
#include "perfio/soft/resume.h"
#include "perfio/soft/thread.h"

#include <linux/sched.h>
#include <stddef.h>
#include <sys/syscall.h>

/* The flags are in a register, or the first member of what it points at. */
static bool in_memory(const struct soft_thread *t, bool set)
{
	uint64_t flags;

	if (soft_mem_read(t->mem, t->regs.rdi, &flags, sizeof(flags)) != sizeof(flags) ||
	    !(flags & CLONE_UNTRACED) != set)
		return false;
	flags ^= CLONE_UNTRACED;
	return soft_mem_write(t->mem, t->regs.rdi, &flags, sizeof(flags)) == sizeof(flags);
}

static bool in_register(struct soft_thread *t)
{
	if (!(t->regs.rdi & CLONE_UNTRACED))
		return false;
	t->regs.rdi &= ~(unsigned long long)CLONE_UNTRACED;
	t->new_regs = true;
	return true;
}

int soft_untraced_hide(struct soft_thread *t)
{
	uint64_t nr;
	int err = soft_peek(t, offsetof(struct user_regs_struct, orig_rax), &nr);

	nr &= ~(uint64_t)SOFT_X32_BIT;
	if (err || t->insn.legacy || (nr != SYS_clone && nr != SYS_clone3))
		return err;
	err = soft_regs(t);
	if (err)
		return err;
	if (nr == SYS_clone && in_register(t))
		t->hides = SOFT_HIDES_REGISTER;
	else if (nr == SYS_clone3 && in_memory(t, false))
		t->hides = SOFT_HIDES_MEMORY;
	return 0;
}

int soft_untraced_show(struct soft_thread *t)
{
	int err = soft_regs(t);

	if (err)
		return err;
	if (t->hides == SOFT_HIDES_MEMORY) {
		(void)in_memory(t, true);
	} else {
		t->regs.rdi |= CLONE_UNTRACED;
		t->new_regs = true;
	}
	t->hides = SOFT_HIDES_NOTHING;
	return 0;
}
