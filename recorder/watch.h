/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the loop of a recording waits for: descriptors, each with the function that is called
 * when something happens to it (epoll(7), level-triggered).
 */
#ifndef RECORDER_WATCH_H
#define RECORDER_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* events: EPOLLIN, EPOLLHUP ... It may add and remove descriptors, its own too. */
typedef void watch_fn(void *ctx, int fd, uint32_t events);

struct watch {
	int epoll;
	struct watch_entry {
		int fd; /* -1: free */
		watch_fn *fn;
		void *ctx;
	} *entry;
	size_t nr, cap;
	uint64_t wakeups; /* how often watch_wait returned because of a descriptor */
};
#define WATCH_INIT (struct watch){ .epoll = -1 }

int watch_init(struct watch *ret); /* 0 or -errno */
void watch_done(struct watch *w);  /* twice is safe; closes no descriptor but its own */

/* 0, -ENOMEM, or what epoll_ctl(2) said (-EPERM: always ready, as a regular file is). fd < 0 is
 * passed over: 0. */
__attribute__((warn_unused_result))
int watch_add(struct watch *w, int fd, watch_fn *fn, void *ctx);
/* Before fd is closed; one that is not watched, or < 0, is passed over. */
void watch_remove(struct watch *w, int fd);

/* Wait at most timeout_ms (-1: for ever) and call the functions of all that are ready. 0 or
 * -errno; a signal handler that ran is no error. */
__attribute__((warn_unused_result))
int watch_wait(struct watch *w, int timeout_ms);

#endif
