/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is what is traced stopped, by SIGSTOP, job control or a debugger? Then the recording of whole
 * cpus can pause (--pause-when-stopped), so that others do not overwrite its trace, and a trigger
 * can be pulled (--trigger=stop).
 *
 *   stopped.c     when it stops, and when it goes on
 *   stopped_ev.c  the events that tell
 *
 * It is stopped when every task of the processes that are watched, and of their children, is.
 * Two sets of events tell: sched:sched_switch of these tasks, of switches that leave one
 * stopped or traced, with the records of their forks and exits; and, while they are stopped,
 * sched:sched_waking of all cpus, filtered for them, which comes from whoever wakes one, before
 * it is put on a cpu's queue. Both only say that it is time to look: what counts is the state in
 * /proc. (When the last task that runs ends, and all others are stopped, nobody says so.)
 *
 * Where tracepoints are not to be had, the command, which is our child, tells of its job-control
 * stops by SIGCHLD, and nothing else is seen.
 */
#ifndef RECORDER_STOPPED_H
#define RECORDER_STOPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "perfio/cpus.h"
#include "perfio/evset.h"

struct session;

enum stopped_how { STOPPED_UNWATCHED, STOPPED_EVENTS, STOPPED_CHILD };

enum { STOPPED_TASKS, STOPPED_SWITCH, STOPPED_HALTS }; /* events of the set `halts` */

struct stopped {
	enum stopped_how how;
	bool is;	     /* stopped */
	bool looked;	     /* once, at what it was at the beginning */
	bool waking;	     /* `wakes` are on */
	uint64_t times;	     /* so often */
	/* When to look again, whatever events say, CLOCK_MONOTONIC: while it is stopped, and (0: it
	 * need not be) soon after a task was woken. */
	uint64_t look_ns, doubt_ns;

	pid_t *tid; /* all tasks that are watched */
	size_t nr_tid, cap_tid;
	size_t running; /* index of the one that was seen running last */
	bool changed;	/* tasks came since the filter of `wakes` was made */
	bool lost;	/* tasks that we were not told of: no longer of use */

	struct pio_cpus cpus;
	struct pio_evset halts, wakes;
	struct pio_event halt_ev[STOPPED_HALTS], wake_ev[1];
	uint64_t switch_id, waking_id; /* of the tracepoints */
	char *filter;
	bool ready;
};

/* After the command was forked: 0, or an exit status after a message. */
__attribute__((warn_unused_result)) int stopped_setup(struct session *s);
/* Wait for it in s->watch: 0 or -errno. */
__attribute__((warn_unused_result)) int stopped_watch(struct session *s);
void stopped_done(struct session *s);
/* At the end of each wait. */
void stopped_look(struct session *s);
/* How long the loop may wait: wait_ms (-1: for ever) or less. */
int stopped_wait(const struct session *s, int wait_ms);

/* stopped_ev.c: 0 or -errno. Open both sets. */
int stopped_open(struct session *s);
void stopped_close(struct session *s);
/* Whoever is woken from now on, tells. */
int stopped_wakes_on(struct session *s);
void stopped_wakes_off(struct session *s);
/* Read the records of halts: has a task stopped? */
bool stopped_read_halts(struct session *s);
/* Has a task been woken? */
bool stopped_read_wakes(struct session *s);
/* The tasks: 0 or -ENOMEM. */
int stopped_add_task(struct stopped *st, pid_t tid);
void stopped_remove_task(struct stopped *st, pid_t tid);
/* "pid == 3 || pid == 5", or of many "pid >= 3 && pid <= 5"; NULL: no memory. */
char *stopped_filter(const struct stopped *st);

#endif
