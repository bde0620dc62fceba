/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/front.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perfio/soft/lifeline.h"
#include "recorder/cmd.h"
#include "recorder/log.h"
#include "recorder/rescue.h"

/* No part of the program's own name: who ends that by its name does not mean this one. */
static const char tracer_name[] = "soft-tracer";

/* What ends a recording, or asks something of it. What else comes ends the front. */
static void wanted(sigset_t *ret, const struct rec_config *c)
{
	sigemptyset(ret);
	sigaddset(ret, SIGCHLD);
	sigaddset(ret, SIGINT);
	sigaddset(ret, SIGTERM);
	if (c->snapshot || c->rotate)
		sigaddset(ret, SIGUSR2);
	sigaddset(ret, SIGHUP);
}

/* Of the signal that was handed on, before the child was ready for it. */
static void die_too(int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	(void)signal(sig, SIG_DFL);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)raise(sig);
}

static void *watch(void *arg)
{
	const struct sched_param p = { .sched_priority = 1 };

	(void)sched_setscheduler(0, SCHED_FIFO, &p); /* where it may: it is about microseconds */
	soft_lifeline_wait(arg);
	return NULL;
}

/* The status of a child that has ended; what it has left behind is put right first. */
static int ended(const struct rec_config *c, pthread_t watcher, int status, int handed_on)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (c->lifeline) {
		soft_lifeline_wake(c->lifeline);
		(void)pthread_join(watcher, NULL);
	}
	rescue(c);
	if (WTERMSIG(status) == handed_on)
		die_too(handed_on);
	log_err(0, "the process that recorded was killed by signal %d (%s)", WTERMSIG(status),
		strsignal(WTERMSIG(status)));
	return EXIT_FAILED;
}

static int wait_for(struct rec_config *c, pid_t child, const sigset_t *set)
{
	int status, sig, handed_on = 0;
	pthread_t watcher = 0;

	if (c->lifeline && pthread_create(&watcher, NULL, watch, c->lifeline))
		c->lifeline = NULL;
	for (;;) {
		if (waitpid(child, &status, WNOHANG) == child)
			return ended(c, watcher, status, handed_on);
		sig = sigwaitinfo(set, NULL);
		if (sig <= 0 || sig == SIGCHLD)
			continue;
		handed_on = sig;
		(void)kill(child, sig);
	}
}

/* SIGTERM is what ends a recording in order. Before there is one, it just ends the process. */
static bool bind_to_front(pid_t front)
{
	(void)setsid();
	(void)prctl(PR_SET_NAME, tracer_name);
	return !prctl(PR_SET_PDEATHSIG, SIGTERM) && getppid() == front;
}

int front_run(struct rec_config *c, int (*fn)(struct rec_config *c))
{
	pid_t front = getpid(), child;
	sigset_t set, old;

	wanted(&set, c);
	(void)sigprocmask(SIG_BLOCK, &set, &old);
	(void)signal(SIGCHLD, SIG_DFL); /* ignored, it would leave no child to wait for */
	(void)fflush(NULL);
	c->lifeline = soft_lifeline_new();
	child = fork();
	if (child < 0) {
		log_err(-errno, "cannot start the process that records");
		return EXIT_CANNOT;
	}
	if (child)
		return wait_for(c, child, &set);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	if (!bind_to_front(front))
		return EXIT_FAILED;
	c->front = front;
	return fn(c);
}
