/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be asked of a recording while it runs, whichever channel asks: control words,
 * the socket, triggers. Each action may come at any time, any number of times and in any
 * order; asking for what is so already is a success. They work at once, and must be called
 * from the session's loop.
 *
 * 0, or -errno with words for the answer in s->control.words.
 *
 * Paused: nothing counts but what tracks tasks and mappings, which a later trace needs. The
 * set of events is held (perfio/evset.h), so that nothing else switches it on: neither a cpu
 * that joins, a full AUX area, the end of a snapshot nor the end of --delay. The software source,
 * whose event is not in the set, lets its threads run at their own speed meanwhile.
 */
#ifndef RECORDER_CONTROL_H
#define RECORDER_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;

/* Why it is paused: each reason comes and goes by itself, and the recording goes on when none is
 * left. */
enum control_pause {
	CONTROL_ASKED = 1,   /* by a command, or from the start */
	CONTROL_STOPPED = 2, /* what is traced is stopped */
};

struct control {
	unsigned paused;     /* reasons */
	uint64_t pauses;     /* how often it went from running to paused */
	uint64_t paused_ns;  /* CLOCK_MONOTONIC: since when */
	bool soft_off;	     /* the software source's event is disabled */
	bool rotate_wanted;  /* go on in a new file; whoever does it takes this back */
	char words[256];     /* why the last action was refused, or failed */
};

/* Once the events are open, and none of ours is on yet: how the recording begins. */
void control_setup(struct session *s);

/* -errno of a place whose events could not be switched, or of the software source. The state is
 * then the one that was asked for, as far as it could be brought about. */
__attribute__((warn_unused_result)) int control_pause(struct session *s, enum control_pause why);
__attribute__((warn_unused_result)) int control_resume(struct session *s, enum control_pause why);

/* One event by its name in the file or as it was asked for with -e, or NULL: all of them, as
 * perf's words have it. Enabling all ends a pause that was asked for; enabling one event of a
 * recording that was asked to pause lets that one count alone. An event that is disabled
 * stays so through pause and resume. -ENOENT: no such event; -EPERM: it is the one that
 * tracks tasks, or the like. */
__attribute__((warn_unused_result)) int control_enable(struct session *s, const char *event);
__attribute__((warn_unused_result)) int control_disable(struct session *s, const char *event);

/* Flight only. path: a file of its own, complete, which leaves what goes into the recording's
 * file as it is; NULL: as any other snapshot. why: for the message. Paused it stays paused.
 * -EOPNOTSUPP: no flight; -EAGAIN: nothing has been recorded yet; -EINVAL: path is no regular
 * file; or -errno of the output: without a path that ends the recording. */
__attribute__((warn_unused_result))
int control_snapshot(struct session *s, const char *path, const char *why);

/* Go on in a new file, soon. -EOPNOTSUPP: the output is a stream, or a
 * flight, or it was begun without --switch-output. */
__attribute__((warn_unused_result)) int control_rotate(struct session *s);

/* End the recording as SIGTERM does. Never fails. */
void control_stop(struct session *s);

/* Words of somebody who acts on a recording: into s->control.words. Returns err. */
__attribute__((format(printf, 3, 4)))
int control_refuse(struct session *s, int err, const char *fmt, ...);

/* Has event `i` been let count, and is nothing paused? For status. */
bool control_counts(const struct session *s, size_t i);
/* The same of the software source. */
bool control_traces(const struct session *s);
/* Let the software source do what control_traces() says. 0 or -errno. */
__attribute__((warn_unused_result)) int control_follow(struct session *s);

#endif
