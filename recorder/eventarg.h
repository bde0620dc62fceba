/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The argument of -e: a list of events, separated by commas outside slashes.
 *
 *   intel_pt//            an AUX PMU with perf's default terms
 *   intel_pt/tsc,psb_period=3/u
 *   intel_pt              the same as intel_pt//
 *   sched:sched_switch    a tracepoint
 *   cpu-clock, cycles:u   a generic event that takes samples (perfio/counters.h)
 *   sched:sched_switch/aux-action=pause/   one that pauses (or resumes) the AUX event
 */
#ifndef RECORDER_EVENTARG_H
#define RECORDER_EVENTARG_H

#include <stddef.h>

#include "recorder/config.h"

/* Appends the events of `text` to *list. 0; -ENOMEM; -EINVAL with *ret_what set to a static
 * description of what is wrong and *ret_at to where. */
int eventarg_parse(struct event_arg **list, size_t *n, const char *text,
		   const char **ret_what, const char **ret_at);
/* Does it name an AUX PMU? */
bool eventarg_is_aux(const struct event_arg *e);
void eventarg_free(struct event_arg *list, size_t n);

#endif
