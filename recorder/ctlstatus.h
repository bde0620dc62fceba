/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a recording stands, as the object that answers `status` on the control socket. Its
 * fields are documented in auxrec-ctl(1); where the gdb-remote packets of LLDB's trace
 * support (jLLDBTraceGetState) say the same thing, the names are theirs.
 */
#ifndef RECORDER_CTLSTATUS_H
#define RECORDER_CTLSTATUS_H

#include "recorder/jtree.h"

struct session;

enum { CTLSTATUS_VERSION = 1 }; /* of the protocol; grows when a field changes its meaning */

/* What the last status saw, so that the next one can tell rates. Zeroed: nothing. */
struct ctlstatus {
	uint64_t at_ns, written;
	struct ctlstatus_seen {
		uint64_t trace, switches;
	} *place;
	size_t nr_place;
};
void ctlstatus_done(struct ctlstatus *c);

/* A new object, or NULL: no memory. */
json_t *ctlstatus_make(struct session *s);

#endif
