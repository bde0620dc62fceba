/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SOFT_AWAY: threads that run at their own speed, untraced. We are told of their signals, of what
 * they make and execute and of their end, and of nothing else: not where they are, nor of their
 * system calls. All return 0 or -errno.
 */
#ifndef PERFIO_SOFT_AWAY_H
#define PERFIO_SOFT_AWAY_H

#include "perfio/soft/tracer.h"

#include <stdbool.h>

/* Nothing is traced now, so t shall not be stepped. */
static inline bool soft_away_wanted(const struct soft *s)
{
	return s->gate.paused;
}

/* t, of which nothing is planted any more, goes; with a signal for it (t->signal), or 0. */
__attribute__((warn_unused_result))
int soft_away_go(struct soft *s, struct soft_thread *t);
/* A stop of t that is no PTRACE_EVENT: on it goes, or it is traced from here. */
__attribute__((warn_unused_result))
int soft_away_stop(struct soft *s, struct soft_thread *t, int sig);
/* The same for one that nothing it did asked for. */
__attribute__((warn_unused_result))
int soft_away_halted(struct soft *s, struct soft_thread *t);
/* Away no more: those that are shall come back. */
__attribute__((warn_unused_result))
int soft_away_back(struct soft *s);
/* One in a system call: if t was away, it is in the kernel now, to go on as others do. */
void soft_away_caught(struct soft *s, struct soft_thread *t);

#endif
