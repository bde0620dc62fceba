/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CLONE_UNTRACED of clone(2), clone3(2): a child that no tracer gets would meet what is planted in
 * the memory that it shares or copies, and die of it. So the flag is withheld from the kernel; the
 * program finds it where it has put it.
 */
#ifndef PERFIO_SOFT_UNTRACED_H
#define PERFIO_SOFT_UNTRACED_H

struct soft_thread;

/* t enters a system call. 0 or -errno. */
__attribute__((warn_unused_result))
int soft_untraced_hide(struct soft_thread *t);
/* t comes back from it, or is the child that begins: t->hides. 0 or -errno. */
__attribute__((warn_unused_result))
int soft_untraced_show(struct soft_thread *t);

#endif
