/* SPDX-License-Identifier: Apache-2.0 */
/* The instruction ptwrite: what it writes into the trace. */
#ifndef PERFIO_SOFT_PTWRITE_H
#define PERFIO_SOFT_PTWRITE_H

#include "perfio/soft/thread.h"

#include <stdbool.h>

/* i, a ptwrite, has just been run by t, which stands still: write its packets. Registers and
 * memory are still as the instruction found them, unless another thread wrote there since. */
void soft_ptwrite_ran(struct soft_thread *t, const struct soft_insn *i);
/* t was sent sig, SIGILL, before t->insn, a ptwrite that this CPU does not know: carry it out.
 * True: t goes on behind it, without the signal. */
bool soft_ptwrite_carry(struct soft_thread *t, int sig);

#endif
