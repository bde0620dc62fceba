/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command that is recorded: forked early, so that events can be opened on its pid, held
 * at a pipe, and let go into execve when everything is ready.
 */
#ifndef RECORDER_WORKLOAD_H
#define RECORDER_WORKLOAD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct workload {
	pid_t pid;     /* -1: none */
	int go_fd;     /* write end of the pipe it waits at, -1 afterwards */
	int err_fd;    /* read end of the pipe through which a failed execve reports errno */
	bool reaped;
	int status;    /* of waitpid(2), once reaped */
};
#define WORKLOAD_INIT (struct workload){ .pid = -1, .go_fd = -1, .err_fd = -1 }

/* How the command shall find its process, whatever the recorder did to its own. */
struct workload_setup {
	char *const *argv;	     /* NULL-terminated */
	const sigset_t *mask;	     /* signal mask */
	const struct rlimit *nofile; /* RLIMIT_NOFILE */
	bool stdout_taken; /* the recording goes to stdout: the command's output to stderr */
};

/* 0 or -errno. */
__attribute__((warn_unused_result))
int workload_fork(struct workload *ret, const struct workload_setup *setup);
/* Let it exec. Does not wait for that. 0 or -errno. */
__attribute__((warn_unused_result)) int workload_go(struct workload *w);
/* Why execve failed: -errno; 0 when it did not (known once the command has exec'd or ended). */
int workload_exec_error(struct workload *w);
/* Has it ended? Reaps it without waiting; the caller may also set `reaped` and `status` when
 * somebody else did. */
bool workload_ended(struct workload *w);
/* Has it ended, and by this signal? */
bool workload_killed_by(const struct workload *w, int sig);
/* Its status as a shell would say it: the exit status, or 128 + signal. */
int workload_exit_status(const struct workload *w);
/* Kills and reaps a command that still waits at its pipe; closes everything. */
void workload_done(struct workload *w);

#endif
