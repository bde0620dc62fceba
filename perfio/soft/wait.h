/* SPDX-License-Identifier: Apache-2.0 */
/* Taking note of a thread's stops. */
#ifndef PERFIO_SOFT_WAIT_H
#define PERFIO_SOFT_WAIT_H

#include "perfio/soft/tracer.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

uint64_t soft_now(clockid_t clock); /* ns */

/* A status of t, if there is one or (block) as soon as there is. A thread that is no more is
 * removed. */
bool soft_take(struct soft *s, struct soft_thread *t, bool block, int *status);

/* Has t stopped? The stop is kept for soft_take(). */
bool soft_look(struct soft *s, struct soft_thread *t);
/* Wait until it has, but not long. */
bool soft_await(struct soft *s, struct soft_thread *t);
/* The same for every other thread that runs code in t's memory. None is let go on before the
 * caller returns to its own waiting. False: not all have stopped. */
bool soft_quiesce(struct soft *s, const struct soft_thread *t);
/* The same for m, which may be another one than t's. */
bool soft_quiesce_mem(struct soft *s, const struct soft_mem *m, const struct soft_thread *t);
/* Thereafter: are the others known to have stopped, and none of them in the kernel? */
bool soft_all_still(const struct soft *s, const struct soft_thread *t);

#endif
