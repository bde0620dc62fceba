/* SPDX-License-Identifier: Apache-2.0 */
/* What a stopped thread would run next, carried out in its registers and memory. */
#ifndef PERFIO_SOFT_CARRY_H
#define PERFIO_SOFT_CARRY_H

struct soft;
struct soft_thread;

/* Goes on with t's instructions, and accounts for them, up to one that has to be left to the
 * CPU, or that begins a run with one; not for long. 0 or -errno of ptrace(2). */
__attribute__((warn_unused_result))
int soft_carry(struct soft *s, struct soft_thread *t);

#endif
