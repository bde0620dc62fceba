/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at a stopped thread, and letting it go on. All return 0 or -errno. */
#ifndef PERFIO_SOFT_RESUME_H
#define PERFIO_SOFT_RESUME_H

#include "perfio/soft/remap.h"
#include "perfio/soft/tracer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

int soft_unless_killed(int err);

/* `at`: offset in struct user_regs_struct. */
__attribute__((warn_unused_result))
int soft_peek(const struct soft_thread *t, size_t at, uint64_t *ret);
__attribute__((warn_unused_result))
int soft_peek_ip(const struct soft_thread *t, uint64_t *ret);
__attribute__((warn_unused_result))
int soft_peek_regs(const struct soft_thread *t, struct user_regs_struct *ret);

/* All instructions that enter the kernel have so many bytes. */
enum { SOFT_ENTRY_LEN = 2 };
/* Of a thread that was in a system call: the kernel will go back to it by itself. */
bool soft_restarts(const struct user_regs_struct *r);
/* Its call has ended: make the kernel go back to it. */
void soft_restart(struct user_regs_struct *r);

/* It has met an int3, and is yet to tell: a stop that it was called to comes first. */
bool soft_trap_pends(const struct soft_thread *t);

/* t->regs, of this stop. */
__attribute__((warn_unused_result))
int soft_regs(struct soft_thread *t);

/* They are the kernel's now, if they were changed. */
__attribute__((warn_unused_result))
int soft_put_regs(struct soft_thread *t);

/* With a signal for it, or 0. */
__attribute__((warn_unused_result))
int soft_resume(struct soft *s, struct soft_thread *t, int sig);
/* The same, by one way of ptrace(2). Registers that were changed are set. */
__attribute__((warn_unused_result))
int soft_let_go(struct soft *s, struct soft_thread *t, int how, int sig);
/* One instruction, by the CPU itself; what is planted there makes way for it. */
__attribute__((warn_unused_result))
int soft_step(struct soft *s, struct soft_thread *t, int sig);
/* It has stopped. */
void soft_stepped(struct soft_thread *t);
/* At a position in user space that no instruction of the program led to. */
__attribute__((warn_unused_result))
int soft_resume_at(struct soft *s, struct soft_thread *t, uint64_t ip);
/* Unstepped, until it executes another program. */
__attribute__((warn_unused_result))
int soft_resume_free(struct soft *s, struct soft_thread *t);
/* What comes before that: nothing is planted in its memory any more. */
void soft_set_free(struct soft *s, struct soft_thread *t);
/* A thread of m may meet what is planted there, and is not waiting to leave. */
bool soft_needs_plants(const struct soft *s, const struct soft_mem *m);
/* Untraced, for good or for now, once no thread of its memory is left that needs what is planted
 * there; a signal that was to be delivered still is. */
__attribute__((warn_unused_result))
int soft_leave(struct soft *s, struct soft_thread *t, int sig);
/* Where no thread of m needs them any more: the same, of m. */
__attribute__((warn_unused_result))
int soft_clear_mem(struct soft *s, struct soft_mem *m);
/* Where no thread needs them any more: take the breakpoints out of all memory, and let those go
 * that waited for that. */
__attribute__((warn_unused_result))
int soft_clear(struct soft *s);

/* tracer.c: of a thread that returns from a system call, t->insn. */
void soft_note_mappings(struct soft *s, struct soft_thread *t, const struct user_regs_struct *r);

/* events.c: a PTRACE_EVENT stop. */
__attribute__((warn_unused_result))
int soft_event_stop(struct soft *s, struct soft_thread *t, int event, int sig);

#endif
