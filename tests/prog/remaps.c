/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that runs, and is then changed under its own address: written to, dropped, replaced,
 * moved, copied by fork. Everything it reads of its code is printed as a sum. Exits with 8.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* edi turns, each adding N to eax: code of a few branches, which can lie anywhere. */
#define TURNS(name, n)                                                                   \
	__asm__(".pushsection .turns, \"ax\"\n.balign 4096\n" #name ":\n"                \
		"xor %eax, %eax\n1: dec %edi\njs 2f\ntest $1, %edi\njz 3f\nnop\n"        \
		"3: add $" #n ", %eax\njmp 1b\n2: ret\n.balign 4096\n.popsection\n");    \
	extern int name(int)

TURNS(one, 1);
TURNS(two, 2);

enum { PAGE = 4096 };

static void *const place = (void *)0x20000000;

static unsigned sum(const void *p)
{
	const unsigned char *c = p;
	unsigned s = 0;

	for (int i = 0; i < PAGE; i++)
		s = s * 31 + c[i];
	return s;
}

static void run(const char *what, void *at)
{
	int (*f)(int) = (int (*)(int))at;

	printf("%s: %d %d\n", what, f(5), f(8));
}

static void protect(void *p, int prot)
{
	if (mprotect(p, PAGE, prot))
		exit(1);
}

static void patch(void *p, unsigned char n)
{
	unsigned char *c = memmem(p, PAGE, "\x83\xc0", 2); /* add $N, %eax */

	protect(p, PROT_READ | PROT_WRITE | PROT_EXEC);
	printf("sum %u\n", sum(p));
	c[2] = n;
	run("while it can be written", p);
	protect(p, PROT_READ | PROT_EXEC);
	run("patched", p);
}

/* In the working directory, under one name: mkstemp(3) draws again where a number does not suit
 * it, and every run has to be the same instructions. */
static int file_of(const void *code)
{
	const char *path = "remaps.tmp";
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, code, PAGE) != PAGE)
		exit(1);
	unlink(path);
	return fd;
}

static void *map(int fd)
{
	void *p = mmap(place, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);

	if (p != place)
		exit(1);
	return p;
}

static void child(const char *what, void *at)
{
	pid_t p;
	int st;

	fflush(stdout);
	p = fork();
	if (!p) {
		run(what, at);
		protect(at, PROT_READ | PROT_WRITE);
		printf("child's sum %u\n", sum(at));
		fflush(stdout);
		_exit(0);
	}
	waitpid(p, &st, 0);
}

int main(void)
{
	int a = file_of((void *)one), b = file_of((void *)two);
	void *p, *q;

	run("one", (void *)one);
	patch((void *)one, 3);
	patch((void *)one, 1);
	p = map(a);
	run("mapped", p);
	map(b);
	run("replaced", p);
	munmap(p, PAGE);
	map(a);
	run("mapped anew", p);
	madvise(p, PAGE, MADV_DONTNEED);
	run("dropped", p);
	child("copied", p);
	q = mremap(p, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (char *)place + 16 * PAGE);
	if (q == MAP_FAILED)
		return 1;
	run("moved", q);
	protect(q, PROT_READ | PROT_WRITE);
	printf("sum %u\n", sum(q));
	protect(q, PROT_READ | PROT_EXEC);
	run("again", q);
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1, 0);
	memcpy(p, (void *)two, PAGE);
	run("written", p);
	patch(p, 7);
	return 8;
}
