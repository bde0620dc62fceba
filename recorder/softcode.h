/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that is in no file, kept beside a software trace: OUTPUT.jit/ gets, for each process that
 * ran such code, jit-PID.dump for `perf inject --jit`, and code-PID, whose pieces the recording
 * shows as mapped where and when they ran.
 */
#ifndef RECORDER_SOFTCODE_H
#define RECORDER_SOFTCODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/buf.h"
#include "perfio/soft/soft.h"

struct session;

struct softcode {
	char *dir; /* NULL: there is no place for it */
	struct softcode_file {
		pid_t pid;
		uint64_t size; /* of code-PID */
		struct softcode_page {
			uint64_t addr;
			uint64_t index; /* of the piece that is there, in jit-PID.dump */
			uint64_t loaded, told; /* ticks: of that piece; the last ones */
		} *page;
		size_t nr, room;
	} *file;
	size_t nr, room;
	uint64_t bytes;		/* of all files */
	int err;		/* the first failure: nothing more is kept */
	struct fmt_buf records; /* MMAP2 that the next round takes */
};

void softcode_done(struct session *s);
/* A soft_code_fn; arg is the session. */
uint64_t softcode_keep(void *arg, const struct soft_code *c);
/* New records go into the round at hand, and to the table of tasks. 0 or -errno. */
__attribute__((warn_unused_result)) int softcode_round(struct session *s);
/* The round is written. */
void softcode_told(struct session *s);

#endif
