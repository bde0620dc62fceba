/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of a per-thread recording that are started and stopped by command. One that is
 * stopped ends its queue, and what it had recorded is written, or in flight kept; one that
 * is started gets a ring of its own, or its old queue back, and its task and mappings are told.
 *
 * 0, or -errno with words in s->control.words: -EOPNOTSUPP where rings are by cpu, -ESRCH no such
 * thread, -ENOENT (stop) never recorded, -ENOSPC beyond --max-total-buffer or the room for ids, or
 * what opening it gave. Starting what runs and stopping what is stopped is a success.
 */
#ifndef RECORDER_THREADJOIN_H
#define RECORDER_THREADJOIN_H

#include <sys/types.h>

struct session;

__attribute__((warn_unused_result)) int threadjoin_start(struct session *s, pid_t tid);
__attribute__((warn_unused_result)) int threadjoin_stop(struct session *s, pid_t tid);

#endif
