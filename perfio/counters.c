/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/counters.h"

#include <linux/perf_event.h>
#include <string.h>

#define SW(name, id) { name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id }
#define HW(name, id) { name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id }

/* clang-format off */
static const struct pio_counter counters[] = {
	SW("cpu-clock", CPU_CLOCK),
	SW("task-clock", TASK_CLOCK),
	SW("page-faults", PAGE_FAULTS),
	SW("faults", PAGE_FAULTS),
	SW("minor-faults", PAGE_FAULTS_MIN),
	SW("major-faults", PAGE_FAULTS_MAJ),
	SW("context-switches", CONTEXT_SWITCHES),
	SW("cs", CONTEXT_SWITCHES),
	SW("cpu-migrations", CPU_MIGRATIONS),
	SW("migrations", CPU_MIGRATIONS),
	SW("alignment-faults", ALIGNMENT_FAULTS),
	SW("emulation-faults", EMULATION_FAULTS),
	HW("cycles", CPU_CYCLES),
	HW("cpu-cycles", CPU_CYCLES),
	HW("instructions", INSTRUCTIONS),
	HW("cache-references", CACHE_REFERENCES),
	HW("cache-misses", CACHE_MISSES),
	HW("branches", BRANCH_INSTRUCTIONS),
	HW("branch-instructions", BRANCH_INSTRUCTIONS),
	HW("branch-misses", BRANCH_MISSES),
	HW("bus-cycles", BUS_CYCLES),
	HW("ref-cycles", REF_CPU_CYCLES),
};
/* clang-format on */

const struct pio_counter *pio_counter_nth(size_t i)
{
	return i < sizeof(counters) / sizeof(counters[0]) ? &counters[i] : NULL;
}

const struct pio_counter *pio_counter_find(const char *name)
{
	const struct pio_counter *c;

	for (size_t i = 0; (c = pio_counter_nth(i)); i++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}
