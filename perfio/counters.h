/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generic events by the names that perf gives them: cpu-clock, page-faults, cycles ...
 * Numbers: enum perf_sw_ids and perf_hw_id, include/uapi/linux/perf_event.h (Linux 6.1);
 * names: tools/perf/util/parse-events.c.
 */
#ifndef PERFIO_COUNTERS_H
#define PERFIO_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

struct pio_counter {
	const char *name;
	uint32_t type; /* PERF_TYPE_SOFTWARE or PERF_TYPE_HARDWARE */
	uint64_t config;
};

/* NULL: no such event. Static memory. */
const struct pio_counter *pio_counter_find(const char *name);
/* The i-th, for lists; NULL behind the last. */
const struct pio_counter *pio_counter_nth(size_t i);

#endif
