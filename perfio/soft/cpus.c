/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/cpus.h"
#include "perfio/soft/tracer.h"

#include <errno.h>
#include <stdlib.h>

static void add(struct soft *s, int cpu)
{
	s->cpus[s->nr_cpus++] = (struct soft_cpu){ .cpu = cpu, .s = s,
						   .out.window = s->cfg.window };
}

int soft_cpus_init(struct soft *s)
{
	int here = sched_getcpu();
	cpu_set_t set;

	if (here < 0 || sched_getaffinity(0, sizeof(set), &set))
		return -errno;
	s->cpus = calloc((size_t)CPU_COUNT(&set) + 1, sizeof(*s->cpus));
	if (!s->cpus)
		return -ENOMEM;
	add(s, here);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (i != here && CPU_ISSET((size_t)i, &set))
			add(s, i);
	return 0;
}

void soft_cpus_done(struct soft *s)
{
	for (size_t i = 0; i < s->nr_cpus; i++)
		soft_bytes_done(&s->cpus[i].out);
	free(s->cpus);
}

void soft_cpu_assign(struct soft *s, struct soft_thread *t)
{
	if (!s->nr_cpus)
		return;
	t->cpu = &s->cpus[s->next_cpu];
	s->next_cpu = (s->next_cpu + 1) % s->nr_cpus;
}

void soft_cpu_inherit(struct soft_thread *t, struct soft_thread *o)
{
	if (!t->cpu)
		return;
	soft_cpu_leave(t);
	t->cpu = o->cpu;
}

/* Whole, so that no packet is cut by a reader. */
static void append(struct soft_cpu *c, const uint8_t *p, size_t n)
{
	if (soft_bytes_reserve(&c->out, n))
		soft_bytes_put(&c->out, p, n);
	else
		c->dropped += n;
}

void soft_cpu_collect(struct soft_cpu *c)
{
	uint64_t dropped = c->dropped;
	struct iovec v[2];
	int n;

	if (!c->on)
		return;
	while ((n = soft_bytes_peek(&c->on->pt.out, v))) {
		for (int i = 0; i < n; i++)
			append(c, v[i].iov_base, v[i].iov_len);
		soft_bytes_release(&c->on->pt.out);
	}
	/* The first bytes of a queue that was begun anew while this thread was on are its PSB. */
	if (!c->start_ticks && c->on->pt.begun)
		c->start_ticks = c->on->pt.start_ticks;
	if (c->dropped != dropped)
		c->on->pt.begun = false; /* readers find in again at a PSB */
}

void soft_cpus_collect(struct soft *s)
{
	for (size_t i = 0; i < s->nr_cpus; i++)
		soft_cpu_collect(&s->cpus[i]);
}

/* From now on, and not before the last change is over. */
static uint64_t change(struct soft_cpu *c, struct soft_thread *t)
{
	uint64_t now = soft_ticks(c->s);

	if (now <= c->last)
		now = c->last + 1;
	soft_notes_add(&c->s->notes, &(struct soft_note){
		.ticks = now, .pid = t ? t->pid : 0, .tid = t ? t->tid : 0, .cpu = c->cpu });
	c->on = t;
	c->last = now + SOFT_CHANGE_TICKS;
	return c->last;
}

static void end_stretch(struct soft_cpu *c)
{
	if (c->on && c->on->mode == SOFT_USER)
		soft_thread_cut(c->on);
	soft_cpu_collect(c);
}

void soft_cpu_take(struct soft_thread *t)
{
	struct soft_cpu *c = t->cpu;

	if (!c || c->on == t)
		return;
	end_stretch(c);
	t->resumed = change(c, t);
	t->pt.begun = false;
	if (c->start_ticks)
		return;
	c->start_ticks = t->resumed;
	c->pid = t->pid;
	c->tid = t->tid;
}

void soft_cpu_leave(struct soft_thread *t)
{
	struct soft_cpu *c = t->cpu;

	if (!c || c->on != t)
		return;
	end_stretch(c);
	(void)change(c, NULL);
}

void soft_cpus_leave(struct soft *s)
{
	for (size_t i = 0; i < s->nr_cpus; i++)
		if (s->cpus[i].on)
			soft_cpu_leave(s->cpus[i].on);
}
