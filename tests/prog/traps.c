/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with a use of its own for SIGTRAP: handles it, blocks it, waits for it, ignores it,
 * hands all that on to children, and dies of it. Prints what it sees; exits with 5.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

extern char behind_int1[];

static volatile sig_atomic_t traps, usr, inside, saved, code, sender;

static int blocked(void)
{
	sigset_t now;

	sigprocmask(SIG_BLOCK, 0, &now);
	return sigismember(&now, SIGTRAP);
}

static void set_blocked(int how)
{
	sigset_t trap;

	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	sigprocmask(how, &trap, 0);
}

static void on_trap(int sig, siginfo_t *si, void *context)
{
	traps++;
	code = si->si_code;
	sender = si->si_code <= 0 ? si->si_pid == getpid() : -1;
	inside = blocked();
	saved = sigismember(&((ucontext_t *)context)->uc_sigmask, SIGTRAP);
}

static void on_usr(int sig, siginfo_t *si, void *context)
{
	usr++;
	inside = blocked();
	saved = sigismember(&((ucontext_t *)context)->uc_sigmask, SIGTRAP);
}

static void handle(int sig, void (*f)(int, siginfo_t *, void *), int with)
{
	struct sigaction a = { .sa_sigaction = f, .sa_flags = SA_SIGINFO };

	if (with)
		sigaddset(&a.sa_mask, with);
	sigaction(sig, &a, 0);
}

static void say(const char *what)
{
	printf("%s: traps %d, usr %d, code %d, sender %d, inside %d, saved %d, now %d\n", what,
	       traps, usr, code, sender, inside, saved, blocked());
}

static void disposition(const char *what)
{
	struct sigaction a;

	sigaction(SIGTRAP, 0, &a);
	printf("%s: %s, blocked %d\n", what,
	       a.sa_handler == SIG_DFL ? "default" : a.sa_handler == SIG_IGN ? "ignored" :
	       "handled", blocked());
	fflush(stdout);
}

static int busy(int n)
{
	int odd = 0;

	for (volatile int i = 0; i < n; i++)
		odd += i & 1;
	return odd;
}

static void handled(void)
{
	handle(SIGTRAP, on_trap, 0);
	__asm__ volatile("int3; int3; .byte 0xcd, 3");
	say("int3");
	raise(SIGTRAP);
	say("raised");
	busy(50);
	disposition("after");
}

/* A trap, which comes behind the instruction, or a fault where a hypervisor knows better. */
static void on_int1(int sig, siginfo_t *si, void *context)
{
	traps++;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] = (greg_t)behind_int1;
}

static void int1(void)
{
	handle(SIGTRAP, on_int1, 0);
	__asm__ volatile("	.byte 0xf1\n"
			 "	.globl behind_int1\n"
			 "behind_int1:");
	say("int1");
}

static void waiting(void)
{
	struct timespec none = { 0 };
	sigset_t set;
	siginfo_t si;

	set_blocked(SIG_BLOCK);
	kill(getpid(), SIGTRAP);
	busy(50);
	sigpending(&set);
	printf("pending %d\n", sigismember(&set, SIGTRAP));
	say("blocked");
	set_blocked(SIG_UNBLOCK);
	say("unblocked");
	set_blocked(SIG_BLOCK);
	raise(SIGTRAP);
	busy(50);
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	printf("waited for %d\n", sigtimedwait(&set, &si, &none));
	printf("waited for %d\n", sigtimedwait(&set, &si, &none));
	disposition("blocked");
}

static void by_descriptor(void)
{
	struct signalfd_siginfo si;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	fd = signalfd(-1, &set, 0);
	kill(getpid(), SIGTRAP);
	busy(50);
	if (read(fd, &si, sizeof(si)) == sizeof(si))
		printf("read %u\n", si.ssi_signo);
	close(fd);
}

/* SIGTRAP is blocked all through these. */
static void others(void)
{
	struct itimerval soon = { .it_value.tv_usec = 20000 };
	sigset_t most;

	handle(SIGUSR1, on_usr, 0);
	raise(SIGUSR1);
	say("other");
	raise(SIGWINCH);
	busy(50);
	disposition("nobody's");
	sigfillset(&most);
	sigdelset(&most, SIGALRM);
	handle(SIGALRM, on_usr, 0);
	setitimer(ITIMER_REAL, &soon, 0);
	sigsuspend(&most);
	say("suspended");
	setitimer(ITIMER_REAL, &soon, 0);
	ppoll(0, 0, 0, &most);
	say("polled");
	set_blocked(SIG_UNBLOCK);
	handle(SIGUSR1, on_usr, SIGTRAP);
	raise(SIGUSR1);
	say("in its mask");
}

static void end_of(const char *what, pid_t p)
{
	int st;

	waitpid(p, &st, 0);
	if (WIFEXITED(st))
		printf("%s: exit %d\n", what, WEXITSTATUS(st));
	else
		printf("%s: signal %d\n", what, WTERMSIG(st));
	fflush(stdout);
}

static void anew(const char *self)
{
	pid_t p;

	fflush(stdout);
	p = fork();
	if (!p) {
		disposition("child");
		execl(self, self, "anew", (char *)0);
		_exit(126);
	}
	end_of("anew", p);
}

static void death(void)
{
	pid_t p;

	fflush(stdout);
	p = fork();
	if (!p) {
		set_blocked(SIG_BLOCK);
		busy(10);
		__asm__ volatile("int3");
		_exit(1);
	}
	end_of("blocked int3", p);
	p = fork();
	if (!p) {
		signal(SIGTRAP, SIG_IGN);
		busy(10);
		__asm__ volatile("int3");
		_exit(1);
	}
	end_of("ignored int3", p);
	p = fork();
	if (!p) {
		signal(SIGTRAP, SIG_DFL);
		raise(SIGTRAP);
		_exit(1);
	}
	end_of("default", p);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		busy(50);
		disposition("executed");
		raise(SIGTRAP); /* blocked, or ignored */
		busy(50);
		disposition("raised");
		return 4;
	}
	int1();
	handled();
	waiting();
	by_descriptor();
	anew(argv[0]);
	others();
	signal(SIGTRAP, SIG_IGN);
	busy(50);
	raise(SIGTRAP);
	disposition("ignoring");
	anew(argv[0]);
	death();
	return 5;
}
