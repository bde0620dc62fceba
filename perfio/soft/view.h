/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a program while all that could change it stands still: read by the page, and
 * written back when that ends. What may be somebody else's, too, is read and written at once.
 */
#ifndef PERFIO_SOFT_VIEW_H
#define PERFIO_SOFT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct soft_mem;
struct soft_view;

/* NULL: no memory. `dirty` gets tid before anything is written for it; or NULL. */
struct soft_view *soft_view_new(pid_t *dirty);
void soft_view_free(struct soft_view *v); /* NULL is fine */

/* From here to soft_view_close(): m, of which tid is a thread that has stopped. `alone`: no
 * other thread runs in it; else nothing is kept here. `still`: nor is any in the kernel. */
void soft_view_open(struct soft_view *v, struct soft_mem *m, pid_t tid, bool alone, bool still);
/* 0, or -errno of process_vm_writev(2): some of what was written is not there. */
__attribute__((warn_unused_result))
int soft_view_close(struct soft_view *v);

/* For struct soft_access; arg is the view. */
bool soft_view_read(void *arg, uint64_t addr, void *to, size_t n);
bool soft_view_write(void *arg, uint64_t addr, const void *from, size_t n);
bool soft_view_owned(void *arg, uint64_t addr, size_t n, bool write, bool locked);

#endif
