/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways to start a program: fork and exec, vfork and exec, posix_spawn, system(), and
 * a fork that does not exec. The program is "mini", which lies beside this one.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char path[4096];
static char *args[] = { path, 0 };

static int status(pid_t p)
{
	int st = 0;

	if (p < 0 || waitpid(p, &st, 0) != p || !WIFEXITED(st))
		return -1;
	return WEXITSTATUS(st);
}

static void find_mini(void)
{
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 8);
	char *slash;

	path[n < 0 ? 0 : n] = 0;
	slash = strrchr(path, '/');
	strcpy(slash ? slash + 1 : path, "mini");
}

int main(void)
{
	int plain, forked, vforked, spawned, shell;
	pid_t p;

	find_mini();
	if (!(p = fork()))
		_exit(9);
	plain = status(p);
	if (!(p = fork())) {
		execv(path, args);
		_exit(1);
	}
	forked = status(p);
	if (!(p = vfork())) {
		execv(path, args);
		_exit(1);
	}
	vforked = status(p);
	if (posix_spawn(&p, path, 0, 0, args, environ))
		p = -1;
	spawned = status(p);
	shell = WEXITSTATUS(system("exit 3"));
	printf("fork %d, fork+exec %d, vfork %d, posix_spawn %d, system %d\n", plain,
	       forked, vforked, spawned, shell);
	if (plain != 9 || forked != 7 || vforked != 7 || spawned != 7 || shell != 3)
		return 1;
	return 5;
}
