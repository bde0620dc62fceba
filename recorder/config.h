/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the user asked `record` to do: filled in by cmd_record.c, never changed afterwards.
 */
#ifndef RECORDER_CONFIG_H
#define RECORDER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "perfio/cpus.h"

enum source_kind { SOURCE_AUTO, SOURCE_KERNEL, SOURCE_SOFT, SOURCE_NONE };
enum { SOURCE_KINDS = SOURCE_NONE + 1 };
extern const char *const source_names[SOURCE_KINDS]; /* source.c */

/* One -e: an AUX PMU with its terms, a tracepoint, or a generic event that takes samples. */
struct event_arg {
	char *text;	 /* as typed */
	char *head;	 /* "intel_pt" or "sched" */
	char *body;	 /* between the slashes, or the tracepoint's name */
	char *modifiers; /* behind the second slash or colon, "" when none */
	bool tracepoint;
	const struct pio_counter *counter; /* the generic event, or NULL */
	uint32_t aux_action; /* of a tracepoint: PIO_AUX_PAUSE or _RESUME (perfio/attrs.h) */
	char *filter;	     /* of a tracepoint: the expression of --filter, or NULL */
};

struct soft_lifeline;

struct rec_config {
	int argc; /* of the whole program, for the CMDLINE feature */
	char **argv;
	char **command; /* NULL-terminated, or NULL */
	bool follow;	/* the command is what is recorded, not only what says when to stop */
	const char *output;
	enum source_kind source;
	bool attach; /* the software source traces the processes of -p */
	bool all, per_thread, strict, sync;
	/* Flight: rings keep the newest, and nothing is written before a snapshot is asked for. */
	bool snapshot, snapshot_at_exit;
	uint64_t flight_len; /* bytes of trace per ring, 0: as aux_len */
	uint64_t max_snapshots;	 /* files of their own that are kept, 0: all in one file */
	/* Several files, one after the other (recorder/fileset.h): whenever asked for, and at a
	 * size or an age (0: none). */
	bool rotate;
	uint64_t rotate_size, rotate_ns;
	uint64_t max_files;	/* of them that are kept, 0: all */
	uint64_t max_size, max_time_ns; /* of the recording, 0: none */
	/* What else asks for a snapshot (recorder/trigger.h), and the time around it. */
	unsigned triggers; /* enum trigger_kind */
	struct event_arg *trigger_events; /* tracepoints */
	size_t nr_trigger_events;
	uint64_t pre_ns, post_ns;
	uint64_t window_ns; /* rings by time, 0: by size */
	pid_t *watch; /* processes whose end and stops count; none: the command */
	size_t nr_watch;
	struct pio_cpus cpus; /* n = 0: all online */
	pid_t *pids;	      /* -p */
	size_t nr_pids;
	pid_t *tids; /* -t, or all threads of -p when the recording begins */
	size_t nr_tids;
	struct event_arg *events;
	size_t nr_events;
	uint64_t data_len, aux_len; /* bytes per ring; 0: choose */
	uint64_t max_total;	    /* 0: no limit of the user's */
	int clockid;		    /* -1: perf's own clock */
	uint64_t delay_ms;
	bool pause_when_stopped; /* recorder/stopped.h */
	bool start_paused; /* nothing counts before somebody asks for it (recorder/control.h) */
	uint64_t period, freq; /* of sampling events; period 0: by frequency */
	uint32_t aux_sample;   /* bytes of AUX area in each sample, 0: none */
	int zip_level; /* of COMPRESSED records, 0: none */
	const char *socket; /* --socket, or NULL */
	const char *control; /* --control, of a form that is good, or NULL */
	bool kcore; /* a directory, with a copy of the kernel's code */
	struct soft_lifeline *lifeline; /* between the two, or NULL */
	pid_t front; /* the process that the user sees, when it is another one, or 0 */
	const char *ip_log;
	uint64_t max_instructions; /* of the software source: then the command runs on; 0: none */
	bool per_cpu; /* the software source: a queue of trace for each cpu */
	bool no_switches; /* the software source leaves them out */
	uint64_t soft_overflow; /* its trace overflows every so many bytes; 0: not */
	bool soft_ptwrite; /* it carries out ptwrite */
	bool soft_step; /* the software source stops at every instruction */
	bool filter_trigger; /* the last event before --filter was a trigger's */
	char *filter;  /* --filter of the AUX event, as typed, or NULL */
	char *cgroups; /* -G, as typed, or NULL */
};

#endif
