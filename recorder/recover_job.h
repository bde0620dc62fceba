/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `auxrec recover` is told to do, and the files that takes: cmd_recover.c reads the file
 * or directory, recover_out.c writes one file, recover_dir.c those of a directory.
 */
#ifndef RECORDER_RECOVER_JOB_H
#define RECORDER_RECOVER_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "recorder/input.h"
#include "recorder/recover.h"

struct recover_job {
	const char *path, *out;
	bool in_place, force, json;
	struct stat st; /* of path before it was opened; zeroed for standard input */
	char *name;	/* of what is written, owned */
	struct input in;
	struct recover c;
	struct recover *parts; /* owned; one for each of in.parts, those of `c` */
	size_t nr_parts;
};

/* Was anything lost, in any file? Is there nothing to mend, in all of them? */
bool recover_job_lost(const struct recover_job *j);
bool recover_job_sound(const struct recover_job *j);

/* One file, and what it becomes. */
struct recover_file {
	struct recover *c;
	const char *from; /* its path; "-" */
	const char *name; /* of the new one; with in_place the same, links followed */
	struct stat st;	  /* as above */
	bool in_place;
};
/* Writes the new file, or mends the old one: *patched, without a copy. 0, or -errno after a
 * message. */
int recover_file(const struct recover_file *f, bool *patched);
/* The records of c, and a mode as `was` has it, into an open file: 0, -errno or what
 * recover_write() said. */
struct output;
int recover_fill(struct recover *c, struct output *out, const struct stat *was);
/* Says why that failed. Returns err. */
int recover_say(const struct recover *c, const char *from, const char *name, int err);

/* Finds and scans the data.N of a directory whose `data` was scanned. 0, or -errno after a
 * message. */
int recover_scan_parts(struct recover_job *j);
/* Writes the directory j->name, or mends that at j->path. 0, or -errno after a message. */
int recover_dir(struct recover_job *j);
/* Is the file one of a recording that is a directory? Then words say so. */
bool recover_in_dir(const struct recover_job *j);

#endif
