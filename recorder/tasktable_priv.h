/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two halves of the table of tasks: tasktable.c keeps what waits and decides what is
 * applied, tasktable_apply.c keeps the processes.
 */
#ifndef RECORDER_TASKTABLE_PRIV_H
#define RECORDER_TASKTABLE_PRIV_H

#include <stdbool.h>

#include "recorder/tasktable.h"

/* One record, shared by all tasks that have it: a child its parent's mappings. */
struct task_rec {
	unsigned refs;
	uint16_t size;
	uint8_t p[];
};

struct task_list {
	struct task_rec **rec;
	size_t nr, cap;
};

struct task_thread {
	uint32_t tid;
	uint64_t born; /* ns; 0: found running */
	struct task_rec *comm, *ns; /* or NULL */
};

struct task_proc {
	uint32_t pid, ppid;
	struct task_thread *thread; /* by tid */
	size_t nr_thread;
	struct task_list maps; /* oldest first, none covered by a later one */
};

/* The processes at one moment. */
struct task_world {
	void *procs;		 /* tree of struct task_proc by pid */
	struct task_list kernel; /* MMAP of kernel and modules, KSYMBOL, TEXT_POKE ... */
	size_t nr_proc, nr_thread, nr_map;
	size_t bytes; /* of records and tables */
	bool full; /* nothing waits that could make room: mappings are left out */
	uint64_t dropped;
	uint64_t told_ns; /* tasktable_told() */
};

void task_rec_put(struct task_world *w, struct task_rec *r); /* one reference less */
/* Apply one record; the world takes references of its own. 0 or -ENOMEM. */
int task_world_apply(struct task_world *w, struct task_rec *r);
/* As tasktable_emit, the table only. */
int task_world_emit(const struct task_world *w, const struct fmt_trailer *stamp,
		    int (*put)(void *ctx, const uint8_t *rec, size_t n), void *ctx);
void task_world_done(struct task_world *w);

#endif
