/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that makes all calls of ptrace(2). When it ends, the kernel lets go what it still
 * traces, where that is: a thread that sleeps in a system call sleeps on. To let it go while the
 * tracer lives it would have to be stopped, which cuts its call short.
 */
#ifndef PERFIO_SOFT_LANE_H
#define PERFIO_SOFT_LANE_H

struct soft_lane;

/* 0 or -errno of pthread_create(3), -ENOMEM. */
__attribute__((warn_unused_result))
int soft_lane_start(struct soft_lane **ret);
/* fn(arg) in that thread, while the caller waits: what it returns. */
int soft_lane_call(struct soft_lane *l, int (*fn)(void *arg), void *arg);
/* The thread has ended when this returns. NULL is fine. */
void soft_lane_end(struct soft_lane *l);

#endif
