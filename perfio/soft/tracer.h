/* SPDX-License-Identifier: Apache-2.0 */
/* The ptrace side: what each stop of a thread means, and how the thread goes on. */
#ifndef PERFIO_SOFT_TRACER_H
#define PERFIO_SOFT_TRACER_H

#include "perfio/soft/cpus.h"
#include "perfio/soft/lane.h"
#include "perfio/soft/notes.h"
#include "perfio/soft/pace.h"
#include "perfio/soft/pin.h"
#include "perfio/soft/soft.h"
#include "perfio/soft/thread.h"
#include "perfio/soft/stub.h"
#include "perfio/soft/view.h"

#include <sys/ptrace.h>

enum { SOFT_OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK |
		      PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXIT };
/* Linux 6.1 arch/x86/include/asm/segment.h: __USER32_CS. */
enum { SOFT_CS_32BIT = 0x23 };

struct soft {
	struct soft_config cfg;
	struct soft_lane *lane; /* of what was attached to, or NULL */
	char *ip_log;
	struct soft_stats stats;
	struct soft_pace pace;
	struct soft_rounds rounds;
	struct soft_gate gate;
	struct soft_ptenc enc;
	struct soft_notes notes;
	struct soft_cpu *cpus; /* the first is the tracer's */
	size_t nr_cpus, next_cpu;
	struct soft_view *view; /* carry.c's, as: */
	struct soft_stubs *stubs;
	bool no_stubs;
	struct soft_thread **all; /* in order of birth; the index is the queue's number */
	size_t nr, cap;
	struct soft_thread **live; /* those not SOFT_GONE; as much room as in `all` */
	size_t nr_live;

	/* Flight: those that have ended, in that order, from dead_from on. */
	struct soft_thread **dead;
	size_t dead_from, nr_dead, cap_dead;
	size_t dead_bytes;	   /* sum of their costs */
	struct soft_thread nobody; /* in `all`, in place of those that were forgotten */

	struct soft_thread *owner; /* whose turn it is */
	unsigned turn_stops;	   /* in this turn */
	uint64_t turn_began;	   /* stats.instructions then, */
	uint64_t turn_since;	   /* and the time */
	size_t turn;		   /* index in `live` of the last turn */

	pid_t root;
	bool root_ended;
	int root_status;
	bool detaching;
	bool userfaults;     /* faults.h: there is such a program */
	struct soft_pin pin; /* the tracer's own */
	int cpu;	     /* of all that are pinned */
	int log_err; /* first failure of an ip log */
};

/* Where a thread of this mode runs is user code, so that a stop will come soon. */
static inline bool soft_runs_user(const struct soft_thread *t)
{
	return t->mode == SOFT_USER && !t->listening;
}

/* table.c: the set of threads. */

/* Make a thread known, which `parent` (or NULL) made; it has no memory yet. 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int soft_table_add(struct soft_thread **ret, struct soft *s, pid_t pid, pid_t tid,
		   const struct soft_thread *parent);
/* A living thread or NULL. */
struct soft_thread *soft_table_find(const struct soft *s, pid_t tid);
/* A living thread of that process or NULL. */
struct soft_thread *soft_table_find_process(const struct soft *s, pid_t pid);
/* Make a traced thread known that nobody announced, its parent having died before it
 * could. 1, or 0 if tid is no such thread, or -ENOMEM. */
__attribute__((warn_unused_result))
int soft_table_adopt(struct soft *s, pid_t tid);
/* t is gone or no longer traced. Its queue stays. */
void soft_table_remove(struct soft *s, struct soft_thread *t);

/* dead.c: flight recording; nothing otherwise. */

/* t has ended; others that ended before it may be forgotten, and their memory freed. */
void soft_dead_add(struct soft *s, struct soft_thread *t);
/* Some of what an ended thread had was taken. */
void soft_dead_shrunk(struct soft *s, struct soft_thread *t);

/* tracer.c */

/* Seize the waiting child. */
__attribute__((warn_unused_result))
int soft_tracer_seize(struct soft *s, pid_t child);
/* Handle one waitpid() status of t. It runs on afterwards; untraced if s->detaching. */
__attribute__((warn_unused_result))
int soft_tracer_stop(struct soft *s, struct soft_thread *t, int status);

#endif
