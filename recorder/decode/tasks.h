/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes, their mappings and their threads over time, and which thread a cpu ran when, as
 * a recording's records tell.
 *
 * Mappings: MMAP and MMAP2 add; FORK of a process begins with what the parent had (not where
 * the recorder found it running and says so); COMM of an exec begins with nothing. EXIT is not
 * needed: a pid that is used again comes with a FORK.
 *
 * Cpus: SWITCH_CPU_WIDE, SWITCH of those that come, ITRACE_START. A task that leaves without
 * another being named still has the end of its trace in the kernel.
 *
 * Filled by one thread, then sorted, then read by any number of them. Memory: 64 bytes for
 * each mapping, process or name of a thread, 16 for each switch.
 */
#ifndef RECORDER_DECODE_TASKS_H
#define RECORDER_DECODE_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/reader.h"
#include "recorder/decode/images.h"

#define TASKS_NONE UINT32_MAX

enum tasks_kind { TASKS_MAP, TASKS_EXEC, TASKS_FORK };

struct tasks_event {
	uint64_t time; /* ns; 0 what was there before */
	uint64_t seq;  /* place among all events */
	uint32_t pid, ppid; /* ppid: FORK only */
	enum tasks_kind kind;
	/* MAP only. */
	uint64_t addr, end, off;
	const struct image *image;
};

struct tasks;

int tasks_new(struct tasks **ret); /* 0 or -ENOMEM */
void tasks_free(struct tasks *t);  /* NULL is fine */

/* A record of any type; image: what images_take gave for it. Malformed ones and those of
 * the kernel's own mappings are passed over. 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int tasks_take(struct tasks *t, const struct fmt_reader *from, const struct fmt_rec *rec,
	       const struct image *image);
/* When all were taken. */
void tasks_sort(struct tasks *t);

/* Who runs on a cpu at a time. *ret_until is when that may change: ask again from then on.
 * Both TASKS_NONE where nothing tells. */
struct tasks_who {
	uint32_t pid, tid;
};
struct tasks_who tasks_on_cpu(const struct tasks *t, uint32_t cpu, uint64_t time,
			      uint64_t *ret_until);
/* The process of a thread at a time; the thread's own number where no record tells. */
uint32_t tasks_pid(const struct tasks *t, uint32_t tid, uint64_t time);
/* Its last name, "" where none is told. */
void tasks_comm(const struct tasks *t, uint32_t pid, uint32_t tid, char ret[16]);

/*
 * What happened to the mappings of a process. A cursor begins with the events from which its
 * address space came, the parent's among them.
 */
struct tasks_cursor {
	uint32_t pid;
	size_t at; /* of the next event of the process itself */
};
/* Calls fn for the MAP events that made what the process had at `time`, oldest first, then
 * stands behind them. 0, or what fn returned (not 0: the walk ends). */
int tasks_begin(const struct tasks *t, struct tasks_cursor *ret, uint32_t pid, uint64_t time,
		int (*fn)(void *ctx, const struct tasks_event *e), void *ctx);
/* The next event of the process not later than `time`, or NULL; then *ret_until is when the
 * next one is due (UINT64_MAX: never). */
const struct tasks_event *tasks_next(const struct tasks *t, struct tasks_cursor *c,
				     uint64_t time, uint64_t *ret_until);

#endif
