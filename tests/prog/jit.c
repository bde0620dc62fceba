/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit [rwx|wx|memfd|own]
 *
 * Makes code at run time and calls it: functions that lie in a page, one that crosses into the
 * next one in the middle of an instruction, several that take turns at the same address with other
 * instructions, and some that are reached by a jump that no packet tells of, in a page where
 * nothing, or something else, had run before. Calls and jumps are led elsewhere after they ran, and
 * are themselves reached straight on or by a jump.
 * Pages that can be written and executed (rwx), or one after the other (wx: mprotect), or private
 * ones of a memfd that is written through another mapping (memfd). With own it first maps a file
 * jit-PID.dump of the working directory, as one does that writes it. A child process goes on with
 * code of its own. Prints what the functions returned. Exit: 0.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 4 * 4096 };

static uint8_t *code, *twin; /* twin: where it is written, or NULL */
static int wx;

static void allow(int prot)
{
	if (wx)
		mprotect(code, SIZE, prot);
}

static uint8_t *writable(uint8_t *at)
{
	return twin ? twin + (at - code) : at;
}

/* A loop that adds `add` n times: with branches that no reader can guess. */
static uint8_t *emit(uint8_t *at, uint32_t add)
{
	static const uint8_t loop[] = {
		0x31, 0xc0,		      /* xor eax, eax */
		0x48, 0x85, 0xff,	      /* 1: test rdi, rdi */
		0x74, 0x0a,		      /* jz 2f */
		0x05, 0, 0, 0, 0,	      /* add eax, imm32 */
		0x48, 0xff, 0xcf,	      /* dec rdi */
		0xeb, 0xf1,		      /* jmp 1b */
		0xc3,			      /* 2: ret */
	};

	allow(PROT_READ | PROT_WRITE);
	memcpy(writable(at), loop, sizeof(loop));
	memcpy(writable(at) + 8, &add, sizeof(add));
	allow(PROT_READ | PROT_EXEC);
	return at;
}

/* The same, of which each instruction lies elsewhere. */
static uint8_t *emit_other(uint8_t *at, uint32_t add)
{
	static const uint8_t loop[] = {
		0xb8, 0, 0, 0, 0,	      /* mov eax, 0 */
		0x48, 0x83, 0xff, 0,	      /* 1: cmp rdi, 0 */
		0x74, 0x0b,		      /* je 2f */
		0x05, 0, 0, 0, 0,	      /* add eax, imm32 */
		0x48, 0x83, 0xef, 1,	      /* sub rdi, 1 */
		0xeb, 0xef,		      /* jmp 1b */
		0xc3,			      /* 2: ret */
	};

	allow(PROT_READ | PROT_WRITE);
	memcpy(writable(at), loop, sizeof(loop));
	memcpy(writable(at) + 12, &add, sizeof(add));
	allow(PROT_READ | PROT_EXEC);
	return at;
}

/* A jump to `to`. */
static uint8_t *emit_jump(uint8_t *at, const uint8_t *to)
{
	int32_t rel = (int32_t)(to - (at + 5));

	allow(PROT_READ | PROT_WRITE);
	writable(at)[0] = 0xe9;
	memcpy(writable(at) + 1, &rel, sizeof(rel));
	allow(PROT_READ | PROT_EXEC);
	return at;
}

/* push rbx; call `to`; pop rbx; ret */
static uint8_t *emit_call(uint8_t *at, const uint8_t *to)
{
	int32_t rel = (int32_t)(to - (at + 6));

	allow(PROT_READ | PROT_WRITE);
	writable(at)[0] = 0x53;
	writable(at)[1] = 0xe8;
	memcpy(writable(at) + 2, &rel, sizeof(rel));
	writable(at)[6] = 0x5b;
	writable(at)[7] = 0xc3;
	allow(PROT_READ | PROT_EXEC);
	return at;
}

static unsigned call(const uint8_t *at, long n)
{
	return ((unsigned (*)(long))at)(n);
}

static int map_dump(void)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "jit-%d.dump", (int)getpid());
	fd = open(name, O_RDWR | O_CREAT, 0600);
	return fd >= 0 && !ftruncate(fd, 4096) &&
	       mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED;
}

static void map_twins(void)
{
	int fd = memfd_create("jit", 0);

	if (fd < 0 || ftruncate(fd, SIZE))
		_exit(1);
	twin = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	code = mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
}

int main(int argc, char **argv)
{
	uint8_t *at;

	if (argc > 1 && !strcmp(argv[1], "own") && !map_dump())
		return 1;
	wx = argc > 1 && !strcmp(argv[1], "wx");
	if (argc > 1 && !strcmp(argv[1], "memfd"))
		map_twins();
	else
		code = mmap(NULL, SIZE, PROT_READ | PROT_WRITE | (wx ? 0 : PROT_EXEC),
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	for (unsigned i = 0; i < 5; i++)
		printf("%u\n", call(emit(code + 64 * i, i + 1), 10 + i));
	/* The immediate of add lies on both sides. */
	at = code + 4096 - 10;
	printf("%u\n", call(emit(at, 0x01020304), 3));
	printf("%u\n", call(emit(at, 0x01020305), 4));
	/* One whose jz begins among the first 16 bytes of a page, and the page before it anew. */
	at = code + 4096 + 10;
	printf("%u\n", call(emit(at, 77), 5));
	printf("%u\n", call(emit_other(code + 64, 2), 6));
	printf("%u\n", call(at, 4));
	/* The same place, again and again, and the one before it in between. */
	for (unsigned i = 0; i < 8; i++) {
		at = i % 2 ? emit_other(code + 8192, i * i) : emit(code + 8192, i * i);
		printf("%u\n", call(at, i));
		printf("%u\n", call(code + 64, i));
	}
	for (unsigned i = 0; i < 3; i++) {
		emit(code + 12288 + 64 * i, 7 + i);
		printf("%u\n", call(emit_jump(code + 1024 + 8 * i, code + 12288 + 64 * i), 4));
	}
	emit_jump(code + 1200, code + 2304);
	for (unsigned i = 0; i < 6; i++) {
		printf("%u\n", call(emit_call(code + 2048, code + 64 * (i % 3)), 2 + i));
		emit_jump(code + 2304, code + 64 * (i % 3));
		printf("%u\n", call(code + 1200, 3 + i));
	}
	fflush(stdout);
	if (!fork()) {
		printf("%u\n", call(code + 8192, 3));
		printf("%u\n", call(emit(code + 8192, 1000), 3));
		return fflush(stdout);
	}
	wait(NULL);
	printf("%u\n", call(code + 8192, 2));
	return 0;
}
