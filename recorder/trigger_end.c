/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a process, and how it ended. The command is our child and tells with waitid(2),
 * which leaves it to be reaped as ever. Of another process a pidfd tells, and how it ended
 *
 *   - its zombie, while its parent has not taken it (proc(5): stat, exit_code),
 *   - the pidfd itself, once that has happened (Linux 6.15),
 *   - the tracepoint signal:signal_deliver, before it ends.
 */
#include "recorder/trigger.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/cmd.h"
#include "recorder/explain.h"
#include "recorder/log.h"
#include "recorder/session.h"

enum { UNKNOWN = -1 };

/* include/uapi/linux/pidfd.h, as far as it has been since Linux 6.13. */
struct pidfd_info_v0 {
	uint64_t mask, cgroupid;
	uint32_t ids[11];
	int32_t exit_code;
};
#define GET_INFO       _IOWR(0xff, 11, struct pidfd_info_v0)
#define GET_INFO_EXIT (UINT64_C(1) << 3)

static bool wanted(const struct session *s)
{
	return s->cfg->triggers & (TRIGGER_EXIT | TRIGGER_CRASH);
}

static int add(struct session *s, pid_t pid, bool child)
{
	struct trigger *t = &s->trigger;
	struct trigger_process *p = &t->process[t->nr_process++];

	*p = (struct trigger_process){ .pid = pid, .pidfd = -1 };
	if (child)
		return 0;
	p->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (p->pidfd >= 0)
		return 0;
	log_err(-errno, "--trigger: cannot wait for the end of process %d", (int)pid);
	return EXIT_CANNOT;
}

int trigger_end_setup(struct session *s)
{
	size_t n = s->cfg->nr_watch;
	int err = 0;

	if (!wanted(s))
		return 0;
	s->trigger.process = calloc(n + 1, sizeof(*s->trigger.process));
	if (!s->trigger.process)
		return explain_no_memory();
	for (size_t i = 0; i < n && !err; i++)
		err = add(s, s->cfg->watch[i], false);
	return err || n ? err : add(s, s->work.pid, true);
}

/* Waking up is all; what happened is looked at then. */
static void woken(void *ctx, int fd, uint32_t events)
{
	(void)ctx;
	(void)fd;
	(void)events;
}

int trigger_end_watch(struct session *s)
{
	int err = 0;

	for (size_t i = 0; i < s->trigger.nr_process && !err; i++)
		err = watch_add(&s->watch, s->trigger.process[i].pidfd, woken, s);
	return err;
}

void trigger_end_done(struct session *s)
{
	struct trigger *t = &s->trigger;

	for (size_t i = 0; i < t->nr_process; i++)
		if (t->process[i].pidfd >= 0)
			(void)close(t->process[i].pidfd);
	free(t->process);
	t->process = NULL;
	t->nr_process = 0;
}

void trigger_end_fatal(struct session *s, pid_t pid, int sig)
{
	for (size_t i = 0; i < s->trigger.nr_process; i++)
		if (s->trigger.process[i].pid == pid)
			s->trigger.process[i].fatal = sig;
}

/* ---- how it ended: as waitpid(2) has it, or UNKNOWN ---- */

/* The last word of its stat, while it is a zombie. To those who may not look it says 0, and
 * an end without a fault does so, too. */
static int zombie_status(const struct session *s, pid_t pid)
{
	char line[1024], *p;

	if (pio_read_line(line, sizeof(line), "%s/%d/stat", s->sys->proc, (int)pid) < 0)
		return UNKNOWN;
	p = strrchr(line, ')');
	if (!p || p[1] != ' ' || p[2] != 'Z')
		return UNKNOWN;
	p = strrchr(line, ' ');
	return (int)strtol(p, NULL, 10);
}

static int pidfd_status(int pidfd)
{
	struct pidfd_info_v0 i = { .mask = GET_INFO_EXIT };

	if (ioctl(pidfd, GET_INFO, &i) || !(i.mask & GET_INFO_EXIT))
		return UNKNOWN;
	return i.exit_code;
}

static int status_of(const struct session *s, const struct trigger_process *p)
{
	int status = zombie_status(s, p->pid);

	if (status == UNKNOWN)
		status = pidfd_status(p->pidfd);
	return status <= 0 && p->fatal ? p->fatal : status;
}

/* Has it ended, and how? The command is not reaped by this. */
static bool look(struct session *s, const struct trigger_process *p, int *status)
{
	struct pollfd pfd = { .fd = p->pidfd, .events = POLLIN };
	siginfo_t si = { 0 };

	if (p->pidfd >= 0) {
		if (poll(&pfd, 1, 0) <= 0 || !pfd.revents)
			return false;
		s->trigger.ready = true; /* its last signal, if one was fatal */
		trigger_hit_look(s);
		*status = status_of(s, p);
		return true;
	}
	*status = s->work.status;
	if (s->work.reaped)
		return true;
	if (s->source.soft || waitid(P_PID, (id_t)p->pid, &si, WEXITED | WNOHANG | WNOWAIT) ||
	    !si.si_pid)
		return false;
	*status = si.si_code == CLD_EXITED ? (si.si_status & 0xff) << 8 : si.si_status & 0x7f;
	return true;
}

static void ended(struct session *s, const struct trigger_process *p, int status)
{
	bool crash = status == UNKNOWN || WIFSIGNALED(status);
	uint64_t now = trigger_now(s);
	int pid = (int)p->pid;

	if (!crash && !(s->cfg->triggers & TRIGGER_EXIT)) {
		log_info("no snapshot: process %d ended without a crash", pid);
		return;
	}
	if (status == UNKNOWN)
		trigger_pull(s, now, "process %d ended, how is not known", pid);
	else if (crash)
		trigger_pull(s, now, "process %d was ended by signal %d", pid,
			     WTERMSIG(status));
	else
		trigger_pull(s, now, "process %d ended with status %d", pid,
			     WEXITSTATUS(status));
}

void trigger_end_look(struct session *s)
{
	struct trigger *t = &s->trigger;
	size_t gone = 0;
	int status;

	for (size_t i = 0; i < t->nr_process; i++) {
		struct trigger_process *p = &t->process[i];

		if (!p->gone && look(s, p, &status)) {
			p->gone = true;
			watch_remove(&s->watch, p->pidfd);
			ended(s, p, status);
		}
		gone += p->gone;
	}
	t->ended = gone && gone == t->nr_process && (t->ended || trigger_waits(s));
}
