/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a thread from branch to branch: a breakpoint at the end of each straight run, and
 * the branch there carried out in its registers. All return 0 or -errno.
 */
#ifndef PERFIO_SOFT_BLOCK_H
#define PERFIO_SOFT_BLOCK_H

#include "perfio/soft/tracer.h"

#include <stdbool.h>

/* On from t->insn, in user space. */
__attribute__((warn_unused_result))
int soft_block_resume(struct soft *s, struct soft_thread *t);

/* A run (t->running) has ended otherwise than by a breakpoint of ours: t->insn is what has not
 * run. By a system call: */
__attribute__((warn_unused_result))
int soft_block_syscall(struct soft_thread *t);
/* By a signal, or the end of the thread: */
__attribute__((warn_unused_result))
int soft_block_cut(struct soft_thread *t);
/* By a stop that nothing it did asked for. It stays t->running if a breakpoint was met that is
 * yet to be reported. */
__attribute__((warn_unused_result))
int soft_block_paused(struct soft_thread *t);
/* By a SIGTRAP. *hit: it was a breakpoint of ours, and t->insn is the branch there. */
__attribute__((warn_unused_result))
int soft_block_trap(struct soft_thread *t, bool *hit);

#endif
