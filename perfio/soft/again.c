/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/again.h"
#include "perfio/soft/attach.h"
#include "perfio/soft/resume.h"
#include "perfio/soft/wait.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Linux 6.1 include/linux/signal_types.h: struct kernel_sigaction of x86-64. */
struct action {
	uint64_t handler, flags, restorer, mask;
};

enum {
	BELOW = 512,	  /* the stack pointer, and what the ABI keeps there: 128 */
	VDSO_MAX = 65536,
	SYSCALL_STOP = SIGTRAP | 0x80,
};

/* The vdso has the instruction: what its calls fall back on. */
static uint64_t find_syscall(const struct soft_thread *t)
{
	unsigned long begin = 0, end = 0;
	char path[64], *line = NULL;
	uint8_t *code, *at = NULL;
	size_t cap = 0, n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)t->tid);
	f = fopen(path, "re");
	while (f && getline(&line, &cap, f) > 0)
		if (strstr(line, "[vdso]") && sscanf(line, "%lx-%lx", &begin, &end) == 2)
			break;
	free(line);
	if (f)
		fclose(f);
	code = malloc(VDSO_MAX);
	if (code && end > begin && end - begin <= VDSO_MAX) {
		n = soft_mem_read(t->mem, begin, code, end - begin);
		at = memmem(code, n, "\x0f\x05", 2);
		begin += at ? (unsigned long)(at - code) : 0;
	}
	free(code);
	return at ? begin : 0;
}

/* On to the next side of a system call. A signal that is in the way is kept. */
static bool to_syscall_stop(struct soft_thread *t)
{
	int status;

	for (int n = 0; n < 4; n++) {
		if (ptrace(PTRACE_SYSCALL, t->tid, NULL, NULL))
			return false;
		while (waitpid(t->tid, &status, __WALL) < 0)
			if (errno != EINTR)
				return false;
		if (!WIFSTOPPED(status))
			return false;
		if (WSTOPSIG(status) == SYSCALL_STOP && !(status >> 16))
			return true;
		if (status >> 16 == PTRACE_EVENT_STOP)
			continue;
		t->signal = status >> 16 ? 0 : WSTOPSIG(status);
		return false;
	}
	return false;
}

/* A call that is to begin anew does so where signals are looked for, which whoever is let go does:
 * Linux 6.1 kernel/ptrace.c __ptrace_unlink(). */
static void call_sigaction(struct soft_thread *t, const struct user_regs_struct *was,
			   uint64_t code)
{
	const struct action ignore = { .handler = (uint64_t)(uintptr_t)SIG_IGN };
	uint64_t at = (was->rsp - BELOW) & ~UINT64_C(15);
	struct user_regs_struct r = *was;
	struct action kept;

	if (soft_mem_read(t->mem, at, &kept, sizeof(kept)) != sizeof(kept) ||
	    soft_mem_write(t->mem, at, &ignore, sizeof(ignore)) != sizeof(ignore))
		return;
	r.rip = code;
	r.rax = SYS_rt_sigaction;
	r.orig_rax = UINT64_MAX; /* no call of its own that begins anew */
	r.rdi = SIGTRAP;
	r.rsi = at;
	r.rdx = 0;
	r.r10 = sizeof(ignore.mask);
	if (!ptrace(PTRACE_SETREGS, t->tid, NULL, &r) && to_syscall_stop(t))
		(void)to_syscall_stop(t);
	(void)ptrace(PTRACE_SETREGS, t->tid, NULL, was);
	(void)soft_mem_write(t->mem, at, &kept, sizeof(kept));
}

void soft_ignore_again(struct soft_thread *t)
{
	struct user_regs_struct r;
	uint64_t code;

	if (!t->mem || t->signal || t->mode == SOFT_EXITING ||
	    !soft_sigtrap_forgotten(&t->trap) || soft_peek_regs(t, &r))
		return;
	code = find_syscall(t);
	if (code)
		call_sigaction(t, &r, code);
}

static bool may_rouse(const struct soft_thread *t, bool well)
{
	return (t->mode == SOFT_AWAY || t->mode == SOFT_KERNEL) && t->mem && !t->tried &&
	       soft_sigtrap_forgotten(&t->trap) && (!well || soft_attach_sleeps_well(t));
}

bool soft_ignore_rouse(struct soft *s)
{
	for (int well = 1; well >= 0; well--)
		for (size_t i = 0; i < s->nr_live; i++) {
			struct soft_thread *t = s->live[i];

			if (!may_rouse(t, well))
				continue;
			t->roused = t->tried = true;
			ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
			(void)soft_await(s, t);
			return true;
		}
	return false;
}
