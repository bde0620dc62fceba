/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_event_attr of the events auxrec opens. All share one sample_type, so that readers
 * find the id at the same place in every record, and carry sample_id_all.
 */
#ifndef PERFIO_ATTRS_H
#define PERFIO_ATTRS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "perfio/counters.h"
#include "perfio/pmu.h"

#define PIO_SAMPLE_TYPE                                                                          \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |                 \
	 PERF_SAMPLE_IDENTIFIER)

/* Every attr below has sample_id_all, sample_period 1, a watermark and disabled set.
 * Software events exclude kernel, hypervisor and guest, so that an ordinary user may open
 * them: that filters samples, which they have none of, never the records they own. */
struct pio_attr_common {
	uint64_t read_format;	/* PERF_FORMAT_ID, and LOST where the kernel has it (6.0) */
	uint32_t watermark;	/* bytes in the data ring between wake-ups */
	uint32_t aux_watermark; /* bytes in the AUX area between wake-ups, 0: half of it */
	bool inherit;
	bool enable_on_exec;
	int clockid; /* -1: perf's own clock */
};

/*
 * Software dummy event that owns mmap2, comm, task, ksymbol, bpf_event records.
 *
 * It never asks for build ids: perf_event_mmap_output() (kernel/events/core.c) of Linux 6.1
 * (read) and 6.18.44 (measured) leaves PERF_RECORD_MISC_MMAP_BUILD_ID, once set for an event
 * that asks, in the records of all that come after it on the cpu, and perf 6.1 dies of such
 * records, which promise a build id and hold device and inode. Debian's 6.12.117 (read)
 * builds misc anew for each event.
 */
struct perf_event_attr pio_attr_tracking(const struct pio_attr_common *c);
/* Software dummy event that owns the context-switch records. */
struct perf_event_attr pio_attr_switch(const struct pio_attr_common *c);
/* The same as a member of an AUX event's group: counts in the same modes as its leader. */
struct perf_event_attr pio_attr_switch_member(const struct pio_attr_common *c,
					      const struct perf_event_attr *leader);
/* Software dummy event that owns the records of the kernel's changes to its own code, which
 * a decoder needs beside a copy of that code (Linux 5.9). */
struct perf_event_attr pio_attr_text_poke(const struct pio_attr_common *c);
/* Intel PT (or another AUX PMU): sample_period 1. */
struct perf_event_attr pio_attr_aux(const struct pio_attr_common *c, const struct pio_pmu *p,
				    const struct pio_config *conf);
/* Tracepoint: type 2, config = its id, sample_period 1, RAW added to the sample_type. */
struct perf_event_attr pio_attr_tracepoint(const struct pio_attr_common *c, uint64_t id);

/*
 * Take the newest thing out of *a that an older or stricter kernel may refuse: the count
 * of lost records (Linux 6.0), bpf_event (5.1), ksymbol (5.1); after a refusal that is not
 * -EINVAL only the last two, which security modules may guard. What was taken out, or NULL
 * when nothing is left. pio_evset_open() does this when the first descriptor of an event is
 * refused.
 */
const char *pio_attr_reduce(struct perf_event_attr *a, int err);

/* aux_action, the word at 116 that linux/perf_event.h has since 6.13: what an event does to
 * the AUX event that leads its group, or how the AUX event itself starts. Older kernels
 * refuse what is not zero there (-EINVAL). */
enum {
	PIO_AUX_START_PAUSED = 1, /* of the AUX event */
	PIO_AUX_PAUSE = 2,	  /* of the others: on overflow */
	PIO_AUX_RESUME = 4,
};
void pio_attr_set_aux_action(struct perf_event_attr *a, uint32_t action);
uint32_t pio_attr_aux_action(const struct perf_event_attr *a);
/* "start-paused", "pause", "resume" (perf's term aux-action); 0 for any other word. */
uint32_t pio_aux_action(const char *word, size_t len);
/* Does the kernel know aux_action at all? It is asked with an event that cannot have one. */
bool pio_aux_action_known(const struct pio_sys *sys);

/* A sampling event: one sample each `period` counts, or `freq` times a second when period is 0.
 * PERIOD is added to the sample_type, which other records' trailers do not show. */
struct perf_event_attr pio_attr_counter(const struct pio_attr_common *c,
					const struct pio_counter *what, uint64_t period,
					uint64_t freq);
/* Let each sample carry the newest `size` bytes of its group leader's AUX area. */
void pio_attr_set_aux_sample(struct perf_event_attr *a, uint32_t size);

/* The attr as 128 bytes for a file. aux_action (the word at 116) is kept. */
void pio_attr_bytes(const struct perf_event_attr *a, uint8_t ret[128]);

#endif
