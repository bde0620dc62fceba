/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits N: sleeps N times for a millisecond, and so does a thread of it meanwhile. Prints, for
 * each of the two, its number and CLOCK_MONOTONIC_RAW (ns) before the first and after the last
 * sleep. In between nothing else makes it wait.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct span {
	long tid, n;
	uint64_t from, to;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *sleeps(void *arg)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	struct span *s = arg;

	s->tid = syscall(SYS_gettid);
	nanosleep(&ms, NULL); /* what has to be loaded for it is there from here on */
	s->from = now();
	for (long i = 0; i < s->n; i++)
		nanosleep(&ms, NULL);
	s->to = now();
	return NULL;
}

int main(int argc, char **argv)
{
	struct span a = { .n = argc > 1 ? atol(argv[1]) : 10 }, b = a;
	pthread_t t;

	if (pthread_create(&t, NULL, sleeps, &b))
		return 1;
	sleeps(&a);
	pthread_join(t, NULL);
	printf("%ld %" PRIu64 " %" PRIu64 "\n", a.tid, a.from, a.to);
	printf("%ld %" PRIu64 " %" PRIu64 "\n", b.tid, b.from, b.to);
	return 0;
}
