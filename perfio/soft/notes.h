/* SPDX-License-Identifier: Apache-2.0 */
/* What the tracer saw of the traced threads, in order, until somebody took it. */
#ifndef PERFIO_SOFT_NOTES_H
#define PERFIO_SOFT_NOTES_H

#include "perfio/soft/soft.h"

struct soft_notes {
	struct soft_note *v;
	size_t n, cap;
};

/* Without memory it is not noted, and the switches near by are not what they seem. */
void soft_notes_add(struct soft_notes *s, const struct soft_note *n);
void soft_notes_done(struct soft_notes *s);

#endif
