/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes into its own code, which is that of its file: as a file (/proc/PID/mem), by each of the
 * calls that do so, while another thread runs code of the same page; and by making it writable for
 * a while. What it wrote moves with its mapping, is there in a forked child, and is gone when the
 * page is given back. A child's code is written by its parent, while it runs, and while it is
 * stopped: what it runs next. Prints what the functions return and what is read back. Exit: 0.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

/*
 * patched: edi below 5? 1, or 11. Behind it in the page `beside`, edi turns. `across` begins ahead
 * of the end of a page, with a mov of which the immediate goes on in the next page. `stopper`, in a
 * page of its own, sends itself SIGSTOP, and what follows the call is written meanwhile.
 */
__asm__(".pushsection .owncode, \"ax\"\n.balign 4096\n"
	".globl patched, beside, across, stopper\n"
	"patched: mov $1, %eax; cmp $5, %edi; jl 1f; add $10, %eax; 1: ret; .balign 64\n"
	"beside: xor %eax, %eax; 1: add %edi, %eax; dec %edi; jnz 1b; ret\n"
	".org 4094\n"
	"across: mov $0x01020304, %eax; test %edi, %edi; jz 1f; inc %eax; 1: ret\n"
	".balign 4096\n"
	"stopper: mov $39, %eax; syscall; mov %eax, %edi; mov $19, %esi; mov $62, %eax; syscall\n"
	"nop; nop; nop; mov $1, %eax; ret; mov $2, %eax; ret\n"
	".balign 4096\n.popsection\n");
extern int patched(int), beside(int), across(int), stopper(void);

static const uint8_t other[] = {
	0xb8, 2, 0, 0, 0, 0x83, 0xff, 5, 0x7c, 4, 0x83, 0xc0, 20, 0x90, 0xc3
};
static const uint8_t third[] = {
	0xbf, 3, 0, 0, 0, 0x8d, 0x04, 0x3f, 0xeb, 1, 0xc3, 0x83, 0xc0, 7, 0xc3
};

extern uint8_t start[] __asm__("__executable_start");
static int fd;
static volatile int done;

static off_t at(const void *p)
{
	return (off_t)(uintptr_t)p;
}

static void run(const char *what, int (*f)(int))
{
	int s = 0;

	for (int i = 1; i < 10; i++)
		s = s * 3 + f(i);
	printf("%s: %d %d\n", what, s, beside(9));
}

static void say(const char *what, const void *want, size_t n)
{
	uint8_t is[PAGE];

	if (pread(fd, is, n, at(patched)) != (ssize_t)n || memcmp(is, want, n))
		printf("not as written\n");
	run(what, patched);
}

/* Which makes no system call meanwhile. */
static void of_a_running_child(void)
{
	volatile int *turn = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				  -1, 0);
	char name[32];
	int status, mem;
	pid_t child = fork();

	if (!child) {
		*turn = 1;
		while (*turn == 1)
			;
		_exit(patched(9));
	}
	while (!*turn)
		sched_yield();
	snprintf(name, sizeof(name), "/proc/%d/mem", (int)child);
	mem = open(name, O_RDWR | O_CLOEXEC);
	pwrite(mem, other, sizeof(other), at(patched));
	close(mem);
	*turn = 2;
	waitpid(child, &status, 0);
	printf("%d\n", WEXITSTATUS(status));
}

static void by_each_call(void)
{
	uint8_t was[sizeof(other)];
	struct iovec v[] = { { (void *)third, 3 }, { (void *)(third + 3), sizeof(third) - 3 } };

	memcpy(was, patched, sizeof(was));
	run("as it was", patched);
	pwrite(fd, other, sizeof(other), at(patched));
	say("pwrite", other, sizeof(other));
	lseek(fd, at(patched), SEEK_SET);
	write(fd, third, 5);
	write(fd, third + 5, sizeof(third) - 5);
	say("write", third, sizeof(third));
	lseek(fd, at(patched), SEEK_SET);
	pwrite(fd, other, sizeof(other), at(patched));
	say("pwrite", other, sizeof(other));
	writev(fd, v, 2);
	say("writev", third, sizeof(third));
	v[0] = (struct iovec){ (void *)other, sizeof(other) };
	pwritev(fd, v, 1, at(patched));
	say("pwritev", other, sizeof(other));
	v[0] = (struct iovec){ (void *)third, sizeof(third) };
	lseek(fd, at(patched), SEEK_SET);
	pwritev2(fd, v, 1, -1, 0);
	say("pwritev2", third, sizeof(third));
	pwrite(fd, other + 12, 1, at(patched) + 13);
	run("a byte", patched);
}

static void over_two_pages(void)
{
	const uint32_t imm = 0x05060708;
	const uint8_t jmp[] = { 0xeb, 2 };

	run("across", across);
	pwrite(fd, jmp, 1, at(across) + 3);
	run("the second", across);
	pwrite(fd, &imm, sizeof(imm), at(across) + 1);
	run("both sides", across);
	pwrite(fd, jmp, sizeof(jmp), at(across) + 7);
	run("behind it", across);
}

static void on_trap(int sig)
{
	printf("trap\n");
}

/* int3; mov $5, %eax; ret */
static void with_int3(void)
{
	static const uint8_t code[] = { 0xcc, 0xb8, 5, 0, 0, 0, 0xc3 };

	signal(SIGTRAP, on_trap);
	pwrite(fd, code, sizeof(code), at(patched));
	printf("%d\n", patched(1));
	signal(SIGTRAP, SIG_DFL);
	pwrite(fd, other, sizeof(other), at(patched));
	say("without", other, sizeof(other));
}

static void *turn(void *arg)
{
	unsigned s = 0;

	while (!done)
		s += beside(20) != 210;
	return (void *)(uintptr_t)s;
}

static void with_a_thread(void)
{
	pthread_t t;
	void *s;

	pthread_create(&t, NULL, turn, NULL);
	for (int i = 0; i < 6; i++) {
		pwrite(fd, i % 2 ? other : third, sizeof(other), at(patched));
		run("thread", patched);
	}
	done = 1;
	pthread_join(t, &s);
	printf("wrong turns: %d\n", (int)(uintptr_t)s);
}

/* mov $1, %eax behind the system call and three nops: jmp over it and its ret. */
static void of_a_child(void)
{
	const uint8_t jmp[] = { 0xeb, 7 };
	uint8_t *p = (uint8_t *)(uintptr_t)stopper + 21;
	char name[32];
	int status, mem;
	pid_t child;

	fflush(stdout);
	pwrite(fd, third, sizeof(third), at(patched));
	child = fork();
	if (!child) {
		run("child", patched);
		fflush(stdout);
		_exit(stopper());
	}
	waitpid(child, &status, WUNTRACED);
	snprintf(name, sizeof(name), "/proc/%d/mem", (int)child);
	mem = open(name, O_RDWR | O_CLOEXEC);
	pwrite(mem, jmp, sizeof(jmp), at(p));
	close(mem);
	kill(child, SIGCONT);
	waitpid(child, &status, 0);
	printf("%d\n", WEXITSTATUS(status));
}

/* Once written, it can be executed again, and is not as in the file. */
static void by_protection(void)
{
	mprotect(patched, PAGE, PROT_READ | PROT_WRITE);
	memcpy(patched, third, sizeof(third));
	mprotect(patched, PAGE, PROT_READ | PROT_EXEC);
	say("mprotect", third, sizeof(third));
}

static void of_other_mappings(void)
{
	int exe = open("/proc/self/exe", O_RDONLY);
	uint8_t *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, exe, 0), *q;

	memcpy(p + PAGE, other, sizeof(other));
	mprotect(p, 2 * PAGE, PROT_READ | PROT_EXEC);
	run("mapped", (int (*)(int))(p + PAGE));
	pwrite(fd, third, sizeof(third), at(p + PAGE));
	run("and written", (int (*)(int))(p + PAGE));
	q = mremap(p + PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p + 2 * PAGE);
	run("moved", (int (*)(int))q);
	madvise(patched, PAGE, MADV_DONTNEED);
	run("as it was", patched);
	munmap(p, 3 * PAGE);
	/* Moved as it is in the file, of which no record tells. */
	p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, exe,
		 (off_t)((uint8_t *)(uintptr_t)patched - start));
	run("mapped anew", (int (*)(int))p);
	q = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	q = mremap(p, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q);
	run("and moved", (int (*)(int))q);
}

int main(void)
{
	fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return 1;
	of_a_running_child();
	over_two_pages();
	by_each_call();
	with_int3();
	with_a_thread();
	of_a_child();
	by_protection();
	of_other_mappings();
	return 0;
}
