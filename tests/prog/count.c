/* SPDX-License-Identifier: Apache-2.0 */
/*
 * count FILE [THREADS]: counts in a shared mapping of FILE (u64 per thread) as fast as it can, for
 * others to see whether it runs.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 4096 };

static void *count(void *at)
{
	for (volatile uint64_t *n = at;; ++*n)
		;
	return NULL;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
	long threads = argc > 2 ? atol(argv[2]) : 1;
	pthread_t id;
	uint64_t *n;

	if (fd < 0 || ftruncate(fd, SIZE) || threads < 1 || threads > SIZE / 8)
		return 2;
	n = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (n == MAP_FAILED)
		return 1;
	for (long i = 1; i < threads; i++)
		if (pthread_create(&id, NULL, count, n + i))
			return 1;
	return count(n) != NULL;
}
