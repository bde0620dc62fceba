/* SPDX-License-Identifier: Apache-2.0 */
/* Cpus, or threads, that leave a set and join it. */
#include "perfio/evset.h"

#include <errno.h>
#include <stdlib.h>

#include "perfio/evset_priv.h"

static void close_place(struct pio_evset *s, size_t place)
{
	for (size_t i = 0; i < s->nr_ev; i++) {
		struct pio_event *e = &s->ev[i];
		size_t left = 0;

		for (size_t k = 0; k < e->nr_fd; k++)
			if (e->fd[k].place != place)
				e->fd[left++] = e->fd[k];
			else
				(void)s->sys->close(e->fd[k].fd);
		e->nr_fd = left;
	}
	pio_evset_unmap(&s->place[place]);
}

void pio_evset_retire(struct pio_evset *s, size_t place)
{
	struct pio_place *p = &s->place[place];

	p->aux_base += p->ring.overwrite ? p->ring.aux_head : p->ring.aux_tail;
	close_place(s, place);
}

int pio_evset_place_of(const struct pio_evset *s, int cpu)
{
	for (size_t i = 0; i < s->nr_place; i++)
		if (s->place[i].cpu == cpu && s->place[i].ring.meta)
			return (int)i;
	return -ENOENT;
}

/* The place that it had, or one behind the last, which is not counted yet. */
static int place_for(struct opening *o, int cpu, pid_t tid, size_t *ret)
{
	struct pio_place *p;

	for (size_t i = 0; i < o->s.nr_place; i++)
		if (o->s.place[i].cpu == cpu && o->s.place[i].tid == tid) {
			*ret = i;
			return o->s.place[i].ring.meta ? -EEXIST : 0;
		}
	p = reallocarray(o->s.place, o->s.nr_place + 1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	o->s.place = p;
	p[o->s.nr_place] = (struct pio_place){
		.cpu = cpu, .tid = tid, .ring = PIO_RING_INIT, .newest = PIO_NEWEST_INIT,
	};
	*ret = o->s.nr_place;
	return 0;
}

static int make_room(struct opening *o)
{
	size_t more = o->t->tids ? o->t->nr_tids : 1;

	for (size_t i = 0; i < o->s.nr_ev; i++) {
		struct pio_event *e = &o->s.ev[i];
		struct pio_fd *fd = reallocarray(e->fd, e->nr_fd + more, sizeof(*fd));

		if (!fd)
			return -ENOMEM;
		e->fd = fd;
	}
	return 0;
}

static int open_place(struct opening *o, size_t place)
{
	int err = 0;

	for (size_t i = 0; i < o->s.nr_ev && !err; i++)
		if (!o->s.ev[i].missing)
			err = pio_evset_open_at(o, &o->s.ev[i], place);
	for (size_t i = 0; i < o->s.nr_ev; i++)
		for (size_t k = 0; !err && k < o->s.ev[i].nr_fd; k++)
			if (o->s.ev[i].fd[k].place == place)
				err = pio_evset_attach(o, &o->s.ev[i], &o->s.ev[i].fd[k]);
	return err;
}

static int add(struct pio_evset *s, int cpu, pid_t tid, struct pio_fault *why)
{
	const struct pio_fd here = { .cpu = cpu, .tid = tid };
	struct opening o = { .s = *s, .t = &s->target };
	size_t place = 0;
	int err = place_for(&o, cpu, tid, &place);

	s->place = o.s.place; /* it may have moved */
	if (!err)
		err = make_room(&o);
	if (err) {
		(void)pio_evset_fault(&o, err, "malloc", s->ev, &here, 0);
		*why = o.why;
		return err;
	}
	err = open_place(&o, place);
	if (!err && !o.s.place[place].ring.meta)
		err = pio_evset_fault(&o, -ESRCH, "perf_event_open", s->ev, &here, 0);
	if (err) {
		*why = o.why;
		close_place(&o.s, place);
		return err;
	}
	if (place == s->nr_place)
		s->nr_place++;
	return (int)place;
}

int pio_evset_add_cpu(struct pio_evset *s, int cpu, struct pio_fault *why)
{
	return add(s, cpu, -1, why);
}

int pio_evset_add_thread(struct pio_evset *s, pid_t tid, struct pio_fault *why)
{
	return add(s, -1, tid, why);
}
