/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel as auxrec sees it: the only seam that tests replace.
 *
 * Every call returns a value >= 0 or -errno, never -1, and leaves errno to nobody.
 * The roots let a test put a fixture tree in place of /proc, /sys and tracefs.
 */
#ifndef PERFIO_SYS_H
#define PERFIO_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_event_attr;

struct pio_sys {
	/* perf_event_open(2), always with PERF_FLAG_FD_CLOEXEC; a descriptor */
	int (*open)(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		    unsigned long flags);
	int (*ioctl)(int fd, unsigned long request, uintptr_t arg);
	/* MAP_SHARED; *ret is set on success only */
	int (*mmap)(void **ret, size_t len, int prot, int fd, off_t off);
	int (*munmap)(void *p, size_t len);
	ssize_t (*read)(int fd, void *buf, size_t len);
	int (*close)(int fd);
	const char *proc;    /* "/proc" */
	const char *sysfs;   /* "/sys" */
	const char *tracefs; /* "/sys/kernel/tracing" */
	const char *modules; /* NULL: "/lib/modules" */
};

extern const struct pio_sys pio_kernel;

/* Reads a whole (pseudo) file, NUL-terminated: *ret is the caller's to free, *ret_len
 * excludes the NUL. 0, -ENOENT and the like from open/read, -EFBIG beyond `max`, -ENOMEM.
 * printf-style path. */
__attribute__((format(printf, 4, 5), warn_unused_result))
int pio_read_file(char **ret, size_t *ret_len, size_t max, const char *path, ...);
/* First line of a small file without its newline into buf; length, or -errno. */
__attribute__((format(printf, 3, 4), warn_unused_result))
ssize_t pio_read_line(char *buf, size_t size, const char *path, ...);
/* A file that holds one decimal or 0x number; 0 or -errno (-EINVAL: not a number). */
__attribute__((format(printf, 2, 3), warn_unused_result))
int pio_read_u64(uint64_t *ret, const char *path, ...);

#endif
