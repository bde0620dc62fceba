/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what the user asked to what is opened: the source and why, the events with their
 * attrs and names, the target and the ring sizes. Opens nothing and records nothing.
 */
#ifndef RECORDER_PLAN_H
#define RECORDER_PLAN_H

#include "format/auxtrace.h"
#include "perfio/attrs.h"
#include "perfio/evset.h"
#include "perfio/limits.h"
#include "perfio/pmu.h"
#include "perfio/tracefs.h"
#include "recorder/config.h"
#include "recorder/filter.h"

enum {
	PLAN_MAX_EVENTS = 64,
	PLAN_OWN_EVENTS = 4, /* room kept for those that nobody asked for */
	/* Rings of a user whose memory is not limited, bytes. Four times perf's data ring: a
	 * wake-up costs more than a megabyte of copying. With an AUX area beside it, what is in
	 * the ring is little, and perf's sizes do. */
	PLAN_DATA_LEN = 2 << 20,
	PLAN_DATA_LEN_AUX = 512 << 10,
	PLAN_AUX_LEN = 4 << 20,
	/* --window, where nobody can measure: bytes a second, of each ring. Intel PT of a busy cpu
	 * writes some 100 MiB at most; the stepper, in a second of its own, far less. */
	PLAN_RATE_TRACE = 64 << 20,
	PLAN_RATE_RECORDS = 1 << 20,
	PLAN_RATE_SOFT = 256 << 10,
	/* Half as many bytes of switches as of trace: a task that does nothing but wake its
	 * neighbour writes more switches than trace, but then the trace reaches far back. */
	PLAN_SWITCH_PARTS = 2,
	PLAN_WATERMARK_PARTS = 2,	/* wake when a ring is half full, */
	PLAN_AUX_WATERMARK_PARTS = 4,	/* or an AUX area a quarter, as perf does */
};

/* Bytes of the rings at each place. */
struct plan_sizes {
	size_t data_len, newest_len, aux_len;
};

struct plan {
	const struct pio_sys *sys;
	const struct rec_config *cfg;
	enum source_kind source; /* never SOURCE_AUTO */
	const char *why;	 /* for the start line; static */
	struct pio_limits limits;
	struct pio_cpus cpus;	 /* where rings are opened; n = 0: per thread */
	bool system_wide;

	/* Events of the kernel; file order. The first owns the rings. */
	struct pio_event ev[PLAN_MAX_EVENTS];
	char *name[PLAN_MAX_EVENTS];
	size_t nr_ev;
	bool start_late[PLAN_MAX_EVENTS]; /* enabled by us or by exec, not at open */
	size_t tracking;		  /* index of the always-on event */
	bool has_switches;
	size_t switches; /* index of the event that tells of switches */
	const struct event_arg *arg[PLAN_MAX_EVENTS]; /* that asked for it, or NULL */
	struct filter filter;	   /* of the AUX event */
	struct pio_cgroup *cgroup; /* one for each name of -G */
	size_t nr_cgroup;

	struct pio_pmu pmu; /* of the AUX event; the software source's imitation has only
			       name, type and terms */
	struct pio_config pt;
	char *pt_name; /* as the file names it */
	struct perf_event_attr soft_attr; /* stored for the software source, never opened */

	struct pio_tracepoint *tracepoint;
	size_t nr_tracepoint;

	size_t data_len, aux_len;
	size_t newest_len; /* of each ring of the newest records; 0: there are none */
	uint64_t rate_trace, rate_records; /* bytes a second, for --window */
	/* What was asked for, where the memlock budget made rings smaller. */
	bool shrunk;
	struct plan_sizes wanted;
	int clockid; /* of the events, -1: perf's own */
};

/* For the files that add events: what all attrs share, and one more event. late: enabled by us
 * or by exec. name is taken over; NULL is -ENOMEM. 0 or an exit status. */
/* The -e that asked for the AUX event, or NULL. */
const struct event_arg *plan_aux_arg(const struct plan *p);
struct pio_attr_common plan_attr_common(const struct plan *p, bool late);
int plan_add_event(struct plan *p, struct perf_event_attr attr, char *name, bool late);

/* 0, or an exit status (recorder/cmd.h) after the messages were printed. */
__attribute__((warn_unused_result))
int plan_make(struct plan *ret, const struct pio_sys *sys, const struct rec_config *cfg);
void plan_done(struct plan *p);

/* plan_size.c: 0 or an exit status after a message. */
int plan_choose_sizes(struct plan *p);
/* The same by the rates that the plan has. */
int plan_fit(struct plan *p);
/* Flight: bytes of trace to keep per ring or thread, 2^n. */
size_t plan_flight_len(const struct plan *p);
/* How many rings there will be, and what they take, their control pages included. */
struct plan_sizes plan_sizes(const struct plan *p);
size_t plan_rings(const struct plan *p);
uint64_t plan_bytes(const struct plan *p);
/* Halve the rings (what the user did not fix with -m): true when something was left to halve.
 * The attrs keep their watermarks, which plan_rewater() then follows up. */
bool plan_shrink(struct plan *p);
void plan_rewater(struct plan *p);

/* The AUXTRACE_INFO of this recording, once the conversion of the ring page is known. */
struct fmt_pt_info plan_pt_info(const struct plan *p, const struct fmt_time_conv *conv);

#endif
