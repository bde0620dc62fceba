/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that writes to memory as a file, /proc/PID/mem: its own, or that of another one. The
 * kernel lets it write where nobody may, into the code of files. So ahead of such a call nothing
 * is planted there any more, and from then on that code counts as such that can change.
 *
 * Other ways in do not exist: process_vm_writev(2) respects what may be written, and ptrace(2)
 * needs a program that we do not trace. Requests of io_uring(7) are not seen.
 */
#ifndef PERFIO_SOFT_POKE_H
#define PERFIO_SOFT_POKE_H

#include "perfio/soft/tracer.h"

/* t has just entered the system call t->insn. 0 or -errno. */
__attribute__((warn_unused_result))
int soft_poke_enter(struct soft *s, struct soft_thread *t);

#endif
