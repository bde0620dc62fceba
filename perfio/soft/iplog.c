/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/iplog.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BUFFERED = 8192 };

void soft_iplog_add(struct soft_iplog *l, uint64_t ip)
{
	if (!l->dir || l->err)
		return;
	if (!l->ip)
		l->ip = malloc(BUFFERED * sizeof(*l->ip));
	if (!l->ip) {
		l->err = -ENOMEM;
		return;
	}
	l->ip[l->nr++] = ip;
	if (l->nr == BUFFERED)
		soft_iplog_flush(l);
}

static int append(const char *path, const void *p, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	ssize_t put;
	int err = 0;

	if (fd < 0)
		return -errno;
	put = write(fd, p, n);
	if (put < 0)
		err = -errno;
	else if ((size_t)put != n)
		err = -ENOSPC;
	if (close(fd) && !err)
		err = -errno;
	return err;
}

/* No descriptor is kept: a program may have more threads than we may open files. */
int soft_iplog_flush(struct soft_iplog *l)
{
	char path[PATH_MAX];

	if (l->err || !l->nr)
		return l->err;
	if (snprintf(path, sizeof(path), "%s/%d.%d", l->dir, (int)l->pid, (int)l->tid) >=
	    (int)sizeof(path))
		l->err = -ENAMETOOLONG;
	else
		l->err = append(path, l->ip, l->nr * sizeof(*l->ip));
	l->nr = 0;
	return l->err;
}

void soft_iplog_done(struct soft_iplog *l)
{
	soft_iplog_flush(l);
	free(l->ip);
	l->ip = NULL;
}
