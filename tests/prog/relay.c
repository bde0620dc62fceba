/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay: two threads hand a turn to and fro without entering the kernel, one of them waiting in
 * waits_in(), the other one not. Neither gets on unless both do. Prints the turns.
 */
#include <pthread.h>
#include <stdio.h>

enum { TURNS = 30 };

static volatile long turn;

__attribute__((noinline)) static long waits_in(long n)
{
	long rounds = 0;

	while (turn < n)
		rounds++;
	return rounds;
}

static void *answer(void *unused)
{
	for (long n = 1; n < TURNS; n += 2) {
		while (turn < n)
			;
		turn = n + 1;
	}
	return unused;
}

int main(void)
{
	pthread_t other;
	long rounds = 0;

	if (pthread_create(&other, 0, answer, 0))
		return 1;
	for (long n = 0; n < TURNS; n += 2) {
		rounds += waits_in(n);
		turn = n + 1;
	}
	rounds += waits_in(TURNS);
	pthread_join(other, 0);
	printf("%ld turns, %s\n", turn, rounds < 0 ? "never waited" : "waited");
	return 0;
}
