/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has perf events open: processes with descriptors that /proc calls
 * "anon_inode:[perf_event]". Which event a descriptor is, on which cpu or task, the kernel
 * tells nobody (its fdinfo has no line of perf's, seen on Linux 6.18).
 */
#ifndef PERFIO_HOLDERS_H
#define PERFIO_HOLDERS_H

#include <stddef.h>
#include <sys/types.h>

#include "perfio/sys.h"

struct pio_holder {
	pid_t pid;
	char comm[16]; /* NUL-terminated; "" when it has ended since */
	size_t nr_fd;
};

struct pio_holders {
	struct pio_holder *h; /* by pid, without ourselves */
	size_t n;
	size_t hidden; /* processes whose descriptors this user may not see */
};

/* 0, -ENOMEM, or -errno of reading sys->proc. Processes that end meanwhile are skipped. */
__attribute__((warn_unused_result))
int pio_holders(struct pio_holders *ret, const struct pio_sys *sys);
void pio_holders_done(struct pio_holders *h);

#endif
