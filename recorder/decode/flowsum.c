/* SPDX-License-Identifier: Apache-2.0 */
/* What decoding threads count, and how it is added up: the order of segments plays no part. */
#include <errno.h>
#include <stdlib.h>

#include "recorder/decode/flow_priv.h"

enum { THREADS_MAX = 1 << 20, FIRST_SLOTS = 64 };

static struct flow_thread *find_thread(const struct flow *f, uint32_t pid, uint32_t tid)
{
	uint64_t hash = ((uint64_t)pid << 32 | tid) * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = hash >> 32 & (f->nr_slots - 1);

	while (f->thread[i].insns && (f->thread[i].pid != pid || f->thread[i].tid != tid))
		i = (i + 1) & (f->nr_slots - 1);
	return &f->thread[i];
}

static int make_slots(struct flow *f)
{
	struct flow old = *f;
	size_t n = f->nr_slots ? 2 * f->nr_slots : FIRST_SLOTS;

	if (2 * f->nr_threads < f->nr_slots)
		return 0;
	f->thread = calloc(n, sizeof(*f->thread));
	if (!f->thread) {
		f->thread = old.thread;
		return -ENOMEM;
	}
	f->nr_slots = n;
	for (size_t i = 0; i < old.nr_slots; i++)
		if (old.thread[i].insns)
			*find_thread(f, old.thread[i].pid, old.thread[i].tid) =
				old.thread[i];
	free(old.thread);
	return 0;
}

int flow_count(struct flow *f, uint32_t pid, uint32_t tid, uint64_t insns)
{
	struct flow_thread *t;
	int err;

	if (!insns)
		return 0;
	err = make_slots(f);
	if (err)
		return err;
	/* More threads than any machine runs: the rest goes to "not known". */
	if (f->nr_threads >= THREADS_MAX)
		pid = tid = TASKS_NONE;
	t = find_thread(f, pid, tid);
	if (!t->insns) {
		*t = (struct flow_thread){ .pid = pid, .tid = tid };
		f->nr_threads++;
	}
	t->insns += insns;
	return 0;
}

static bool earlier(const struct decode_error *a, const struct decode_error *b)
{
	return a->idx != b->idx ? a->idx < b->idx : a->offset < b->offset;
}

int flow_blame(struct flow *f, const struct decode_error *e)
{
	struct decode_error *all;
	size_t i = 0;

	while (i < f->nr_errors && f->error[i].code != e->code)
		i++;
	if (i == f->nr_errors) {
		all = realloc(f->error, (i + 1) * sizeof(*all));
		if (!all)
			return -ENOMEM;
		f->error = all;
		f->nr_errors++;
		all[i] = *e;
		return 0;
	}
	all = &f->error[i];
	if (earlier(e, all)) {
		uint64_t n = all->n;

		*all = *e;
		all->n += n;
	} else {
		all->n += e->n;
	}
	return 0;
}

int flow_miss(struct flow *f, const struct decode_missing *m)
{
	struct decode_missing *all;
	size_t i = 0;

	while (i < f->nr_missing && f->missing[i].image != m->image)
		i++;
	if (i == f->nr_missing) {
		all = realloc(f->missing, (i + 1) * sizeof(*all));
		if (!all)
			return -ENOMEM;
		f->missing = all;
		f->nr_missing++;
		all[i] = *m;
		return 0;
	}
	f->missing[i].errors += m->errors;
	if (m->first_ip < f->missing[i].first_ip)
		f->missing[i].first_ip = m->first_ip;
	return 0;
}

int flow_merge(struct flow *f, const struct flow *g)
{
	int err = 0;

	for (size_t i = 0; !err && i < g->nr_slots; i++)
		err = flow_count(f, g->thread[i].pid, g->thread[i].tid,
				 g->thread[i].insns);
	for (size_t i = 0; !err && i < g->nr_errors; i++)
		err = flow_blame(f, &g->error[i]);
	for (size_t i = 0; !err && i < g->nr_missing; i++)
		err = flow_miss(f, &g->missing[i]);
	return err;
}
