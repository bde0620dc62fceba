/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/polling.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/session.h"

int polling_setup(struct polled *ret, const struct session *s)
{
	size_t n = 2 + s->set.nr_place + s->cfg->nr_pids;
	struct pollfd *fd = calloc(n, sizeof(*fd));

	if (!fd)
		return -ENOMEM;
	fd[0] = (struct pollfd){ .fd = s->signal_fd, .events = POLLIN };
	fd[1] = (struct pollfd){ .fd = s->hotplug.fd, .events = POLLIN };
	for (size_t i = 0; i < s->set.nr_place; i++)
		fd[2 + i] = (struct pollfd){ .fd = s->set.place[i].ring.fd, .events = POLLIN };
	for (size_t i = 0; i < s->cfg->nr_pids; i++)
		fd[2 + s->set.nr_place + i] = (struct pollfd){
			.fd = (int)syscall(SYS_pidfd_open, s->cfg->pids[i], 0),
			.events = POLLIN,
		};
	*ret = (struct polled){ fd, n, 2, 2 + s->set.nr_place };
	return 0;
}

void polling_done(struct polled *p)
{
	for (size_t i = p->first_pid; p->fd && i < p->n; i++)
		if (p->fd[i].fd >= 0)
			(void)close(p->fd[i].fd);
	free(p->fd);
}

/* An event whose task is gone would report POLLHUP for ever. */
bool polling_rings_ready(struct polled *p)
{
	bool ready = false;

	for (size_t i = p->first_ring; i < p->first_pid; i++) {
		if (p->fd[i].revents & POLLIN)
			ready = true;
		if (p->fd[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			p->fd[i].fd = -1;
	}
	return ready;
}

bool polling_processes_gone(struct polled *p)
{
	bool alive = false;

	for (size_t i = p->first_pid; i < p->n; i++) {
		if (p->fd[i].fd >= 0 && (p->fd[i].revents & POLLIN)) {
			(void)close(p->fd[i].fd);
			p->fd[i].fd = -1;
		}
		alive = alive || p->fd[i].fd >= 0;
	}
	return p->n > p->first_pid && !alive;
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
	return true;
}
