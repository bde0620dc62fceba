/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that were not traced until now (SOFT_AWAY): of a program that ran before, or that has
 * run on meanwhile. One that runs is stopped where it is. One that sleeps in a system call is left
 * asleep: many calls that are interrupted fail, or return early (signal(7)). A breakpoint where it
 * will return waits for it.
 */
#ifndef PERFIO_SOFT_ATTACH_H
#define PERFIO_SOFT_ATTACH_H

#include "perfio/soft/tracer.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Seize all threads of a process, which are away then, and call them. 0 or -errno: then some may
 * be traced, and nothing is planted. */
__attribute__((warn_unused_result))
int soft_attach_process(struct soft *s, pid_t pid);

/* Those from this place in s->live on that are away shall come back. */
void soft_attach_call(struct soft *s, size_t from);
/* The same once more for those that sleep, after what is planted in m was withdrawn. */
void soft_attach_renew(struct soft *s, const struct soft_mem *m);
/* t has come. True: it was asleep since it was called, and has changed nothing. */
bool soft_attach_met(struct soft *s, struct soft_thread *t);
/* A stop that t was called to has interrupted a call (t->regs), which begins anew if it failed. */
void soft_attach_mend(struct soft_thread *t);
/* The same of registers. True: they are changed. */
bool soft_attach_renews(struct user_regs_struct *r);
/* The same of one that was roused from a call, where it comes from that. 0 or -errno. */
__attribute__((warn_unused_result))
int soft_attach_calm(struct soft_thread *t);

/* t sleeps in the kernel: where nothing is planted any more, it needs no tracer. Not so if it may
 * be making a child, with a copy of its memory as that was. */
bool soft_attach_sleeps(const struct soft_thread *t);
/* In a call that goes on after a stop as if there had been none. */
bool soft_attach_sleeps_well(const struct soft_thread *t);
/* t, which runs code of its own, sleeps all the same: for a page that another one is to fetch. */
bool soft_attach_faults(const struct soft_thread *t);

#endif
