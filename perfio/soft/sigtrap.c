/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/sigtrap.h"
#include "perfio/soft/mem.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(sig) ((uint64_t)1 << ((sig) - 1))

int soft_sigtrap_init(struct soft_sigtrap *ret, pid_t pid, pid_t tid,
		      const struct soft_sigtrap *parent)
{
	struct soft_sigtrap g = { .pid = pid, .tid = tid };

	if (parent && parent->pid == pid) {
		g.hand = parent->hand;
	} else {
		g.hand = calloc(1, sizeof(*g.hand));
		if (!g.hand)
			return -ENOMEM;
		g.hand->ignores = parent && parent->hand->ignores;
	}
	g.hand->refs++;
	*ret = g;
	return 0;
}

void soft_sigtrap_done(struct soft_sigtrap *g)
{
	if (g->hand && !--g->hand->refs)
		free(g->hand);
	g->hand = NULL;
}

/* A set of signals in /proc/TID/status: proc(5). */
static bool in_status(pid_t tid, const char *set, int sig)
{
	unsigned long long v = 0;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, set, strlen(set)) &&
		    sscanf(line + strlen(set), ": %llx", &v) == 1)
			break;
	fclose(f);
	return v & BIT(sig);
}

bool soft_sigtrap_caught(const struct soft_sigtrap *g, int sig)
{
	return in_status(g->tid, "SigCgt", sig);
}

bool soft_sigtrap_forgotten(const struct soft_sigtrap *g)
{
	return g->hand->ignores && !in_status(g->tid, "SigIgn", SIGTRAP) &&
	       !soft_sigtrap_caught(g, SIGTRAP);
}

bool soft_sigtrap_bears(const struct soft_sigtrap *g)
{
	return !g->hand->ignores && !in_status(g->tid, "SigIgn", SIGTRAP) &&
	       !in_status(g->tid, "SigBlk", SIGTRAP);
}

/* False: there is no such thread any more. */
static bool set_blocked(const struct soft_sigtrap *g, bool blocked, bool *was)
{
	uint64_t mask, want;

	if (ptrace(PTRACE_GETSIGMASK, g->tid, sizeof(mask), &mask))
		return false;
	*was = mask & BIT(SIGTRAP);
	want = blocked ? mask | BIT(SIGTRAP) : mask & ~BIT(SIGTRAP);
	return want == mask || !ptrace(PTRACE_SETSIGMASK, g->tid, sizeof(want), &want);
}

void soft_sigtrap_hide(struct soft_sigtrap *g)
{
	if (set_blocked(g, false, &g->blocked))
		g->shown = false;
}

void soft_sigtrap_show(struct soft_sigtrap *g)
{
	bool was;

	if (g->blocked && !g->shown)
		g->shown = set_blocked(g, true, &was);
}

void soft_sigtrap_enter(struct soft_sigtrap *g)
{
	soft_sigtrap_show(g);
	if (!g->held)
		return;
	g->held = false;
	g->requeued = !syscall(SYS_tgkill, g->pid, g->tid, SIGTRAP);
}

/* These wait with another mask, which still holds when a handler is to interrupt them; the
 * thread's own is put aside, and setting a mask would lose it (TIF_RESTORE_SIGMASK). */
static bool mask_is_aside(const struct user_regs_struct *r)
{
	if ((long long)r->rax != -EINTR)
		return false;
	switch ((long)r->orig_rax) {
	case SYS_pselect6:
	case SYS_ppoll:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_io_pgetevents:
	case SYS_io_uring_enter:
	case SYS_rt_sigsuspend:
		return true;
	default:
		return false;
	}
}

/* What the kernel tells about the former handling may be our doing. */
static void note_action(struct soft_sigtrap *g, const struct user_regs_struct *r,
			const struct soft_mem *m)
{
	const uint64_t ignore = (uint64_t)(uintptr_t)SIG_IGN;

	if (g->hand->ignores && r->rdx)
		soft_mem_write(m, r->rdx, &ignore, sizeof(ignore));
	if (r->rsi)
		g->hand->ignores = in_status(g->tid, "SigIgn", SIGTRAP);
}

void soft_sigtrap_return(struct soft_sigtrap *g, const struct user_regs_struct *r,
			 const struct soft_mem *m, bool any)
{
	long nr = any ? -1 : (long)r->orig_rax;

	if (nr == SYS_rt_sigaction && r->rdi == SIGTRAP && !r->rax)
		note_action(g, r, m);
	/* rt_sigreturn leaves no number behind. */
	if ((g->blocked || nr < 0 || nr == SYS_rt_sigprocmask) && !mask_is_aside(r))
		soft_sigtrap_hide(g);
}

/* What is ignored stays so, unless a handler was set: we may have caused it to be forgotten. */
void soft_sigtrap_unknown(struct soft_sigtrap *g)
{
	g->blocked = true; /* maybe: to be looked at on the way out */
	g->shown = true;
	g->hand->ignores = in_status(g->tid, "SigIgn", SIGTRAP) ||
			   (g->hand->ignores && !soft_sigtrap_caught(g, SIGTRAP));
}

bool soft_sigtrap_ignores(const struct soft_sigtrap *g, const siginfo_t *si)
{
	return g->hand->ignores && si->si_code <= 0 && !soft_sigtrap_caught(g, SIGTRAP);
}

bool soft_sigtrap_takes(struct soft_sigtrap *g, const siginfo_t *si)
{
	if (g->hand->ignores)
		return true;
	if (g->blocked && !g->shown) {
		g->held = true;
		if (!g->requeued)
			g->info = *si;
		g->requeued = false;
		return true;
	}
	if (g->requeued)
		ptrace(PTRACE_SETSIGINFO, g->tid, NULL, &g->info);
	g->requeued = false;
	return false;
}
