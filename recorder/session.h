/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording from beginning to end: open, describe, synthesise, enable, drain, stop, finish.
 *
 *   session.c   the life of a recording, and its loop
 *   polling.c   what the loop waits for
 *   opening.c   everything before the first event counts: descriptors, rings, head records
 *   recfile.c   one file, from its header to its features
 *   drain.c     rings and queues into the file, round by round
 *   joining.c   cpus that leave and join
 *   threadjoin.c threads that are started and stopped by command
 *   control.c   what can be asked of it meanwhile
 *   flight.c    rings that keep the newest and are written only on demand
 *   flight_freeze.c, flight_hold.c, flight_take.c, flight_own.c, flight_pre.c
 *               a snapshot: stop, copy, go on; write; in a file of its own; not all of it
 *   flight_kept.c what a cpu had that has left
 *   snapshot.c  one such AUX area
 *   softswitch.c switches that are not the tracer's own
 *   rotation.c  going on in a new file, ending at a limit
 *   trigger.c   what makes it take one
 *   window.c    rings by the time that they hold
 *   stopped.c   whether what is traced is stopped
 *   closing.c   the last round, late losses, features
 *   report.c    the words: start line, status line, summary
 */
#ifndef RECORDER_SESSION_H
#define RECORDER_SESSION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "format/writer.h"
#include "recorder/config.h"
#include "recorder/control.h"
#include "recorder/ctlserve.h"
#include "recorder/ctlwords.h"
#include "recorder/dsos.h"
#include "recorder/fileids.h"
#include "recorder/fileset.h"
#include "recorder/flight.h"
#include "recorder/host.h"
#include "recorder/hotplug.h"
#include "recorder/ledger.h"
#include "recorder/output.h"
#include "recorder/plan.h"
#include "recorder/polling.h"
#include "recorder/rotation.h"
#include "recorder/setid.h"
#include "recorder/sideband.h"
#include "recorder/softcode.h"
#include "recorder/softswitch.h"
#include "recorder/source.h"
#include "recorder/spans.h"
#include "recorder/stopped.h"
#include "recorder/trigger.h"
#include "recorder/watch.h"
#include "recorder/window.h"
#include "recorder/workload.h"

/* Files that are finished. */
struct written {
	uint64_t files, bytes;
	uint64_t named, named_bytes; /* snapshots that were asked for by name, beside them */
	struct fmt_zipped zipped;
};

struct session {
	const struct pio_sys *sys;
	const struct rec_config *cfg;
	struct plan plan;
	struct pio_evset set;
	struct source source;
	struct workload work;
	struct output out;
	struct fmt_writer writer;
	char *name; /* behind out.name, when the file is one of several */
	struct fileset files;
	struct written written;
	struct ledger ledger;
	struct fileids *fileids;
	struct dsos *dsos;
	struct host host;
	struct sideband_result synth;
	char version[128]; /* the VERSION feature */

	struct fmt_event *events; /* as the file has them */
	size_t nr_events;
	struct fmt_group group; /* the AUX event and its members, for the features */
	uint64_t *ids;	/* memory behind events[].ids */
	uint64_t pt_id; /* first id of the software source's event */
	struct fmt_time_conv conv;
	struct fmt_buf tracing; /* TRACING_DATA payload */
	struct fmt_buf buf;	/* records being made */
	struct spans spans;	/* records of a ring on their way */
	struct softswitch switches; /* of the software source */
	struct softcode code;	    /* its, too */
	struct setid setid;	    /* the same */

	struct watch watch;
	struct polling polling;
	void (*on_signals)(struct session *s);
	struct hotplug hotplug;
	unsigned join_tries; /* in vain, of cpus that are online */

	sigset_t old_mask;
	struct rlimit old_nofile;
	bool *stalled; /* per place: its AUX event stopped in this round */
	struct flight flight;
	struct rotation rotation;
	struct control control;
	struct trigger trigger;
	struct stopped stopped;
	struct window window;
	struct ctlwords words;
	struct ctlserve serve;
	int signal_fd;
	bool enabled;
	bool full; /* --max-instructions were traced: the command runs on alone */
	bool snapshot_wanted; /* SIGUSR2 came */
	int signal;	 /* that ended the recording, or 0 */
	int write_err;	 /* first failure of the output, or 0 */
	int run_err;	 /* first other failure that ended the recording, or 0 */
	uint64_t t0_ns;	 /* CLOCK_MONOTONIC: session_run() was entered, */
	uint64_t on_ns;	 /* events were enabled, */
	uint64_t off_ns; /* and stopped */
	uint64_t wall_ns, clock_ns; /* one moment on CLOCK_REALTIME and on the events' clock */
};

/* Runs the whole recording. Returns the exit status; messages have been printed. */
int session_run(const struct pio_sys *sys, const struct rec_config *cfg);

/* Ticks of the TSC for each instruction that was traced, while one was: how much slower than one
 * instruction a tick. 0: none was. */
double session_slowdown(const struct soft_stats *st);

/* opening.c: 0 or an exit status after a message. */
int opening_events(struct session *s);
int opening_head(struct session *s);
/* The copy of the kernel's code, when the events that tell of its changes are on. */
int opening_kcore(struct session *s);

/* The events as the file has them, by the descriptors that are open. 0 or -ENOMEM. */
int opening_describe(struct session *s);
size_t opening_count_ids(const struct session *s);
size_t opening_soft_ids(const struct session *s);
/* Where events are opened: the cpus and tasks that are recorded, with the plan's sizes. */
struct pio_target opening_target(const struct session *s);

/* recfile.c. Open: the output, without a name yet; 0 or an exit status after a message. Publish
 * gives it the name: 0 or -errno after a message. Begin: header and head records, up to where
 * the tasks are told; head_done: behind them. 0 or -errno, which refuse turns into words and an
 * exit status. End: features; closes it, and says so when writing failed (write_err). */
int recfile_open(struct session *s);
/* Silent: a file without a name yet, 0 or -errno of recorder/output.h; the next one of several
 * in place of one that has ended; its name. */
int recfile_create(struct session *s, struct output *ret, const char *name);
int recfile_next(struct session *s);
int recfile_name(struct session *s);
/* The copy of the kernel's code that one recording has, for another one: 0 or -errno. */
int recfile_share_kcore(const struct session *s, const struct output *to,
			const struct output *from);
/* Written so far, in all files. */
uint64_t recfile_bytes(const struct session *s);
/* For tasktable_emit(); ctx is the session. */
int recfile_put_task(void *ctx, const uint8_t *rec, size_t n);
int recfile_begin(struct session *s);
int recfile_head_done(struct session *s);
int recfile_publish(struct session *s);
int recfile_refuse(const struct session *s, int err);
void recfile_end(struct session *s);
/* The words for write_err; recfile_end() says them. */
void recfile_explain(const struct session *s);

/* drain.c: one round over everything. marker: end it with FINISHED_ROUND. last: fetch also
 * what waits for more. 0 or -errno of the output, which is then rolled back and remembered
 * in write_err. */
int drain_round(struct session *s, bool marker, bool last);
/* The output failed: take the round back, remember err. Returns err. */
int drain_failed(struct session *s, int err);
/* Write and empty s->buf. 0 or -errno. */
int drain_put(struct session *s);
/* One chunk of a queue, and with it what a kernel would have said: 0 or -errno of the output. */
int drain_chunk(struct session *s, size_t i, const struct source_chunk *c);
/* All that a queue holds, as chunks. 0 or -errno of the output. */
int drain_queue_whole(struct session *s, size_t i);

/* joining.c: see which cpus went and which came, write what the ones had, open the others.
 * Have the places changed? */
bool joining_look(struct session *s);
/* The steps of that, for threads, too. Write_last: what a place has, before it is retired.
 * Make_room: for one more place, in what the session keeps by place. Announce: the ids of a new
 * place. Switch_on: as the others are. 0 or -errno. */
int joining_write_last(struct session *s, size_t place);
int joining_make_room(struct session *s);
int joining_announce(struct session *s, size_t place);
int joining_switch_on(struct session *s, size_t place);
/* How many ids beside those of now each event may need. */
size_t joining_room(const struct session *s);
/* snapshot.c: write one AUX area as it is, its event being stopped. 0 or -errno of the output,
 * which is the caller's to take back. */
int snapshot_area(struct session *s, size_t place);
/* The two halves of it: what the area holds, as spans (0..2), and writing that. */
int snapshot_look(struct session *s, size_t place, struct fmt_auxtrace *ret, struct iovec v[2]);
int snapshot_put(struct session *s, const struct fmt_auxtrace *a, const struct iovec *v, int n);
/* closing.c */
void closing_file(struct session *s);
/* A LOST record into s->buf for what a place's events lost and no record told. */
void closing_place_losses(struct session *s, size_t place);

/* report.c */
void report_start(const struct session *s);
void report_status(const struct session *s);
void report_end(const struct session *s);
/* The events of a place cannot be enabled again; `when` ends the message. Returns err. */
int report_stuck(const struct session *s, size_t place, int err, const char *when);

/* Take the signals that have come. */
void session_read_signals(struct session *s);
uint64_t session_now(void); /* CLOCK_MONOTONIC, ns */
/* Time of the file, ns, for a moment on the trace's clock. */
uint64_t session_time(const struct session *s, uint64_t ticks);
/* The other way, for a moment that is past: false where the trace's clock cannot be compared. */
bool session_ticks(const struct session *s, uint64_t ns, uint64_t *ret);
/* The features of the file as far as they are known. */
struct fmt_features session_features(struct session *s);

#endif
