/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/holders.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number of perf events among a process's descriptors; -errno of reading them. */
static int count_events(const char *dir)
{
	char link[64];
	struct dirent *e;
	DIR *d = opendir(dir);
	ssize_t len;
	int n = 0;

	if (!d)
		return -errno;
	while (n < INT_MAX && (e = readdir(d))) {
		len = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);
		if (len < 0)
			continue;
		link[len] = '\0';
		n += !strcmp(link, "anon_inode:[perf_event]");
	}
	closedir(d);
	return n;
}

static int by_pid(const void *a, const void *b)
{
	const struct pio_holder *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int look_at(struct pio_holders *all, const struct pio_sys *sys, pid_t pid)
{
	struct pio_holder h = { .pid = pid }, *grown;
	char path[PATH_MAX], comm[64];
	ssize_t len;
	int n;

	snprintf(path, sizeof(path), "%s/%d/fd", sys->proc, (int)pid);
	n = count_events(path);
	if (n == -EACCES || n == -EPERM)
		all->hidden++;
	if (n <= 0)
		return 0;
	h.nr_fd = (size_t)n;
	len = pio_read_line(comm, sizeof(comm), "%s/%d/comm", sys->proc, (int)pid);
	if (len > 0)
		memcpy(h.comm, comm, (size_t)len < sizeof(h.comm) ? (size_t)len
								  : sizeof(h.comm) - 1);
	grown = reallocarray(all->h, all->n + 1, sizeof(h));
	if (!grown)
		return -ENOMEM;
	all->h = grown;
	grown[all->n++] = h;
	return 0;
}

int pio_holders(struct pio_holders *ret, const struct pio_sys *sys)
{
	struct pio_holders all = { 0 };
	DIR *d = opendir(sys->proc);
	struct dirent *e;
	long pid;
	int err = 0;

	if (!d)
		return -errno;
	while (!err && (e = readdir(d))) {
		pid = isdigit((unsigned char)*e->d_name) ? strtol(e->d_name, NULL, 10) : 0;
		if (pid > 0 && pid <= INT_MAX && pid != getpid())
			err = look_at(&all, sys, (pid_t)pid);
	}
	closedir(d);
	if (err) {
		pio_holders_done(&all);
		return err;
	}
	if (all.n)
		qsort(all.h, all.n, sizeof(*all.h), by_pid);
	*ret = all;
	return 0;
}

void pio_holders_done(struct pio_holders *h)
{
	free(h->h);
	*h = (struct pio_holders){ 0 };
}
