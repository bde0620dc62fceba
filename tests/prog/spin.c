/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spin [N]: N turns of a loop whose inner branch follows a pseudo-random bit, so that
 * about two branch outcomes a turn go into the trace. The printed number depends on every
 * outcome.
 */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 10000;
	unsigned int x = 2463534242u, odd = 0;

	for (long i = 0; i < n; i++) {
		x ^= x << 13; /* G. Marsaglia, Xorshift RNGs, J. Stat. Software 8(14) */
		x ^= x >> 17;
		x ^= x << 5;
		if (x & 1) {
			odd++;
			__asm__ volatile(""); /* keep the branch: no conditional move */
		}
	}
	printf("%ld turns, %u odd\n", n, odd);
	return 0;
}
