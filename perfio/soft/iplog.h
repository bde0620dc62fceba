/* SPDX-License-Identifier: Apache-2.0 */
/* Test oracle: the addresses one thread executed, u64 little-endian, appended to a file. */
#ifndef PERFIO_SOFT_IPLOG_H
#define PERFIO_SOFT_IPLOG_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* { 0 } or dir == NULL: keeps nothing. */
struct soft_iplog {
	const char *dir; /* the caller's */
	pid_t pid, tid;
	uint64_t *ip;
	size_t nr;
	int err; /* first failure; nothing more is kept after it */
};

void soft_iplog_add(struct soft_iplog *l, uint64_t ip);
/* Write out what is buffered. 0 or the first -errno of this log. */
int soft_iplog_flush(struct soft_iplog *l);
void soft_iplog_done(struct soft_iplog *l); /* flushes */

#endif
