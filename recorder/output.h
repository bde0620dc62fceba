/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a recording goes: a perf.data file, or a stream.
 *
 * A file has no name until output_publish(): it is made with O_TMPFILE (open(2)), so that a
 * start that fails, or is killed, leaves nothing behind, and what appears under the name is
 * valid from its first instant. Publishing keeps an existing file as NAME.old, as perf does.
 * Where the file system has no O_TMPFILE, a file NAME.PID.tmp is used and renamed.
 *
 * A directory (recorder/kcoredir.h) is made as NAME.PID.tmp and renamed: one that is killed
 * before it is published stays behind under that name. What stood at NAME is kept as NAME.old,
 * file or directory; an older NAME.old is removed when it is a file or a recording. Its
 * NAME.jit (recorder/jitdir.h) goes with it.
 */
#ifndef RECORDER_OUTPUT_H
#define RECORDER_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/writer.h"

struct output {
	const char *name; /* borrowed; "-" is stdout */
	int fd;
	bool stream;	/* pipe form: stdout, a FIFO, a device, a socket */
	bool dir; /* the file is NAME/data */
	bool published;
	bool fresh; /* set by the owner: the name must be free */
	bool has_code; /* the same: NAME.jit is this recording's already */
	char *temp; /* name in use before publishing, where O_TMPFILE is missing */
	uint64_t size;
	/* A pipe or socket whose reader is slow: what wakes the wait for it, and whether that
	 * means to stop. Then it has two more seconds. Both unset: wait for ever. */
	int wake_fd;
	bool (*stop)(void *ctx);
	void *stop_ctx;
	bool waits, stopping; /* private */
};
#define OUTPUT_INIT (struct output){ .fd = -1, .wake_fd = -1 }

/* 0, -ENOTTY (stdout is a terminal), or what open(2) said. Files get mode 0600. */
__attribute__((warn_unused_result)) int output_open(struct output *ret, const char *name);
/* NAME as a directory at o->temp, with a kcore_dir to be filled or without. 0, -ENOTDIR (NAME is
 * a FIFO or the like), -EISDIR (a directory that is no recording), or -errno. */
__attribute__((warn_unused_result))
int output_open_dir(struct output *ret, const char *name, bool with_kcore);
/* Give the file its name; nothing for a stream. 0, -EEXIST (fresh, and the name is not free: it
 * may be given another), or -errno. */
__attribute__((warn_unused_result)) int output_publish(struct output *o);
/* Give the file its name in place of one that has it, at once and without keeping that: for a
 * file that is better than the other. 0 or -errno. */
__attribute__((warn_unused_result)) int output_replace(struct output *o);
/* A sink for fmt_writer. sync: make bytes durable before data.size moves past them. */
struct fmt_sink output_sink(struct output *o, bool sync);
/* Checks close(2) too: on some file systems a write error shows only there. */
__attribute__((warn_unused_result)) int output_close(struct output *o);
/* Close without looking; removes a file that was never published. Twice is safe. */
void output_done(struct output *o);

#endif
