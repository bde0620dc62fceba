/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dozes KIND: one thread, which ignores SIGTRAP, and after a line on stdin sleeps in one system
 * call, which is tried once and must not end early. "ready"; then, behind the call, "KIND right
 * trap ignored" and status 7, or what was wrong and status 1.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1500 };

static const struct timespec doze = { .tv_sec = MS / 1000, .tv_nsec = MS % 1000 * 1000000 };

static bool in_nanosleep(void)
{
	return !nanosleep(&doze, NULL);
}

static bool in_poll(void)
{
	return !poll(NULL, 0, MS);
}

static bool in_ppoll(void)
{
	sigset_t none;

	sigemptyset(&none);
	return !ppoll(NULL, 0, &doze, &none);
}

static bool in_epoll(void)
{
	struct epoll_event e;

	return !epoll_wait(epoll_create1(0), &e, 1, MS);
}

static bool in_sigtimedwait(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return sigtimedwait(&set, NULL, &doze) < 0 && errno == EAGAIN;
}

static bool in_read(void)
{
	char c;

	return !read(STDIN_FILENO, &c, 1);
}

static const struct {
	const char *name;
	bool (*fn)(void), timed;
} kinds[] = {
	{ "nanosleep", in_nanosleep, true }, { "poll", in_poll, true },
	{ "ppoll", in_ppoll, true }, { "epoll", in_epoll, true },
	{ "sigtimedwait", in_sigtimedwait, true }, { "read", in_read, false },
};

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	struct sigaction trap;
	size_t k = 0;
	long begin;
	bool right;
	char c;

	while (argc > 1 && k < sizeof(kinds) / sizeof(kinds[0]) && strcmp(kinds[k].name, argv[1]))
		k++;
	if (argc < 2 || k == sizeof(kinds) / sizeof(kinds[0]))
		return 2;
	signal(SIGTRAP, SIG_IGN);
	puts("ready");
	fflush(stdout);
	if (read(STDIN_FILENO, &c, 1) != 1)
		return 2;
	begin = now_ms();
	right = kinds[k].fn() && (!kinds[k].timed || now_ms() - begin >= MS);
	sigaction(SIGTRAP, NULL, &trap);
	printf("%s %s trap %s\n", kinds[k].name, right ? "right" : "wrong",
	       trap.sa_handler == SIG_IGN ? "ignored" : "not ignored");
	return right && trap.sa_handler == SIG_IGN ? 7 : 1;
}
