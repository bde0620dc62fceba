/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What narrows a recording down: address filters (--filter), control groups (-G), and events
 * that pause and resume the trace (aux-action=). Each function is a step of plan_make();
 * 0, or an exit status after the messages were printed.
 */
#ifndef RECORDER_NARROW_H
#define RECORDER_NARROW_H

#include "recorder/plan.h"

/* First of all: what --filter says, in numbers, into p->filter. */
int narrow_parse(struct plan *p);
/* The source is known: can it do what is asked? */
int narrow_source(const struct plan *p);
/* p->ev[0] is the kernel's AUX event: give it p->filter, if it can have it. */
int narrow_aux(struct plan *p);
/* All events are there: give them their control groups, into p->cgroup. */
int narrow_cgroups(struct plan *p);

#endif
