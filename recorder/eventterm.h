/* SPDX-License-Identifier: Apache-2.0 */
/* The name of an event, as "intel_pt/soft,psb_period=3/u". */
#ifndef RECORDER_EVENTTERM_H
#define RECORDER_EVENTTERM_H

#include <stdbool.h>

/* Is `term` among the comma-separated terms between the slashes of an event's name? */
bool eventterm_in(const char *name, const char *term);

#endif
