/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/decode/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"

enum {
	CPUS_MAX = 8192,     /* NR_CPUS of x86; a bound for what a file can make us allocate */
	ANCESTORS_MAX = 256, /* forks without an exec between them that are followed */
};

/* A thread is born or named. */
struct name {
	uint64_t time, seq;
	uint32_t pid, tid, ptid;
	bool named;
	char comm[16];
};

struct run {
	uint64_t time;
	struct tasks_who who;
};

struct cpu {
	uint32_t cpu;
	struct run *run;
	size_t nr, room;
	bool unsorted;
};

struct tasks {
	struct tasks_event *ev;
	size_t nr_ev, room_ev;
	struct name *name;
	size_t nr_names, room_names;
	struct cpu *cpu; /* by number */
	size_t nr_cpus, last;
};

int tasks_new(struct tasks **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void tasks_free(struct tasks *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr_cpus; i++)
		free(t->cpu[i].run);
	free(t->cpu);
	free(t->ev);
	free(t->name);
	free(t);
}

/* v, or where it moved to, with room for one entry more than nr; NULL when there is none. */
static void *grow(void *v, size_t nr, size_t *room, size_t each)
{
	size_t n = *room ? 2 * *room : 32;

	if (nr < *room)
		return v;
	v = realloc(v, n * each);
	if (v)
		*room = n;
	return v;
}

static int add_event(struct tasks *t, const struct tasks_event *e)
{
	struct tasks_event *all = grow(t->ev, t->nr_ev, &t->room_ev, sizeof(*all));

	if (!all)
		return -ENOMEM;
	t->ev = all;
	all[t->nr_ev] = *e;
	all[t->nr_ev].seq = t->nr_ev;
	t->nr_ev++;
	return 0;
}

static int add_name(struct tasks *t, const struct name *n)
{
	struct name *all = grow(t->name, t->nr_names, &t->room_names, sizeof(*all));

	if (!all)
		return -ENOMEM;
	t->name = all;
	all[t->nr_names] = *n;
	all[t->nr_names].seq = t->nr_names;
	t->nr_names++;
	return 0;
}

/* Index of the first cpu not below this one. */
static size_t find_cpu(const struct tasks *t, uint32_t cpu)
{
	size_t low = 0, high = t->nr_cpus;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->cpu[mid].cpu < cpu)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct cpu *make_cpu(struct tasks *t, uint32_t cpu)
{
	size_t i = find_cpu(t, cpu);
	struct cpu *all;

	if (i < t->nr_cpus && t->cpu[i].cpu == cpu)
		return &t->cpu[i];
	all = realloc(t->cpu, (t->nr_cpus + 1) * sizeof(*all));
	if (!all)
		return NULL;
	t->cpu = all;
	memmove(all + i + 1, all + i, (t->nr_cpus - i) * sizeof(*all));
	all[i] = (struct cpu){ .cpu = cpu };
	t->nr_cpus++;
	return &all[i];
}

static int add_run(struct cpu *c, uint64_t time, struct tasks_who who)
{
	struct run *last = c->nr ? &c->run[c->nr - 1] : NULL, *all;

	if (last && last->who.pid == who.pid && last->who.tid == who.tid &&
	    last->time <= time)
		return 0; /* the same switch, seen from its other side */
	if (last && last->time > time)
		c->unsorted = true;
	all = grow(c->run, c->nr, &c->room, sizeof(*all));
	if (!all)
		return -ENOMEM;
	c->run = all;
	all[c->nr++] = (struct run){ time, who };
	return 0;
}

/* `who` runs on that cpu from `time` on; `before` ran there until then, where that is
 * known. */
static int take_run(struct tasks *t, const struct fmt_when *w, struct tasks_who who,
		    const struct tasks_who *before)
{
	struct cpu *c;
	int err = 0;

	if (!w->has_cpu || !w->has_time || w->cpu >= CPUS_MAX)
		return 0;
	c = make_cpu(t, w->cpu);
	if (!c)
		return -ENOMEM;
	if (!c->nr && before)
		err = add_run(c, 0, *before);
	return err ? err : add_run(c, w->time, who);
}

static int take_switch(struct tasks *t, const struct fmt_rec *rec, const struct fmt_when *w)
{
	struct tasks_who self = { w->pid, w->tid }, other;
	bool out = rec->misc & FMT_MISC_SWITCH_OUT;

	if (!w->has_tid)
		return 0;
	if (rec->type == FMT_REC_SWITCH)
		return out ? 0 : take_run(t, w, self, NULL);
	if (rec->size < FMT_REC_HEADER_SIZE + 8)
		return 0;
	other.pid = le_get32(rec->p + 8);
	other.tid = le_get32(rec->p + 12);
	return out ? take_run(t, w, other, &self) : take_run(t, w, self, &other);
}

static int take_start(struct tasks *t, const struct fmt_rec *rec, const struct fmt_when *w)
{
	struct tasks_who who;

	if (rec->size < FMT_REC_HEADER_SIZE + 8)
		return 0;
	who.pid = le_get32(rec->p + 8);
	who.tid = le_get32(rec->p + 12);
	return take_run(t, w, who, NULL);
}

static int take_map(struct tasks *t, const struct fmt_rec *rec, uint64_t time,
		    const struct image *image)
{
	struct tasks_event e = { .kind = TASKS_MAP, .time = time, .image = image };
	uint64_t len = le_get(rec->p + FMT_MMAP_AT_LEN, 8);

	if (image->kernel || rec->misc & FMT_MISC_MMAP_DATA)
		return 0;
	e.pid = le_get32(rec->p + FMT_MMAP_AT_PID);
	e.addr = le_get(rec->p + FMT_MMAP_AT_ADDR, 8);
	e.off = le_get(rec->p + FMT_MMAP_AT_PGOFF, 8);
	if (!len || len > UINT64_MAX - e.addr)
		return 0;
	e.end = e.addr + len;
	return add_event(t, &e);
}

static int take_comm(struct tasks *t, const struct fmt_rec *rec, uint64_t time)
{
	struct name n = { .time = time, .named = true };
	size_t left = rec->size - 16u;
	int err;

	if (rec->size <= 16)
		return 0;
	n.pid = le_get32(rec->p + 8);
	n.tid = le_get32(rec->p + 12);
	memcpy(n.comm, rec->p + 16, left < sizeof(n.comm) ? left : sizeof(n.comm));
	n.comm[sizeof(n.comm) - 1] = '\0';
	err = add_name(t, &n);
	if (err || !(rec->misc & FMT_MISC_COMM_EXEC))
		return err;
	return add_event(t, &(struct tasks_event){ .kind = TASKS_EXEC, .time = time,
						   .pid = n.pid });
}

static int take_fork(struct tasks *t, const struct fmt_rec *rec, uint64_t time)
{
	struct tasks_event e = { .kind = TASKS_FORK, .time = time };
	struct name n = { .time = time };
	int err;

	if (rec->size < 32)
		return 0;
	n.pid = e.pid = le_get32(rec->p + 8);
	e.ppid = le_get32(rec->p + 12);
	n.tid = le_get32(rec->p + 16);
	n.ptid = le_get32(rec->p + 20);
	err = add_name(t, &n);
	/* A new thread shares its process's mappings. */
	if (err || e.pid == e.ppid || rec->misc & FMT_MISC_FORK_EXEC)
		return err;
	return add_event(t, &e);
}

int tasks_take(struct tasks *t, const struct fmt_reader *from, const struct fmt_rec *rec,
	       const struct image *image)
{
	struct fmt_when w = { 0 };

	switch (rec->type) {
	case FMT_REC_MMAP:
	case FMT_REC_MMAP2:
	case FMT_REC_COMM:
	case FMT_REC_FORK:
	case FMT_REC_SWITCH:
	case FMT_REC_SWITCH_CPU_WIDE:
	case FMT_REC_ITRACE_START:
		break;
	default:
		return 0;
	}
	if (fmt_reader_when(from, rec, &w))
		w = (struct fmt_when){ 0 };
	switch (rec->type) {
	case FMT_REC_COMM:
		return take_comm(t, rec, w.time);
	case FMT_REC_FORK:
		return take_fork(t, rec, w.time);
	case FMT_REC_SWITCH:
	case FMT_REC_SWITCH_CPU_WIDE:
		return take_switch(t, rec, &w);
	case FMT_REC_ITRACE_START:
		return take_start(t, rec, &w);
	default:
		return image ? take_map(t, rec, w.time, image) : 0;
	}
}

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_pid(const void *a, const void *b)
{
	const struct tasks_event *x = a, *y = b;

	if (x->pid != y->pid)
		return order(x->pid, y->pid);
	return x->time != y->time ? order(x->time, y->time) : order(x->seq, y->seq);
}

static int by_tid(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	if (x->tid != y->tid)
		return order(x->tid, y->tid);
	return x->time != y->time ? order(x->time, y->time) : order(x->seq, y->seq);
}

static int by_time(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	if (x->time != y->time)
		return order(x->time, y->time);
	return order(x->who.tid, y->who.tid);
}

void tasks_sort(struct tasks *t)
{
	if (t->nr_ev)
		qsort(t->ev, t->nr_ev, sizeof(*t->ev), by_pid);
	if (t->nr_names)
		qsort(t->name, t->nr_names, sizeof(*t->name), by_tid);
	for (size_t i = 0; i < t->nr_cpus; i++)
		if (t->cpu[i].unsorted)
			qsort(t->cpu[i].run, t->cpu[i].nr, sizeof(*t->cpu[i].run),
			      by_time);
}

/* Index of the first run later than `time`. */
static size_t find_run(const struct cpu *c, uint64_t time)
{
	size_t low = 0, high = c->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->run[mid].time <= time)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct tasks_who tasks_on_cpu(const struct tasks *t, uint32_t cpu, uint64_t time,
			      uint64_t *ret_until)
{
	size_t i = find_cpu(t, cpu), k;
	const struct cpu *c = &t->cpu[i];

	*ret_until = UINT64_MAX;
	if (i == t->nr_cpus || c->cpu != cpu || !c->nr)
		return (struct tasks_who){ TASKS_NONE, TASKS_NONE };
	k = find_run(c, time);
	if (k < c->nr)
		*ret_until = c->run[k].time;
	return k ? c->run[k - 1].who : (struct tasks_who){ TASKS_NONE, TASKS_NONE };
}

/* Index of the first name of that thread later than `time`, or behind its last. */
static size_t find_name(const struct tasks *t, uint32_t tid, uint64_t time)
{
	size_t low = 0, high = t->nr_names;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct name *n = &t->name[mid];

		if (n->tid < tid || (n->tid == tid && n->time <= time))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

uint32_t tasks_pid(const struct tasks *t, uint32_t tid, uint64_t time)
{
	size_t i = find_name(t, tid, time);

	if (i && t->name[i - 1].tid == tid)
		return t->name[i - 1].pid;
	if (i < t->nr_names && t->name[i].tid == tid)
		return t->name[i].pid;
	return tid;
}

void tasks_comm(const struct tasks *t, uint32_t pid, uint32_t tid, char ret[16])
{
	uint64_t time = UINT64_MAX;

	memset(ret, 0, 16);
	/* A thread that was given no name has that of the one it came from. */
	for (int step = 0; step < ANCESTORS_MAX; step++) {
		const struct name *n = NULL;

		for (size_t i = find_name(t, tid, time); i--;) {
			if (t->name[i].tid != tid)
				break;
			if (!step && t->name[i].pid != pid)
				continue;
			n = &t->name[i];
			break;
		}
		if (!n)
			return;
		if (n->named) {
			memcpy(ret, n->comm, 16);
			return;
		}
		tid = n->ptid;
		time = n->time;
	}
}

/* Index of the first event of that process later than `time` (at that time: not before
 * `seq`), or behind its last. */
static size_t find_event(const struct tasks *t, uint32_t pid, uint64_t time, uint64_t seq)
{
	const struct tasks_event key = { .pid = pid, .time = time, .seq = seq };
	size_t low = 0, high = t->nr_ev;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (by_pid(&t->ev[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Where the space that ends before event `to` of a process begins: at its last EXEC or FORK,
 * or at its first event. */
static size_t find_origin(const struct tasks *t, uint32_t pid, size_t to)
{
	while (to && t->ev[to - 1].pid == pid && t->ev[to - 1].kind == TASKS_MAP)
		to--;
	return to && t->ev[to - 1].pid == pid ? to - 1 : to;
}

int tasks_begin(const struct tasks *t, struct tasks_cursor *ret, uint32_t pid, uint64_t time,
		int (*fn)(void *ctx, const struct tasks_event *e), void *ctx)
{
	struct stretch {
		size_t from, to;
	} way[ANCESTORS_MAX];
	size_t n = 0, to = find_event(t, pid, time, UINT64_MAX), from;
	int err = 0;

	*ret = (struct tasks_cursor){ .pid = pid, .at = to };
	for (; n < ANCESTORS_MAX; n++) {
		const struct tasks_event *e;

		from = find_origin(t, pid, to);
		way[n] = (struct stretch){ from, to };
		e = from < to ? &t->ev[from] : NULL;
		if (!e || e->kind != TASKS_FORK) {
			n++;
			break;
		}
		/* In time, or by place: each step leads to earlier events, so this ends. */
		pid = e->ppid;
		to = find_event(t, pid, e->time, e->seq);
	}
	while (!err && n--)
		for (size_t i = way[n].from; !err && i < way[n].to; i++)
			if (t->ev[i].kind == TASKS_MAP)
				err = fn(ctx, &t->ev[i]);
	return err;
}

const struct tasks_event *tasks_next(const struct tasks *t, struct tasks_cursor *c,
				     uint64_t time, uint64_t *ret_until)
{
	const struct tasks_event *e = c->at < t->nr_ev ? &t->ev[c->at] : NULL;

	*ret_until = UINT64_MAX;
	if (!e || e->pid != c->pid)
		return NULL;
	if (e->time > time) {
		*ret_until = e->time;
		return NULL;
	}
	c->at++;
	return e;
}
