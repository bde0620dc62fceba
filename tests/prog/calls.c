/* SPDX-License-Identifier: Apache-2.0 */
/* calls [N [BETWEEN]]: calls a small function N times, with BETWEEN turns of a loop before each. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static unsigned called(unsigned x)
{
	unsigned odd = 0;

	for (int i = 0; i < 8; i++, x >>= 1)
		odd += x & 1;
	return odd;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 10, between = argc > 2 ? atol(argv[2]) : 1000;
	unsigned x = 2463534242u, odd = 0;

	for (long i = 0; i < n; i++) {
		for (long k = 0; k < between; k++) {
			x ^= x << 13; /* G. Marsaglia, Xorshift RNGs, J. Stat. Software 8(14) */
			x ^= x >> 17;
			x ^= x << 5;
		}
		odd += called(x);
	}
	printf("%ld calls, %u odd\n", n, odd);
	return 0;
}
