/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/vectors.h"
#include "perfio/soft/isa.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

/* In the area: SDM vol. 1, 10.5.1, 10.2.3 and 13.4.2. */
enum { MXCSR = 24, MXCSR_MASKS = 0x1f80, XSTATE_BV = 512 };

void soft_vectors_of(struct soft_vectors *v, pid_t tid)
{
	v->tid = tid;
	v->size = 0;
	v->refused = v->changed = false;
}

static bool masked(const struct soft_vectors *v)
{
	uint32_t mxcsr;

	memcpy(&mxcsr, v->area + MXCSR, sizeof(mxcsr));
	return (mxcsr & MXCSR_MASKS) == MXCSR_MASKS;
}

bool soft_vectors_get(struct soft_vectors *v)
{
	struct iovec all = { v->area, sizeof(v->area) };

	if (v->size || v->refused)
		return !v->refused;
	v->refused = ptrace(PTRACE_GETREGSET, v->tid, NT_X86_XSTATE, &all) ||
		     all.iov_len == sizeof(v->area) || !masked(v);
	v->size = v->refused ? 0 : all.iov_len;
	return !v->refused;
}

int soft_vectors_put(struct soft_vectors *v)
{
	struct iovec all = { v->area, v->size };
	const bool changed = v->changed;

	v->changed = false;
	v->size = 0;
	/* The kernel takes MXCSR only with components that are in use: Linux 6.1,
	 * arch/x86/kernel/fpu/xstate.c. */
	v->area[XSTATE_BV] |= SOFT_XSTATE_SSE;
	return changed && ptrace(PTRACE_SETREGSET, v->tid, NT_X86_XSTATE, &all) ? -errno : 0;
}
