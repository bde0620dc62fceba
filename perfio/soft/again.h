/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traps that were forced on a program that ignores SIGTRAP have made the kernel forget that it
 * does (sigtrap.h). Only the program itself can say so again.
 */
#ifndef PERFIO_SOFT_AGAIN_H
#define PERFIO_SOFT_AGAIN_H

struct soft_thread;

/* t, which has stopped and is about to be let go for good, where nothing is planted any more,
 * ignores SIGTRAP again: it is made to call rt_sigaction(2), and is then where it was. A signal
 * that comes meanwhile is in t->signal. Nothing happens where the call would disturb it, or is
 * not needed. */
void soft_ignore_again(struct soft_thread *t);

#endif
