/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --socket: what is asked of a recording on its control socket (recorder/ctlsock.h), command by
 * command. The protocol is documented in auxrec-ctl(1).
 */
#ifndef RECORDER_CTLSERVE_H
#define RECORDER_CTLSERVE_H

#include "recorder/ctlsock.h"
#include "recorder/ctlstatus.h"

struct session;

struct ctlserve {
	struct ctlsock *sock; /* NULL: there is none */
	struct ctlstatus status;
};

/* At s->cfg->socket; nothing when that is NULL. 0, or -errno after a message. */
__attribute__((warn_unused_result)) int ctlserve_open(struct session *s);
/* Answer from now on. 0 or -errno of watch_add(). */
__attribute__((warn_unused_result)) int ctlserve_watch(struct session *s);
/* Clients that wait are let go, which tells them that the recording is complete. Twice is safe. */
void ctlserve_done(struct session *s);

#endif
