/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases [CTL ACK]: has its own recording disabled and enabled by words through these FIFOs (none:
 * it asks nobody). It works in one function before, in another between and in a third one after,
 * and so do two threads that are not in the kernel when it asks: one blocks SIGTRAP before, the
 * other one between. Between, it looks for what does not belong
 * into its code and counts its cpus; puts other code where some has run that will again; meets
 * SIGTRAPs, of its own and by a breakpoint, handles and blocks them from then on, while one is
 * pending; and makes processes: one that ends then, and two that ignore SIGTRAP and sleep until
 * after, when a signal wakes one of them first. Another one has ignored SIGTRAP before, and handles
 * it since.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS 300

enum phase { BEFORE, BETWEEN, AFTER, OVER };
static volatile enum phase phase;
enum { BESIDE = 2 };
static volatile unsigned long turns[BESIDE][OVER];
static volatile pid_t tids[BESIDE];
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

static void await_turns(enum phase p)
{
	for (int i = 0; i < BESIDE; i++)
		for (unsigned long n = turns[i][p]; turns[i][p] < n + 3;)
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

static int traps_go_to(void (*handler)(int))
{
	struct sigaction a;

	return !sigaction(SIGTRAP, 0, &a) && a.sa_handler == handler;
}

static int traps_blocked(void)
{
	sigset_t set;

	sigprocmask(0, 0, &set);
	return sigismember(&set, SIGTRAP) && traps_go_to(on_trap);
}

static int trap_pends(void)
{
	sigset_t set;

	return !sigpending(&set) && sigismember(&set, SIGTRAP);
}

/* It is told in which phase it shall block SIGTRAP. */
static void *work_beside(void *arg)
{
	enum phase p, blocks = (enum phase)(uintptr_t)arg, blocked = OVER;

	tids[blocks] = gettid();
	for (; (p = phase) != OVER; turns[blocks][p]++)
		if (p == blocks && blocked != p) {
			block_traps(SIG_BLOCK);
			blocked = p;
		}
	return (void *)(uintptr_t)(traps_blocked() && trap_pends());
}

/* The kernel's view. */
static int blocks_traps(pid_t tid)
{
	unsigned long long set = 0;
	char name[64], line[256];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/self/task/%d/status", tid);
	f = fopen(name, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SigBlk: %llx", &set) == 1)
			break;
	if (f)
		fclose(f);
	return set >> (SIGTRAP - 1) & 1;
}

static void meet_traps(void)
{
	raise(SIGTRAP);
	__asm__ volatile("int3");
	block_traps(SIG_BLOCK);
	raise(SIGTRAP);
	printf("%d traps, %s\n", traps, trap_pends() ? "one pends" : "none pends");
}

static void say(int fd)
{
	if (write(fd, "g", 1) != 1)
		_exit(1);
}

static void await(int go)
{
	char c;
	ssize_t n;

	while ((n = read(go, &c, 1)) != 1)
		if (!n) /* who should write is dead */
			_exit(1);
}

/* It waits until something is written, and works then; it has caught so many signals. */
static pid_t outlives(int go, int signals)
{
	pid_t p = fork();

	if (p)
		return p;
	await(go);
	raise(SIGTRAP);
	_exit(work_after(TURNS) && caught == signals && traps_go_to(SIG_IGN) ? 5 : 6);
}

/* It ignores SIGTRAP until it is told of the second phase, and handles it then. */
static pid_t ignores(int go, int tell)
{
	pid_t p = fork();

	if (p)
		return p;
	signal(SIGTRAP, SIG_IGN);
	raise(SIGTRAP);
	say(tell);
	await(go);
	raise(SIGTRAP);
	signal(SIGTRAP, on_trap);
	raise(SIGTRAP);
	say(tell);
	await(go);
	raise(SIGTRAP);
	_exit(traps);
}

static int status(pid_t p)
{
	int st = -1;

	return waitpid(p, &st, 0) == p && WIFEXITED(st) ? WEXITSTATUS(st) : -1;
}

static int (*times)(int);
static pthread_t beside[BESIDE];
static int go[2][2], heed[2], told[2];
static pid_t stays, roused, heeds;

static int before(void)
{
	if (pipe(go[0]) || pipe(go[1]) || pipe(heed) || pipe(told))
		return 1;
	signal(SIGUSR1, on_usr1);
	heeds = ignores(heed[0], told[1]);
	close(told[1]);
	await(told[0]);
	for (uintptr_t i = 0; i < BESIDE; i++)
		if (pthread_create(&beside[i], 0, work_beside, (void *)i))
			return 1;
	await_turns(BEFORE);
	printf("before %ld, %d\n", work_before(TURNS), times(7));
	return 0;
}

static void make_children(void)
{
	pid_t ends;

	fflush(stdout);
	signal(SIGTRAP, SIG_IGN);
	stays = outlives(go[0][0], 1);
	roused = outlives(go[1][0], 2);
	say(heed[1]);
	await(told[0]);
	signal(SIGTRAP, on_trap);
	ends = fork();
	if (!ends)
		_exit(work_between(TURNS) ? 3 : 4);
	printf("a child ends with %d\n", status(ends));
}

/* Is there code that does not belong here? */
static int between(void)
{
	int found;

	phase = BETWEEN;
	await_turns(BETWEEN);
	printf("between %ld, %d cpus\n", work_between(1000 * TURNS), cpus());
	found = dl_iterate_phdr(differs, 0) - 1;
	map_other(times);
	raise(SIGUSR1);
	make_children();
	meet_traps();
	for (int i = 0; i < BESIDE; i++) {
		pthread_kill(beside[i], SIGTRAP);
		printf("beside, %s\n", blocks_traps(tids[i]) ? "blocked" : "not blocked");
	}
	fflush(stdout);
	return found;
}

static void after(void)
{
	void *right;

	phase = AFTER;
	await_turns(AFTER);
	printf("after %ld, %d\n", work_after(TURNS), times(7));
	printf("%s, %d traps\n", traps_blocked() && trap_pends() ? "blocked" : "not as it was",
	       traps);
	block_traps(SIG_UNBLOCK);
	raise(SIGTRAP);
	kill(roused, SIGUSR1);
	say(go[0][1]);
	say(go[1][1]);
	say(heed[1]);
	printf("children end with %d, %d, %d\n", status(stays), status(roused), status(heeds));
	phase = OVER;
	for (int i = 0; i < BESIDE; i++) {
		pthread_join(beside[i], &right);
		printf("beside, %s\n", right ? "one pends" : "not as it was");
	}
}

int main(int argc, char **argv)
{
	int found;

	times = map_file();
	if (argc > 2) {
		ctl = open(argv[1], O_RDWR);
		ack = open(argv[2], O_RDWR);
	}
	if (before())
		return 1;
	if (word("disable\n"))
		return 2;
	found = between();
	if (word("enable\n"))
		return 2;
	after();
	printf("%s, %d signal, %d traps\n", found ? "strange code" : "own code", caught, traps);
	return 8;
}
