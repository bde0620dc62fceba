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

#include "perfio/pmu.h"

#define PIO_SAMPLE_TYPE                                                                          \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |                 \
	 PERF_SAMPLE_IDENTIFIER)

struct pio_attr_common {
	uint64_t read_format;	/* PERF_FORMAT_ID, and LOST where the kernel has it (6.0) */
	uint32_t watermark;	/* bytes in the data ring between wake-ups */
	uint32_t aux_watermark; /* bytes in the AUX area between wake-ups, 0: half of it */
	bool inherit;
	bool enable_on_exec;
	int clockid; /* -1: perf's own clock */
};

/* Software dummy event that owns mmap2, comm, task, ksymbol, bpf_event records. */
struct perf_event_attr pio_attr_tracking(const struct pio_attr_common *c);
/* Software dummy event that owns the context-switch records. */
struct perf_event_attr pio_attr_switch(const struct pio_attr_common *c);
/* Intel PT (or another AUX PMU): sample_period 1. */
struct perf_event_attr pio_attr_aux(const struct pio_attr_common *c, const struct pio_pmu *p,
				    const struct pio_config *conf);
/* Tracepoint: type 2, config = its id, sample_period 1, RAW added to the sample_type. */
struct perf_event_attr pio_attr_tracepoint(const struct pio_attr_common *c, uint64_t id);

/* The attr as 128 bytes for a file. aux_action (the word at 116) is kept. */
void pio_attr_bytes(const struct perf_event_attr *a, uint8_t ret[128]);

#endif
