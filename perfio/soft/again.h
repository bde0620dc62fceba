/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traps that were forced on a program that ignores SIGTRAP have made the kernel forget that it
 * does (sigtrap.h). Only the program itself can say so again.
 */
#ifndef PERFIO_SOFT_AGAIN_H
#define PERFIO_SOFT_AGAIN_H

#include <stdbool.h>

struct soft;
struct soft_thread;

/* t, which has stopped and is about to be let go for good, where nothing is planted any more,
 * ignores SIGTRAP again: it is made to call rt_sigaction(2), and is then where it was; also on its
 * way back into a call that was interrupted. A signal that comes meanwhile is in t->signal.
 * Nothing happens where a signal is in the way, or it is not needed. */
void soft_ignore_again(struct soft_thread *t);
/* All that is still traced sleeps, and may be left so; but if it is needed in a process, one thread
 * is stopped for it: rather one whose call goes on as if nothing had been. False: nobody is. */
bool soft_ignore_rouse(struct soft *s);

#endif
