/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spin [N [M]]: N turns of a loop whose inner branch follows a pseudo-random bit, so that
 * about two branch outcomes a turn go into the trace; M times, with 300 ms between. The printed
 * number depends on every outcome.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	const struct timespec between = { .tv_nsec = 300000000 };
	long n = argc > 1 ? atol(argv[1]) : 10000, times = argc > 2 ? atol(argv[2]) : 1;
	unsigned int x = 2463534242u, odd = 0;

	for (long i = 0; i < n * times; i++) {
		if (times > 1 && i && i % n == 0)
			nanosleep(&between, 0);
		x ^= x << 13; /* G. Marsaglia, Xorshift RNGs, J. Stat. Software 8(14) */
		x ^= x >> 17;
		x ^= x << 5;
		if (x & 1) {
			odd++;
			__asm__ volatile(""); /* keep the branch: no conditional move */
		}
	}
	printf("%ld turns, %u odd\n", n * times, odd);
	return 0;
}
