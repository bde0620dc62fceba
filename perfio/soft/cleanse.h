/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code of a process that has breakpoints of a tracer in it, of which nobody knows any more: it was
 * copied from one that was traced while these were taken out there, or its tracer is dead. What is
 * mapped from files is compared with the files.
 */
#ifndef PERFIO_SOFT_CLEANSE_H
#define PERFIO_SOFT_CLEANSE_H

#include <sys/types.h>

/* Where private code that the process cannot write has an int3 and its file has none, put back
 * what the file has; in the vdso, what our own has. How many bytes, or -errno: the process's
 * memory or mappings cannot be opened. */
long soft_cleanse(pid_t pid);

#endif
