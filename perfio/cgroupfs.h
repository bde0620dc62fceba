/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups as perf_event_open(2) takes them (PERF_FLAG_PID_CGROUP): a descriptor of
 * the group's directory.
 */
#ifndef PERFIO_CGROUPFS_H
#define PERFIO_CGROUPFS_H

#include <stddef.h>

#include "perfio/sys.h"

struct pio_cgroup {
	char *name; /* below the mount point */
	int fd;
};
#define PIO_CGROUP_INIT (struct pio_cgroup){ .fd = -1 }

/* Where the hierarchy with perf events is mounted, from /proc/mounts: cgroup v1 with the
 * controller perf_event, else cgroup v2, which always has it. 0; -ENOENT neither is mounted;
 * -ENAMETOOLONG; -errno of reading. */
__attribute__((warn_unused_result))
int pio_cgroup_mount(char *buf, size_t size, const struct pio_sys *sys);
/* `root` as that gave it. 0; -ENOENT no such group; -ENOTDIR; -ENOMEM; -errno of opening. */
__attribute__((warn_unused_result))
int pio_cgroup_open(struct pio_cgroup *ret, const char *root, const char *name);
void pio_cgroup_done(struct pio_cgroup *c);

#endif
