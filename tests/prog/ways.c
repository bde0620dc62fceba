/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways into a range of code and out of it. The functions of section "inside" are the range; there
 * is every kind of branch between them and the rest, signals on both sides, and processes that
 * are made in it. Nothing is left to chance: every run executes the same.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define INSIDE __attribute__((noinline, section("inside")))
#define OUTSIDE __attribute__((noinline))

static jmp_buf back;
static volatile int handled_in, handled_out, skipped;
static volatile long sink;
long by_jump(long), by_fall(long), by_tail(long), by_middle(long);

OUTSIDE long helper(long x)
{
	for (int i = 0; i < 5; i++)
		sink += x & 1 ? i : -i;
	return x + 1;
}

INSIDE static long factorial(long n)
{
	return n < 2 ? 1 : n * factorial(n - 1);
}

INSIDE static int compare(const void *a, const void *b)
{
	return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b;
}

/* Comes back into its middle. */
INSIDE static long calls_out(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += i % 3 ? helper(i) : i;
	return sum;
}

/* Calls out within calls of its own, and returns to them. */
INSIDE static long nests(long n)
{
	long sum = n ? nests(n - 1) : 0;

	return sum + helper(n);
}

OUTSIDE static void throws(int n)
{
	helper(n);
	longjmp(back, n);
}

INSIDE static long catches(void)
{
	volatile long seen = 0;
	int n = setjmp(back);

	seen += n;
	if (n < 4)
		throws(n + 1);
	return seen;
}

INSIDE static void on_in(int sig)
{
	handled_in += sig == SIGUSR1;
}

static void on_out(int sig)
{
	handled_out += sig == SIGUSR2;
}

static void on_ill(int sig, siginfo_t *info, void *context)
{
	skipped++;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2; /* ud2 has two bytes */
}

/* A fault, and a signal to itself, while in the range; the call is in it, too. */
INSIDE static long faults(void)
{
	long pid, r;

	__asm__ volatile("ud2");
	__asm__ volatile("syscall" : "=a"(pid) : "a"(SYS_getpid) : "rcx", "r11", "memory");
	__asm__ volatile("syscall" : "=a"(r) : "a"(SYS_kill), "D"(pid), "S"(SIGUSR2)
			 : "rcx", "r11", "memory");
	return r + 1;
}

INSIDE static long makes(void)
{
	long p = fork();
	int st = 0;

	if (!p)
		_exit((int)factorial(4));
	waitpid((pid_t)p, &st, 0);
	return WEXITSTATUS(st);
}

/* by_jump is entered behind its beginning, by_fall by walking in and left by walking out, by_tail
 * by a jump into it and left by jumps that are taken or not, rep strings among them. */
__asm__(".text\n"
	"by_middle: lea middle(%rip), %rax\n"
	"	mov %rdi, %rdx\n"
	"	jmp *%rax\n"
	"by_tail: cmp $3, %rdi\n"
	"	jl 1f\n"
	"	jmp tail\n"
	"1:	mov $100, %eax\n"
	"	ret\n"
	"left:	add $7, %rax\n"
	"	ret\n"
	".section inside, \"ax\"\n"
	"by_jump: mov $5, %edx\n"
	"	nop\n"
	"middle: lea 1(%rdx,%rdx), %rax\n"
	"	test $1, %dl\n"
	"	jnz left\n"
	"	ret\n"
	"tail:	mov %rdi, %rcx\n"
	"	mov %rdi, %rax\n"
	"	lea -64(%rsp), %rdi\n"
	"	rep stosb\n"
	"	cmp $5, %rax\n"
	"	je left\n"
	"	jmp left\n"
	"	.globl fall_in, fall_out\n"
	"by_fall: mov %rdi, %rax\n"
	"	jmp 2f\n"
	"	nop\n"
	"2:	add $1, %rax\n"
	"fall_in: add $2, %rax\n"
	"	dec %rdi\n"
	"	jns fall_in\n"
	"	inc %rax\n"
	"fall_out: add $3, %rax\n"
	"	ret\n"
	".text\n");

static void handle(int sig, void *f)
{
	struct sigaction a = { .sa_handler = f, .sa_flags = SA_SIGINFO };

	sigaction(sig, &a, 0);
}

int main(int argc, char **argv)
{
	int v[40];
	long ok;

	handle(SIGUSR1, on_in);
	handle(SIGUSR2, on_out);
	handle(SIGILL, on_ill);
	for (int i = 0; i < 40; i++)
		v[i] = i * 7919 % 41;
	qsort(v, 40, sizeof(*v), compare);
	printf("factorial %ld, sorted %d %d\n", factorial(9), v[0], v[39]);
	printf("out and back %ld, caught %ld\n", calls_out(30), catches());
	printf("nested %ld\n", nests(4));
	raise(SIGUSR1);
	ok = faults();
	printf("fault %ld, handled %d in, %d out, %d skipped\n", ok, handled_in, handled_out,
	       skipped);
	printf("jump %ld, middle %ld %ld, tail %ld %ld %ld, fall %ld\n", by_jump(1), by_middle(2),
	       by_middle(3), by_tail(1), by_tail(5), by_tail(8), by_fall(4));
	fflush(stdout);
	printf("child %ld\n", makes());
	return 5;
}
