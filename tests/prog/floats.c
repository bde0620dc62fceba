/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floats [N]: two threads do N (8000) rounds of long double arithmetic each, which only the CPU can
 * do: some instructions, a branch on what came of them, and on. Prints both results.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long rounds = 8000;

static void *compute(void *at)
{
	volatile long double *x = at;

	for (long i = 0; i < rounds; i++) {
		*x = *x * 1.25L + 0.375L;
		if (*x > 2)
			*x -= 1.5L;
	}
	return at;
}

int main(int argc, char **argv)
{
	static long double here = 1, there = 1.5L;
	pthread_t other;

	if (argc > 1)
		rounds = atol(argv[1]);
	if (pthread_create(&other, 0, compute, &there))
		return 1;
	compute(&here);
	pthread_join(other, 0);
	printf("%.15Lg %.15Lg\n", here, there);
	return 0;
}
