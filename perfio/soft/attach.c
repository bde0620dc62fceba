/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/attach.h"
#include "perfio/soft/away.h"
#include "perfio/soft/faults.h"
#include "perfio/soft/resume.h"
#include "perfio/soft/wait.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A thread that sleeps in a system call: proc(5), /proc/PID/syscall. */
struct call {
	long nr;
	unsigned long long arg[6], sp, pc;
};

static bool read_proc(pid_t tid, const char *name, char *buf, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, buf, size - 1);
	close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Its letter in /proc/PID/stat; X also of one that is gone. */
static char state_of(pid_t tid)
{
	char buf[512], *p;

	if (!read_proc(tid, "stat", buf, sizeof(buf)))
		return 'X';
	p = strrchr(buf, ')');
	return p && p[1] ? p[2] : 'X';
}

static bool read_call(pid_t tid, struct call *ret)
{
	struct call c = { 0 };
	char buf[256];
	bool ok = read_proc(tid, "syscall", buf, sizeof(buf)) &&
		  sscanf(buf, "%ld %llx %llx %llx %llx %llx %llx %llx %llx", &c.nr, &c.arg[0],
			 &c.arg[1], &c.arg[2], &c.arg[3], &c.arg[4], &c.arg[5], &c.sp,
			 &c.pc) == 9 &&
		  c.nr >= 0;

	*ret = c;
	return ok;
}

/* Until it is over the thread has another signal mask than behind it: may that one block
 * SIGTRAP? */
static bool has_mask_aside(const struct call *c)
{
	switch (c->nr) {
	case SYS_rt_sigsuspend:
		return true;
	case SYS_ppoll:
		return c->arg[3];
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_io_uring_enter:
		return c->arg[4];
	case SYS_pselect6:
	case SYS_io_pgetevents:
		return c->arg[5];
	default:
		return false;
	}
}

/* A breakpoint behind the call that t sleeps in. True: it will meet that, whatever comes. */
static bool wait_behind(struct soft_thread *t)
{
	struct call before, after;

	if (state_of(t->tid) != 'S' || !read_call(t->tid, &before) || has_mask_aside(&before) ||
	    !soft_sigtrap_bears(&t->trap) || !soft_mem_is_fixed(t->mem, before.pc) ||
	    !soft_plants_put(&t->mem->plants, before.pc))
		return false;
	t->wakes_at = before.pc;
	return read_call(t->tid, &after) && !memcmp(&before, &after, sizeof(before));
}

static bool makes_child(const struct call *c)
{
	return c->nr == SYS_fork || c->nr == SYS_vfork || c->nr == SYS_clone ||
	       c->nr == SYS_clone3;
}

/* Calls that fail when they are interrupted, also by no signal at all, and have done nothing
 * then: signal(7), "Interruption of system calls and library functions by stop signals". */
static bool is_cut_short(long nr)
{
	switch (nr) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_rt_sigtimedwait:
	case SYS_io_getevents:
	case SYS_io_pgetevents:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_accept:
	case SYS_accept4:
		return true;
	default:
		return false;
	}
}

bool soft_attach_sleeps_well(const struct soft_thread *t)
{
	struct call c;

	return state_of(t->tid) == 'S' && read_call(t->tid, &c) && !is_cut_short(c.nr) &&
	       !has_mask_aside(&c);
}

bool soft_attach_sleeps(const struct soft_thread *t)
{
	char state = state_of(t->tid);
	struct call c;

	return (state == 'S' || state == 'D') && read_call(t->tid, &c) && !makes_child(&c);
}

bool soft_attach_faults(const struct soft_thread *t)
{
	return state_of(t->tid) == 'S';
}

/* ---- all threads of a process ---- */

/* Is it traced by this very thread already? One that a traced thread has just made is. */
static bool is_ours(pid_t tid)
{
	char buf[4096], *p;

	if (!read_proc(tid, "status", buf, sizeof(buf)))
		return false;
	p = strstr(buf, "\nTracerPid:");
	return p && atoi(p + strlen("\nTracerPid:")) == gettid();
}

/* 1, 0 if there is nothing to seize, or -errno. */
static int seize(struct soft *s, pid_t pid, pid_t tid, struct soft_mem **m)
{
	const struct soft_thread *first = soft_table_find_process(s, pid);
	struct soft_thread *t;
	int err;

	if (soft_table_find(s, tid) || strchr("ZX", state_of(tid)))
		return 0;
	err = *m ? 0 : soft_mem_open(m, tid);
	if (err)
		return err;
	if (ptrace(PTRACE_SEIZE, tid, NULL, SOFT_OPTIONS)) {
		err = -errno;
		return err == -ESRCH || strchr("ZX", state_of(tid)) || is_ours(tid) ? 0 : err;
	}
	err = soft_table_add(&t, s, pid, tid, first);
	if (err)
		return err;
	t->mem = soft_mem_get(*m);
	t->mode = SOFT_AWAY;
	t->insn.cls = SOFT_BAD;
	soft_sigtrap_unknown(&t->trap);
	return 1;
}

/* How many were found that were not known, or -errno. */
static int seize_new(struct soft *s, pid_t pid, struct soft_mem **m)
{
	struct dirent *e;
	char path[64];
	int n = 0, got;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	if (!d)
		return -errno;
	while ((e = readdir(d))) {
		pid_t tid = atoi(e->d_name);

		got = tid > 0 ? seize(s, pid, tid, m) : 0;
		if (got < 0) {
			n = got;
			break;
		}
		n += got;
	}
	closedir(d);
	return n;
}

int soft_attach_process(struct soft *s, pid_t pid)
{
	size_t from = s->nr_live;
	struct soft_mem *m = NULL;
	int n;

	do
		n = seize_new(s, pid, &m);
	while (n > 0);
	soft_mem_put(m);
	if (n)
		return n;
	if (!s->gate.paused)
		soft_attach_call(s, from);
	return from == s->nr_live ? -ESRCH : 0;
}

/* ---- those that are away come back ---- */

/* One that is stopped tells so by itself. */
static void call(struct soft_thread *t)
{
	t->wakes_at = 0;
	t->called = !strchr("Tt", state_of(t->tid)) && !wait_behind(t);
	if (t->called)
		ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
}

void soft_attach_call(struct soft *s, size_t from)
{
	for (size_t i = from; i < s->nr_live; i++) {
		struct soft_thread *t = s->live[i];

		if (t->mode != SOFT_AWAY || t->listening || t->watched)
			continue;
		if (i == from || t->pid != s->live[i - 1]->pid)
			s->userfaults |= soft_faults_served(t->pid);
		/* Nobody saw what became of the mappings. */
		if (!t->mem->plants.planted)
			soft_mem_changed(t->mem, 0, UINT64_MAX, true, 0);
		call(t);
	}
	/* Those that run shall stand before others run to where something is planted. */
	for (size_t i = from; i < s->nr_live; i++)
		if (s->live[i]->called && !strchr("SD", state_of(s->live[i]->tid)))
			(void)soft_await(s, s->live[i]);
}

void soft_attach_renew(struct soft *s, const struct soft_mem *m)
{
	for (size_t i = 0; i < s->nr_live; i++)
		if (s->live[i]->mem == m && s->live[i]->wakes_at)
			call(s->live[i]);
}

bool soft_attach_renews(struct user_regs_struct *r)
{
	if ((long long)r->rax != -EINTR || !is_cut_short((long)r->orig_rax))
		return false;
	soft_restart(r);
	return true;
}

void soft_attach_mend(struct soft_thread *t)
{
	t->new_regs |= soft_attach_renews(&t->regs);
}

/* A signal that is not blocked ends its call. */
static bool has_signal(pid_t tid)
{
	unsigned long long own = 0, shared = 0, blocked = 0;
	char buf[4096];

	if (!read_proc(tid, "status", buf, sizeof(buf)))
		return false;
	for (const char *p = buf; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		(void)(sscanf(p, "SigPnd: %llx", &own) == 1 ||
		       sscanf(p, "ShdPnd: %llx", &shared) == 1 ||
		       sscanf(p, "SigBlk: %llx", &blocked) == 1);
	}
	return (own | shared) & ~blocked;
}

int soft_attach_calm(struct soft_thread *t)
{
	int err = soft_regs(t);

	if (err)
		return err;
	t->roused = false;
	if (!has_signal(t->tid))
		soft_attach_mend(t);
	return t->new_regs && ptrace(PTRACE_SETREGS, t->tid, NULL, &t->regs) ? -errno : 0;
}

/* Nobody else is waited for there: the breakpoint would make each pass a step. */
static void pull_out(struct soft *s, const struct soft_thread *t, uint64_t addr)
{
	for (size_t i = 0; i < s->nr_live; i++)
		if (s->live[i]->mem == t->mem && s->live[i]->wakes_at == addr)
			return;
	(void)soft_quiesce(s, t);
	soft_plants_take(&t->mem->plants, addr);
	soft_mem_renew(t->mem);
}

bool soft_attach_met(struct soft *s, struct soft_thread *t)
{
	uint64_t at = t->wakes_at;
	bool slept = at && !t->called;

	t->called = false;
	t->wakes_at = 0;
	if (at)
		pull_out(s, t, at);
	return slept;
}
