/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tracer leaves to a process that outlives it when it is killed: which threads it traces,
 * how they stand, the cpus that they had. In memory that both share; the tracer writes, and the
 * other one waits for its end.
 *
 * Who waits is woken before the kernel lets the threads go (a robust mutex of the tracer's is what
 * the kernel sees to first when a thread ends), and has SIGSTOP sent to them by then, as a rule:
 * they come no further than to the end of the stop in which the tracer had them. A thread that had
 * met a breakpoint, of which the tracer had not heard, is lost nonetheless: SIGTRAP comes first.
 */
#ifndef PERFIO_SOFT_LIFELINE_H
#define PERFIO_SOFT_LIFELINE_H

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SOFT_LIVES = 4096 }; /* threads; of more than these nothing is known */

struct soft_life {
	pid_t pid, tid; /* tid 0: free */
	bool running;	/* was told to run, and has not stopped since as far as the tracer knows */
	bool trapped;	/* that stop was a trap; its instruction pointer is behind a breakpoint */
	bool moved;	/* the tracer has set its registers since */
	bool met;	/* revive.c: its instruction pointer is behind an int3 */
	bool halted;	/* job control has stopped it */
	bool pinned;	/* it had these cpus */
	bool steps;	    /* one instruction, by the CPU */
	uint64_t from, end; /* where it was told to run, or 0; to which breakpoint, or 0 */
	cpu_set_t cpus;
};

struct soft_lifeline {
	pthread_mutex_t alive;
	sem_t begun;
	bool idle;    /* no thread runs in user space */
	bool stopped; /* all were sent SIGSTOP */
	pid_t dirty;  /* a thread whose memory, or vectors, are ahead of its registers, or 0 */
	size_t nr;    /* beyond these places all are free */
	struct soft_life life[SOFT_LIVES];
};

/* For a fork(2) to come. NULL: no memory. It ends with the processes. */
struct soft_lifeline *soft_lifeline_new(void);

/* The tracer's thread: it lives, and traces; it does not trace any more. NULL is fine. */
void soft_lifeline_hold(struct soft_lifeline *l);
void soft_lifeline_drop(struct soft_lifeline *l);
static inline void soft_lifeline_idle(struct soft_lifeline *l, bool idle)
{
	if (l)
		l->idle = idle;
}
/* A place for a thread, or NULL. */
struct soft_life *soft_life_new(struct soft_lifeline *l, pid_t pid, pid_t tid);
void soft_life_free(struct soft_life *f); /* NULL is fine */

/* The other process: returns when the tracer is dead, and its threads were stopped if need be; or
 * when it does not trace any more, or soft_lifeline_wake() was called before it began. */
void soft_lifeline_wait(struct soft_lifeline *l);
void soft_lifeline_wake(struct soft_lifeline *l);

#endif
