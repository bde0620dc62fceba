/* SPDX-License-Identifier: Apache-2.0 */
/* What the caller sees of the trace: a stream for each thread, or for each cpu. */
#include "perfio/soft/tracer.h"

size_t soft_nr_queues(const struct soft *s)
{
	return s->nr_cpus ? s->nr_cpus : s->nr;
}

static struct soft_bytes *bytes_of(const struct soft *s, size_t i)
{
	return s->nr_cpus ? &s->cpus[i].out : &s->all[i]->pt.out;
}

/* Whose packets come, or NULL. */
static struct soft_thread *thread_of(const struct soft *s, size_t i)
{
	return s->nr_cpus ? s->cpus[i].on : s->all[i];
}

static struct soft_queue queue_of_cpu(const struct soft_cpu *c)
{
	return (struct soft_queue){ .pid = c->pid, .tid = c->tid, .offset = c->out.offset,
				    .start_ticks = c->start_ticks, .cpu = c->cpu, .of_cpu = true };
}

static struct soft_queue queue_of(const struct soft *s, size_t i)
{
	const struct soft_thread *t;

	if (s->nr_cpus) /* before there are threads, too */
		return queue_of_cpu(&s->cpus[i]);
	t = s->all[i];
	return (struct soft_queue){ .pid = t->pid, .tid = t->tid,
				    .offset = t->pt.out.offset,
				    .start_ticks = t->pt.start_ticks,
				    .cpu = t->pin.on ? s->cpu : -1 };
}

void soft_queue_peek(struct soft *s, size_t i, bool flush, struct soft_queue *ret)
{
	struct soft_thread *t = thread_of(s, i);
	bool *pushed = s->nr_cpus ? &s->cpus[i].pushed : &t->pushed;

	if (flush && t && t->pt.on)
		soft_pt_flush(&t->pt);
	if (s->nr_cpus)
		soft_cpu_collect(&s->cpus[i]);
	*ret = queue_of(s, i);
	ret->nv = soft_bytes_peek(bytes_of(s, i), ret->v);
	ret->started = ret->nv && !*pushed;
	*pushed |= ret->started;
}

size_t soft_queue_kept(const struct soft *s, size_t i, struct soft_queue *ret)
{
	*ret = queue_of(s, i);
	return bytes_of(s, i)->held;
}

size_t soft_queue_copy(const struct soft *s, size_t i, uint64_t from, void *to, size_t n)
{
	return soft_bytes_copy(bytes_of(s, i), from, to, n);
}

size_t soft_queue_end(const struct soft *s, size_t i, uint8_t buf[SOFT_END_MAX])
{
	const struct soft_thread *t = thread_of(s, i);

	if (!t || t->mode != SOFT_USER)
		return 0;
	return soft_pt_end(&t->pt, t->insn.ip, buf, SOFT_END_MAX);
}

void soft_queue_release(struct soft *s, size_t i)
{
	struct soft_thread *t;

	soft_bytes_release(bytes_of(s, i));
	if (s->nr_cpus)
		return;
	t = s->all[i];
	/* Programs may start threads by the thousand. */
	if (t->mode == SOFT_GONE) {
		soft_bytes_trim(&t->pt.out);
		soft_dead_shrunk(s, t);
	}
}

void soft_divide(struct soft *s)
{
	for (size_t i = 0; i < s->nr_live; i++) {
		struct soft_thread *t = s->live[i];

		if (t->mode == SOFT_USER)
			soft_thread_cut(t);
		soft_pt_want_psb(&t->pt);
	}
}

static void begin_cpu_anew(struct soft_cpu *c)
{
	c->pushed = false;
	c->start_ticks = 0;
	c->pid = c->on ? c->on->pid : 0;
	c->tid = c->on ? c->on->tid : 0;
}

void soft_begin_anew(struct soft *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		s->all[i]->pushed = false;
		s->all[i]->pt.begun = false;
	}
	for (size_t i = 0; i < s->nr_cpus; i++)
		begin_cpu_anew(&s->cpus[i]);
}
