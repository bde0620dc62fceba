/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branches that a tracer may not want to carry out itself: they fault, they push where no stack
 * is yet, they have prefixes; and instructions that lie across others. With a number: the
 * same loop in so many threads. With 0: a loop of nothing but jumps. Prints what came of it;
 * exits with 9.
 */
#define _GNU_SOURCE /* REG_RIP */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

static sigjmp_buf back;
static volatile uintptr_t at, where;

static void on_fault(int sig, siginfo_t *si, void *context)
{
	at = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	where = (uintptr_t)si->si_addr;
	siglongjmp(back, sig);
}

/* The stack that the kernel puts the frame on, when there is none left. */
static void handle(int sig)
{
	static char room[65536];
	stack_t s = { .ss_sp = room, .ss_size = sizeof(room) };
	struct sigaction a = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	sigaltstack(&s, 0);
	sigaction(sig, &a, 0);
}

extern char jump_far[], call_far[], ret_far[];

__asm__(".text\nnowhere:\ntest %edi, %edi\njz jump_far\njs ret_far\n"
	"call_far: call *%rsi\n ret\n"
	"jump_far: jmp *%rsi\n"
	"ret_far: push %rsi\n .globl ret_itself\nret_itself: ret\n");
extern void nowhere(int how, uintptr_t to);
extern char ret_itself[];

static void faults(void)
{
	const uintptr_t odd = 0x123456789abcdef0, none = 0x10;
	int sig;

	for (int how = -1; how <= 1; how++) {
		sig = sigsetjmp(back, 1);
		if (!sig)
			nowhere(how, none);
		printf("to nowhere %d: signal %d, at %lx for %lx\n", how, sig, at, where);
		sig = sigsetjmp(back, 1);
		if (!sig)
			nowhere(how, odd);
		printf("to no address %d: signal %d, at the branch %d for %lx\n", how, sig,
		       at == (uintptr_t)(how < 0 ? ret_itself : how ? call_far : jump_far), where);
	}
}

/* Each call pushes where the stack has not been. */
static int (*volatile deeper)(int);

static int deep(int n)
{
	volatile char frame[40000];

	frame[0] = (char)n;
	return n ? deeper(n - 1) + frame[0] : 0;
}

static void recursion(void)
{
	deeper = deep;
	printf("deep: %d\n", deep(100));
}

/* An instruction whose second half is one, too: mov $0x..eb.., that is, jmp. Both run. */
__asm__(".text\nacross:\nxor %eax, %eax\njmp 1f\n2: inc %eax\n"
	"1: .byte 0xb9\n3: jmp 4f\n.byte 0, 0\n" /* mov $0x0002eb, %ecx */
	"inc %eax\ncmp $5, %eax\njg 5f\njmp 3b\n"
	"4: .byte 0x90\ncmp $3, %eax\njl 2b\ninc %eax\ncmp $9, %eax\njl 1b\n5: ret\n");
extern int across(void);

/* jecxz cannot be carried out from the registers; everything round it can. */
__asm__(".text\nprefixed:\nxor %eax, %eax\nmov %edi, %ecx\n"
	"1: jecxz 2f\ndec %ecx\ninc %eax\njmp 1b\n"
	"2: ret\n");
extern int prefixed(int n);

__attribute__((target("avx2"), optimize("O3"))) static unsigned by_vectors(unsigned *v)
{
	unsigned s = 0;

	for (int k = 0; k < 20; k++)
		for (int i = 0; i < 64; i++)
			v[i] = v[i] * 3 + (v[i] > 1000 ? 7 : 5);
	for (int i = 0; i < 64; i++)
		s += v[i];
	return s;
}

static void vectors(void)
{
	unsigned v[64];
	double x = 1;

	for (int i = 0; i < 64; i++)
		v[i] = (unsigned)i * 77;
	printf("vectors: %u\n", __builtin_cpu_supports("avx2") ? by_vectors(v) : 0);
	for (int i = 1; i < 50; i++)
		x = i & 1 ? x / (i + 0.5) : x * i;
	__asm__ volatile("fldpi\nmov $10, %%ecx\n1: fld %%st\nfmulp\nfsqrt\nloop 1b\nfstpl %0"
			 : "=m"(x) : : "ecx", "memory");
	printf("x87: %.15f\n", x);
}

/* A loop of jumps alone: a signal ends it. */
__asm__(".text\nround: jmp 1f\n2: jmp round\n1: jmp 2b\n");
extern void round_(void) __asm__("round");

static void jumps(void)
{
	struct itimerval soon = { .it_value.tv_usec = 20000 };

	handle(SIGALRM);
	if (!sigsetjmp(back, 1)) {
		setitimer(ITIMER_REAL, &soon, 0);
		round_();
	}
	printf("jumps: in the loop %d\n", at - (uintptr_t)round_ < 6);
}

static void *some(void *n)
{
	long s = 0;

	for (int k = 0; k < 20; k++) {
		s += prefixed((int)(intptr_t)n);
		sched_yield();
	}
	return (void *)s;
}

static void threads(int n)
{
	pthread_t t[16];
	void *got;
	long sum = 0;

	for (int i = 0; i < n; i++)
		pthread_create(&t[i], 0, some, (void *)(intptr_t)(3 + i));
	for (int i = 0; i < n; i++) {
		pthread_join(t[i], &got);
		sum += (long)got;
	}
	printf("threads: %ld\n", sum);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		if (atoi(argv[1]))
			threads(atoi(argv[1]));
		else
			jumps();
		return 9;
	}
	handle(SIGSEGV);
	handle(SIGBUS);
	faults();
	recursion();
	printf("across: %d\n", across());
	printf("prefixed: %d\n", prefixed(20));
	vectors();
	return 9;
}
