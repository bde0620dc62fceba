/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes a flight recording take a snapshot by itself, or by a signal: the end or the crash
 * of a process, its being stopped, the hit of a tracepoint or probe. And the time around it:
 * how long to go on before the snapshot is taken, and how much of what came before it is left
 * out.
 *
 *   trigger.c      from a trigger to its snapshot
 *   trigger_hit.c  tracepoints, whose events have rings of their own
 *   trigger_end.c  processes that end
 *
 * Each trigger gives one snapshot, or a word why not: while one waits for its time, others are
 * merged with it, and that is said.
 */
#ifndef RECORDER_TRIGGER_H
#define RECORDER_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "perfio/evclock.h"
#include "perfio/evset.h"

struct session;

/* Of processes (--trigger); bits. */
enum trigger_kind {
	TRIGGER_EXIT = 1,
	TRIGGER_CRASH = 2, /* ended by a signal */
	TRIGGER_STOP = 4,
};

/* A process whose end counts. */
struct trigger_process {
	pid_t pid;
	int pidfd; /* -1: the command, which is our child, or gone */
	bool gone;
	int fatal; /* a signal that is about to end it, if one was seen (signal:signal_deliver) */
};

struct trigger {
	char why[96];	    /* that waits for its snapshot; "": none does */
	uint64_t at_ns;	    /* when it came, on the events' clock; 0: not known */
	uint64_t due_ns;    /* when its snapshot is due, CLOCK_MONOTONIC */
	uint64_t merged;    /* others that came meanwhile */
	bool ended;	    /* a snapshot of the end of what is recorded was taken */
	struct pio_evclock clock;

	struct trigger_process *process;
	size_t nr_process;

	/* One event for each tracepoint, and one that tells of fatal signals. */
	struct pio_evset set;
	struct pio_event *ev;
	char **name;
	size_t nr_ev;
	size_t fatal; /* 1 + index of that one; 0: none */
	bool ready;   /* a ring of the set has something */
};
#define TRIGGER_INIT (struct trigger){ .clock = PIO_EVCLOCK_INIT, .set = PIO_EVSET_INIT }

/* Opens what is needed, after the recording's own events: 0, or an exit status after a message. */
__attribute__((warn_unused_result)) int trigger_setup(struct session *s);
/* Let tracepoints hit from now on (those that do not begin with the command): 0 or -errno. */
__attribute__((warn_unused_result)) int trigger_enable(struct session *s);
/* Wait for all that in s->watch: 0 or -errno. */
__attribute__((warn_unused_result)) int trigger_watch(struct session *s);
void trigger_done(struct session *s);

/* The events' clock, ns; 0 where it cannot be told. */
uint64_t trigger_now(struct session *s);
/* A trigger: its snapshot is taken --post later, by trigger_act(). at_ns: trigger_now(), or the
 * time of a record. */
__attribute__((format(printf, 3, 4)))
void trigger_pull(struct session *s, uint64_t at_ns, const char *fmt, ...);
/* Look for what pulls, and take the snapshot that is due, if one is. 0 or -errno of the output. */
int trigger_act(struct session *s);
/* How long the loop may wait: wait_ms (-1: for ever) or less. */
int trigger_wait(const struct session *s, int wait_ms);
/* Does one wait for its time? Then the recording does not end by itself. */
bool trigger_waits(const struct session *s);
/* The recording ends: the snapshot that waited, and the one that was asked for at the end
 * (--snapshot=e), in one. Events are disabled. */
void trigger_last(struct session *s, bool at_exit);

/* A cpu of the recording came or is about to leave. */
void trigger_join(struct session *s, int cpu);
void trigger_leave(struct session *s, int cpu);

/* Of each other. */
int trigger_hit_setup(struct session *s);
int trigger_hit_watch(struct session *s);
void trigger_hit_look(struct session *s);
int trigger_end_setup(struct session *s);
int trigger_end_watch(struct session *s);
void trigger_end_look(struct session *s);
void trigger_end_done(struct session *s);
/* A fatal signal is being delivered to a process. */
void trigger_end_fatal(struct session *s, pid_t pid, int sig);

#endif
