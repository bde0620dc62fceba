/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns [THREADS [ROUNDS]]: threads (4) that hand a token round so many times (10). Who has it
 * works in one function, `inside`, and after that in another, `outside`; in the last round, first
 * in a third one, `last`. Between two turns of one, each of the others has had one.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64, WORK = 40 };

static sem_t turn[MOST];
static uintptr_t nr = 4, rounds = 10;
static unsigned long sum;

#define FUNCTION(name)                                              \
	__attribute__((noinline)) static void name(unsigned long x) \
	{                                                           \
		for (int i = 0; i < WORK; i++)                      \
			x = x & 1 ? 3 * x + 1 : x >> 1;             \
		sum += x;                                           \
	}
FUNCTION(inside)
FUNCTION(outside)
FUNCTION(last)

static void *take_turns(void *arg)
{
	uintptr_t me = (uintptr_t)arg;

	for (uintptr_t r = 0; r < rounds; r++) {
		while (sem_wait(&turn[me]))
			;
		if (r == rounds - 1)
			last(27);
		inside(r * nr + me);
		outside(27);
		sem_post(&turn[(me + 1) % nr]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[MOST];

	if (argc > 1)
		nr = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		rounds = strtoul(argv[2], NULL, 10);
	if (!nr || nr > MOST)
		return 1;
	for (uintptr_t i = 0; i < nr; i++)
		sem_init(&turn[i], 0, i == 0);
	for (uintptr_t i = 0; i < nr; i++)
		if (pthread_create(&t[i], NULL, take_turns, (void *)i))
			return 1;
	for (uintptr_t i = 0; i < nr; i++)
		pthread_join(t[i], NULL);
	printf("sum %lu\n", sum);
	return 6;
}
