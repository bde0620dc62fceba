/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What already runs, from /proc: tasks, their names, namespaces and mappings; the kernel's
 * text and its modules. Things that vanish while being read are skipped, not errors.
 */
#ifndef PERFIO_PROC_H
#define PERFIO_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "perfio/sys.h"

struct pio_task {
	pid_t pid, tid, ppid;
	char comm[16]; /* NUL-terminated */
	bool kernel;   /* a kernel thread: no mappings */
};

struct pio_map {
	uint64_t start, len, pgoff, ino;
	uint32_t maj, min, prot, flags; /* PROT_*, MAP_SHARED or MAP_PRIVATE */
	const char *name;		/* "//anon" when the kernel gives none; escapes undone */
};

struct pio_ns_id {
	uint64_t dev, ino;
};
#define PIO_NR_NS 7 /* net uts ipc pid user mnt cgroup, the order of PERF_RECORD_NAMESPACES */

/* Callbacks return 0, or a value that ends the walk and is returned by it. */
typedef int pio_task_fn(void *ctx, const struct pio_task *t);
typedef int pio_map_fn(void *ctx, const struct pio_map *m);

/* All tasks (pid -1), or the threads of one process (of which pid may be any thread);
 * group leaders before their threads.
 * *ret_skipped, if not NULL, counts those that vanished or could not be read.
 * 0, -ESRCH no such process, -EACCES, -ENOMEM, or the callback's value. */
int pio_proc_tasks(const struct pio_sys *sys, pid_t pid, pio_task_fn *fn, void *ctx,
		   size_t *ret_skipped);
/* Just one thread, wherever it belongs. */
int pio_proc_task(const struct pio_sys *sys, pid_t tid, struct pio_task *ret);
/* Executable mappings of a process (all mappings when `data` is set). 0, -ESRCH, -EACCES
 * (not ours to read), -ENOMEM, or the callback's value. */
int pio_proc_maps(const struct pio_sys *sys, pid_t pid, bool data, pio_map_fn *fn, void *ctx);
/* The 7 namespaces; entries that cannot be read are zero. The number that could. */
int pio_proc_namespaces(const struct pio_sys *sys, pid_t pid,
			struct pio_ns_id ret[PIO_NR_NS]);

struct pio_kernel_map {
	uint64_t start, end;	 /* of the kernel text */
	uint64_t ref;		 /* address of the reference symbol, 0: hidden */
	char ref_name[16];	 /* "_text" or "_stext" */
};
/* 0; -ENOENT /proc/kallsyms has neither symbol; -EACCES addresses are hidden
 * (kernel.kptr_restrict). */
int pio_proc_kernel(const struct pio_sys *sys, struct pio_kernel_map *ret);

struct pio_module {
	uint64_t start, len;
	const char *name; /* "kvm_intel" */
	const char *path; /* /lib/modules/.../kvm-intel.ko, or "[kvm_intel]" */
};
typedef int pio_module_fn(void *ctx, const struct pio_module *m);
/* Loaded modules, with paths found below /lib/modules/RELEASE (modules.dep). Modules whose
 * address is hidden (0) are skipped. */
int pio_proc_modules(const struct pio_sys *sys, pio_module_fn *fn, void *ctx);

#endif
