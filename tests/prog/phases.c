/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases [CTL ACK]: has its own recording disabled and enabled by words through these FIFOs (none:
 * it asks nobody). It works in one function before, in another between and in a third one after,
 * and so does a thread that never enters the kernel. Between, it looks for what does not belong
 * into its code, and makes processes: one that ends then, and one that goes on after.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS 300

enum phase { BEFORE, BETWEEN, AFTER, OVER };
static volatile enum phase phase;
static volatile unsigned long turns[OVER];
static volatile int caught;
static int ctl = -1, ack = -1;

static int word(const char *w)
{
	char c = 'x';

	if (ctl < 0)
		return 0;
	if (write(ctl, w, strlen(w)) < 0)
		return 1;
	while (read(ack, &c, 1) == 1 && c)
		;
	return c;
}

#define WORK(name)                                    \
	__attribute__((noinline)) static long name(long n) \
	{                                              \
		long x = 1;                             \
                                                       \
		while (n--)                             \
			x = x & 1 ? 3 * x + n : x >> 1; \
		return x;                               \
	}
WORK(work_before)
WORK(work_between)
WORK(work_after)

static void *work_beside(void *unused)
{
	for (enum phase p; (p = phase) != OVER; turns[p]++)
		;
	return unused;
}

static void await_turns(enum phase p)
{
	for (unsigned long n = turns[p]; turns[p] < n + 3;)
		__builtin_ia32_pause();
}

static int differs(struct dl_phdr_info *info, size_t size, void *unused)
{
	int fd = open("/proc/self/exe", O_RDONLY), found = 0;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		char *is = malloc(h->p_filesz + 1);

		if (h->p_type == PT_LOAD && h->p_flags & PF_X)
			found |= pread(fd, is, h->p_filesz, (off_t)h->p_offset) !=
					 (ssize_t)h->p_filesz ||
				 memcmp(is, (char *)info->dlpi_addr + h->p_vaddr, h->p_filesz);
		free(is);
	}
	close(fd);
	return found + 1; /* the program is told of first */
}

static void on_usr1(int sig)
{
	caught += sig == SIGUSR1;
}

/* It waits until something is written, and works then. */
static pid_t outlives(int go)
{
	char c;
	pid_t p = fork();

	if (p)
		return p;
	while (read(go, &c, 1) != 1)
		;
	_exit(work_after(TURNS) ? 5 : 6);
}

static int status(pid_t p)
{
	int st = -1;

	return waitpid(p, &st, 0) == p && WIFEXITED(st) ? WEXITSTATUS(st) : -1;
}

int main(int argc, char **argv)
{
	pid_t ends, stays;
	pthread_t beside;
	int go[2], own;

	if (argc > 2) {
		ctl = open(argv[1], O_RDWR);
		ack = open(argv[2], O_RDWR);
	}
	signal(SIGUSR1, on_usr1);
	if (pipe(go) || pthread_create(&beside, 0, work_beside, 0))
		return 1;
	await_turns(BEFORE);
	printf("before %ld\n", work_before(TURNS));
	if (word("disable\n"))
		return 2;
	phase = BETWEEN;
	await_turns(BETWEEN);
	printf("between %ld\n", work_between(1000 * TURNS));
	own = dl_iterate_phdr(differs, 0) - 1;
	raise(SIGUSR1);
	fflush(stdout);
	ends = fork();
	if (!ends)
		_exit(work_between(TURNS) ? 3 : 4);
	printf("a child ends with %d\n", status(ends));
	fflush(stdout);
	stays = outlives(go[0]);
	if (word("enable\n"))
		return 2;
	phase = AFTER;
	await_turns(AFTER);
	printf("after %ld\n", work_after(TURNS));
	if (write(go[1], "g", 1) != 1)
		return 1;
	printf("a child ends with %d\n", status(stays));
	phase = OVER;
	pthread_join(beside, 0);
	printf("%s, %d signal\n", own ? "strange code" : "own code", caught);
	return 8;
}
