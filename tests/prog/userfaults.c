/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages that a thread of the program fetches for another one, which reads, writes, calls and
 * returns through them: userfaultfd(2). Exit: 0, or 77 where there is none.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 6 };

static int fd;

/* The kernel's own accesses count, too, where that is permitted. */
static int open_faults(void)
{
	int got = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	return got >= 0 ? got : (int)syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* USER_MODE_ONLY */);
}

static unsigned twice(unsigned x)
{
	return x & 1 ? 2 * x + 1 : 2 * x;
}

static void *serve(void *arg)
{
	for (unsigned n = 0; n < PAGES; n++) {
		uint64_t page[PAGE / 8];
		struct uffdio_copy copy = { .src = (uintptr_t)page, .len = PAGE };
		struct uffd_msg msg;

		if (read(fd, &msg, sizeof(msg)) != sizeof(msg))
			return NULL;
		for (unsigned i = 0; i < PAGE / 8; i++)
			page[i] = (uintptr_t)twice;
		copy.dst = msg.arg.pagefault.address & ~(uint64_t)(PAGE - 1);
		ioctl(fd, UFFDIO_COPY, &copy);
	}
	return NULL;
}

int main(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register all = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	unsigned sum = 0;
	uint64_t *at;
	pthread_t t;

	fd = open_faults();
	at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	all.range.start = (uintptr_t)at;
	all.range.len = PAGES * PAGE;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &all))
		return 77;
	pthread_create(&t, NULL, serve, NULL);
	for (unsigned i = 0; i < PAGES; i++, at += PAGE / 8) {
		if (i % 3 == 0)
			sum = sum * 3 + (at[9] ? 5 : 7);
		if (i % 3 == 1)
			__asm__ volatile("addl $3, (%0)" :: "r"(at + 9) : "memory", "cc");
		sum = sum * 3 + ((unsigned (*)(unsigned))at[i])(i);
		__asm__ volatile("rep movsb" :: "D"(at), "S"(at + 8), "c"(32l) : "memory");
	}
	pthread_join(t, NULL);
	printf("%u\n", sum);
	return 0;
}
