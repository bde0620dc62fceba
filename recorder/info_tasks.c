/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads and their time on a cpu. On each cpu, a thread runs from the record that says
 * so to the one that says it leaves: SWITCH_CPU_WIDE names both sides, SWITCH is written
 * for the recorded tasks only. Before the first switch of a cpu, a record tells who runs
 * by who wrote it. Where records were lost nobody is known to run.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/event.h"
#include "format/le.h"
#include "recorder/info_priv.h"

enum { GENERATIONS = 64 }; /* of threads without a name of their own */
static const char IDLE[] = "swapper"; /* as the kernel calls its idle tasks */

/* The row of a thread that was named. */
static struct info_task *see(struct info *i, uint32_t pid, uint32_t tid)
{
	struct info_task *t = rows_get(&i->tasks.tasks, tid);

	if (t && pid != INFO_NONE) {
		t->pid = pid;
		t->has_pid = true;
	}
	return t;
}

static void set_comm(struct info_task *t, const char *s, size_t n)
{
	n = n < sizeof(t->comm) - 1 ? n : sizeof(t->comm) - 1;
	memset(t->comm, 0, sizeof(t->comm));
	memcpy(t->comm, s, n);
}

static int fold_comm(struct info *i, const struct info_kernel *k)
{
	const char *comm = (const char *)k->rec->p + FMT_COMM_AT_COMM;
	uint64_t now = k->when.has_time ? k->when.time : 0;
	struct info_task *t;
	uint32_t tid;

	if (k->rec->size < FMT_COMM_AT_COMM)
		return 0;
	tid = le_get32(k->rec->p + FMT_COMM_AT_TID);
	if (tid == INFO_NONE)
		return 0;
	t = see(i, le_get32(k->rec->p + FMT_COMM_AT_PID), tid);
	if (!t)
		return -ENOMEM;
	if (now < t->comm_ns || now < t->fork_ns)
		return 0; /* an older one, read later */
	set_comm(t, comm, strnlen(comm, k->rec->size - FMT_COMM_AT_COMM));
	t->named = true;
	t->comm_ns = now;
	return 0;
}

/* A new thread has the name of the one that made it: what is known of that by now, and
 * maybe better at the end (inherit). */
static int fold_fork(struct info *i, const struct info_kernel *k)
{
	const uint8_t *p = k->rec->p;
	const struct info_task *parent;
	struct info_task *t;
	uint32_t tid;

	if (k->rec->size < FMT_TASK_AT_PTID + 4)
		return 0;
	tid = le_get32(p + FMT_TASK_AT_TID);
	if (tid == INFO_NONE)
		return 0;
	t = see(i, le_get32(p + FMT_TASK_AT_PID), tid);
	if (!t)
		return -ENOMEM;
	if (!k->real || !k->when.has_time || k->when.time < t->comm_ns)
		return 0;
	t->forked = true;
	t->named = false;
	t->fork_ns = k->when.time;
	t->parent = le_get32(p + FMT_TASK_AT_PTID);
	parent = rows_find(&i->tasks.tasks, t->parent);
	if (parent && parent != t)
		memcpy(t->comm, parent->comm, sizeof(t->comm));
	return 0;
}

/* The parent's name when it made t, if that is known: up to `depth` generations back. */
static const char *inherit(const struct info *i, const struct info_task *t,
			   unsigned depth)
{
	const struct info_task *parent;

	if (t->named || !t->forked || !depth)
		return t->comm;
	parent = rows_find(&i->tasks.tasks, t->parent);
	if (!parent || parent->comm_ns > t->fork_ns)
		return t->comm;
	return inherit(i, parent, depth - 1);
}

/* Of traced threads that stood still for their tracer while others ran it is not told. */
static struct info_slot *slot_of(struct info *i, const struct info_kernel *k)
{
	uint64_t key = INFO_SLOT_TASK + k->when.tid;
	bool cpu = k->when.has_cpu && !i->aux.per_thread;

	return rows_get(&i->tasks.slots, cpu ? k->when.cpu : key);
}

static int stop(struct info *i, struct info_slot *s, uint32_t tid, uint64_t now)
{
	struct info_task *t;

	if (!s->running)
		return 0;
	s->running = false;
	if (s->tid != tid || now < s->since)
		return 0; /* a switch between the two is missing */
	t = see(i, INFO_NONE, tid);
	if (!t)
		return -ENOMEM;
	t->on_ns += now - s->since;
	return 0;
}

/* It runs: since now, or, as is known already, since earlier. */
static int start(struct info *i, struct info_slot *s, uint32_t pid, uint32_t tid,
		 uint64_t now)
{
	struct info_task *t;

	if (tid == INFO_NONE || (s->running && s->tid == tid))
		return 0;
	t = see(i, pid, tid);
	if (!t)
		return -ENOMEM;
	t->runs++;
	s->running = true;
	s->tid = tid;
	s->since = now;
	return 0;
}

static int fold_switch(struct info *i, const struct info_kernel *k, struct info_slot *s)
{
	const struct fmt_when *w = &k->when;
	int err;

	i->tasks.switches = true;
	if (!(k->rec->misc & FMT_MISC_SWITCH_OUT))
		return start(i, s, w->pid, w->tid, w->time);
	err = stop(i, s, w->tid, w->time);
	if (err || k->rec->type == FMT_REC_SWITCH ||
	    k->rec->size < FMT_SWITCH_AT_NEXT_TID + 4)
		return err;
	return start(i, s, le_get32(k->rec->p + FMT_SWITCH_AT_NEXT_PID),
		     le_get32(k->rec->p + FMT_SWITCH_AT_NEXT_TID), w->time);
}

/* Types that are written by the thread that their trailer names, while it runs. */
static bool by_itself(uint32_t type)
{
	return type == FMT_REC_SAMPLE || type == FMT_REC_MMAP || type == FMT_REC_MMAP2 ||
	       type == FMT_REC_COMM || type == FMT_REC_FORK ||
	       type == FMT_REC_ITRACE_START;
}

static bool is_switch(uint32_t type)
{
	return type == FMT_REC_SWITCH || type == FMT_REC_SWITCH_CPU_WIDE;
}

/* Without records of switches nothing tells who runs until when. */
static bool has_switches(struct info_tasks *t, const struct fmt_reader *r)
{
	for (; t->nr_events < r->nr_events; t->nr_events++) {
		const struct fmt_reader_event *e = &r->events[t->nr_events];

		if (fmt_attr_flags(e->attr, e->attr_size) & FMT_ATTR_F_CONTEXT_SWITCH)
			t->switches = true;
		if (fmt_attr_sample_type(e->attr, e->attr_size) & FMT_SAMPLE_CPU)
			t->cpus = true;
	}
	return t->switches;
}

static int fold_running(struct info *i, const struct info_kernel *k)
{
	const struct fmt_when *w = &k->when;
	struct info_slot *s;

	if (!k->real || !w->has_tid || !w->has_time || w->tid == INFO_NONE)
		return 0;
	s = slot_of(i, k);
	if (!s)
		return -ENOMEM;
	if (s->key == ROWS_REST)
		return 0;
	switch (k->rec->type) {
	case FMT_REC_SWITCH:
	case FMT_REC_SWITCH_CPU_WIDE:
		return fold_switch(i, k, s);
	case FMT_REC_EXIT:
		return s->tid == w->tid ? stop(i, s, w->tid, w->time) : 0;
	case FMT_REC_AUX: /* with OVERWRITE, the cpu is frozen for a snapshot */
		if (le_get64(k->rec->p + FMT_AUX_AT_FLAGS) & FMT_AUX_OVERWRITE)
			s->running = false;
		return 0;
	case FMT_REC_LOST:
		s->running = false;
		return 0;
	default:
		/* Where some records tell their cpu, others say nothing of it. */
		if (s->running || !by_itself(k->rec->type) ||
		    (!w->has_cpu && i->tasks.cpus))
			return 0;
		return start(i, s, w->pid, w->tid, w->time);
	}
}

/* An event that tells of switches counts nothing by itself: this is how many pairs of them were
 * left out. */
static int fold_read(struct info *i, const struct info_kernel *k)
{
	const struct fmt_reader_event *e;
	struct info_task *t;
	uint64_t n;

	if (k->when.event < 0 || !k->r->nr_events || k->rec->size < FMT_READ_AT_VALUES + 8)
		return 0;
	e = &k->r->events[k->when.event];
	if (!(fmt_attr_flags(e->attr, e->attr_size) & FMT_ATTR_F_CONTEXT_SWITCH))
		return 0;
	n = le_get64(k->rec->p + FMT_READ_AT_VALUES);
	t = n ? see(i, le_get32(k->rec->p + FMT_REC_HEADER_SIZE),
		    le_get32(k->rec->p + FMT_REC_HEADER_SIZE + 4)) : NULL;
	if (n && !t)
		return -ENOMEM;
	if (t)
		t->folded += n;
	i->tasks.folded += n;
	return 0;
}

int info_tasks_fold(struct info *i, const struct info_kernel *k)
{
	int err = 0;

	if (k->real && k->when.has_tid && k->when.tid != INFO_NONE &&
	    !see(i, k->when.pid, k->when.tid))
		return -ENOMEM;
	if (k->rec->type == FMT_REC_COMM)
		err = fold_comm(i, k);
	else if (k->rec->type == FMT_REC_FORK)
		err = fold_fork(i, k);
	else if (k->rec->type == FMT_REC_READ)
		err = fold_read(i, k);
	if (err || (!has_switches(&i->tasks, k->r) && !is_switch(k->rec->type)))
		return err;
	return fold_running(i, k);
}

void info_tasks_end(struct info *i)
{
	struct info_tasks *t = &i->tasks;

	for (size_t n = 0; n < t->slots.nr; n++) {
		struct info_slot *s = rows_at(&t->slots, n);
		struct info_task *task = s->running ? rows_find(&t->tasks, s->tid) : NULL;

		if (task && i->time.last_ns > s->since)
			task->on_ns += i->time.last_ns - s->since;
	}
	for (size_t n = 0; n < t->tasks.nr; n++) {
		struct info_task *task = rows_at(&t->tasks, n);

		t->processes += task->has_pid && task->pid == task->key;
		if (!task->key && !*task->comm)
			set_comm(task, IDLE, sizeof(IDLE));
		if (inherit(i, task, GENERATIONS) != task->comm)
			set_comm(task, inherit(i, task, GENERATIONS), sizeof(task->comm));
	}
}

static int by_time(const void *a, const void *b)
{
	const struct info_task *x = *(const struct info_task *const *)a;
	const struct info_task *y = *(const struct info_task *const *)b;

	if (x->on_ns != y->on_ns)
		return x->on_ns < y->on_ns ? 1 : -1;
	return x->key < y->key ? -1 : x->key > y->key;
}

const struct info_task **info_tasks_sorted(const struct info *i, size_t *ret_nr)
{
	size_t nr = i->tasks.tasks.nr;
	const struct info_task **all = nr ? malloc(nr * sizeof(*all)) : NULL;

	*ret_nr = all ? nr : 0;
	for (size_t n = 0; all && n < nr; n++)
		all[n] = rows_at(&i->tasks.tasks, n);
	if (all)
		qsort(all, nr, sizeof(*all), by_time);
	return all;
}
