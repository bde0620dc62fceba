/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of the events of a set once they are open: start, stop, count. */
#include "perfio/evset.h"

#include <errno.h>

static bool leads(const struct pio_evset *s, size_t i)
{
	for (size_t k = i + 1; k < s->nr_ev; k++)
		if (s->ev[k].leader == i + 1)
			return true;
	return false;
}

#define EVERYWHERE SIZE_MAX /* no place: all of them */

static int request_all(const struct pio_evset *s, const struct pio_event *e, size_t place,
		       unsigned long request, uintptr_t arg)
{
	int first = 0;

	for (size_t k = 0; k < e->nr_fd; k++) {
		int err = 0;

		if (place == EVERYWHERE || e->fd[k].place == place)
			err = s->sys->ioctl(e->fd[k].fd, request, arg);
		if (err < 0 && !first)
			first = err;
	}
	return first;
}

static int disable(const struct pio_evset *s, size_t i, size_t place)
{
	if (s->ev[i].leader)
		return 0;
	return request_all(s, &s->ev[i], place, PERF_EVENT_IOC_DISABLE,
			   leads(s, i) ? PERF_IOC_FLAG_GROUP : 0);
}

/*
 * Members first: they stay off until their leader is on, and go on with it. The other way
 * round, Linux 6.12 (read in ctx_resched(), and seen) leaves members off whose PMU is not
 * the leader's: it puts only groups led by the member's PMU on anew. Records of switches come
 * all the same, samples do not.
 */
static int enable_members(const struct pio_evset *s, size_t i, size_t place,
			  unsigned long *ret_flag)
{
	int err, first = 0;

	*ret_flag = leads(s, i) ? PERF_IOC_FLAG_GROUP : 0;
	for (size_t k = i + 1; k < s->nr_ev; k++) {
		if (s->ev[k].leader != i + 1)
			continue;
		if (s->ev[k].off) { /* the flag would take it along */
			*ret_flag = 0;
			continue;
		}
		err = request_all(s, &s->ev[k], place, PERF_EVENT_IOC_ENABLE, 0);
		if (err && !first)
			first = err;
	}
	return first;
}

static int enable(const struct pio_evset *s, size_t i, size_t place)
{
	unsigned long flag;
	int err, first;

	if (s->held || s->ev[i].off || s->ev[i].leader)
		return 0;
	first = enable_members(s, i, place, &flag);
	err = request_all(s, &s->ev[i], place, PERF_EVENT_IOC_ENABLE, flag);
	return first ? first : err;
}

int pio_evset_enable(struct pio_evset *s, size_t i)
{
	return enable(s, i, EVERYWHERE);
}

int pio_evset_disable(struct pio_evset *s, size_t i)
{
	return disable(s, i, EVERYWHERE);
}

int pio_evset_enable_place(struct pio_evset *s, size_t i, size_t place)
{
	return enable(s, i, place);
}

int pio_evset_disable_place(struct pio_evset *s, size_t i, size_t place)
{
	return disable(s, i, place);
}

int pio_evset_leave_out(struct pio_evset *s, size_t i)
{
	s->ev[i].off = true;
	if (s->ev[i].leader)
		return request_all(s, &s->ev[i], EVERYWHERE, PERF_EVENT_IOC_DISABLE, 0);
	return disable(s, i, EVERYWHERE);
}

void pio_evset_take_in(struct pio_evset *s, size_t i)
{
	s->ev[i].off = false;
}

int pio_evset_halt(struct pio_evset *s, size_t i, size_t place)
{
	return request_all(s, &s->ev[i], place, PERF_EVENT_IOC_DISABLE, 0);
}

int pio_evset_go_on(struct pio_evset *s, size_t i, size_t place)
{
	if (s->held || s->ev[i].off)
		return 0;
	return request_all(s, &s->ev[i], place, PERF_EVENT_IOC_ENABLE, 0);
}

int pio_evset_restart(struct pio_evset *s, size_t i, size_t place)
{
	int halted, err;

	if (s->held || s->ev[i].off)
		return 0;
	halted = pio_evset_halt(s, i, place);
	err = pio_evset_go_on(s, i, place);
	return halted ? halted : err;
}

int pio_event_lost(const struct pio_evset *s, const struct pio_event *e, size_t fd,
		   uint64_t *ret)
{
	const uint64_t fmt = e->attr.read_format;
	uint64_t v[5];
	ssize_t n;
	size_t at = 1; /* behind the value */

	if (!(fmt & PERF_FORMAT_LOST) || fmt & PERF_FORMAT_GROUP)
		return -EOPNOTSUPP;
	at += !!(fmt & PERF_FORMAT_TOTAL_TIME_ENABLED);
	at += !!(fmt & PERF_FORMAT_TOTAL_TIME_RUNNING);
	at += !!(fmt & PERF_FORMAT_ID);
	n = s->sys->read(e->fd[fd].fd, v, sizeof(v));
	if (n < 0)
		return (int)n;
	if ((size_t)n < (at + 1) * sizeof(*v))
		return -EIO;
	*ret = v[at];
	return 0;
}
