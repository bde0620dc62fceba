/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/polling.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/session.h"

static void signals_came(void *ctx, int fd, uint32_t events)
{
	struct session *s = ctx;

	(void)fd;
	(void)events;
	s->on_signals(s);
}

static void cpus_changed(void *ctx, int fd, uint32_t events)
{
	struct session *s = ctx;

	(void)fd;
	(void)events;
	s->polling.cpus_changed = true;
}

/* It would report the end of its task for ever. */
bool polling_hung_up(struct session *s, int fd, uint32_t events)
{
	if (events & (EPOLLHUP | EPOLLERR))
		watch_remove(&s->watch, fd);
	return !(events & EPOLLIN);
}

static void ring_ready(void *ctx, int fd, uint32_t events)
{
	struct session *s = ctx;

	s->polling.rings_ready |= !polling_hung_up(s, fd, events);
}

static void process_ended(void *ctx, int fd, uint32_t events)
{
	struct session *s = ctx;

	(void)events;
	watch_remove(&s->watch, fd);
	for (size_t i = 0; i < s->polling.nr_pidfd; i++)
		if (s->polling.pidfd[i] == fd) {
			s->polling.pidfd[i] = -1;
			s->polling.alive--;
		}
	(void)close(fd);
}

int polling_add_ring(struct session *s, size_t place)
{
	return watch_add(&s->watch, s->set.place[place].ring.fd, ring_ready, s);
}

void polling_remove_ring(struct session *s, size_t place)
{
	watch_remove(&s->watch, s->set.place[place].ring.fd);
}

int polling_add_set(struct session *s, const struct pio_evset *set, size_t place, watch_fn *fn)
{
	int err = 0;

	for (size_t i = 0; i < set->nr_ev; i++)
		for (size_t k = 0; k < set->ev[i].nr_fd && !err; k++)
			if (place == POLLING_EVERYWHERE || set->ev[i].fd[k].place == place)
				err = watch_add(&s->watch, set->ev[i].fd[k].fd, fn, s);
	return err;
}

void polling_remove_set(struct session *s, const struct pio_evset *set, size_t place)
{
	for (size_t i = 0; i < set->nr_ev; i++)
		for (size_t k = 0; k < set->ev[i].nr_fd; k++)
			if (place == POLLING_EVERYWHERE || set->ev[i].fd[k].place == place)
				watch_remove(&s->watch, set->ev[i].fd[k].fd);
}

/* A process that is gone already counts as ended. */
static int add_processes(struct session *s)
{
	struct polling *p = &s->polling;
	size_t n = s->cfg->nr_pids;
	int err = 0;

	p->pidfd = calloc(n + 1, sizeof(*p->pidfd));
	if (!p->pidfd)
		return -ENOMEM;
	for (; p->nr_pidfd < n && !err; p->nr_pidfd++) {
		int fd = (int)syscall(SYS_pidfd_open, s->cfg->pids[p->nr_pidfd], 0);

		p->pidfd[p->nr_pidfd] = fd;
		p->alive += fd >= 0;
		err = watch_add(&s->watch, fd, process_ended, s);
	}
	return err;
}

int polling_setup(struct session *s, void (*on_signals)(struct session *s))
{
	int err = watch_init(&s->watch);

	s->on_signals = on_signals;
	if (!err)
		err = watch_add(&s->watch, s->signal_fd, signals_came, s);
	if (!err)
		err = watch_add(&s->watch, s->hotplug.fd, cpus_changed, s);
	for (size_t i = 0; i < s->set.nr_place && !err; i++)
		err = polling_add_ring(s, i);
	return err ? err : add_processes(s);
}

void polling_done(struct session *s)
{
	for (size_t i = 0; i < s->polling.nr_pidfd; i++)
		if (s->polling.pidfd[i] >= 0)
			(void)close(s->polling.pidfd[i]);
	free(s->polling.pidfd);
	s->polling = (struct polling){ 0 };
	watch_done(&s->watch);
}

bool polling_processes_gone(const struct session *s)
{
	return s->polling.nr_pidfd && !s->polling.alive;
}

static bool thread_gone(const struct session *s, pid_t tid)
{
	char line[256], *p;

	if (pio_read_line(line, sizeof(line), "%s/%d/stat", s->sys->proc, (int)tid) < 0)
		return true;
	p = strrchr(line, ')');
	return p && p[1] == ' ' && (p[2] == 'Z' || p[2] == 'X');
}

bool polling_threads_gone(const struct session *s)
{
	if (!s->cfg->nr_tids || s->cfg->nr_pids)
		return false;
	for (size_t i = 0; i < s->cfg->nr_tids; i++)
		if (!thread_gone(s, s->cfg->tids[i]))
			return false;
	for (size_t i = 0; i < s->set.nr_place; i++) /* threads that were started by command */
		if (s->set.place[i].tid > 0 && s->set.place[i].ring.meta &&
		    !thread_gone(s, s->set.place[i].tid))
			return false;
	return true;
}
