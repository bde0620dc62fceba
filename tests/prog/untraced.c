/* SPDX-License-Identifier: Apache-2.0 */
/*
 * untraced: children that are made with CLONE_UNTRACED, by clone(2) and clone3(2), with a copy of
 * the memory. Each finds its flags as they were given, and works; so does the parent.
 */
#define _GNU_SOURCE
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int work(void)
{
	volatile int sum = 0;

	for (int i = 0; i < 10; i++)
		sum += i % 3 ? i : 2 * i;
	return sum;
}

/* The argument register is as it was, on both sides. */
static long clone_flags(unsigned long flags, unsigned long *after)
{
	register unsigned long r10 __asm__("r10") = 0, r8 __asm__("r8") = 0;
	long ret = SYS_clone;

	__asm__ volatile("syscall" : "+a"(ret), "+D"(flags)
			 : "S"(0), "d"(0), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
	*after = flags;
	return ret;
}

static void tell(const char *what, pid_t pid)
{
	int status = 0;

	if (pid <= 0 || waitpid(pid, &status, 0) != pid)
		printf("%s: no child\n", what);
	else
		printf("%s: %#x, %d\n", what, status, work());
}

int main(void)
{
	const unsigned long flags = CLONE_UNTRACED | SIGCHLD;
	struct clone_args a = { .flags = CLONE_UNTRACED, .exit_signal = SIGCHLD };
	unsigned long after;
	pid_t pid;

	printf("%d\n", work());
	fflush(stdout);
	pid = (pid_t)clone_flags(flags, &after);
	if (!pid)
		_exit(after == flags ? work() : 1);
	tell(after == flags ? "clone" : "clone, other flags", pid);
	fflush(stdout);
	pid = (pid_t)syscall(SYS_clone3, &a, sizeof(a));
	if (!pid)
		_exit(a.flags == CLONE_UNTRACED ? work() : 1);
	tell(a.flags == CLONE_UNTRACED ? "clone3" : "clone3, other flags", pid);
	return 7;
}
