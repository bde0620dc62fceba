/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a recording that has several: NAME.1.data, NAME.2.data ... for the output NAME or
 * NAME.data. Numbers go on behind the highest that is there, so that a later run takes nothing
 * from an earlier one. The newest `keep` of this run are kept; older ones are removed, unless
 * somebody has put another file in their place.
 */
#ifndef RECORDER_FILESET_H
#define RECORDER_FILESET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fileset {
	char *head;    /* of each name; ".data" follows the number */
	unsigned next; /* the number of the next name */
	size_t keep;   /* 0: all */
	uint64_t made; /* files so far */
	uint64_t removed, removed_bytes; /* of them */
	char *first, *last; /* names of the first and the last of them that are there, or NULL */
	struct fileset_file {
		char *name;
		dev_t dev;
		ino_t ino;
		uint64_t bytes;
	} *file; /* those that are there, the oldest first; only with keep */
	size_t nr, cap;
};

/* 0 or -ENOMEM; a directory that cannot be read counts as empty. */
__attribute__((warn_unused_result))
int fileset_init(struct fileset *ret, const char *output, size_t keep);
void fileset_done(struct fileset *f); /* all zeros is fine, too; removes nothing */

/* A name that no file has, for the caller to free; NULL: no memory. The next call gives another. */
char *fileset_name(struct fileset *f);
/* A file (or directory: recorder/kcoredir.h) of that name is there now. 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int fileset_add(struct fileset *f, const char *name);
/* The newest one is so long now. */
void fileset_grown(struct fileset *f, uint64_t bytes);
/* Remove what is too old. */
void fileset_trim(struct fileset *f);

#endif
