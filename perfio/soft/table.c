/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/cleanse.h"
#include "perfio/soft/tracer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool make_room(struct soft *s)
{
	size_t cap = s->cap ? s->cap * 2 : 16;
	struct soft_thread **all, **live;

	if (s->nr < s->cap)
		return true;
	all = reallocarray(s->all, cap, sizeof(*all));
	if (all)
		s->all = all;
	live = reallocarray(s->live, cap, sizeof(*live));
	if (live)
		s->live = live;
	if (all && live)
		s->cap = cap;
	return s->nr < s->cap;
}

int soft_table_add(struct soft_thread **ret, struct soft *s, pid_t pid, pid_t tid,
		   const struct soft_thread *parent)
{
	struct soft_thread *t = make_room(s) ? calloc(1, sizeof(*t)) : NULL;

	if (!t || soft_sigtrap_init(&t->trap, pid, tid, parent ? &parent->trap : NULL)) {
		free(t);
		return -ENOMEM;
	}
	t->pid = pid;
	t->tid = tid;
	t->stats = &s->stats;
	t->cfg = &s->cfg;
	t->rounds = &s->rounds;
	t->gate = &s->gate;
	soft_filtered_init(&t->filtered, &s->gate.filters, parent ? &parent->filtered : NULL);
	t->life = soft_life_new(s->cfg.lifeline, pid, tid);
	soft_cpu_assign(s, t);
	soft_pin_born(s, t, parent);
	t->log = (struct soft_iplog){ .dir = s->ip_log, .pid = pid, .tid = tid };
	soft_pt_init(&t->pt, &s->enc);
	t->pt.out.window = s->nr_cpus ? 0 : s->cfg.window;
	t->index = s->nr;
	s->all[s->nr++] = t;
	s->live[s->nr_live++] = t;
	s->stats.threads++;
	if (pid == tid)
		s->stats.processes++;
	*ret = t;
	return 0;
}

struct soft_thread *soft_table_find(const struct soft *s, pid_t tid)
{
	for (size_t i = 0; i < s->nr_live; i++)
		if (s->live[i]->tid == tid)
			return s->live[i];
	return NULL;
}

struct soft_thread *soft_table_find_process(const struct soft *s, pid_t pid)
{
	for (size_t i = 0; i < s->nr_live; i++)
		if (s->live[i]->pid == pid)
			return s->live[i];
	return NULL;
}

void soft_table_remove(struct soft *s, struct soft_thread *t)
{
	int err;

	soft_thread_cut(t);
	soft_cpu_leave(t);
	t->mode = SOFT_GONE;
	soft_life_free(t->life);
	t->life = NULL;
	err = soft_iplog_flush(&t->log);
	if (err && !s->log_err)
		s->log_err = err;
	soft_iplog_done(&t->log);
	soft_sigtrap_done(&t->trap);
	soft_mem_put(t->mem);
	t->mem = NULL;
	if (s->owner == t)
		s->owner = NULL;
	for (size_t i = 0; i < s->nr_live; i++)
		if (s->live[i] == t)
			s->live[i] = s->live[--s->nr_live];
	soft_dead_add(s, t);
}

/* The thread group, the parent and the tracer of a thread: proc(5). False: it is gone. */
static bool read_status(pid_t tid, pid_t *pid, pid_t *parent, pid_t *tracer)
{
	char path[64], line[256];
	int found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "r");
	if (!f)
		return false;
	while (found < 3 && fgets(line, sizeof(line), f))
		found += sscanf(line, "Tgid: %d", pid) == 1 ||
			 sscanf(line, "PPid: %d", parent) == 1 ||
			 sscanf(line, "TracerPid: %d", tracer) == 1;
	fclose(f);
	return found == 3;
}

/* Whoever made it is still in the system call, and will say what its memory is. */
static bool will_be_announced(const struct soft *s, pid_t pid, pid_t parent)
{
	for (size_t i = 0; i < s->nr_live; i++) {
		const struct soft_thread *t = s->live[i];

		if ((t->pid == pid || t->pid == parent) &&
		    (t->mode == SOFT_KERNEL || t->mode == SOFT_AWAY))
			return true;
	}
	return false;
}

int soft_table_adopt(struct soft *s, pid_t tid)
{
	struct soft_thread *t, *leader;
	pid_t pid, parent, tracer;
	int err;

	if (soft_table_find(s, tid) || !read_status(tid, &pid, &parent, &tracer) ||
	    tracer != gettid() || will_be_announced(s, pid, parent))
		return 0;
	leader = soft_table_find(s, pid);
	err = soft_table_add(&t, s, pid, tid, leader);
	if (err)
		return err;
	t->mode = SOFT_NEW;
	if (leader && leader != t && leader->mem)
		t->mem = soft_mem_get(leader->mem);
	else if (soft_mem_open(&t->mem, tid))
		t->mode = SOFT_FREE;
	else /* its parent's plants were forgotten with the parent */
		(void)soft_cleanse(tid);
	return 1;
}
