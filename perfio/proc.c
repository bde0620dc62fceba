/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk costs three system calls a task (open, read, close of its stat file) and four
 * more for a process with several threads. stat rather than status: the kernel needs a
 * third less time for it, and it says at once whether there are threads to list.
 */
#include "perfio/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfio/lines.h"

/* include/linux/sched.h; the same since Linux 2.6.27 */
#define PF_KTHREAD 0x00200000u

struct ids {
	pid_t *id;
	size_t n, cap;
};

/* The two answers that callers tell apart, whatever the kernel's version says. */
static int task_error(int err)
{
	if (err == -ENOENT || err == -ENOTDIR)
		return -ESRCH;
	if (err == -EPERM)
		return -EACCES;
	return err;
}

static int read_at(int dir, const char *name, char *buf, size_t size, size_t *ret_len)
{
	int err, fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return task_error(-errno);
	n = read(fd, buf, size - 1);
	err = n < 0 ? task_error(-errno) : n ? 0 : -ESRCH;
	close(fd);
	if (err)
		return err;
	buf[n] = '\0';
	*ret_len = (size_t)n;
	return 0;
}

/* Behind the last ')' stand state, ppid, four numbers, flags, nine more and num_threads
 * (proc(5)); the name before it may hold anything, parentheses too. */
static int parse_stat(const char *text, size_t len, struct pio_task *t, uint64_t *threads)
{
	const char *open = memchr(text, '(', len), *close = memrchr(text, ')', len);
	const char *p;
	uint64_t field[21] = { 0 };
	size_t n;

	if (!open || !close || close < open || close[1] != ' ' || !close[2])
		return -ESRCH;
	n = (size_t)(close - open - 1);
	if (n >= sizeof(t->comm))
		n = sizeof(t->comm) - 1;
	memset(t->comm, 0, sizeof(t->comm));
	memcpy(t->comm, open + 1, n);
	p = close + 3;
	for (int i = 4; i <= 20 && *p == ' '; i++) {
		p++;
		p += *p == '-';
		field[i] = pio_scan_dec(&p);
	}
	t->ppid = (pid_t)field[4];
	t->kernel = field[9] & PF_KTHREAD;
	*threads = field[20];
	return 0;
}

static int add_id(struct ids *l, const char *name)
{
	const char *p = name;
	uint64_t v = pio_scan_dec(&p);
	pid_t *id;

	if (p == name || *p || v == 0 || v > INT_MAX)
		return 0;
	if (l->n == l->cap) {
		id = realloc(l->id, (l->cap * 2 + 64) * sizeof(*id));
		if (!id)
			return -ENOMEM;
		l->id = id;
		l->cap = l->cap * 2 + 64;
	}
	l->id[l->n++] = (pid_t)v;
	return 0;
}

static int by_id(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

/* The numbers among the names of an open directory, ascending. */
static int read_ids(struct ids *l, int dir)
{
	_Alignas(struct dirent64) char buf[32 * 1024];
	bool sorted = true;
	ssize_t n;
	int err;

	l->n = 0;
	while ((n = getdents64(dir, buf, sizeof(buf))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *d = (const void *)(buf + at);

			err = add_id(l, d->d_name);
			if (err)
				return err;
			at += d->d_reclen;
		}
	}
	if (n < 0)
		return task_error(-errno);
	for (size_t i = 1; i < l->n; i++)
		sorted = sorted && l->id[i - 1] < l->id[i];
	if (!sorted)
		qsort(l->id, l->n, sizeof(*l->id), by_id);
	return 0;
}

static int list_ids(struct ids *l, int dir, const char *name)
{
	int err, fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return task_error(-errno);
	err = read_ids(l, fd);
	close(fd);
	return err;
}

/* The name in status has its newlines escaped: what looks like a line is one. */
static int parse_tgid(const char *status, pid_t *ret)
{
	const char *p = strstr(status, "\nTgid:");

	if (!p)
		return -ESRCH;
	p += strlen("\nTgid:");
	p += strspn(p, " \t");
	if (*p < '1' || *p > '9')
		return -ESRCH;
	*ret = (pid_t)pio_scan_dec(&p);
	return 0;
}

struct walk {
	int proc; /* descriptor of /proc: shorter names, fewer steps for the kernel */
	pio_task_fn *fn;
	void *ctx;
	size_t skipped;
	struct ids threads;
};

static int read_task(struct walk *w, const char *stat, struct pio_task *t,
		     uint64_t *threads)
{
	char text[1024];
	size_t len;
	int err = read_at(w->proc, stat, text, sizeof(text), &len);

	if (!err)
		err = parse_stat(text, len, t, threads);
	if (err)
		w->skipped++;
	return err;
}

static int walk_threads(struct walk *w, pid_t pid)
{
	struct pio_task t = { .pid = pid };
	uint64_t threads;
	char name[64];
	int err;

	snprintf(name, sizeof(name), "%d/task", pid);
	err = list_ids(&w->threads, w->proc, name);
	if (err == -ENOMEM)
		return err;
	if (err)
		w->skipped++;
	for (size_t i = 0; !err && i < w->threads.n; i++) {
		t.tid = w->threads.id[i];
		if (t.tid == pid)
			continue;
		snprintf(name, sizeof(name), "%d/task/%d/stat", pid, t.tid);
		if (read_task(w, name, &t, &threads))
			continue;
		err = w->fn(w->ctx, &t);
		if (err)
			return err;
	}
	return 0;
}

/* A value of the callback, or 0; *gone when the process was not there. */
static int walk_process(struct walk *w, pid_t pid, int *gone)
{
	struct pio_task t = { .pid = pid, .tid = pid };
	uint64_t threads;
	char name[64];
	int err;

	snprintf(name, sizeof(name), "%d/stat", pid);
	*gone = read_task(w, name, &t, &threads);
	if (*gone)
		return 0;
	err = w->fn(w->ctx, &t);
	if (!err && threads > 1)
		err = walk_threads(w, pid);
	return err;
}

static int walk_all(struct walk *w)
{
	struct ids pids = { 0 };
	int gone, err = list_ids(&pids, w->proc, ".");

	for (size_t i = 0; !err && i < pids.n; i++)
		err = walk_process(w, pids.id[i], &gone);
	free(pids.id);
	return err;
}

/* The process of a thread; what is not there stays as it is, and will be missed later. */
static pid_t leader_of(const struct walk *w, pid_t tid)
{
	char name[64], text[4096];
	pid_t ret = tid;
	size_t len;

	snprintf(name, sizeof(name), "%d/status", tid);
	if (!read_at(w->proc, name, text, sizeof(text), &len))
		(void)parse_tgid(text, &ret);
	return ret;
}

int pio_proc_tasks(const struct pio_sys *sys, pid_t pid, pio_task_fn *fn, void *ctx,
		   size_t *ret_skipped)
{
	struct walk w = { .fn = fn, .ctx = ctx };
	int err, gone = 0;

	w.proc = open(sys->proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w.proc < 0)
		return task_error(-errno);
	if (pid < 0)
		err = walk_all(&w);
	else
		err = walk_process(&w, leader_of(&w, pid), &gone);
	free(w.threads.id);
	close(w.proc);
	if (ret_skipped)
		*ret_skipped = w.skipped;
	return err ? err : gone;
}

int pio_proc_task(const struct pio_sys *sys, pid_t tid, struct pio_task *ret)
{
	char path[PATH_MAX], text[4096];
	struct pio_task t = { .tid = tid };
	uint64_t threads;
	size_t len;
	int err;

	snprintf(path, sizeof(path), "%s/%d/status", sys->proc, tid);
	err = read_at(AT_FDCWD, path, text, sizeof(text), &len);
	if (!err)
		err = parse_tgid(text, &t.pid);
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/%d/stat", sys->proc, tid);
	err = read_at(AT_FDCWD, path, text, sizeof(text), &len);
	if (!err)
		err = parse_stat(text, len, &t, &threads);
	if (!err)
		*ret = t;
	return err;
}

/* "net:[4026531840]" -> 4026531840, or 0. */
static uint64_t ns_link(int dir, const char *name)
{
	char text[64];
	ssize_t n = readlinkat(dir, name, text, sizeof(text) - 1);
	const char *p;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	p = strchr(text, '[');
	if (!p++)
		return 0;
	return pio_scan_dec(&p);
}

/* Following such a link costs twice the time of reading it (7.5 and 3.5 us, Linux 6.18),
 * and all of them are inodes of the one nsfs: one is followed, for the device. */
int pio_proc_namespaces(const struct pio_sys *sys, pid_t pid,
			struct pio_ns_id ret[PIO_NR_NS])
{
	static const char names[PIO_NR_NS][8] = { "net",  "uts", "ipc",	  "pid",
						  "user", "mnt", "cgroup" };
	char path[PATH_MAX];
	struct stat st = { 0 };
	uint64_t ino;
	int dir, n = 0;

	memset(ret, 0, PIO_NR_NS * sizeof(*ret));
	snprintf(path, sizeof(path), "%s/%d/ns", sys->proc, pid);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return 0;
	for (int i = 0; i < PIO_NR_NS; i++) {
		ino = st.st_dev ? ns_link(dir, names[i]) : 0;
		if (!ino && !fstatat(dir, names[i], &st, 0))
			ino = st.st_ino;
		if (!ino && (errno == EACCES || errno == EPERM))
			break; /* one check guards them all */
		if (!ino)
			continue;
		ret[i] = (struct pio_ns_id){ .dev = st.st_dev, .ino = ino };
		n++;
	}
	close(dir);
	return n;
}
