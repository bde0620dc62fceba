/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXEC_FAILED = 127 };

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* The child: waits for one byte, then becomes the command. End of file instead of a byte
 * means that the recorder gave up. */
static _Noreturn void hold_and_exec(int go, int report, const struct workload_setup *w)
{
	char c;
	int err;

	while (read(go, &c, 1) != 1)
		if (errno != EINTR)
			_exit(EXEC_FAILED);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, w->mask, NULL);
	(void)setrlimit(RLIMIT_NOFILE, w->nofile);
	if (w->stdout_taken)
		(void)dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(w->argv[0], w->argv);
	err = errno;
	if (write(report, &err, sizeof(err)) < 0)
		_exit(EXEC_FAILED);
	_exit(EXEC_FAILED);
}

int workload_fork(struct workload *ret, const struct workload_setup *setup)
{
	int go[2] = { -1, -1 }, report[2] = { -1, -1 }, err;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) || pipe2(report, O_CLOEXEC))
		goto out;
	/* A byte of buffered output must not be printed twice. */
	(void)fflush(NULL);
	pid = fork();
	if (pid < 0)
		goto out;
	if (!pid) {
		close_fd(&go[1]);
		hold_and_exec(go[0], report[1], setup);
	}
	close_fd(&go[0]);
	close_fd(&report[1]);
	*ret = (struct workload){ .pid = pid, .go_fd = go[1], .err_fd = report[0] };
	return 0;
out:
	err = -errno;
	close_fd(&go[0]);
	close_fd(&go[1]);
	close_fd(&report[0]);
	close_fd(&report[1]);
	return err;
}

int workload_go(struct workload *w)
{
	ssize_t n;

	do
		n = write(w->go_fd, "g", 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		return -errno;
	close_fd(&w->go_fd);
	return 0;
}

int workload_exec_error(struct workload *w)
{
	int err = 0;

	if (w->err_fd < 0)
		return 0;
	if (read(w->err_fd, &err, sizeof(err)) != sizeof(err))
		return 0;
	return -err;
}

bool workload_ended(struct workload *w)
{
	if (!w->reaped && w->pid > 0 && waitpid(w->pid, &w->status, WNOHANG) == w->pid)
		w->reaped = true;
	return w->reaped;
}

bool workload_killed_by(const struct workload *w, int sig)
{
	return w->reaped && WIFSIGNALED(w->status) && WTERMSIG(w->status) == sig;
}

int workload_exit_status(const struct workload *w)
{
	if (WIFSIGNALED(w->status))
		return 128 + WTERMSIG(w->status);
	return WEXITSTATUS(w->status);
}

void workload_done(struct workload *w)
{
	if (w->pid > 0 && !w->reaped && w->go_fd >= 0) {
		(void)kill(w->pid, SIGKILL);
		(void)waitpid(w->pid, NULL, 0);
	}
	close_fd(&w->go_fd);
	close_fd(&w->err_fd);
	*w = WORKLOAD_INIT;
}
