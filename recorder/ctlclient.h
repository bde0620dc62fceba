/* SPDX-License-Identifier: Apache-2.0 */
/* The other end of the control socket (recorder/ctlsock.h): who asks, and waits for the answer. */
#ifndef RECORDER_CTLCLIENT_H
#define RECORDER_CTLCLIENT_H

#include "recorder/jtree.h"

struct ctlclient {
	int fd;	  /* the connection; -1: none */
	int file; /* that came with the last answer, or -1: the caller's to close */
	char *line; /* the last answer as it came, NUL-terminated */
	size_t n, cap;
};
#define CTLCLIENT_INIT (struct ctlclient){ .fd = -1, .file = -1 }

/* 0, -ENOENT or -ECONNREFUSED (nobody listens there), -EACCES, -ENAMETOOLONG, or -errno. */
__attribute__((warn_unused_result)) int ctlclient_open(struct ctlclient *ret, const char *path);
void ctlclient_done(struct ctlclient *c); /* twice is safe */

/* Send a request and wait for its answer, an object; *ret is the caller's. 0, -EPIPE (the recorder
 * went away), -EBADMSG (no such object), -EMSGSIZE (beyond all bounds), or -errno. */
__attribute__((warn_unused_result))
int ctlclient_ask(struct ctlclient *c, const json_t *request, json_t **ret);
/* Wait until the recorder lets go of the connection. */
void ctlclient_wait_end(struct ctlclient *c);

#endif
