/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/poke.h"
#include "perfio/soft/attach.h"
#include "perfio/soft/fence.h"
#include "perfio/soft/resume.h"
#include "perfio/soft/wait.h"

#include <limits.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* A descriptor of t, as a path of ours. */
struct file {
	char path[64], info[64];
	char link[PATH_MAX];
};

static bool writes(long nr)
{
	switch (nr & ~(long)SOFT_X32_BIT) {
	case SYS_write:
	case SYS_writev:
	case SYS_pwrite64:
	case SYS_pwritev:
	case SYS_pwritev2:
		return true;
	default:
		return false;
	}
}

/* The end of a path, which may belong to a process that is no more: d_path() of the kernel says
 * so. */
static bool is_memory(struct file *f, pid_t tid, int fd)
{
	static const char gone[] = " (deleted)", name[] = "/mem";
	struct statfs fs;
	ssize_t n;

	snprintf(f->path, sizeof(f->path), "/proc/%d/fd/%d", (int)tid, fd);
	snprintf(f->info, sizeof(f->info), "/proc/%d/fdinfo/%d", (int)tid, fd);
	n = readlink(f->path, f->link, sizeof(f->link) - 1);
	if (n <= 0)
		return false;
	if ((size_t)n > sizeof(gone) && !memcmp(f->link + n - (sizeof(gone) - 1), gone,
						 sizeof(gone) - 1))
		n -= (ssize_t)sizeof(gone) - 1;
	if ((size_t)n < sizeof(name) || memcmp(f->link + n - (sizeof(name) - 1), name,
						sizeof(name) - 1))
		return false;
	f->link[n - ((ssize_t)sizeof(name) - 1)] = '\0';
	return !statfs(f->path, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* Where it is read or written next: proc(5), /proc/PID/fdinfo. */
static uint64_t position(const struct file *f)
{
	unsigned long long pos = 0;
	FILE *info = fopen(f->info, "re");

	if (!info)
		return 0;
	if (fscanf(info, "pos: %llu", &pos) != 1)
		pos = 0;
	fclose(info);
	return pos;
}

static uint64_t length(const struct soft_thread *t, const struct user_regs_struct *r)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < r->rdx && i < IOV_MAX; i++) {
		struct iovec v;

		if (soft_mem_read(t->mem, r->rsi + i * sizeof(v), &v, sizeof(v)) != sizeof(v))
			break;
		n = n + v.iov_len < n ? UINT64_MAX : n + v.iov_len;
	}
	return n;
}

/* False: nothing of a mapping. */
static bool range(const struct soft_thread *t, const struct user_regs_struct *r,
		  const struct file *f, uint64_t *begin, uint64_t *end)
{
	const long nr = (long)r->orig_rax & ~(long)SOFT_X32_BIT;
	const bool plain = nr == SYS_write || nr == SYS_pwrite64;
	const bool placed = nr == SYS_pwrite64 || nr == SYS_pwritev ||
			    (nr == SYS_pwritev2 && r->r10 != UINT64_MAX);
	const uint64_t n = plain ? r->rdx : length(t, r);

	*begin = placed ? r->r10 : position(f);
	*end = *begin + n < *begin ? UINT64_MAX : *begin + n;
	return n;
}

/* Whose memory the link names: PID/mem, or PID/task/TID/mem, of our own /proc. NULL: not known. */
static struct soft_mem *named(const struct soft *s, const struct soft_thread *t,
			      const struct file *f)
{
	const char *last = strrchr(f->link, '/');
	struct stat there, ours;
	struct soft_thread *o;
	pid_t id;

	if (!last || stat(f->path, &there) || fstat(t->mem->mem_fd, &ours) ||
	    there.st_dev != ours.st_dev)
		return NULL;
	id = atoi(last + 1);
	o = soft_table_find(s, id);
	if (!o)
		o = soft_table_find_process(s, id);
	return o ? o->mem : NULL;
}

/* Where others run to a plant they shall find it. */
static int written(struct soft *s, const struct soft_thread *t, struct soft_mem *m,
		   uint64_t begin, uint64_t end)
{
	(void)soft_mem_private(m, begin); /* what is mapped is known now */
	soft_ranges_add(&m->altered, begin, end);
	if (!soft_mem_holds_code(m, begin, end))
		return 0;
	if (soft_plants_within(&m->plants, begin, end))
		soft_quiesce_mem(s, m, t);
	soft_mem_changed(m, begin, end, true, 0);
	m->code_time = m->gen_time = soft_ticks(s);
	soft_attach_renew(s, m);
	return s->gate.filters.n ? soft_fence_drop(s, m) : 0;
}

static bool first_of(const struct soft *s, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (s->live[k]->mem == s->live[i]->mem)
			return false;
	return s->live[i]->mem;
}

/* Of one process, or of all that are known. */
static int written_of(struct soft *s, struct soft_thread *t, struct soft_mem *m, uint64_t begin,
		      uint64_t end)
{
	int err = 0;

	if (m)
		return written(s, t, m, begin, end);
	for (size_t i = 0; i < s->nr_live && !err; i++)
		if (first_of(s, i))
			err = written(s, t, s->live[i]->mem, begin, end);
	return err;
}

int soft_poke_enter(struct soft *s, struct soft_thread *t)
{
	struct user_regs_struct r;
	uint64_t nr, begin, end;
	struct file f;
	int err = soft_peek(t, offsetof(struct user_regs_struct, orig_rax), &nr);

	if (err || t->insn.legacy || !writes((long)nr))
		return err;
	err = soft_peek_regs(t, &r);
	if (err || !is_memory(&f, t->tid, (int)r.rdi) || !range(t, &r, &f, &begin, &end))
		return err;
	return written_of(s, t, named(s, t, &f), begin, end);
}
