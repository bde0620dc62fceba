/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trap flag of a thread that is stepped. The kernel sets it, and takes it out again wherever
 * the program could see it; but not once an instruction was stepped that loads the flags (popf,
 * iret): then it takes the flag for the program's own, until the thread is told something else
 * than to step. Linux 6.1 arch/x86/kernel/step.c, enable_single_step(). A program would die of it.
 */
#ifndef PERFIO_SOFT_TRAPFLAG_H
#define PERFIO_SOFT_TRAPFLAG_H

struct soft_thread;

/* t is about to be stepped. */
void soft_trapflag_lend(struct soft_thread *t);
/* It goes on in another way. 0 or -errno. */
__attribute__((warn_unused_result))
int soft_trapflag_take_back(struct soft_thread *t);
/* The frame of a signal handler is ready, with the flags that the program goes back to. */
void soft_trapflag_framed(struct soft_thread *t);

#endif
