/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording in a process of its own, in a session of its own, while the process that the user
 * started only waits for it and hands signals on. For recordings whose sudden death would take
 * programs of others along: when the front is killed, however, the recording ends in order.
 */
#ifndef RECORDER_FRONT_H
#define RECORDER_FRONT_H

#include "recorder/config.h"

/* fn(c) in that process, where c->front is set: its exit status, in both. Returns twice. */
int front_run(struct rec_config *c, int (*fn)(struct rec_config *c));

#endif
