/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records for what already runs when a recording begins: kernel map, modules, BPF programs,
 * and FORK, NAMESPACES, COMM, MMAP2 of every thread and process, as perf-record writes them.
 *
 * They are stamped time 0, id 0 ("synthesised"): readers take them at once, so they stand
 * before the records that need them.
 */
#ifndef RECORDER_SIDEBAND_H
#define RECORDER_SIDEBAND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "format/buf.h"
#include "perfio/sys.h"
#include "recorder/dsos.h"
#include "recorder/fileids.h"

struct sideband_want {
	bool kernel;	   /* kernel map and modules */
	bool all;	   /* every process; else the threads below and their processes */
	const pid_t *tids; /* borrowed */
	size_t nr_tids;
	/* Called whenever about 64 KiB have gathered, with whole records; it writes them away.
	 * The buffer is reset afterwards. A value other than 0 ends the synthesis. */
	int (*flush)(void *ctx, struct fmt_buf *records);
	void *ctx;
	struct fileids *fileids;
	struct dsos *dsos; /* learns each mapped file and its build id */
};

enum { SIDEBAND_HIDDEN_MAX = 8 };

struct sideband_result {
	size_t processes, threads, maps, modules; /* threads: leaders too */
	size_t skipped;	   /* tasks that vanished meanwhile */
	size_t unreadable; /* processes whose maps could not be read; the first of them: */
	struct sideband_hidden {
		pid_t pid;
		char comm[16];
		int err; /* -EACCES: not ours to read */
	} hidden[SIDEBAND_HIDDEN_MAX];
	size_t refused; /* of all of them, those with -EACCES */
	bool kernel_hidden; /* kernel.kptr_restrict hides addresses: no kernel map */
};

/* 0, -ESRCH (none of the threads asked for exists), -ENOMEM or what flush returned. */
__attribute__((warn_unused_result))
int sideband_synth(const struct pio_sys *sys, const struct sideband_want *want,
		   struct sideband_result *ret);

#endif
