/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracer is dead, and what it traced is untraced with breakpoints in its code. A thread that
 * meets one dies of it; but those that sleep go on for good when they are taken out in time.
 */
#ifndef RECORDER_RESCUE_H
#define RECORDER_RESCUE_H

struct rec_config;

/* Take them out of the processes that it traced, and say so; without a lifeline, of those of -p and
 * their descendants. */
void rescue(const struct rec_config *c);

#endif
