/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attached [BUSY [SLEEPING]]: a program that others attach to. BUSY threads (2) compute, each
 * round the same, and notice a wrong result; SLEEPING (one of each kind) wait in system calls
 * that must not end before they are told, nor with another result. Writes its state to stdout:
 * "ready" when all run; then, for each line on stdin, one line: rounds so far, and what the main
 * thread finds of its signals. At the end of stdin all threads are woken; "done" and status 7, or
 * what went wrong and status 1.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64, STEPS = 300 };

static atomic_bool over;
static atomic_ulong rounds;
static atomic_int wrong;
static pthread_barrier_t begun; /* all threads, and with the masks that they have from there on */
static int wake[2], pair[2]; /* a pipe that is closed in the end; sockets */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void bad(const char *what)
{
	fprintf(stderr, "attached: %s: %s\n", what, strerror(errno));
	atomic_fetch_add(&wrong, 1);
}

/* Branches, calls, returns and jumps through a table. */
static uint32_t twist(uint32_t v)
{
	switch (v % 7) {
	case 0: return v * 3 + 1;
	case 1: return v ^ 0x55aa;
	case 2: return v >> 1;
	case 3: return v * 1664525 + 1013904223;
	case 4: return ~v;
	case 5: return v << 3 | v >> 29;
	default: return v + 12345;
	}
}

static uint32_t compute(void)
{
	uint32_t v = 42;

	for (int i = 0; i < STEPS; i++)
		v = i & 1 ? twist(v) : twist(v) + 1;
	return v;
}

static void *busy(void *arg)
{
	const uint32_t want = compute();

	(void)arg;
	pthread_barrier_wait(&begun);
	while (!atomic_load(&over)) {
		if (compute() != want)
			bad("another result");
		atomic_fetch_add(&rounds, 1);
	}
	return NULL;
}

static void in_epoll(void)
{
	struct epoll_event e = { .events = EPOLLIN };
	int fd = epoll_create1(0);

	epoll_ctl(fd, EPOLL_CTL_ADD, wake[0], &e);
	if (epoll_wait(fd, &e, 1, -1) != 1)
		bad("epoll_wait");
	close(fd);
}

static void in_read(void)
{
	char c;

	if (read(wake[0], &c, 1) != 0)
		bad("read");
}

static void in_recv(void)
{
	const struct timeval hour = { .tv_sec = 3600 };
	char c;

	/* With a time limit it fails when it is interrupted. */
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &hour, sizeof(hour));
	if (recv(pair[0], &c, 1, 0) != 0)
		bad("recv");
}

static void in_poll(void)
{
	struct pollfd p = { .fd = wake[0], .events = POLLIN };

	if (poll(&p, 1, -1) != 1)
		bad("poll");
}

static void in_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(wake[0], &set);
	if (select(wake[0] + 1, &set, NULL, NULL, NULL) != 1)
		bad("select");
}

static void in_sigwait(void)
{
	const struct timespec hour = { .tv_sec = 3600 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (sigtimedwait(&set, NULL, &hour) != SIGUSR1)
		bad("sigtimedwait");
}

static void in_futex(void)
{
	pthread_mutex_lock(&lock);
	while (!atomic_load(&over))
		pthread_cond_wait(&cond, &lock);
	pthread_mutex_unlock(&lock);
}

static void in_naps(void)
{
	const struct timespec nap = { .tv_nsec = 20000000 };

	while (!atomic_load(&over))
		if (clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL))
			bad("nanosleep");
}

static void (*const kinds[])(void) = {
	in_epoll, in_read, in_recv, in_poll, in_select, in_sigwait, in_futex, in_naps,
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void *sleeping(void *arg)
{
	pthread_barrier_wait(&begun);
	kinds[(uintptr_t)arg % KINDS]();
	return NULL;
}

/* What a debugger might leave behind. */
static void tell_state(void)
{
	struct sigaction trap;
	sigset_t mask, pending;
	cpu_set_t cpus;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	sigpending(&pending);
	sigaction(SIGTRAP, NULL, &trap);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	printf("rounds %lu blocked %d pending %d trap %s cpus %d\n", atomic_load(&rounds),
	       sigismember(&mask, SIGTRAP), sigismember(&pending, SIGTRAP),
	       trap.sa_handler == SIG_DFL   ? "default"
	       : trap.sa_handler == SIG_IGN ? "ignored" : "handled",
	       CPU_COUNT(&cpus));
	fflush(stdout);
}

static void release(pthread_t sigwaiter)
{
	pthread_mutex_lock(&lock);
	atomic_store(&over, true);
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&lock);
	close(wake[1]);
	close(pair[1]);
	if (sigwaiter)
		pthread_kill(sigwaiter, SIGUSR1);
}

int main(int argc, char **argv)
{
	uintptr_t nr_busy = argc > 1 ? strtoul(argv[1], NULL, 10) : 2, n = 0;
	uintptr_t nr_sleeping = argc > 2 ? strtoul(argv[2], NULL, 10) : KINDS;
	pthread_t t[2 * MOST], sigwaiter = 0;
	char line[64];
	sigset_t set;

	if (nr_busy > MOST || nr_sleeping > MOST || pipe(wake) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 2;
	if (getenv("ATTACHED_IGNORES"))
		signal(SIGTRAP, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (getenv("ATTACHED_BLOCKS"))
		sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pthread_barrier_init(&begun, NULL, (unsigned)(nr_busy + nr_sleeping + 1));
	for (uintptr_t i = 0; i < nr_busy; i++)
		pthread_create(&t[n++], NULL, busy, NULL);
	for (uintptr_t i = 0; i < nr_sleeping; i++) {
		pthread_create(&t[n], NULL, sleeping, (void *)i);
		if (kinds[i % KINDS] == in_sigwait)
			sigwaiter = t[n];
		n++;
	}
	pthread_barrier_wait(&begun);
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		tell_state();
	release(sigwaiter);
	while (n)
		pthread_join(t[--n], NULL);
	tell_state();
	if (atomic_load(&wrong))
		return 1;
	printf("done\n");
	return 7;
}
