/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control socket of a running recording: a Unix stream socket on which each line is one
 * JSON object, requests one way and answers the other, in the order they came.
 *
 *	{"cmd":"status"}			-> {"ok":true, ...}
 *	{"cmd":"pause","id":7}			-> {"ok":true,"id":7}
 *	{"cmd":"dance"}				-> {"ok":false,"error":"unknown command 'dance'"}
 *
 * An "id" is handed back as it came. Bytes that are no JSON (a piece of a ring) travel as an
 * open file: the answer's line carries its descriptor along (SCM_RIGHTS, unix(7)).
 *
 * Nobody can hold the recording up: nothing here waits, a line has a greatest length, a
 * client that does not read its answers is not read from, each gets one answer in a turn, and
 * there is a greatest number of clients. Only the recorder's own user and root are let in (the
 * socket's mode is 0600, and the peer's uid is looked at).
 */
#ifndef RECORDER_CTLSOCK_H
#define RECORDER_CTLSOCK_H

#include "recorder/jtree.h"

enum {
	CTLSOCK_CLIENTS = 16,
	CTLSOCK_LINE = 64 << 10,
};

struct ctlsock;

/* Where it is unless somebody chose: auxrec.sock in $XDG_RUNTIME_DIR, or, without that, in /run,
 * where root may make it. Static. */
const char *ctlsock_default(void);

/* Makes the socket file. A file left behind by a recorder that was killed is replaced. 0,
 * -EADDRINUSE (a recorder listens there), -EEXIST (a file that is no socket),
 * -ENAMETOOLONG (more than 107 bytes, unix(7)), or what a system call gave. */
int ctlsock_open(struct ctlsock **ret, const char *path);
void ctlsock_close(struct ctlsock *s); /* removes the file; NULL is fine */
/* Readable when ctlsock_work has something to do. */
int ctlsock_fd(const struct ctlsock *s);

/* The answer to a request, a new object, or NULL: no memory, and the client is dropped. *ret_fd,
 * when set, goes along and is closed. */
typedef json_t *ctlsock_answer_fn(void *ctx, const json_t *request, int *ret_fd);
/* Do what can be done without waiting. */
void ctlsock_work(struct ctlsock *s, ctlsock_answer_fn *answer, void *ctx);

/* {"ok":false,"error":TEXT}, or NULL. */
__attribute__((format(printf, 1, 2))) json_t *ctlsock_refuse(const char *fmt, ...);

#endif
