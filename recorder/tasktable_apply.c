/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fork gives the child its parent's mappings, an exec takes all away, an exit of the last
 * thread ends the process. Mappings of a child are its parent's records; who they belong to
 * is written over them when they are handed out.
 */
#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/buf.h"
#include "format/le.h"
#include "format/record.h"
#include "recorder/tasktable_priv.h"

#define TRAILER	      32u
#define TIME_FROM_END 24u /* in it */

void task_rec_put(struct task_world *w, struct task_rec *r)
{
	if (!r || --r->refs)
		return;
	w->bytes -= sizeof(*r) + r->size;
	free(r);
}

static void list_clear(struct task_world *w, struct task_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		task_rec_put(w, l->rec[i]);
	w->bytes -= l->cap * sizeof(*l->rec);
	free(l->rec);
	*l = (struct task_list){ 0 };
}

static int list_add(struct task_world *w, struct task_list *l, struct task_rec *r)
{
	struct task_rec **more;
	size_t cap = l->cap ? 2 * l->cap : 8;

	if (l->nr == l->cap) {
		more = realloc(l->rec, cap * sizeof(*more));
		if (!more)
			return -ENOMEM;
		w->bytes += (cap - l->cap) * sizeof(*more);
		l->rec = more;
		l->cap = cap;
	}
	l->rec[l->nr++] = r;
	r->refs++;
	return 0;
}

static void list_remove(struct task_world *w, struct task_list *l, size_t i)
{
	task_rec_put(w, l->rec[i]);
	memmove(l->rec + i, l->rec + i + 1, (--l->nr - i) * sizeof(*l->rec));
}

/* ---- processes and threads ---- */

static int by_pid(const void *a, const void *b)
{
	uint32_t x = ((const struct task_proc *)a)->pid, y = ((const struct task_proc *)b)->pid;

	return x < y ? -1 : x > y;
}

static struct task_proc *find(const struct task_world *w, uint32_t pid)
{
	const struct task_proc key = { .pid = pid };
	struct task_proc **at = tfind(&key, &w->procs, by_pid);

	return at ? *at : NULL;
}

static struct task_proc *make(struct task_world *w, uint32_t pid)
{
	struct task_proc *p = find(w, pid), **at;

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	at = tsearch(p, &w->procs, by_pid);
	if (!at) {
		free(p);
		return NULL;
	}
	w->nr_proc++;
	w->bytes += sizeof(*p);
	return p;
}

static void clear_maps(struct task_world *w, struct task_proc *p)
{
	w->nr_map -= p->maps.nr;
	list_clear(w, &p->maps);
}

static void thread_remove(struct task_world *w, struct task_proc *p, size_t i)
{
	struct task_thread *t = p->thread + i;

	task_rec_put(w, t->comm);
	task_rec_put(w, t->ns);
	memmove(t, t + 1, (--p->nr_thread - i) * sizeof(*t));
	w->nr_thread--;
	w->bytes -= sizeof(*t);
}

static void proc_free(struct task_world *w, struct task_proc *p)
{
	while (p->nr_thread)
		thread_remove(w, p, p->nr_thread - 1);
	free(p->thread);
	clear_maps(w, p);
	w->nr_proc--;
	w->bytes -= sizeof(*p);
	free(p);
}

static void proc_end(struct task_world *w, struct task_proc *p)
{
	tdelete(p, &w->procs, by_pid);
	proc_free(w, p);
}

static size_t thread_at(const struct task_proc *p, uint32_t tid)
{
	size_t i = p->nr_thread;

	while (i && p->thread[i - 1].tid >= tid)
		i--;
	return i;
}

static struct task_thread *thread_make(struct task_world *w, struct task_proc *p, uint32_t tid)
{
	size_t i = thread_at(p, tid);
	struct task_thread *all;

	if (i < p->nr_thread && p->thread[i].tid == tid)
		return p->thread + i;
	if (!(p->nr_thread & (p->nr_thread - 1))) { /* full at every power of two */
		all = realloc(p->thread,
			      (p->nr_thread ? 2 * p->nr_thread : 1) * sizeof(*all));
		if (!all)
			return NULL;
		p->thread = all;
	}
	memmove(p->thread + i + 1, p->thread + i, (p->nr_thread - i) * sizeof(*p->thread));
	p->thread[i] = (struct task_thread){ .tid = tid };
	p->nr_thread++;
	w->nr_thread++;
	w->bytes += sizeof(*p->thread);
	return p->thread + i;
}

static void replace(struct task_world *w, struct task_rec **at, struct task_rec *r)
{
	if (r)
		r->refs++;
	task_rec_put(w, *at);
	*at = r;
}

/* ---- mappings ---- */

static uint64_t map_start(const struct task_rec *r)
{
	return le_get(r->p + FMT_MMAP_AT_ADDR, 8);
}

static bool covered(const struct task_rec *old, const struct task_rec *by)
{
	uint64_t a = map_start(old), n = le_get(old->p + FMT_MMAP_AT_LEN, 8);
	uint64_t b = map_start(by), m = le_get(by->p + FMT_MMAP_AT_LEN, 8);

	return a >= b && n <= m && a - b <= m - n;
}

/* A later mapping takes the place of what it covers; what it covers in part, readers split. */
static int add_map(struct task_world *w, struct task_list *l, struct task_rec *r, size_t *nr)
{
	int err;

	for (size_t i = l->nr; i; i--)
		if (covered(l->rec[i - 1], r)) {
			list_remove(w, l, i - 1);
			--*nr;
		}
	if (w->full) {
		w->dropped++;
		return 0;
	}
	err = list_add(w, l, r);
	*nr += !err;
	return err;
}

static int apply_map(struct task_world *w, struct task_rec *r)
{
	uint32_t pid = le_get32(r->p + FMT_MMAP_AT_PID);
	struct task_proc *p;
	size_t unseen = 0;

	if (r->size < FMT_MMAP_AT_NAME + TRAILER)
		return 0;
	if (pid == UINT32_MAX)
		return add_map(w, &w->kernel, r, &unseen);
	p = make(w, pid);
	return p ? add_map(w, &p->maps, r, &w->nr_map) : -ENOMEM;
}

/* ---- what happens to tasks ---- */

static int inherit(struct task_world *w, struct task_proc *child, const struct task_proc *parent)
{
	int err = 0;

	clear_maps(w, child);
	for (size_t i = 0; i < parent->maps.nr && !err; i++) {
		err = list_add(w, &child->maps, parent->maps.rec[i]);
		w->nr_map += !err;
	}
	return err;
}

/* The new task is called what its maker is called. */
static void inherit_name(struct task_world *w, struct task_thread *t, const struct task_proc *p,
			 uint32_t ptid)
{
	size_t i = p ? thread_at(p, ptid) : 0;

	if (!p || i >= p->nr_thread || p->thread[i].tid != ptid)
		return;
	replace(w, &t->comm, p->thread[i].comm);
	replace(w, &t->ns, p->thread[i].ns);
}

static int apply_fork(struct task_world *w, const struct task_rec *r)
{
	uint32_t pid = le_get32(r->p + FMT_TASK_AT_PID), ppid = le_get32(r->p + FMT_TASK_AT_PPID);
	uint32_t tid = le_get32(r->p + FMT_TASK_AT_TID);
	bool found = le_get16(r->p + FMT_REC_AT_MISC) & FMT_MISC_FORK_EXEC;
	bool thread = pid == ppid || pid != tid;
	struct task_proc *p, *parent = find(w, ppid);
	struct task_thread *t;
	int err = 0;

	if (!thread && find(w, pid)) /* a pid that is used again: its exit was lost */
		proc_end(w, find(w, pid));
	p = make(w, pid);
	if (!p)
		return -ENOMEM;
	if (!thread)
		p->ppid = ppid;
	if (!thread && !found && parent)
		err = inherit(w, p, parent);
	t = err ? NULL : thread_make(w, p, tid);
	if (!t)
		return -ENOMEM;
	t->born = found ? 0 : le_get(r->p + r->size - TIME_FROM_END, 8);
	if (!found)
		inherit_name(w, t, parent, le_get32(r->p + FMT_TASK_AT_PTID));
	return 0;
}

static void apply_exit(struct task_world *w, const struct task_rec *r)
{
	struct task_proc *p = find(w, le_get32(r->p + FMT_TASK_AT_PID));
	uint32_t tid = le_get32(r->p + FMT_TASK_AT_TID);
	size_t i = p ? thread_at(p, tid) : 0;

	if (!p)
		return;
	if (i < p->nr_thread && p->thread[i].tid == tid)
		thread_remove(w, p, i);
	if (!p->nr_thread)
		proc_end(w, p);
}

static uint64_t born_at(const struct task_proc *p, uint32_t tid)
{
	size_t i = thread_at(p, tid);

	return i < p->nr_thread && p->thread[i].tid == tid ? p->thread[i].born : 0;
}

static int apply_comm(struct task_world *w, struct task_rec *r)
{
	struct task_proc *p = make(w, le_get32(r->p + FMT_COMM_AT_PID));
	uint32_t tid = le_get32(r->p + FMT_COMM_AT_TID);
	struct task_thread *t;
	uint64_t born;

	if (!p)
		return -ENOMEM;
	born = born_at(p, tid);
	if (le_get16(r->p + FMT_REC_AT_MISC) & FMT_MISC_COMM_EXEC) {
		clear_maps(w, p);
		while (p->nr_thread) /* exec(2) ends all other threads */
			thread_remove(w, p, p->nr_thread - 1);
	}
	t = thread_make(w, p, tid);
	if (!t)
		return -ENOMEM;
	t->born = born;
	replace(w, &t->comm, r);
	return 0;
}

static int apply_namespaces(struct task_world *w, struct task_rec *r)
{
	struct task_proc *p = make(w, le_get32(r->p + FMT_COMM_AT_PID));
	struct task_thread *t = p ? thread_make(w, p, le_get32(r->p + FMT_COMM_AT_TID)) : NULL;

	if (!t)
		return -ENOMEM;
	replace(w, &t->ns, r);
	return 0;
}

/* Do two records of the kernel's code speak of the same thing: an address, or a program? */
static bool same_subject(const struct task_rec *a, const struct task_rec *b)
{
	uint32_t type = le_get32(a->p);

	if (type != le_get32(b->p))
		return false;
	if (type == FMT_REC_BPF_EVENT)
		return le_get32(a->p + FMT_BPF_EVENT_AT_ID) ==
		       le_get32(b->p + FMT_BPF_EVENT_AT_ID);
	return le_get(a->p + FMT_REC_HEADER_SIZE, 8) == le_get(b->p + FMT_REC_HEADER_SIZE, 8);
}

static bool says_gone(const struct task_rec *r)
{
	if (le_get32(r->p) == FMT_REC_BPF_EVENT)
		return le_get16(r->p + FMT_REC_HEADER_SIZE) == FMT_BPF_EVENT_PROG_UNLOAD;
	return le_get32(r->p) == FMT_REC_KSYMBOL &&
	       le_get16(r->p + FMT_KSYMBOL_AT_FLAGS) & FMT_KSYMBOL_FLAGS_UNREGISTER;
}

/* KSYMBOL, BPF_EVENT, TEXT_POKE: the last word counts. */
static int apply_kernel(struct task_world *w, struct task_rec *r)
{
	if (r->size < FMT_KSYMBOL_AT_FLAGS + 2 + TRAILER)
		return 0;
	for (size_t i = w->kernel.nr; i; i--)
		if (same_subject(w->kernel.rec[i - 1], r))
			list_remove(w, &w->kernel, i - 1);
	if (says_gone(r))
		return 0;
	if (w->full) {
		w->dropped++;
		return 0;
	}
	return list_add(w, &w->kernel, r);
}

int task_world_apply(struct task_world *w, struct task_rec *r)
{
	switch (le_get32(r->p)) {
	case FMT_REC_MMAP:
	case FMT_REC_MMAP2:
		return apply_map(w, r);
	case FMT_REC_FORK:
		return r->size < FMT_TASK_AT_PTID + 4 ? 0 : apply_fork(w, r);
	case FMT_REC_EXIT:
		if (r->size >= FMT_TASK_AT_PTID + 4)
			apply_exit(w, r);
		return 0;
	case FMT_REC_COMM:
		return apply_comm(w, r);
	case FMT_REC_NAMESPACES:
		return apply_namespaces(w, r);
	}
	return apply_kernel(w, r);
}

/* ---- what a snapshot is told ---- */

struct emission {
	int (*put)(void *ctx, const uint8_t *rec, size_t n);
	void *ctx;
	struct fmt_trailer stamp;
	const uint64_t *told_ns; /* NULL: nobody was told of anything */
	struct fmt_buf b;
	int err;
};

/* The last TRAILER bytes of a record become the stamp, of this task. */
static void stamp(const struct emission *e, uint8_t *p, size_t size, uint32_t pid, uint32_t tid)
{
	uint8_t *t = p + size - TRAILER;

	memset(t, 0, TRAILER);
	if (!e->stamp.id)
		return;
	le_put(t, pid, 4);
	le_put(t + 4, tid, 4);
	le_put(t + 8, e->stamp.time, 8);
	le_put(t + 24, e->stamp.id, 8);
}

/* The record as a synthesised one of this task. */
static void emit_as(struct emission *e, const struct task_rec *r, uint32_t pid, uint32_t tid)
{
	uint8_t *p;

	if (e->err || !r)
		return;
	fmt_buf_reset(&e->b);
	fmt_put(&e->b, r->p, r->size);
	e->err = e->b.err;
	if (e->err)
		return;
	p = e->b.data;
	stamp(e, p, r->size, pid, tid);
	le_put(p + FMT_MMAP_AT_PID, pid, 4);
	le_put(p + FMT_MMAP_AT_PID + 4, tid, 4);
	if (le_get32(p) == FMT_REC_COMM) /* an exec would take the mappings away again */
		le_put(p + FMT_REC_AT_MISC, le_get16(p + FMT_REC_AT_MISC) & ~FMT_MISC_COMM_EXEC,
		       2);
	e->err = e->put(e->ctx, p, r->size);
}

static void emit_birth(struct emission *e, const struct task_proc *p,
		       const struct task_thread *t)
{
	uint32_t parent = t->tid == p->pid ? p->ppid : p->pid;
	static const struct fmt_trailer synthesised;

	fmt_buf_reset(&e->b);
	e->err = fmt_put_task(&e->b, FMT_REC_FORK, p->pid, parent, t->tid, parent,
			      e->stamp.time, &synthesised);
	if (!e->err)
		stamp(e, e->b.data, e->b.len, p->pid, t->tid);
	if (!e->err)
		e->err = e->put(e->ctx, e->b.data, e->b.len);
}

static void emit_thread(struct emission *e, const struct task_proc *p,
			const struct task_thread *t)
{
	if (!e->err && (!e->told_ns || t->born > *e->told_ns))
		emit_birth(e, p, t);
	emit_as(e, t->ns, p->pid, t->tid);
	emit_as(e, t->comm, p->pid, t->tid);
}

static void emit_proc(const void *node, VISIT order, void *ctx)
{
	const struct task_proc *p = *(const struct task_proc *const *)node;
	struct emission *e = ctx;

	if (order != postorder && order != leaf)
		return;
	for (size_t i = 0; i < p->nr_thread; i++)
		emit_thread(e, p, p->thread + i);
	for (size_t i = 0; i < p->maps.nr; i++)
		emit_as(e, p->maps.rec[i], p->pid, p->pid);
}

static void emit_kernel(struct emission *e, const struct task_rec *r)
{
	if (e->err)
		return;
	fmt_buf_reset(&e->b);
	fmt_put(&e->b, r->p, r->size);
	e->err = e->b.err;
	if (e->err)
		return;
	stamp(e, e->b.data, r->size, UINT32_MAX, 0);
	e->err = e->put(e->ctx, e->b.data, r->size);
}

int task_world_emit(const struct task_world *w, const struct fmt_trailer *stamp,
		    int (*put)(void *ctx, const uint8_t *rec, size_t n), void *ctx)
{
	struct emission e = { .put = put, .ctx = ctx };

	if (stamp) {
		e.stamp = *stamp;
		e.told_ns = &w->told_ns;
	}
	for (size_t i = 0; i < w->kernel.nr; i++)
		emit_kernel(&e, w->kernel.rec[i]);
	twalk_r(w->procs, emit_proc, &e);
	fmt_buf_done(&e.b);
	return e.err;
}

void task_world_done(struct task_world *w)
{
	while (w->procs)
		proc_end(w, *(struct task_proc **)w->procs);
	list_clear(w, &w->kernel);
}
