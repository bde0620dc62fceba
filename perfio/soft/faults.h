/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that serve page faults of their own (userfaultfd(2)). A thread that touches such a page
 * sleeps until another one has fetched it, and that other one may be waiting for us: so nobody
 * is waited for who does that, and memory is not touched in a thread's place.
 */
#ifndef PERFIO_SOFT_FAULTS_H
#define PERFIO_SOFT_FAULTS_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

/* Has the system call that left `r` made a userfaultfd? `legacy`: its number is one of i386. */
bool soft_faults_made(const struct user_regs_struct *r, bool legacy);
/* Has the process one? */
bool soft_faults_served(pid_t pid);

#endif
