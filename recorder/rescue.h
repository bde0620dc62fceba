/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracer is dead, and what it traced is untraced with breakpoints in its code. A thread that
 * meets one dies of it; but those that sleep go on for good when they are taken out in time.
 */
#ifndef RECORDER_RESCUE_H
#define RECORDER_RESCUE_H

#include <stddef.h>
#include <sys/types.h>

/* Take them out of these processes and of their descendants, and say so. */
void rescue(const pid_t *pids, size_t n);

#endif
