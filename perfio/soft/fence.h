/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes a program with address filters run at its own speed where nothing is traced.
 *
 * Threads are away (away.h) there, and every instruction that a filter names is an entry
 * (plants.h) that is planted meanwhile: whoever comes to one by whatever way, a call, a return, a
 * longjmp, a handler, is caught before it runs. As long as a thread of a memory is where a filter
 * concerns it, the code there has to be as the program wrote it, so that nobody would be caught:
 * then all threads of that memory are stepped, traced or not. When the last one has left, they
 * wait for each other, the entries are planted again, and all go away at once.
 *
 * So nothing is missed. The price: two stops for each system call outside; for each way in and out
 * some stops, and one more for each other thread that runs; and the other threads are slow while
 * one is inside. Where entries cannot be planted (code that can be written) nobody ever goes.
 */
#ifndef PERFIO_SOFT_FENCE_H
#define PERFIO_SOFT_FENCE_H

#include "perfio/soft/tracer.h"

#include <stdbool.h>

/* t, in user space, or another one that shares its memory, must be stepped. */
bool soft_fence_holds(const struct soft *s, const struct soft_thread *t);
/* t is going to be stepped: nobody of its memory may be away from now on. 0 or -errno. */
__attribute__((warn_unused_result))
int soft_fence_enter(struct soft *s, struct soft_thread *t);
/* Entries of m were taken out: nobody may be away until they are planted again. 0 or -errno. */
__attribute__((warn_unused_result))
int soft_fence_drop(struct soft *s, struct soft_mem *m);
/* A thread has stopped, or is no more: those who waited for it may go. 0 or -errno. */
__attribute__((warn_unused_result))
int soft_fence_release(struct soft *s);
/* Nobody is stepped: plant the entries. False: that is not possible, and nobody may go. */
__attribute__((warn_unused_result))
bool soft_fence_arm(const struct soft *s, struct soft_mem *m);

#endif
