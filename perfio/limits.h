/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this user may do here: the numbers behind EACCES, EPERM, EMFILE and ENOMEM.
 */
#ifndef PERFIO_LIMITS_H
#define PERFIO_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "perfio/sys.h"

struct pio_limits {
	int paranoid;	   /* kernel.perf_event_paranoid; INT32_MAX when unreadable */
	uint64_t mlock_kb; /* kernel.perf_event_mlock_kb, per user and online cpu */
	uint64_t memlock_soft, memlock_hard; /* RLIMIT_MEMLOCK, bytes; UINT64_MAX unlimited */
	uint64_t nofile_soft, nofile_hard;
	uint64_t page;	     /* bytes */
	uint64_t online;     /* cpus */
	uid_t euid;
	bool cap_perfmon;    /* CAP_PERFMON or CAP_SYS_ADMIN, effective */
	bool cap_ipc_lock;   /* CAP_IPC_LOCK, effective */
	bool cap_sys_ptrace; /* CAP_SYS_PTRACE, effective */
	int seccomp;	     /* Seccomp: of /proc/self/status; -1 unknown */
	int kptr_restrict;   /* kernel.kptr_restrict; -1 unknown */
	int yama;	     /* kernel.yama.ptrace_scope; 0 when Yama is not there */
	bool lockdown;	     /* kernel lockdown is "confidentiality" */
	bool cap_sys_admin;  /* CAP_SYS_ADMIN, effective */
	bool userns;	     /* in a user namespace of our own: the three capabilities that
				perf asks for count for nothing there, and are false above */
};

/* Never fails: what cannot be read has the value named above. */
void pio_limits_get(struct pio_limits *ret, const struct pio_sys *sys);
/* May events be opened on a cpu for all tasks / on an own task / for the kernel side? */
bool pio_limits_system_wide(const struct pio_limits *l);
bool pio_limits_own_task(const struct pio_limits *l);
bool pio_limits_kernel(const struct pio_limits *l);
/* Bytes of rings an unprivileged user may map (perf_mmap() in kernel/events/core.c):
 * mlock_kb for each online cpu, plus RLIMIT_MEMLOCK. UINT64_MAX when not limited. */
uint64_t pio_limits_mlock_budget(const struct pio_limits *l);
/* Bytes that can be had without swapping (MemAvailable of /proc/meminfo); 0: not told. */
uint64_t pio_limits_memory(const struct pio_sys *sys);

#endif
