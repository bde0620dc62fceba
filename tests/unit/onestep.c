/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/onestep.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_child(void)
{
	uint64_t *data = (uint64_t *)ONESTEP_DATA;

	for (uint64_t a = ONESTEP_CODE; a <= ONESTEP_DATA; a += ONESTEP_DATA - ONESTEP_CODE)
		if (mmap((void *)a, ONESTEP_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			_exit(1);
	for (uint64_t *p = data; p < data + ONESTEP_SIZE / sizeof(*data); p++)
		*p = ONESTEP_CODE + 64 + (uint64_t)(uintptr_t)p % 1024;
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	_exit(2);
}

int onestep_begin(void **state)
{
	struct onestep *w = calloc(1, sizeof(*w));
	int st;

	w->child = fork();
	if (!w->child)
		run_child();
	if (waitpid(w->child, &st, 0) != w->child || !WIFSTOPPED(st))
		return -1;
	*state = w;
	return (int)ptrace(PTRACE_GETREGS, w->child, NULL, &w->first);
}

int onestep_end(void **state)
{
	struct onestep *w = *state;

	kill(w->child, SIGKILL);
	waitpid(w->child, NULL, 0);
	free(w);
	return 0;
}

bool onestep_data(uint64_t addr, size_t n)
{
	return addr >= ONESTEP_DATA && addr <= ONESTEP_DATA + ONESTEP_SIZE - n;
}

bool onestep_read(const struct onestep *w, uint64_t addr, void *to, size_t n)
{
	struct iovec here = { to, n }, there = { (void *)addr, n };

	return process_vm_readv(w->child, &here, 1, &there, 1, 0) == (ssize_t)n;
}

bool onestep_write(const struct onestep *w, uint64_t addr, const void *from, size_t n)
{
	struct iovec here = { (void *)from, n }, there = { (void *)addr, n };

	return process_vm_writev(w->child, &here, 1, &there, 1, 0) == (ssize_t)n;
}

bool onestep_run(const struct onestep *w, struct user_regs_struct *r)
{
	int st;

	assert_int_equal(ptrace(PTRACE_SETREGS, w->child, NULL, r), 0);
	assert_int_equal(ptrace(PTRACE_SINGLESTEP, w->child, NULL, NULL), 0);
	assert_int_equal(waitpid(w->child, &st, 0), w->child);
	assert_true(WIFSTOPPED(st));
	assert_int_equal(ptrace(PTRACE_GETREGS, w->child, NULL, r), 0);
	return WSTOPSIG(st) == SIGTRAP;
}

void onestep_same(const char *words, const struct user_regs_struct *ours,
		  const struct user_regs_struct *cpu)
{
	static const char *const name[] = {
		"r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax",
		"rcx", "rdx", "rsi", "rdi", "orig_rax", "rip", "cs", "eflags", "rsp", "ss",
	};
	const unsigned long long *x = (const void *)ours, *y = (const void *)cpu;

	for (size_t k = 0; k < sizeof(name) / sizeof(name[0]); k++)
		if (strcmp(name[k], "orig_rax") && x[k] != y[k])
			fail_msg("%s: %s is %llx, by the cpu %llx", words, name[k], x[k], y[k]);
}
