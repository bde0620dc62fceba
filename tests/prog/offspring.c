/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offspring: threads that do nothing but start threads, and one that forks children, until the
 * end of stdin. Each child must do its work and come to its end. "ready" when they run; "done" and
 * status 7 in the end.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAKERS = 2, WORTH = 1225 };

static atomic_bool over;
static atomic_long threads, children;

static void *work(void *arg)
{
	volatile uintptr_t sum = 0;

	(void)arg;
	for (uintptr_t i = 0; i < 50; i++)
		sum += i;
	return (void *)sum;
}

static void give_up(const char *what, int status)
{
	fprintf(stderr, "offspring: %s: %#x\n", what, status);
	_exit(1);
}

static void *make_threads(void *arg)
{
	pthread_t t;
	void *sum;

	while (!atomic_load(&over)) {
		if (pthread_create(&t, NULL, work, NULL) || pthread_join(t, &sum))
			give_up("no thread", 0);
		if (sum != (void *)WORTH)
			give_up("another result", 0);
		atomic_fetch_add(&threads, 1);
	}
	return arg;
}

static void *make_children(void *arg)
{
	int status;

	while (!atomic_load(&over)) {
		pid_t pid = fork();

		if (!pid)
			_exit(work(NULL) == (void *)WORTH ? 5 : 6);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			give_up("no child", 0);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 5)
			give_up("a child ends", status);
		atomic_fetch_add(&children, 1);
	}
	return arg;
}

int main(void)
{
	pthread_t t[MAKERS + 1];

	for (int i = 0; i < MAKERS; i++)
		pthread_create(&t[i], NULL, make_threads, NULL);
	pthread_create(&t[MAKERS], NULL, make_children, NULL);
	printf("ready\n");
	fflush(stdout);
	while (getchar() != EOF)
		;
	atomic_store(&over, true);
	for (int i = 0; i <= MAKERS; i++)
		pthread_join(t[i], NULL);
	if (!threads || !children)
		return 1;
	printf("done\n");
	return 7;
}
