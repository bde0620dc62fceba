/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pingpong [ROUNDS]: two processes hand one byte to and fro over two pipes. Each round is
 * at least two context switches when both share a cpu.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static long echo(int in, int out)
{
	char c;
	long n = 0;

	while (read(in, &c, 1) == 1 && write(out, &c, 1) == 1)
		n++;
	return n;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1000, n = 0;
	int there[2], back[2], st = 0;
	pid_t p;

	if (pipe(there) || pipe(back) || (p = fork()) < 0)
		return 1;
	if (!p) {
		close(there[1]);
		close(back[0]);
		_exit(echo(there[0], back[1]) == rounds ? 0 : 1);
	}
	close(there[0]);
	close(back[1]);
	for (; n < rounds; n++) {
		char c = (char)n, d;

		if (write(there[1], &c, 1) != 1 || read(back[0], &d, 1) != 1 || c != d)
			break;
	}
	close(there[1]);
	waitpid(p, &st, 0);
	printf("%ld rounds\n", n);
	return n == rounds && st == 0 ? 0 : 1;
}
