/* SPDX-License-Identifier: Apache-2.0 */
/*
 * May the software source attach to these processes? Asked before anything is disturbed, and
 * answered in words: whom, what stands against it, and what to do.
 */
#ifndef RECORDER_ATTACHABLE_H
#define RECORDER_ATTACHABLE_H

#include <sys/types.h>

#include "perfio/limits.h"
#include "recorder/config.h"

/* The processes of -p, if they are to be attached to. 0 or an exit status after a message. */
int attachable_check(const struct rec_config *cfg, const struct pio_limits *l);
/* Attaching to one of them has failed all the same. Returns an exit status. */
int attachable_explain(const struct pio_limits *l, pid_t pid, int err);

#endif
