/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every descriptor is opened before the first ring is mapped: an optional event can then
 * be given up as a whole without touching a ring that others write to. Nothing is lost
 * meanwhile, as events start disabled.
 */
#include "perfio/evset.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "perfio/attrs.h"
#include "perfio/evset_priv.h"

enum { NO_GROUP = -1 }; /* group_fd of an event by itself, perf_event_open(2) */

static size_t count_fds(const struct pio_evset *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nr_ev; i++)
		n += s->ev[i].nr_fd;
	return n;
}

int pio_evset_fault(struct opening *o, int err, const char *call,
		    const struct pio_event *e, const struct pio_fd *f, size_t asked)
{
	o->why = (struct pio_fault){
		.call = call,
		.event = e->name,
		.cpu = f->cpu,
		.tid = f->tid,
		.asked = asked,
		.opened = count_fds(&o->s),
	};
	return err;
}

static int make_places(struct opening *o)
{
	const struct pio_target *t = o->t;
	size_t n = t->cpus.n ? t->cpus.n : t->nr_tids;

	o->s.place = calloc(n, sizeof(*o->s.place));
	if (!o->s.place)
		return -ENOMEM;
	o->s.nr_place = n;
	for (size_t i = 0; i < n; i++)
		o->s.place[i] = (struct pio_place){
			.cpu = t->cpus.n ? t->cpus.cpu[i] : -1,
			.tid = t->cpus.n ? -1 : t->tids[i],
			.ring = PIO_RING_INIT,
			.newest = PIO_NEWEST_INIT,
		};
	return 0;
}

/* Works once: afterwards soft and hard limit are the same. */
static int raise_nofile(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l))
		return -errno;
	if (l.rlim_cur >= l.rlim_max)
		return -EMFILE;
	l.rlim_cur = l.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &l) ? -errno : 0;
}

static int open_attr(struct opening *o, const struct pio_event *e,
		     struct perf_event_attr *attr, const struct pio_fd *f, int group_fd)
{
	unsigned long flags = e->cgroup ? PERF_FLAG_PID_CGROUP : 0;
	pid_t pid = e->cgroup ? e->cgroup->fd : f->tid;
	int fd = o->s.sys->open(attr, pid, f->cpu, group_fd, flags);

	if (fd != -EMFILE || raise_nofile())
		return fd;
	return o->s.sys->open(attr, pid, f->cpu, group_fd, flags);
}

/* The descriptor of e's group leader on the same cpu and task: -1 when e is in no group,
 * -ESRCH when the leader found its thread gone. */
static int group_of(const struct opening *o, const struct pio_event *e,
		    const struct pio_fd *f)
{
	const struct pio_event *l = e->leader ? &o->s.ev[e->leader - 1] : NULL;

	for (size_t i = 0; l && i < l->nr_fd; i++)
		if (l->fd[i].cpu == f->cpu && l->fd[i].tid == f->tid)
			return l->fd[i].fd;
	return l ? -ESRCH : NO_GROUP;
}

static bool refused(int err)
{
	return err == -EINVAL || err == -EACCES || err == -EPERM;
}

/* A kernel that lacks a feature says EINVAL, not which: ask for less until it agrees. */
static int open_reduced(struct opening *o, struct pio_event *e, const struct pio_fd *f,
			int group_fd, int err)
{
	struct perf_event_attr less = e->attr;
	int fd = err;

	while (refused(fd) && pio_attr_reduce(&less, fd)) {
		fd = open_attr(o, e, &less, f, group_fd);
		if (fd >= 0) {
			e->attr = less;
			return fd;
		}
	}
	return err;
}

static int open_one(struct opening *o, struct pio_event *e, size_t place, int cpu,
		    pid_t tid)
{
	struct pio_fd *f = &e->fd[e->nr_fd];
	int err, group_fd;

	*f = (struct pio_fd){ .cpu = cpu, .tid = tid, .place = place };
	group_fd = group_of(o, e, f);
	f->fd = group_fd < NO_GROUP ? group_fd : open_attr(o, e, &e->attr, f, group_fd);
	if (refused(f->fd) && !e->nr_fd)
		f->fd = open_reduced(o, e, f, group_fd, f->fd);
	if (f->fd == -ESRCH && o->t->nr_tids > 1)
		return 0;
	if (f->fd < 0)
		return pio_evset_fault(o, f->fd, "perf_event_open", e, f, 0);
	e->nr_fd++; /* from here on it is closed with the rest */
	err = o->s.sys->ioctl(f->fd, PERF_EVENT_IOC_ID, (uintptr_t)&f->id);
	if (err < 0)
		return pio_evset_fault(o, err, "ioctl PERF_EVENT_IOC_ID", e, f, 0);
	if (e->filter)
		err = o->s.sys->ioctl(f->fd, PERF_EVENT_IOC_SET_FILTER, (uintptr_t)e->filter);
	return err < 0 ? pio_evset_fault(o, err, "ioctl PERF_EVENT_IOC_SET_FILTER", e, f, 0) : 0;
}

int pio_evset_open_at(struct opening *o, struct pio_event *e, size_t place)
{
	int err = 0, cpu = o->s.place[place].cpu;

	if (cpu < 0)
		return open_one(o, e, place, -1, o->s.place[place].tid);
	if (!o->t->tids || e->all_tasks)
		return open_one(o, e, place, cpu, -1);
	for (size_t i = 0; !err && i < o->t->nr_tids; i++)
		err = open_one(o, e, place, cpu, o->t->tids[i]);
	return err;
}

static int open_everywhere(struct opening *o, struct pio_event *e)
{
	const struct pio_fd nowhere = { .cpu = -1, .tid = -1 };
	size_t per_cpu = o->t->tids ? o->t->nr_tids : 1;
	int err = 0;

	e->fd = calloc(o->s.nr_place * (o->t->cpus.n ? per_cpu : 1), sizeof(*e->fd));
	if (!e->fd)
		return pio_evset_fault(o, -ENOMEM, "malloc", e, &nowhere, 0);
	for (size_t i = 0; !err && i < o->s.nr_place; i++)
		err = pio_evset_open_at(o, e, i);
	if (!err && !e->nr_fd) /* all threads have gone */
		err = pio_evset_fault(o, -ESRCH, "perf_event_open", e, &nowhere, 0);
	return err;
}

static void close_event(const struct pio_evset *s, struct pio_event *e)
{
	for (size_t i = 0; i < e->nr_fd; i++)
		(void)s->sys->close(e->fd[i].fd);
	free(e->fd);
	e->fd = NULL;
	e->nr_fd = 0;
}

static int open_event(struct opening *o, struct pio_event *e)
{
	int err = open_everywhere(o, e);

	if (e->optional && (refused(err) || err == -ENOENT)) {
		close_event(&o->s, e);
		e->missing = err;
		return 0;
	}
	return err;
}

static int map_place(struct opening *o, const struct pio_event *e, const struct pio_fd *f)
{
	struct pio_ring *r = &o->s.place[f->place].ring;
	int err = pio_ring_map(r, o->s.sys, f->fd, o->t->data_len);

	if (err)
		return pio_evset_fault(o, err, "mmap", e, f, o->t->data_len);
	if (!o->t->aux_len || e != o->s.ev)
		return 0;
	err = pio_ring_map_aux(r, o->t->aux_len, o->t->overwrite);
	return err ? pio_evset_fault(o, err, "mmap (AUX area)", e, f, o->t->aux_len) : 0;
}

static int redirect(struct opening *o, const struct pio_event *e, const struct pio_fd *f,
		    int to)
{
	int err = o->s.sys->ioctl(f->fd, PERF_EVENT_IOC_SET_OUTPUT, (uintptr_t)to);

	return err < 0 ? pio_evset_fault(o, err, "ioctl PERF_EVENT_IOC_SET_OUTPUT", e, f, 0) : 0;
}

static int attach_newest(struct opening *o, const struct pio_event *e, const struct pio_fd *f)
{
	struct pio_newest *r = &o->s.place[f->place].newest;
	int err;

	if (r->meta)
		return redirect(o, e, f, r->fd);
	err = pio_newest_map(r, o->s.sys, f->fd, o->t->newest_len);
	return err ? pio_evset_fault(o, err, "mmap", e, f, o->t->newest_len) : 0;
}

/* The first to come owns the place's ring, all others write into it. */
int pio_evset_attach(struct opening *o, const struct pio_event *e, const struct pio_fd *f)
{
	const struct pio_ring *r = &o->s.place[f->place].ring;

	if (e->newest && o->t->newest_len)
		return attach_newest(o, e, f);
	return r->meta ? redirect(o, e, f, r->fd) : map_place(o, e, f);
}

static int attach_all(struct opening *o)
{
	int err = 0;

	for (size_t i = 0; i < o->s.nr_ev; i++)
		for (size_t k = 0; !err && k < o->s.ev[i].nr_fd; k++)
			err = pio_evset_attach(o, &o->s.ev[i], &o->s.ev[i].fd[k]);
	return err;
}

static void drop_empty_places(struct pio_evset *s)
{
	size_t n = 0;

	for (size_t old = 0; old < s->nr_place; old++) {
		if (!s->place[old].ring.meta)
			continue;
		for (size_t i = 0; i < s->nr_ev; i++)
			for (size_t k = 0; k < s->ev[i].nr_fd; k++)
				if (s->ev[i].fd[k].place == old)
					s->ev[i].fd[k].place = n;
		s->place[n++] = s->place[old];
	}
	s->nr_place = n;
}

static int open_all(struct opening *o)
{
	const struct pio_fd nowhere = { .cpu = -1, .tid = -1 };
	int err = make_places(o);

	if (err)
		return pio_evset_fault(o, err, "malloc", o->s.ev, &nowhere, 0);
	for (size_t i = 0; !err && i < o->s.nr_ev; i++)
		err = open_event(o, &o->s.ev[i]);
	if (!err)
		err = attach_all(o);
	if (!err)
		drop_empty_places(&o->s);
	if (!err && !o->s.nr_place) /* every event was optional, and none could be had */
		err = pio_evset_fault(o, o->s.ev->missing, "perf_event_open", o->s.ev, &nowhere, 0);
	return err;
}

int pio_evset_open(struct pio_evset *ret, const struct pio_sys *sys, struct pio_event *ev,
		   size_t nr_ev, const struct pio_target *t, struct pio_fault *why)
{
	struct opening o = { .s = { .sys = sys, .ev = ev, .nr_ev = nr_ev }, .t = t };
	int err;

	for (size_t i = 0; i < nr_ev; i++) {
		ev[i].fd = NULL;
		ev[i].nr_fd = 0;
		ev[i].missing = 0;
		if (ev[i].newest && t->newest_len)
			ev[i].attr.write_backward = 1;
	}
	err = open_all(&o);
	if (err) {
		*why = o.why;
		pio_evset_done(&o.s);
		return err;
	}
	o.s.target = *t;
	*ret = o.s;
	return 0;
}

void pio_evset_unmap(struct pio_place *p)
{
	pio_newest_done(&p->newest);
	pio_ring_done(&p->ring);
}

void pio_evset_done(struct pio_evset *s)
{
	for (size_t i = 0; i < s->nr_place; i++)
		pio_evset_unmap(&s->place[i]);
	for (size_t i = 0; i < s->nr_ev; i++)
		close_event(s, &s->ev[i]);
	free(s->place);
	*s = PIO_EVSET_INIT;
}
