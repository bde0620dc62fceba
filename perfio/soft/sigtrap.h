/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program does about SIGTRAP, while the traps of tracing are SIGTRAPs, too, and forced
 * ones: the kernel resets the handling of a forced signal that is blocked or ignored (Linux
 * 6.1 kernel/signal.c force_sig_info_to_task()). So a thread in user space never really blocks
 * it; in the kernel, and where its mask is saved for a handler, the mask is as it wants it. That
 * it is ignored is what we remember of it.
 */
#ifndef PERFIO_SOFT_SIGTRAP_H
#define PERFIO_SOFT_SIGTRAP_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

struct soft_mem;

/* Shared by the threads of a process. */
struct soft_sighand {
	unsigned refs;
	bool ignores; /* the program does; the kernel may have forgotten */
};

struct soft_sigtrap {
	pid_t pid, tid;
	struct soft_sighand *hand;
	bool blocked;	/* the program thinks so */
	bool shown;	/* so does the kernel */
	bool held;	/* one came while it was blocked, and waits here */
	bool requeued;	/* it waits in the kernel, as one sent by us */
	siginfo_t info; /* as it came */
};

/* A thread that begins: made by one that has `parent`, or by nobody (NULL). Handling is shared
 * within a process, and copied to another. 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int soft_sigtrap_init(struct soft_sigtrap *ret, pid_t pid, pid_t tid,
		      const struct soft_sigtrap *parent);
void soft_sigtrap_done(struct soft_sigtrap *g);

/* The thread, which is stopped, has a mask that may be new, and goes to user space. */
void soft_sigtrap_hide(struct soft_sigtrap *g);
/* Its mask is needed as it thinks it is. */
void soft_sigtrap_show(struct soft_sigtrap *g);
/* It enters the kernel: the same, and a signal that was held waits there. */
void soft_sigtrap_enter(struct soft_sigtrap *g);
/* It comes back from a call other than one to be restarted. `any`: whose number is not known, or
 * not of this machine. */
void soft_sigtrap_return(struct soft_sigtrap *g, const struct user_regs_struct *r,
			 const struct soft_mem *m, bool any);
/* It is in the kernel, and nobody has seen what became of its mask and of what it ignores: it was
 * out of sight, or has executed a program. */
void soft_sigtrap_unknown(struct soft_sigtrap *g);

/* A SIGTRAP comes to a thread whose calls we do not see: the program ignores it, though the kernel
 * has forgotten. */
bool soft_sigtrap_ignores(const struct soft_sigtrap *g, const siginfo_t *si);
/* A SIGTRAP is to be delivered that is no trap of the thread's own. True: not now, or never. */
bool soft_sigtrap_takes(struct soft_sigtrap *g, const siginfo_t *si);
/* It ignores SIGTRAP, and the kernel does not know any more. */
bool soft_sigtrap_forgotten(const struct soft_sigtrap *g);
/* Would a trap leave its treatment of SIGTRAP alone, as it is in the kernel now? */
bool soft_sigtrap_bears(const struct soft_sigtrap *g);
/* Has the program a handler for sig? */
bool soft_sigtrap_caught(const struct soft_sigtrap *g, int sig);

#endif
