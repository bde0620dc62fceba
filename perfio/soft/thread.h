/* SPDX-License-Identifier: Apache-2.0 */
/* A traced thread, and what the instructions it runs mean for its trace. */
#ifndef PERFIO_SOFT_THREAD_H
#define PERFIO_SOFT_THREAD_H

#include "perfio/soft/gate.h"
#include "perfio/soft/insn.h"
#include "perfio/soft/cpus.h"
#include "perfio/soft/iplog.h"
#include "perfio/soft/lifeline.h"
#include "perfio/soft/mem.h"
#include "perfio/soft/pin.h"
#include "perfio/soft/pt.h"
#include "perfio/soft/runs.h"
#include "perfio/soft/sigtrap.h"
#include "perfio/soft/soft.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

enum soft_mode {
	SOFT_FREE,    /* runs unstepped until an execve of a 64-bit program */
	SOFT_NEW,     /* just cloned: its first stop tells where it begins */
	SOFT_USER,    /* insn is what it runs next, or was told to run */
	SOFT_KERNEL,  /* in a system call; where it returns is not known yet */
	SOFT_AWAY,    /* away.h */
	SOFT_EXITING, /* ran its last instruction */
	SOFT_GONE,
};

/* A flag of a system call that the kernel is not told of, and where: untraced.h. */
enum soft_hides { SOFT_HIDES_NOTHING, SOFT_HIDES_REGISTER, SOFT_HIDES_MEMORY };

struct soft_thread {
	pid_t pid, tid;
	enum soft_mode mode;
	bool listening; /* group-stopped: nothing of it runs until SIGCONT */
	bool injected;	/* a signal was put in with the last step */
	bool arrived;	 /* in user space, and has run nothing there */
	bool restarting; /* insn is a system call the kernel goes back to by itself */
	bool pushed;	 /* its queue was announced to the caller */
	int signal;	 /* that was injected */
	size_t index;	 /* of its queue */
	size_t cost;	 /* bytes of memory, once it has ended in a flight recording */
	struct soft_insn insn;
	bool running; /* not insn alone: `run`, which begins with it */
	struct soft_run run;
	struct soft_sigtrap trap;
	struct soft_pin pin;
	struct soft_life *life; /* or NULL */
	uint8_t hides;	      /* enum soft_hides */
	uint32_t withdrawals; /* of its memory's plants, when it entered the kernel */
	bool called;	   /* SOFT_AWAY: it was told to stop */
	bool watched;	   /* the same: we are told of its system calls, and: */
	bool in_kernel;	   /* it is in one */
	uint64_t wakes_at; /* the same: it sleeps, and a breakpoint waits for it there; or 0 */
	struct soft_cpu *cpu; /* of whose trace its packets become part, or NULL */
	bool dying;   /* killed before it could be told to go on */
	bool lifted;	  /* plants at insn are out while it runs */
	bool flag_lent;	  /* trapflag.h */
	bool has_regs, new_regs; /* regs are those of this stop; are to be set before it ends */
	struct user_regs_struct regs;
	bool stashed;	  /* it has stopped, and `stash` is the status of that */
	int stash;
	bool roused;	  /* from its sleep, to be let go */
	bool tried;	  /* that was for soft_ignore_again(), which is tried but once */
	bool parked;	  /* stopped, to be let go for good when its memory is clean */
	uint64_t resumed;   /* virtual TSC when it was told to run insn */
	uint32_t timed_gen; /* mappings that its last TSC packet is later than */
	struct soft_mem *mem;
	struct soft_stats *stats; /* of the whole source */
	const struct soft_config *cfg; /* its, too */
	const struct soft_rounds *rounds;
	struct soft_gate *gate;	  /* the same */
	struct soft_filtered filtered;
	struct soft_iplog log;
	struct soft_pt pt;
};

/* The thread goes on at ip: look at what is there. */
void soft_thread_goto(struct soft_thread *t, uint64_t ip);
/* t->insn has run, and ip is what follows it: account for it. */
void soft_thread_ran(struct soft_thread *t, uint64_t ip);
/* The run that begins with t->insn has come as far as ip, which is next: account for it. */
void soft_thread_came(struct soft_thread *t, uint64_t ip);
/* t->insn is a system call, which has run; its successor is the kernel's choice. */
void soft_thread_entered(struct soft_thread *t);
/* It came to where nothing of it is traced any more. */
void soft_thread_stopped(struct soft_thread *t);
/* It left user space without running t->insn. */
void soft_thread_cut(struct soft_thread *t);

#endif
