/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings of a flight recording by the time that they shall hold (--window): from the rate at which
 * they fill. Of what already runs it is measured, on the busiest cpu (thread) and for a tenth of a
 * second, before the recording begins; of a command, nobody knows: stated defaults
 * (recorder/plan.h). Each snapshot says whether its rings did hold so much.
 */
#ifndef RECORDER_WINDOW_H
#define RECORDER_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "recorder/newestring.h"

struct session;

struct window {
	bool measured;
	uint64_t now_ns; /* when the snapshot at hand was taken, on the events' clock */
	size_t rings, short_of; /* looked at; which do not reach back so far */
};

/* With the events open, and before they are enabled for good: measure. True: the plan has other
 * sizes now, with which they are to be opened again. */
bool window_measure(struct session *s);
/* Which sizes there are, and why. */
void window_say(const struct session *s);

/* A snapshot: begin it, look at a ring of records, at trace (the oldest byte first; whole: nothing
 * of it has been overwritten), and say what was seen. Nothing without --window; with --pre,
 * which decides itself how far back to go, neither. */
void window_begin(struct session *s);
void window_see_records(struct session *s, const struct newestring *n);
void window_see_trace(struct session *s, const struct iovec *v, int n, bool whole);
void window_end(const struct session *s);

#endif
