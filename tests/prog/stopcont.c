/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stop and continue: a child that stops itself and is continued, then a child that stops
 * and continues its parent while that sleeps (the kernel restarts the sleep).
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void nap(long ms)
{
	struct timespec t = { .tv_nsec = ms * 1000000 };

	while (nanosleep(&t, &t))
		;
}

int main(void)
{
	int st, stopped, continued, code, go[2];
	char c = 0;
	pid_t p;

	if (pipe(go) || (p = fork()) < 0)
		return 1;
	if (!p) {
		raise(SIGSTOP);
		/* A child that has ended can no longer be waited for as continued. */
		read(go[0], &c, 1);
		_exit(7);
	}
	waitpid(p, &st, WUNTRACED);
	stopped = WIFSTOPPED(st) && WSTOPSIG(st) == SIGSTOP;
	kill(p, SIGCONT);
	waitpid(p, &st, WCONTINUED);
	continued = WIFCONTINUED(st);
	write(go[1], &c, 1);
	waitpid(p, &st, 0);
	code = WEXITSTATUS(st);

	p = fork();
	if (!p) {
		nap(20);
		kill(getppid(), SIGSTOP);
		nap(20);
		kill(getppid(), SIGCONT);
		_exit(0);
	}
	nap(80);
	waitpid(p, &st, 0);
	printf("stopped %d, continued %d, exit %d, slept through a stop\n", stopped,
	       continued, code);
	return stopped && continued && code == 7 ? 8 : 1;
}
