/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the loop of a recording waits for: signals, cpus that come and go, rings past their
 * watermark, and the end of what is recorded.
 */
#ifndef RECORDER_POLLING_H
#define RECORDER_POLLING_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

struct session;

struct polled {
	struct pollfd *fd; /* signals, hotplug, then rings, then pidfds of -p */
	size_t n, first_ring, first_pid;
};

/* 0 or -ENOMEM. */
int polling_setup(struct polled *ret, const struct session *s);
void polling_done(struct polled *p);

/* After poll(2): is a ring past its watermark? */
bool polling_rings_ready(struct polled *p);
/* Have all processes of -p ended? */
bool polling_processes_gone(struct polled *p);
/* Have all threads of -t ended? Looks into /proc. */
bool polling_threads_gone(const struct session *s);

#endif
