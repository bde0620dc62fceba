/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

int watch_init(struct watch *ret)
{
	struct watch w = WATCH_INIT;

	w.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (w.epoll < 0)
		return -errno;
	*ret = w;
	return 0;
}

void watch_done(struct watch *w)
{
	if (w->epoll >= 0)
		(void)close(w->epoll);
	free(w->entry);
	*w = WATCH_INIT;
}

static int free_entry(struct watch *w, size_t *ret)
{
	struct watch_entry *more;
	size_t cap = w->cap ? 2 * w->cap : 16;

	for (*ret = 0; *ret < w->nr; ++*ret)
		if (w->entry[*ret].fd < 0)
			return 0;
	if (w->nr == w->cap) {
		more = realloc(w->entry, cap * sizeof(*more));
		if (!more)
			return -ENOMEM;
		w->entry = more;
		w->cap = cap;
	}
	w->entry[w->nr++].fd = -1;
	return 0;
}

int watch_add(struct watch *w, int fd, watch_fn *fn, void *ctx)
{
	struct epoll_event e = { .events = EPOLLIN };
	size_t i;
	int err;

	if (fd < 0)
		return 0;
	err = free_entry(w, &i);
	if (err)
		return err;
	e.data.u64 = i;
	if (epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &e))
		return -errno;
	w->entry[i] = (struct watch_entry){ fd, fn, ctx };
	return 0;
}

void watch_remove(struct watch *w, int fd)
{
	for (size_t i = 0; i < w->nr && fd >= 0; i++)
		if (w->entry[i].fd == fd) {
			w->entry[i].fd = -1;
			(void)epoll_ctl(w->epoll, EPOLL_CTL_DEL, fd, NULL);
			return;
		}
}

int watch_wait(struct watch *w, int timeout_ms)
{
	enum { AT_ONCE = 64 };
	struct epoll_event e[AT_ONCE];
	int n = epoll_wait(w->epoll, e, AT_ONCE, timeout_ms);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	w->wakeups += n > 0;
	for (int i = 0; i < n; i++) {
		/* An earlier function of this round may have removed it; who takes its place
		 * at once is called for nothing, which they must bear. */
		struct watch_entry t = w->entry[e[i].data.u64];

		if (t.fd >= 0)
			t.fn(t.ctx, t.fd, e[i].events);
	}
	return 0;
}
