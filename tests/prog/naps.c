/* SPDX-License-Identifier: Apache-2.0 */
/* naps N US: N times it sleeps so many microseconds, and works a little. Status 5. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WORK = 20 };

int main(int argc, char **argv)
{
	const long n = argc > 1 ? atol(argv[1]) : 100, us = argc > 2 ? atol(argv[2]) : 1000;
	const struct timespec nap = { .tv_nsec = us * 1000 };
	volatile long sum = 0;

	for (long i = 0; i < n; i++) {
		nanosleep(&nap, NULL);
		for (int k = 0; k < WORK; k++)
			sum += k & 1 ? k : i;
	}
	printf("sum %ld\n", sum);
	return 5;
}
