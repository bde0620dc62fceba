/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ptwrites [N]
 *
 * Writes values with ptwrite, from registers and memory, of four and of eight bytes, N (3) times,
 * and prints them in order, one per line, each round between two lines with what
 * CLOCK_MONOTONIC_RAW and rdtsc were just before its first and behind its last. Exit: 0; of
 * SIGILL where the CPU does not know the instruction.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

static uint64_t table[4];
static __thread uint64_t own;
static struct moment {
	long long raw, tsc;
} moments[2];
static volatile unsigned idle;

static void take(struct moment *m)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	m->raw = (long long)t.tv_sec * 1000000000 + t.tv_nsec;
	m->tsc = (long long)__rdtsc();
}

static void print(const struct moment *m)
{
	printf("at %lld %lld\n", m->raw, m->tsc);
}

static void note(uint64_t v, int wide)
{
	printf("%llx\n", (unsigned long long)(wide ? v : (uint32_t)v));
}

/* The compiler need not know the instruction. */
static void round_of(uint64_t n)
{
	const uint64_t v = 0x1122334455667700 + n;
	const uint64_t *t = table;

	for (uint64_t i = 0; i < 4; i++)
		table[i] = v * (i + 3);
	own = v * 11;
	for (unsigned i = 0; i < 50; i++)
		idle += i;
	take(&moments[0]);
	__asm__ volatile("ptwriteq %0" : : "r"(v));
	__asm__ volatile("ptwritel %k0" : : "r"(v * 5));
	__asm__ volatile("ptwriteq (%0)" : : "r"(t) : "memory");
	__asm__ volatile("ptwritel 8(%0)" : : "r"(t) : "memory");
	__asm__ volatile("ptwriteq 8(%0,%1,8)" : : "r"(t), "r"(n % 3) : "memory");
	__asm__ volatile("ptwriteq %0" : : "m"(table[3]));
	__asm__ volatile("ptwriteq %%fs:own@tpoff" : : : "memory");
	take(&moments[1]);
	print(&moments[0]);
	note(v, 1);
	note(v * 5, 0);
	note(table[0], 1);
	note(table[1], 0);
	note(table[1 + n % 3], 1);
	note(table[3], 1);
	note(own, 1);
	print(&moments[1]);
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 3;

	for (uint64_t i = 0; i < n; i++)
		round_of(i);
	return 0;
}
