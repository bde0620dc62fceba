/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stepper OUT CMD [ARG...]     single-step CMD, write the addresses of its instructions
 * stepper -c STEPPED LIST      compare such a file with a list made by another tracer
 *
 * As simple as can be: one thread, one process, no signals. Under `setarch -R` two runs
 * of a program execute the same instructions, so this list judges a recording
 * independently.
 *
 * A hypervisor that emulates cpuid, and by the architecture a move to ss (SDM vol. 3,
 * 6.8.3), swallow the trap of the next instruction: it runs unseen. Such an instruction
 * has bit 63 set in OUT, and the comparison lets LIST have exactly one more there. A
 * string instruction with rep traps at every turn; it is written once.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tools/brief.h"

#define SWALLOWS ((uint64_t)1 << 63)

struct list {
	uint64_t *ip;
	size_t n;
};

__attribute__((noreturn)) static void give_up(const char *what)
{
	fprintf(stderr, "stepper: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void add(struct list *l, uint64_t ip)
{
	if (!(l->n & (l->n - 1))) {
		l->ip = realloc(l->ip, (l->n ? 2 * l->n : 1) * sizeof(*l->ip));
		if (!l->ip)
			give_up("memory");
	}
	l->ip[l->n++] = ip;
}

/* Length of the prefixes (SDM vol. 2, 2.1.1 and 2.2.1); *ret_rep tells of F2 or F3. */
static size_t prefixes(const uint8_t *b, bool *ret_rep)
{
	size_t i = 0;

	*ret_rep = false;
	while (i < 8 &&
	       memchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3", b[i], 11)) {
		*ret_rep |= b[i] >= 0xf2;
		i++;
	}
	return (b[i] & 0xf0) == 0x40 ? i + 1 : i;
}

static bool is_repeated(const uint8_t *b)
{
	bool rep;
	const uint8_t *op = b + prefixes(b, &rep);

	return rep && ((*op >= 0x6c && *op <= 0x6f) || (*op >= 0xa4 && *op <= 0xa7) ||
		       (*op >= 0xaa && *op <= 0xaf));
}

static bool swallows(const uint8_t *b)
{
	bool rep;
	const uint8_t *op = b + prefixes(b, &rep);

	return (op[0] == 0x0f && op[1] == 0xa2) ||
	       (op[0] == 0x8e && (op[1] >> 3 & 7) == 2);
}

/* Code near the end of a page may be shorter than asked for: the rest stays 0. */
static void fetch(pid_t p, uint64_t ip, uint8_t ret[16])
{
	size_t part = 4096 - (ip & 4095);
	struct iovec to = { ret, 16 }, from[2];

	memset(ret, 0, 16);
	part = part < 16 ? part : 16;
	from[0] = (struct iovec){ (void *)ip, part }; /* NOLINT: not our address */
	from[1] = (struct iovec){ (void *)(ip + part), 16 - part }; /* NOLINT */
	if (process_vm_readv(p, &to, 1, from, part < 16 ? 2 : 1, 0) < 0)
		give_up("code");
}

static int step_all(pid_t p, struct list *l)
{
	struct user_regs_struct r;
	uint64_t repeating = 0;
	uint8_t code[16];
	int st;

	while (waitpid(p, &st, 0) == p && WIFSTOPPED(st)) {
		if (WSTOPSIG(st) != SIGTRAP) {
			fprintf(stderr, "stepper: signal %d\n", WSTOPSIG(st));
			exit(2);
		}
		if (ptrace(PTRACE_GETREGS, p, 0, &r))
			give_up("registers");
		if (r.rip != repeating) {
			fetch(p, r.rip, code);
			repeating = is_repeated(code) ? r.rip : 0;
			add(l, r.rip | (swallows(code) ? SWALLOWS : 0));
		}
		if (ptrace(PTRACE_SINGLESTEP, p, 0, 0))
			give_up("step");
	}
	return WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
}

static int run(const char *out, char **cmd)
{
	struct list l = { NULL, 0 };
	pid_t p = fork();
	int status;
	FILE *f;

	if (!p) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execvp(cmd[0], cmd);
		_exit(127);
	}
	status = step_all(p, &l);
	if (!l.n)
		give_up("nothing was stepped");
	f = fopen(out, "we");
	if (!f || fwrite(l.ip, 8, l.n, f) != l.n || fclose(f))
		give_up(out);
	return status;
}

static struct list load(const char *path)
{
	struct list l = { NULL, 0 };
	FILE *f = fopen(path, "re");
	uint64_t ip;

	if (!f)
		give_up(path);
	while (fread(&ip, sizeof(ip), 1, f) == 1)
		add(&l, ip);
	fclose(f);
	if (!l.n) {
		fprintf(stderr, "stepper: %s: no address\n", path);
		exit(2);
	}
	return l;
}

static int compare(const char *stepped, const char *path)
{
	struct list a = load(stepped), b = load(path);
	size_t j = 0, unseen = 0;

	for (size_t i = 0; i < a.n; i++, j++) {
		uint64_t want = a.ip[i] & ~SWALLOWS;

		if (i && (a.ip[i - 1] & SWALLOWS) && j + 1 < b.n && b.ip[j] != want) {
			unseen++;
			j++;
		}
		if (j >= b.n || b.ip[j] != want) {
			printf("instruction %zu: stepped %#llx, listed %#llx\nDIFF\n", j,
			       (unsigned long long)want,
			       (unsigned long long)(j < b.n ? b.ip[j] : 0));
			return 1;
		}
	}
	printf("%zu stepped, %zu of them hid the next one, %zu listed\n", a.n, unseen,
	       b.n);
	puts(j == b.n ? "SAME" : "DIFF");
	return j != b.n;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "-c"))
		return compare(argv[2], argv[3]);
	if (argc < 3 || argv[1][0] == '-') {
		fputs("usage: stepper OUT CMD [ARG...] | stepper -c STEPPED LIST\n",
		      stderr);
		return 2;
	}
	return run(argv[1], argv + 2);
}
