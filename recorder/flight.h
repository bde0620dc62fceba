/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flight recording: the rings keep the newest, nothing is written, and the loop sleeps until
 * something happens. Then all cpus are frozen, what the rings hold becomes a snapshot, and
 * they go on.
 *
 * What tracks the tasks is drained as ever, when its ring is half full, into a table in
 * memory (recorder/tasktable.h); a snapshot takes along what of it the rings may need.
 * Snapshots go into one file, one after the other, or into files of their own, each complete.
 */
#ifndef RECORDER_FLIGHT_H
#define RECORDER_FLIGHT_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "format/auxtrace.h"
#include "format/buf.h"
#include "recorder/newestring.h"
#include "recorder/tasktable.h"

struct session;
struct flight_kept;

enum { FLIGHT_TABLE_LIMIT = 64 << 20 }; /* bytes of the table of tasks, unless asked otherwise */

/* What a place's rings hold while it stands still, or a copy of that: the oldest byte of trace
 * first, the newest record. */
struct flight_hold {
	struct fmt_auxtrace aux;
	struct iovec trace[2], records[2];
	int nr_trace, nr_records;
	bool whole;  /* nothing of the trace has been overwritten */
	bool more;   /* older records have been, since the last snapshot */
	bool copied; /* it may go on */
};

/* Of one place, in the last snapshot. Times ending with _at are on the events' clock, 0: not to be
 * told. */
struct flight_place {
	uint64_t frozen_ns;    /* CLOCK_MONOTONIC when it was about to be stopped, */
	uint64_t frozen_ticks; /* and the trace's clock: up to then, all is there */
	uint64_t pause_ns;     /* how long it stood still; 0: until the end */
	uint64_t frozen_at, trace_at, both_at; /* since when there is trace, and switches with it */
	struct flight_hold hold;
	struct newestring records;
};

/* Memory for copies. */
struct flight_room {
	uint8_t *p;
	size_t size, used;
};

struct flight {
	struct tasktable *table; /* NULL: this is no flight */
	struct fmt_buf records;	 /* of one ring, in the order of time */
	struct fmt_buf late;	 /* AUX records of the moment when the cpus were frozen */
	size_t late_at;		 /* where those of the place at hand begin */
	bool freezing;		 /* the drain at hand is the one for those */
	struct flight_place *place; /* as many as the set has, and room for more: session.h */
	struct flight_room room;
	struct flight_kept *kept; /* what cpus had that have left since the last snapshot */
	bool begun;		 /* the file has its head */
	bool own; /* the snapshot being taken has a file of its own, and leaves no trace here */
	uint64_t from_ns;	 /* leave out what is older, on the events' clock; 0: nothing */
	uint64_t until_ns;	 /* the newest record of the last snapshot, */
	uint64_t told_ns;	 /* up to which its file knows the tasks */
	size_t looked_at;	 /* bytes of the table when the horizon was last looked for */
	unsigned taken;		 /* snapshots so far */
	unsigned failed;	 /* of those in files of their own */
	bool unnamed;		 /* the file with the others could not get its name so far */
	uint64_t skew_ns;	 /* from the first cpu that was stopped to the last */
	uint64_t pause_ns;	 /* the longest that a cpu stood still in the last snapshot, */
	uint64_t max_pause_ns;	 /* and in all */
};

/* Before the first event counts: 0 or -ENOMEM. */
int flight_setup(struct session *s);
void flight_done(struct session *s);
/* Drain what tracks the tasks. 0 or -errno. */
int flight_drain(struct session *s);
/* The same behind a freeze: the AUX records that tell of it go into flight.late, and the table
 * forgets nothing that the snapshot may need. */
int flight_drain_frozen(struct session *s);
/* flight_freeze.c: stop what is overwritten at a place, and let it go on: in between, its rings
 * stand still. Thaw: 0 or -errno after a message; flight.pause_ns is how long it stood still, if
 * that is more. */
void flight_freeze(struct session *s, size_t place);
__attribute__((warn_unused_result)) int flight_thaw(struct session *s, size_t place);
/* Freezes every place. */
void flight_freeze_all(struct session *s);
/* From hurry to calm nobody else's turn comes first, where the user may ask for that
 * (CAP_SYS_NICE): on a busy machine the cpus would stand still while others run. */
struct sched {
	int policy;
	struct sched_param param;
	bool changed;
};
struct sched flight_hurry(void);
void flight_calm(const struct sched *old);
/* flight_hold.c: what a place's rings hold, into place.hold; copy: as a copy, where there is room
 * for it. A place is looked at once in a snapshot. Room: for all places if memory permits; leave:
 * what is in it has been written. */
void flight_hold(struct session *s, size_t place, bool copy);
bool flight_fits(const struct session *s, size_t place);
void flight_room_open(struct session *s);
void flight_room_leave(struct session *s);
void flight_room_close(struct session *s);
/* A cpu is leaving: what its rings hold is kept in memory for the next snapshot. 0 or -ENOMEM. */
int flight_keep(struct session *s, size_t place);
/* Write what was kept, and forget it: trace into the file, records into flight.records. 0 or
 * -errno. */
int flight_put_kept(struct session *s);
void flight_drop_kept(struct session *s);
/* flight_pre.c: the trace of a place, or a queue of the software source, without what is older than
 * flight.from_ns. 0 or -errno of the output. */
int flight_area(struct session *s, struct flight_hold *h);
int flight_queue(struct session *s, size_t i);
/* flight_take.c: take a snapshot; go_on: and let the cpus run again. why: for the message. 0, or
 * -errno of the output: the session's write_err, but with --max-snapshots, where there is that
 * file less, and when all is written and the file did not get its name, which the next one tries
 * again. */
int flight_take(struct session *s, bool go_on, const char *why);
/* flight_own.c: one in a file of its own, with all that the rings hold. 0, or -errno, after which
 * there is no such file and the recording goes on. */
__attribute__((warn_unused_result))
int flight_take_own(struct session *s, const char *path, const char *why);
/* The same under the next name of a set (recorder/fileset.h), with a message when it fails. */
int flight_take_next(struct session *s, bool go_on, const char *why);

#endif
