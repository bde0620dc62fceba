/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/cleanse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INT3 = 0xcc, PIECE = 65536 };

struct mapping {
	unsigned long begin, end;
	unsigned long long offset;
	unsigned long inode;
	const char *path;
};

struct cleanse {
	pid_t pid;
	int mem;
	long mended;
	uint8_t is[PIECE], was[PIECE];
};

/* Format of a line: proc(5). False: no code that may hold breakpoints. */
static bool take_line(struct mapping *ret, char *line)
{
	int at = 0;
	char perm[5];

	if (sscanf(line, "%lx-%lx %4s %llx %*s %lu %n", &ret->begin, &ret->end, perm,
		   &ret->offset, &ret->inode, &at) != 5)
		return false;
	line[strcspn(line, "\n")] = '\0';
	ret->path = line + at;
	return perm[1] != 'w' && perm[2] == 'x' && perm[3] == 'p';
}

static int open_same(const char *path, const struct mapping *m)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && st.st_ino == m->inode)
		return fd;
	if (fd >= 0)
		close(fd);
	return -ENOENT;
}

/* By its mapping, which needs privileges and finds deleted files, too; or by its name. */
static int open_file(const struct cleanse *c, const struct mapping *m)
{
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", (int)c->pid, m->begin, m->end);
	fd = open_same(path, m);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)c->pid, m->path);
	return open_same(path, m);
}

static void mend(struct cleanse *c, uint64_t addr, size_t n)
{
	if (!memcmp(c->is, c->was, n))
		return;
	for (size_t i = 0; i < n; i++)
		if (c->is[i] == INT3 && c->was[i] != INT3)
			c->mended += pwrite(c->mem, &c->was[i], 1, (off_t)(addr + i)) == 1;
}

static void compare_file(struct cleanse *c, const struct mapping *m, int fd)
{
	for (uint64_t at = m->begin; at < m->end; at += PIECE) {
		size_t n = m->end - at < PIECE ? m->end - at : PIECE;
		ssize_t got = pread(c->mem, c->is, n, (off_t)at), file;

		file = got > 0 ? pread(fd, c->was, (size_t)got,
				       (off_t)(m->offset + (at - m->begin))) : 0;
		if (file > 0)
			mend(c, at, (size_t)(file < got ? file : got));
	}
}

static void compare_vdso(struct cleanse *c, const struct mapping *m)
{
	const void *ours = (const void *)getauxval(AT_SYSINFO_EHDR);
	size_t n = m->end - m->begin;

	if (!ours || n > PIECE || pread(c->mem, c->is, n, (off_t)m->begin) != (ssize_t)n)
		return;
	memcpy(c->was, ours, n);
	mend(c, m->begin, n);
}

static void compare(struct cleanse *c, const struct mapping *m)
{
	int fd;

	if (!m->inode) {
		if (!strcmp(m->path, "[vdso]"))
			compare_vdso(c, m);
		return;
	}
	fd = open_file(c, m);
	if (fd < 0)
		return;
	compare_file(c, m, fd);
	close(fd);
}

static long cleanse_maps(struct cleanse *c)
{
	char path[64], *line = NULL;
	struct mapping m;
	size_t cap = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)c->pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (getline(&line, &cap, f) > 0)
		if (take_line(&m, line))
			compare(c, &m);
	free(line);
	fclose(f);
	return c->mended;
}

long soft_cleanse(pid_t pid)
{
	struct cleanse *c = calloc(1, sizeof(*c));
	char path[64];
	long n;

	if (!c)
		return -ENOMEM;
	c->pid = pid;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	c->mem = open(path, O_RDWR | O_CLOEXEC);
	n = c->mem < 0 ? -errno : cleanse_maps(c);
	if (c->mem >= 0)
		close(c->mem);
	free(c);
	return n;
}
