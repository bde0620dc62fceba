/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/attachable.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perfio/sys.h"
#include "recorder/cmd.h"
#include "recorder/log.h"

/* What /proc says of a process: proc(5). */
struct target {
	pid_t pid, tgid, parent, tracer;
	uid_t uid[3]; /* real, effective, saved */
	bool ended, kernel, dumpable, bits_32;
};

/* Linux 6.1 include/linux/sched.h: PF_KTHREAD, in the ninth field of /proc/PID/stat. */
enum { KERNEL_THREAD = 0x200000 };

/* How long a child may take that shares memory; and bytes of their list. */
enum { SHARING_MS = 1000, CHILDREN_MAX = 1 << 20 };

static void take_status(struct target *t, const char *s)
{
	for (; s; s = strchr(s, '\n')) {
		s += *s == '\n';
		(void)(sscanf(s, "Tgid: %d", &t->tgid) == 1 ||
		       sscanf(s, "PPid: %d", &t->parent) == 1 ||
		       sscanf(s, "TracerPid: %d", &t->tracer) == 1 ||
		       sscanf(s, "Uid: %u %u %u", &t->uid[0], &t->uid[1], &t->uid[2]) == 3);
	}
}

static bool read_stat(struct target *t)
{
	unsigned flags = 0;
	char line[512], state = 'X';
	const char *p;

	if (pio_read_line(line, sizeof(line), "/proc/%d/stat", (int)t->pid) < 0)
		return false;
	p = strrchr(line, ')');
	if (!p || sscanf(p + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2)
		return false;
	t->ended = state == 'Z' || state == 'X';
	t->kernel = flags & KERNEL_THREAD;
	return true;
}

/* Its program has a 32-bit header: then it is of 32 bits, or of the x32 kind. */
static bool is_32bit(pid_t pid)
{
	unsigned char h[EI_NIDENT] = { 0 };
	char path[64];
	bool is = false;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, h, sizeof(h)) == sizeof(h))
		is = !memcmp(h, ELFMAG, SELFMAG) && h[EI_CLASS] == ELFCLASS32;
	(void)close(fd);
	return is;
}

static bool look(struct target *ret, pid_t pid)
{
	struct target t = { .pid = pid };
	char path[64], *text = NULL;
	struct stat st;
	size_t len;

	if (pio_read_file(&text, &len, 65536, "/proc/%d/status", (int)pid) < 0)
		return false;
	take_status(&t, text);
	free(text);
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	/* What may not be dumped belongs to root there. */
	t.dumpable = !stat(path, &st) && st.st_uid == t.uid[1];
	t.bits_32 = is_32bit(pid);
	*ret = t;
	return read_stat(ret);
}

/* ---- words ---- */

__attribute__((format(printf, 2, 3))) static int refuse(pid_t pid, const char *fmt, ...)
{
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	log_err(0, "cannot attach to process %d: %s", (int)pid, what);
	return EXIT_CANNOT;
}

static bool is_ancestor(pid_t pid)
{
	struct target t;
	pid_t at = getppid();

	/* Up to the first process, whose parent has the number 0. */
	for (int n = 0; at > 0 && n < 1000; n++) {
		if (at == pid)
			return true;
		at = look(&t, at) ? t.parent : 0;
	}
	return false;
}

static const char *tracer_of(pid_t tracer, char *buf, size_t size)
{
	if (pio_read_line(buf, size, "/proc/%d/comm", (int)tracer) < 0)
		snprintf(buf, size, "?");
	return buf;
}

/* A first thread may end before the others of its process. */
static bool others_live(pid_t pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return !stat(path, &st) && st.st_nlink > 3; /* itself, its parent, the first thread */
}

/* It is what it is, whoever asks. */
static int refuse_kind(const struct target *t, const struct rec_config *cfg)
{
	char name[64];

	if (t->pid == getpid() || t->pid == cfg->front)
		return refuse(t->pid, "this is auxrec itself");
	if (is_ancestor(t->pid))
		return refuse(t->pid, "auxrec runs under it, and each could wait for the other");
	if (t->tgid != t->pid)
		return refuse(t->pid, "this is a thread of process %d: -p %d traces all of them",
			      (int)t->tgid, (int)t->tgid);
	if (t->kernel)
		return refuse(t->pid, "this is a thread of the kernel, which has no user space");
	if (t->ended && !others_live(t->pid))
		return refuse(t->pid, "it has ended, and waits for its parent only");
	if (t->tracer) {
		refuse(t->pid, "process %d (%s) traces it already", (int)t->tracer,
		       tracer_of(t->tracer, name, sizeof(name)));
		log_hint("ptrace(2) allows one tracer: end that one first");
		return EXIT_CANNOT;
	}
	if (t->bits_32)
		return refuse(t->pid, "its program is not of 64 bits: the software source follows "
			      "x86-64 code only");
	return 0;
}

static int refuse_access(const struct target *t, const struct pio_limits *l, int err)
{
	const uid_t me = geteuid();
	bool same = t->uid[0] == me && t->uid[1] == me && t->uid[2] == me;

	log_err(err, "cannot attach to process %d with ptrace", (int)t->pid);
	if (l->yama > 2)
		log_hint("kernel.yama.ptrace_scope is %d: nobody may ptrace until the next boot",
			 l->yama);
	else if (!l->cap_sys_ptrace && !same)
		log_hint("it runs as user %u (effective %u) and you are user %u: that needs "
			 "CAP_SYS_PTRACE, as root has", t->uid[0], t->uid[1], me);
	else if (!l->cap_sys_ptrace && !t->dumpable)
		log_hint("it may not be dumped: it was set-user-ID, has capabilities, or has said "
			 "so with prctl(PR_SET_DUMPABLE); that needs CAP_SYS_PTRACE, as root has");
	else if (!l->cap_sys_ptrace && l->yama)
		log_hint("kernel.yama.ptrace_scope is %d: run as root, or "
			 "sudo sysctl kernel.yama.ptrace_scope=0", l->yama);
	else
		log_hint("a security module, a seccomp filter or another user namespace forbids "
			 "it; see the kernel's log");
	return EXIT_CANNOT;
}

/* Its memory is opened with the rights that ptrace(2) wants, and without touching it. */
static int try_access(pid_t pid)
{
	char path[64];
	int fd, err = 0;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		err = -errno;
	else
		(void)close(fd);
	return err;
}

/* ---- a process that shares its memory ---- */

static bool shares(pid_t a, pid_t b)
{
	return b > 0 && !syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0);
}

/* One of the children that a thread has made, or 0. */
static pid_t sharing_child(pid_t pid, pid_t tid)
{
	char *list = NULL, *at, *end;
	long child;
	size_t len;

	if (pio_read_file(&list, &len, CHILDREN_MAX, "/proc/%d/task/%d/children", (int)pid,
			  (int)tid) < 0)
		return 0;
	for (at = list; (child = strtol(at, &end, 10)) > 0; at = end)
		if (shares(pid, (pid_t)child))
			break;
	free(list);
	return (pid_t)child;
}

static pid_t sharer(const struct target *t)
{
	pid_t found = shares(t->pid, t->parent) ? t->parent : 0;
	struct dirent *e;
	char path[64];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)t->pid);
	d = opendir(path);
	while (d && !found && (e = readdir(d)))
		if (atoi(e->d_name) > 0)
			found = sharing_child(t->pid, atoi(e->d_name));
	if (d)
		(void)closedir(d);
	return found;
}

/* Most often it is a child of vfork(2), which will soon execute a program. */
static int refuse_sharing(const struct target *t)
{
	pid_t other = sharer(t);

	for (int ms = 0; other && ms < SHARING_MS; ms += 10) {
		usleep(10000);
		other = sharer(t);
	}
	if (!other)
		return 0;
	refuse(t->pid, "it shares its memory with process %d, which would meet the breakpoints "
		       "without a tracer", (int)other);
	log_hint("a child of vfork(2) or clone(2) does so until it executes a program or ends");
	return EXIT_CANNOT;
}

static int check(const struct rec_config *cfg, const struct pio_limits *l, pid_t pid)
{
	struct target t;
	int err;

	if (!look(&t, pid)) {
		log_err(-ESRCH, "cannot find process %d of -p", (int)pid);
		return EXIT_CANNOT;
	}
	err = refuse_kind(&t, cfg);
	if (err)
		return err;
	err = try_access(pid);
	return err ? refuse_access(&t, l, err) : refuse_sharing(&t);
}

int attachable_check(const struct rec_config *cfg, const struct pio_limits *l)
{
	int err = 0;

	for (size_t i = 0; cfg->attach && i < cfg->nr_pids && !err; i++)
		err = check(cfg, l, cfg->pids[i]);
	return err;
}

int attachable_explain(const struct pio_limits *l, pid_t pid, int err)
{
	struct target t;

	if (err == -EPERM && look(&t, pid))
		return refuse_access(&t, l, err);
	log_err(err, "cannot attach to process %d", (int)pid);
	return EXIT_CANNOT;
}
