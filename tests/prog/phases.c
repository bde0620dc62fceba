/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases [CTL ACK]: has its own recording disabled and enabled by words through these FIFOs (none:
 * it asks nobody). It works in one function before, in another between and in a third one after,
 * and so does a thread that never enters the kernel. Between, it looks for what does not belong
 * into its code and counts its cpus; puts other code where some has run that will again; handles
 * and blocks SIGTRAP from then on; and makes processes: one that ends then, and one that sleeps
 * until after, when a signal wakes it first.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS 300

enum phase { BEFORE, BETWEEN, AFTER, OVER };
static volatile enum phase phase;
static volatile unsigned long turns[OVER];
static volatile int caught, traps;
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

/* edi times n: a page of code that can lie anywhere. */
#define PAGE 4096
int times3(int), times5(int);
#define TIMES(n)                                                                        \
	__asm__(".pushsection .times, \"ax\"\n.balign 4096\ntimes" #n ":\n"              \
		"xor %eax, %eax\n1: dec %edi\njs 2f\nadd $" #n ", %eax\njmp 1b\n2: ret\n" \
		".balign 4096\n.popsection\n")
TIMES(3);
TIMES(5);
extern char __executable_start; /* by the linker: file offset 0 */

/* Code of a file, which cannot be written. */
static int (*map_file(void))(int)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	void *p = mmap(0, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
		       (char *)times3 - &__executable_start);

	close(fd);
	return p == MAP_FAILED ? times5 : (int (*)(int))p;
}

/* Code of no file there, which can. */
static void map_other(void *at)
{
	void *p = mmap(at, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (p != MAP_FAILED)
		memcpy(p, (void *)times5, PAGE);
}

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

static void on_trap(int sig)
{
	traps += sig == SIGTRAP;
}

static int cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? -1 : CPU_COUNT(&set);
}

static void block_traps(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(how, &set, 0);
}

static int traps_blocked(void)
{
	struct sigaction a;
	sigset_t set;

	sigprocmask(0, 0, &set);
	return sigismember(&set, SIGTRAP) && !sigaction(SIGTRAP, 0, &a) && a.sa_handler == on_trap;
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
	_exit(work_after(TURNS) && caught == 2 ? 5 : 6);
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
	int go[2], own, (*times)(int) = map_file();

	if (argc > 2) {
		ctl = open(argv[1], O_RDWR);
		ack = open(argv[2], O_RDWR);
	}
	signal(SIGUSR1, on_usr1);
	if (pipe(go) || pthread_create(&beside, 0, work_beside, 0))
		return 1;
	await_turns(BEFORE);
	printf("before %ld, %d\n", work_before(TURNS), times(7));
	if (word("disable\n"))
		return 2;
	phase = BETWEEN;
	await_turns(BETWEEN);
	printf("between %ld, %d cpus\n", work_between(1000 * TURNS), cpus());
	own = dl_iterate_phdr(differs, 0) - 1;
	map_other(times);
	raise(SIGUSR1);
	signal(SIGTRAP, on_trap);
	block_traps(SIG_BLOCK);
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
	printf("after %ld, %d\n", work_after(TURNS), times(7));
	raise(SIGTRAP);
	printf("%s, %d traps\n", traps_blocked() ? "blocked" : "not as it was", traps);
	block_traps(SIG_UNBLOCK);
	kill(stays, SIGUSR1);
	if (write(go[1], "g", 1) != 1)
		return 1;
	printf("a child ends with %d\n", status(stays));
	phase = OVER;
	pthread_join(beside, 0);
	printf("%s, %d signal, %d trap\n", own ? "strange code" : "own code", caught, traps);
	return 8;
}
