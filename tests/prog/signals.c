/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals at every place where they can meet a program: in a loop (timer), on a fault
 * (left by siglongjmp, or skipped by the handler), in a handler, in a system call that
 * restarts, where some are let through at once, ahead of an instruction that loads the flags, and
 * of one that faults while it does. Timers fire once each and are waited for, so the counts do not
 * depend on speed.
 */
#define _GNU_SOURCE /* REG_RIP */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t alarms, faults, skipped, outer, inner, children;
static sigjmp_buf back;
static int tell[2];

static void on_alarm(int s)
{
	alarms++;
	if (tell[1])
		write(tell[1], "a", 1);
}

static void on_usr1(int s)
{
	outer++;
	raise(SIGUSR2);
}

static void on_usr2(int s)
{
	inner++;
}

static void on_child(int s)
{
	children++;
}

static void on_fault(int s)
{
	faults++;
	siglongjmp(back, 1);
}

static void on_ill(int s, siginfo_t *info, void *context)
{
	skipped++;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2; /* ud2 has two bytes */
}

static void handle(int sig, void (*f)(int))
{
	struct sigaction a = { .sa_handler = f, .sa_flags = SA_RESTART };

	sigaction(sig, &a, 0);
}

static void alarm_in(long us)
{
	struct itimerval t = { .it_value.tv_usec = us };

	setitimer(ITIMER_REAL, &t, 0);
}

/* The child answers only after the alarm was handled: it cuts the parent's read. */
static int read_through_alarm(void)
{
	int data[2], st;
	char c = 0;
	pid_t p;

	if (pipe(data) || pipe(tell))
		return -1;
	p = fork();
	if (!p) {
		read(tell[0], &c, 1);
		write(data[1], "x", 1);
		_exit(0);
	}
	alarm_in(30000);
	if (read(data[0], &c, 1) != 1)
		c = '?';
	while (waitpid(p, &st, 0) < 0)
		;
	return c;
}

static char order[8];
static int seen;

static void on_either(int s)
{
	order[seen++] = s == SIGUSR1 ? '1' : '2';
}

/* What is let through at once is handled before sigprocmask() returns, the one within the other. */
static void two_at_once(void)
{
	sigset_t both, old;

	handle(SIGUSR1, on_either);
	handle(SIGUSR2, on_either);
	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGUSR2);
	sigprocmask(SIG_BLOCK, &both, &old);
	raise(SIGUSR1);
	raise(SIGUSR2);
	sigprocmask(SIG_SETMASK, &old, 0);
	order[seen++] = '.';
}

/* Pending when the call returns, so that the handler comes between it and popf. */
static void ahead_of_popf(void)
{
	const long pid = getpid();
	long ret = SYS_tgkill;

	__asm__ volatile("lea -128(%%rsp), %%rsp; pushf; syscall; popf; lea 128(%%rsp), %%rsp"
			 : "+a"(ret)
			 : "D"(pid), "S"(pid), "d"((long)SIGUSR2)
			 : "rcx", "r11", "memory", "cc");
}

static void *page;
static long flags_seen;

static void on_popf(int s, siginfo_t *info, void *context)
{
	faults++;
	flags_seen |= ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void popf_faults(void)
{
	static char elsewhere[65536];
	const stack_t stack = { .ss_sp = elsewhere, .ss_size = sizeof(elsewhere) };
	struct sigaction a = { .sa_sigaction = on_popf, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &a, NULL);
	__asm__ volatile("mov %%rsp, %%rbx; mov %0, %%rsp; popf; mov %%rbx, %%rsp"
			 :: "r"(page) : "rbx", "memory", "cc");
	printf("trap flag %d\n", !!(flags_seen & 0x100));
}

int main(void)
{
	struct sigaction ill = { .sa_sigaction = on_ill, .sa_flags = SA_SIGINFO };
	volatile long x = 0;
	int got;

	handle(SIGALRM, on_alarm);
	handle(SIGUSR1, on_usr1);
	handle(SIGUSR2, on_usr2);
	handle(SIGCHLD, on_child);
	handle(SIGSEGV, on_fault);
	sigaction(SIGILL, &ill, 0);
	for (int i = 0; i < 3; i++)
		if (!sigsetjmp(back, 1))
			*(volatile int *)8 = 1;
	for (int i = 0; i < 2; i++)
		__asm__ volatile("ud2");
	raise(SIGUSR1);
	kill(getpid(), SIGUSR1);
	for (int i = 1; i <= 3; i++) {
		alarm_in(3000);
		while (alarms < i)
			x += i;
	}
	ahead_of_popf();
	popf_faults();
	got = read_through_alarm();
	printf("faults %d, skipped %d, outer %d, inner %d\n", faults, skipped, outer, inner);
	two_at_once();
	printf("alarms %d, children %d, read %c, %s\n", alarms, children, got, order);
	return 6;
}
