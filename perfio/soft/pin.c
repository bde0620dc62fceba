/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/pin.h"
#include "perfio/soft/tracer.h"

#include <errno.h>

static void only(cpu_set_t *ret, int cpu)
{
	CPU_ZERO(ret);
	CPU_SET((size_t)cpu, ret);
}

static int cpu_of(const struct soft *s, const struct soft_thread *t)
{
	return t->cpu ? t->cpu->cpu : s->cpu;
}

/* The cpu that the tracer is on, or another one that both may have. */
static int common_cpu(const cpu_set_t *a, const cpu_set_t *b)
{
	int here = sched_getcpu();
	cpu_set_t both;

	CPU_AND(&both, a, b);
	if (here >= 0 && CPU_ISSET((size_t)here, &both))
		return here;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET((size_t)i, &both))
			return i;
	return -ENODEV;
}

static void tell(const struct soft_thread *t)
{
	if (!t->life)
		return;
	t->life->pinned = false;
	t->life->cpus = t->pin.cpus;
	__atomic_store_n(&t->life->pinned, t->pin.on, __ATOMIC_RELEASE);
}

static bool pin_tracer(struct soft *s, const cpu_set_t *theirs)
{
	cpu_set_t one;

	if (s->pin.on)
		return true;
	if (sched_getaffinity(0, sizeof(s->pin.cpus), &s->pin.cpus))
		return false;
	s->cpu = s->nr_cpus ? s->cpus->cpu : common_cpu(&s->pin.cpus, theirs);
	if (s->cpu < 0)
		return false;
	only(&one, s->cpu);
	s->pin.on = !sched_setaffinity(0, sizeof(one), &one);
	return s->pin.on;
}

void soft_pin(struct soft *s, struct soft_thread *t)
{
	struct soft_pin *p = &t->pin;
	cpu_set_t one;

	if (!s->cfg.pin || s->detaching || p->on ||
	    sched_getaffinity(t->tid, sizeof(p->cpus), &p->cpus) || !pin_tracer(s, &p->cpus))
		return;
	only(&one, cpu_of(s, t));
	p->on = !sched_setaffinity(t->tid, sizeof(one), &one);
	tell(t);
}

void soft_pin_born(const struct soft *s, struct soft_thread *t, const struct soft_thread *parent)
{
	cpu_set_t one;

	t->pin = parent ? parent->pin : s->pin;
	tell(t);
	if (!t->cpu || !t->pin.on)
		return;
	only(&one, t->cpu->cpu); /* its parent's may be another one */
	sched_setaffinity(t->tid, sizeof(one), &one);
}

void soft_pin_other(const struct soft *s, struct soft_thread *t)
{
	cpu_set_t has, one;

	t->pin.on = false;
	if (!CPU_COUNT(&t->pin.cpus) || sched_getaffinity(t->tid, sizeof(has), &has) ||
	    CPU_COUNT(&has) != 1)
		return;
	only(&one, cpu_of(s, t));
	t->pin.on = !sched_setaffinity(t->tid, sizeof(one), &one);
}

void soft_unpin(const struct soft *s, struct soft_thread *t)
{
	cpu_set_t has, one;

	if (!t->pin.on)
		return;
	t->pin.on = false;
	only(&one, cpu_of(s, t));
	if (!sched_getaffinity(t->tid, sizeof(has), &has) && CPU_EQUAL(&has, &one))
		sched_setaffinity(t->tid, sizeof(t->pin.cpus), &t->pin.cpus);
	tell(t);
}

void soft_unpin_all(struct soft *s)
{
	for (size_t i = 0; i < s->nr_live; i++)
		soft_unpin(s, s->live[i]);
	if (s->pin.on)
		sched_setaffinity(0, sizeof(s->pin.cpus), &s->pin.cpus);
	s->pin.on = false;
}
