/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/source.h"

#include <stdlib.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

#include "recorder/config.h"
#include "recorder/units.h"

const char *const source_names[SOURCE_KINDS] = {
	[SOURCE_AUTO] = "auto",
	[SOURCE_KERNEL] = "kernel",
	[SOURCE_SOFT] = "soft",
	[SOURCE_NONE] = "none",
};

size_t source_nr_queues(const struct source *s)
{
	if (s->soft)
		return soft_nr_queues(s->soft);
	return s->set ? s->set->nr_place : 0;
}

static void peek_kernel(struct pio_place *p, struct source_chunk *ret)
{
	*ret = (struct source_chunk){ .cpu = p->cpu, .pid = -1, .tid = p->tid };
	ret->nv = p->ring.aux ? pio_ring_peek_aux(&p->ring, ret->v) : 0;
	ret->offset = p->aux_base + p->ring.aux_tail;
}

struct source_chunk source_of_queue(const struct soft_queue *q)
{
	return (struct source_chunk){
		.offset = q->offset,
		.cpu = q->of_cpu ? q->cpu : -1,
		.pid = q->of_cpu ? -1 : q->pid,
		.tid = q->of_cpu ? -1 : q->tid,
		.v = { q->v[0], q->v[1] },
		.nv = q->nv,
		.began = q->started,
		.began_ticks = q->start_ticks,
		.on_cpu = q->cpu < 0 ? 0 : (uint32_t)q->cpu,
		.on_pid = (uint32_t)q->pid,
		.on_tid = (uint32_t)q->tid,
	};
}

void source_peek(struct source *s, size_t i, bool last, struct source_chunk *ret)
{
	struct soft_queue q;

	if (!s->soft) {
		peek_kernel(&s->set->place[i], ret);
		return;
	}
	soft_queue_peek(s->soft, i, last, &q);
	*ret = source_of_queue(&q);
}

void source_release(struct source *s, size_t i)
{
	if (s->soft)
		soft_queue_release(s->soft, i);
	else
		pio_ring_release_aux(&s->set->place[i].ring);
}

uint64_t source_ticks(const struct source *s)
{
	if (s->soft)
		return soft_ticks(s->soft);
#if defined(__x86_64__) || defined(__i386__)
	return __rdtsc();
#else
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return units_ns(&t);
#endif
}

void source_done(struct source *s)
{
	soft_free(s->soft);
	free(s->filter);
	*s = (struct source){ 0 };
}
