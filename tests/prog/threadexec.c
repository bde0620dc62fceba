/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that is not the leader calls exec: the kernel ends all others, and the thread
 * goes on under the leader's number. A third thread spins meanwhile, on a conditional
 * branch: a loop of direct jumps leaves no packets, so no decoder could count it.
 *
 * threadexec CMD...: a thread executes that, in `execute`, without a library.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile long turns, stop;

static void *spin(void *unused)
{
	while (!stop)
		turns++;
	return unused;
}

static void *change(void *unused)
{
	static char *args[] = { "threadexec", "again", 0 };
	struct timespec t = { .tv_nsec = 5000000 };

	while (turns < 10)
		nanosleep(&t, 0);
	execv("/proc/self/exe", args);
	_exit(1);
}

__attribute__((noinline)) static long execute(char **argv)
{
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(SYS_execve), "D"(*argv), "S"(argv), "d"(environ)
			 : "rcx", "r11", "memory");
	return r;
}

static void *run(void *argv)
{
	_exit(execute(argv) ? 1 : 0);
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1 && strcmp(argv[1], "again")) {
		if (pthread_create(&t, 0, run, argv + 1))
			return 1;
	} else if (argc > 1) {
		puts("exec by a thread");
		return 9;
	} else if (pthread_create(&t, 0, spin, 0) || pthread_create(&t, 0, change, 0))
		return 1;
	for (;;)
		pause();
}
