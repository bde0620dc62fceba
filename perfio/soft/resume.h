/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at a stopped thread, and letting it go on. All return 0 or -errno. */
#ifndef PERFIO_SOFT_RESUME_H
#define PERFIO_SOFT_RESUME_H

#include "perfio/soft/tracer.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

/* Half of the x86-64 system call numbers: those of the x32 table have this bit. */
enum { SOFT_X32_BIT = 0x40000000 };

int soft_unless_killed(int err);

/* `at`: offset in struct user_regs_struct. */
__attribute__((warn_unused_result))
int soft_peek(const struct soft_thread *t, size_t at, uint64_t *ret);
__attribute__((warn_unused_result))
int soft_peek_ip(const struct soft_thread *t, uint64_t *ret);
__attribute__((warn_unused_result))
int soft_peek_regs(const struct soft_thread *t, struct user_regs_struct *ret);

/* With a signal for it, or 0. */
__attribute__((warn_unused_result))
int soft_resume(struct soft *s, struct soft_thread *t, int sig);
/* At a position in user space that no instruction of the program led to. */
__attribute__((warn_unused_result))
int soft_resume_at(struct soft *s, struct soft_thread *t, uint64_t ip);
/* Unstepped, until it executes another program. */
__attribute__((warn_unused_result))
int soft_resume_free(struct soft *s, struct soft_thread *t);
/* Without us; a signal that was to be delivered still is. */
__attribute__((warn_unused_result))
int soft_detach_thread(struct soft *s, struct soft_thread *t, int sig);

/* events.c: a PTRACE_EVENT stop. */
__attribute__((warn_unused_result))
int soft_event_stop(struct soft *s, struct soft_thread *t, int event, int sig);

#endif
