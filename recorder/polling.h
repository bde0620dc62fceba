/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the loop of a recording waits for (recorder/watch.h): signals, cpus that come and go,
 * rings past their watermark, and the end of what is recorded.
 */
#ifndef RECORDER_POLLING_H
#define RECORDER_POLLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfio/evset.h"
#include "recorder/watch.h"

struct session;

struct polling {
	int *pidfd; /* of the processes of -p; -1: ended */
	size_t nr_pidfd, alive;
	bool rings_ready; /* a ring is past its watermark; whoever drains takes it back */
	bool cpus_changed;
};

/* 0 or -errno. Signals are the session's to read: on_signals is called. */
__attribute__((warn_unused_result))
int polling_setup(struct session *s, void (*on_signals)(struct session *s));
void polling_done(struct session *s);

/* A place's ring was mapped, or is about to be unmapped. */
__attribute__((warn_unused_result)) int polling_add_ring(struct session *s, size_t place);
void polling_remove_ring(struct session *s, size_t place);

/* Every descriptor of a set beside the recording's own, at one place or everywhere: the one whose
 * ring it is may see its task end before the others. fn gets the session; an
 * event whose task is gone is its to remove (polling_hung_up). 0 or -errno. */
#define POLLING_EVERYWHERE SIZE_MAX
__attribute__((warn_unused_result))
int polling_add_set(struct session *s, const struct pio_evset *set, size_t place, watch_fn *fn);
bool polling_hung_up(struct session *s, int fd, uint32_t events);
void polling_remove_set(struct session *s, const struct pio_evset *set, size_t place);

/* Have all processes of -p ended? */
bool polling_processes_gone(const struct session *s);
/* Have all threads of -t ended? Looks into /proc. */
bool polling_threads_gone(const struct session *s);

#endif
