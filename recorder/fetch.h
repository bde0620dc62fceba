/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a ring of a flight holds, for somebody who asks while it goes on: the oldest byte
 * first, in a file in memory. Only that ring stands still, and only while it is copied;
 * whether it runs or is paused then is as it was before.
 */
#ifndef RECORDER_FETCH_H
#define RECORDER_FETCH_H

#include <stdint.h>
#include <sys/types.h>

struct session;

enum fetch_kind {
	FETCH_TRACE,	/* the AUX area, or a thread's trace by the software source */
	FETCH_SWITCHES, /* the records of the ring of the newest: whole ones */
	FETCH_CPUINFO,	/* /proc/cpuinfo: of no cpu or thread */
};
enum { FETCH_KINDS = FETCH_CPUINFO + 1 };
/* "traceBuffer", "perfContextSwitchTrace", "procfsCpuInfo" */
extern const char *const fetch_kind_names[FETCH_KINDS];

struct fetch {
	enum fetch_kind kind;
	int cpu;		/* -1: not by cpu */
	pid_t tid;		/* -1: not by thread */
	uint64_t offset, size; /* the part of it; size UINT64_MAX: all behind offset */
};

struct fetched {
	int fd; /* a memfd with the part, read from its start; the caller's to close */
	uint64_t size, total; /* bytes of the part, and of all there was */
	uint64_t position; /* trace: where all of it begins in the stream of its queue */
	uint64_t pause_ns; /* how long the ring stood still */
};

/* 0; -ENOENT (no such cpu, thread or ring), -EINVAL (neither cpu nor thread, both, or an offset
 * behind the end), -EOPNOTSUPP (no flight), or -errno; with words in s->control.words. */
__attribute__((warn_unused_result))
int fetch_bytes(struct session *s, const struct fetch *q, struct fetched *ret);

#endif
