/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SOFT_AWAY: threads that run at their own speed, untraced, because tracing is paused or because
 * they are where no filter lets anything be traced (fence.h). We are told of their signals, of what
 * they make and execute and of their end, and where there are filters of their system calls. Where
 * they are is not known. All return 0 or -errno.
 */
#ifndef PERFIO_SOFT_AWAY_H
#define PERFIO_SOFT_AWAY_H

#include "perfio/soft/tracer.h"

#include <stdbool.h>

/* t shall not be stepped now. */
bool soft_away_wanted(const struct soft *s, const struct soft_thread *t);

/* t, which nothing of ours can harm any more, goes; with a signal for it (t->signal), or 0. */
__attribute__((warn_unused_result))
int soft_away_go(struct soft *s, struct soft_thread *t);
/* A stop of t that is no PTRACE_EVENT: on it goes, or it is traced from here. */
__attribute__((warn_unused_result))
int soft_away_stop(struct soft *s, struct soft_thread *t, int sig);
/* The same for one that nothing it did asked for. */
__attribute__((warn_unused_result))
int soft_away_halted(struct soft *s, struct soft_thread *t);
/* Tracing pauses: all go away; it goes on: they shall come back. */
void soft_away_all(struct soft *s);
__attribute__((warn_unused_result))
int soft_away_back(struct soft *s);
/* Those of m that waited to go need not. */
__attribute__((warn_unused_result))
int soft_away_stay(struct soft *s, struct soft_mem *m);
/* One in a system call: if t was away, it is in the kernel now, to go on as others do. */
void soft_away_caught(struct soft *s, struct soft_thread *t);

#endif
