/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of events opened on the same places, sharing one ring per place.
 *
 * A place is a cpu (system-wide, or a task on each cpu, with inheritance) or a thread on any
 * cpu (per-thread). Each event is opened once per place and, in task mode, per thread. The
 * first event of a place owns its ring (and its AUX area); all others are redirected into it
 * (PERF_EVENT_IOC_SET_OUTPUT): one ring to drain, records in time order, and one head and
 * one tail per cpu whatever the number of events. Where a target keeps only the newest records
 * (newest_len), the events marked so have a second ring, which is overwritten: beside them, the
 * mmap and fork records would be the first to go.
 *
 * An AUX event leads a group on each place, with the context-switch event as its member: one
 * ioctl starts and stops both. The tracking event stands outside, so that it stays on while
 * the group is paused and no mmap, comm, fork or exit is missed.
 */
#ifndef PERFIO_EVSET_H
#define PERFIO_EVSET_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "perfio/cgroupfs.h"
#include "perfio/cpus.h"
#include "perfio/ring.h"

struct pio_fd {
	int fd;
	int cpu;   /* -1: any */
	pid_t tid; /* -1: all */
	size_t place;
	uint64_t id; /* PERF_EVENT_IOC_ID */
};

struct pio_event {
	struct perf_event_attr attr;
	const char *name; /* borrowed; for messages and the file */
	bool all_tasks;	  /* of the cpu, even where the target is a task; not per-thread */
	size_t leader;	  /* 1 + index of the event that leads its group, an earlier one; 0: none */
	/* Set on each descriptor as it is opened (PERF_EVENT_IOC_SET_FILTER): addresses as
	 * numbers for an AUX event, an expression for a tracepoint; borrowed, NULL: none */
	const char *filter;
	/* Only tasks of this control group; needs cpus and no tids; borrowed, NULL: all. A
	 * group of events has one cgroup (perf_cgroup_connect(), kernel/events/core.c). */
	const struct pio_cgroup *cgroup;
	/* Its records go to the place's ring of the newest (attr.write_backward is set at opening);
	 * only where the target has one. */
	bool newest;
	bool off; /* left out when it, its group or its place is enabled (pio_evset_leave_out) */
	bool optional;	  /* leave the event out where it cannot be opened (see `missing`) */
	int missing;	  /* 0, or why an optional event was left out (-errno) */
	struct pio_fd *fd;
	size_t nr_fd;
};

struct pio_place {
	int cpu;   /* -1: per-thread */
	pid_t tid; /* -1: per-cpu */
	struct pio_ring ring; /* no meta: retired */
	struct pio_newest newest;
	uint64_t aux_base; /* where the ring's AUX bytes begin in the stream of this place */
};

/* What failed, for a message that can name the fix. */
struct pio_fault {
	const char *call;  /* "perf_event_open", "mmap", "mmap (AUX area)", "ioctl ..." */
	const char *event; /* event name */
	int cpu;	   /* -1 */
	pid_t tid;	   /* -1 */
	size_t asked;	   /* bytes, for mmap; else 0 */
	size_t opened;	   /* descriptors that were open by then */
};

struct pio_target {
	struct pio_cpus cpus; /* borrowed; n = 0 means per-thread (cpu -1) */
	const pid_t *tids;    /* borrowed; NULL means all tasks */
	size_t nr_tids;
	size_t data_len; /* bytes of each data ring, 2^n pages */
	size_t aux_len;	 /* bytes of each AUX area, 2^n pages; 0: none */
	bool overwrite;	 /* AUX areas keep the newest bytes (pio_ring_snapshot) */
	size_t newest_len; /* bytes of each ring of the newest records, 2^n pages; 0: none */
};

struct pio_evset {
	const struct pio_sys *sys;
	struct pio_event *ev; /* borrowed array of nr_ev; the first may own AUX */
	size_t nr_ev;
	struct pio_place *place;
	size_t nr_place;
	struct pio_target target; /* as opened; pio_evset_add_cpu() needs what it borrows */
	/* The user's: nothing is enabled or restarted while it is set, whoever asks (a cpu that
	 * joins, a ring that was full): 0. What runs is the user's to disable. */
	bool held;
};
#define PIO_EVSET_INIT (struct pio_evset){ 0 }

/*
 * Open ev[0..nr_ev) on the target and map the rings. The attrs are taken as they are, but
 * for sample_id_all and disabled, which are the caller's to set. A thread that has exited
 * meanwhile (-ESRCH) is skipped unless it was the only one.
 * On EMFILE the soft RLIMIT_NOFILE is raised to the hard limit once and the open repeated.
 * An event whose first descriptor is refused is tried again with less in its attr
 * (pio_attr_reduce()); ev[].attr is then what was opened.
 * An optional event that fails (-EACCES, -EPERM, -EINVAL, -ENOENT) is left out altogether. The
 * AUX area belongs to ev[0]: where ev[0] is optional and missing there is none. A place where
 * no thread was left to open is dropped.
 * 0, or -errno with *why filled in; nothing stays open then.
 */
__attribute__((warn_unused_result))
int pio_evset_open(struct pio_evset *ret, const struct pio_sys *sys, struct pio_event *ev,
		   size_t nr_ev, const struct pio_target *t, struct pio_fault *why);
/*
 * A cpu that went offline and one that came (system-wide sets). Of an offline cpu's events
 * nothing comes any more, even when it is online again: it needs new descriptors.
 *
 * retire closes the descriptors of a place and unmaps its ring, whose bytes must have been
 * written away. The place keeps its number; nr_fd of each event shrinks.
 * add_cpu opens every event that is not missing on the cpu and maps its ring, disabled or not
 * as the attrs say. It takes the place that the cpu had, where the AUX stream goes on behind
 * what there was, or a new one. The place's number, or -errno with *why filled in and nothing
 * changed: -ENODEV when the kernel is not yet (or no longer) ready on that cpu.
 */
void pio_evset_retire(struct pio_evset *s, size_t place);
__attribute__((warn_unused_result))
int pio_evset_add_cpu(struct pio_evset *s, int cpu, struct pio_fault *why);
/* The same for a thread of a per-thread set; retire serves both. -ESRCH: there is no such thread,
 * -EEXIST: it has a place. */
__attribute__((warn_unused_result))
int pio_evset_add_thread(struct pio_evset *s, pid_t tid, struct pio_fault *why);
/* The place where a cpu's ring is now; -ENOENT. */
__attribute__((warn_unused_result))
int pio_evset_place_of(const struct pio_evset *s, int cpu);
/* One ioctl per descriptor of event `i`; for the leader of a group, one that starts or stops
 * the whole group at once (PERF_IOC_FLAG_GROUP), and nothing for its members. Enabling what
 * is enabled, or disabling what is disabled, does nothing. 0 or the first failure. */
__attribute__((warn_unused_result))
int pio_evset_enable(struct pio_evset *s, size_t i);
__attribute__((warn_unused_result))
int pio_evset_disable(struct pio_evset *s, size_t i);
/* The same on one place only. */
__attribute__((warn_unused_result))
int pio_evset_enable_place(struct pio_evset *s, size_t i, size_t place);
__attribute__((warn_unused_result))
int pio_evset_disable_place(struct pio_evset *s, size_t i, size_t place);
/* Event `i` is left out from now on, whatever is enabled, and stops; a member of a group stops
 * alone. Of a leader nothing in its group counts either. 0 or the first failure. */
__attribute__((warn_unused_result))
int pio_evset_leave_out(struct pio_evset *s, size_t i);
/* The other way; it counts when it, or its leader, is next enabled. */
void pio_evset_take_in(struct pio_evset *s, size_t i);
/* Event `i` alone, on one place: it is halted, and told to go on. Of the others of its group,
 * switches are told meanwhile. What is held or left out does not go on. 0 or the first failure. */
__attribute__((warn_unused_result))
int pio_evset_halt(struct pio_evset *s, size_t i, size_t place);
__attribute__((warn_unused_result))
int pio_evset_go_on(struct pio_evset *s, size_t i, size_t place);
/* Both, one after the other. After the AUX area overflowed or a record was lost, ENABLE alone
 * does not wake the event on kernels that mistake its state (seen on Debian 6.1 and 6.12:
 * pending_disable in kernel/events/ring_buffer.c). 0 or the first failure. */
__attribute__((warn_unused_result))
int pio_evset_restart(struct pio_evset *s, size_t i, size_t place);
void pio_evset_done(struct pio_evset *s); /* also frees ev[].fd */

/* The kernel's own count of records lost by an event's descriptor (PERF_FORMAT_LOST,
 * Linux 6.0): 0 and *ret, or -EOPNOTSUPP when read_format has no LOST. */
int pio_event_lost(const struct pio_evset *s, const struct pio_event *e, size_t fd,
		   uint64_t *ret);

#endif
