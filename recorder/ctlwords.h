/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --control: words on a FIFO or an open descriptor, and answers on another, as perf record(1)
 * has them:
 *
 *	enable [EVENT]  disable [EVENT]  snapshot  stop  ping  evlist [-v|-g|-F]
 *
 * A word ends with a newline or a NUL byte. What was done is answered with "ack\n" and a NUL
 * byte; what is unknown or failed, where perf says nothing or acknowledges all the same, with
 * "error REASON\n" and a NUL byte. evlist prints on stderr.
 *
 * Nothing here waits: an answer that finds no room is dropped.
 */
#ifndef RECORDER_CTLWORDS_H
#define RECORDER_CTLWORDS_H

#include <stdbool.h>
#include <stddef.h>

struct session;

enum { CTLWORDS_MAX = 255 }; /* bytes of a word */

struct ctlwords {
	int in, ack; /* -1: none */
	bool ours;   /* to be closed */
	char word[CTLWORDS_MAX + 1];
	size_t n;
	bool too_long; /* the rest of it is passed over */
	bool dropped;  /* an answer, and that was said */
};
#define CTLWORDS_INIT (struct ctlwords){ .in = -1, .ack = -1 }

/* arg: "fifo:CTL[,ACK]", opened for reading and writing so that the other ends may come and go,
 * or "fd:N[,M]", which stay the caller's. 0; -EINVAL: not of this form, or answers
 * would come back as words; -ENOTSUP: a file or folder, which tells nobody when there is more; or
 * -errno. *ret_what: the part of arg that it is about. */
__attribute__((warn_unused_result))
int ctlwords_open(struct ctlwords *ret, const char *arg, const char **ret_what);
/* Is it of that form? 0 or -EINVAL. */
__attribute__((warn_unused_result)) int ctlwords_check(const char *arg);
void ctlwords_done(struct ctlwords *w); /* twice is safe */

/* Take the words of s->words from now on: 0 or -errno of watch_add(). */
__attribute__((warn_unused_result)) int ctlwords_watch(struct session *s);

/* evlist.c: the events of the recording on stderr, a line each. how: NULL, "-v", "-g", "-F".
 * 0 or -EINVAL. */
__attribute__((warn_unused_result)) int evlist_print(const struct session *s, const char *how);

#endif
