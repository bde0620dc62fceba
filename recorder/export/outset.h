/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files an export makes: BASE-this, BASE-that. All of them appear, or none.
 *
 * They are written in a directory BASE.PID.tmp beside their places; outset_commit moves them
 * there. Until then nothing stands under a final name, and a failure, a full disk or
 * Ctrl-C leaves nothing behind (a SIGKILL leaves the directory). Any number of files can be
 * written in turn: few of them are open at a time.
 *
 * Files get mode 0600: trace tells what a program did.
 */
#ifndef RECORDER_EXPORT_OUTSET_H
#define RECORDER_EXPORT_OUTSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OUTSET_OPEN_MAX = 64 }; /* files open at a time; each has a buffer then */

struct outfile {
	char *name;	/* final path */
	uint64_t size;	/* bytes written so far */
	bool published;

	/* Private. */
	struct outset *set;
	unsigned number; /* its name in the temporary directory */
	int fd;		 /* -1: closed for now */
	uint64_t used;	 /* when, in calls */
	uint8_t *buf;
	size_t held; /* bytes in buf */
};

struct outset {
	const char *base; /* borrowed */
	bool force;	  /* existing files are replaced */
	struct outfile **files;
	size_t nr;
	const struct outfile *failed; /* which one an error is about, or NULL */

	/* Private. */
	char *temp;
	int dir;
	struct outfile *open[OUTSET_OPEN_MAX]; /* in any order */
	size_t nr_open;
	uint64_t calls;
	char **made; /* directories made by outset_commit */
	size_t nr_made;
};

/* 0, -ENOMEM, or what mkdir(2) said of BASE.PID.tmp. base must stay, and *ret stay where it is;
 * one at a time: SIGINT, SIGTERM and SIGHUP are caught to remove what it made. */
__attribute__((warn_unused_result))
int outset_open(struct outset *ret, const char *base, bool force);
/* Is something in the way of BASESUFFIX? Always false with force. */
bool outset_taken(const struct outset *s, const char *suffix);
/* A new, empty file BASESUFFIX; directories in suffix are made when it is published. It stays
 * where it is until outset_done. 0; -EEXIST (and not force), or open(2)'s error: then it is
 * the set's last and s->failed; -ENOMEM. */
__attribute__((warn_unused_result))
int outset_add(struct outset *s, struct outfile **ret, const char *suffix);
/* Takes the last file added back: as if it had not been. */
void outset_drop_last(struct outset *s);

/* Append. 0 or -errno. */
__attribute__((warn_unused_result))
int outfile_write(struct outfile *f, const void *p, size_t n);
__attribute__((format(printf, 2, 3), warn_unused_result))
int outfile_print(struct outfile *f, const char *fmt, ...);
/* Append all that can be read from fd from its first byte on, sharing its blocks where the
 * file system can. 0 or -errno; *ret_read tells whether reading is what failed. */
__attribute__((warn_unused_result))
int outfile_copy(struct outfile *f, int fd, bool *ret_read);
/* Its bytes so far, until the next call on the set; unmap with munmap(2). The file must not
 * be empty. 0 or -errno. */
__attribute__((warn_unused_result))
int outfile_map(struct outfile *f, const uint8_t **ret);
/* Empties it. 0 or -errno. */
__attribute__((warn_unused_result))
int outfile_restart(struct outfile *f);

/* Gives every file its name. 0; -EEXIST (one came in the meantime), or -errno, and then none
 * of them is there. */
__attribute__((warn_unused_result))
int outset_commit(struct outset *s);
/* Removes what was not committed, and frees. Twice is safe. */
void outset_done(struct outset *s);

#endif
