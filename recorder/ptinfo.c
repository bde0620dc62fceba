/* SPDX-License-Identifier: Apache-2.0 */
/* What AUXTRACE_INFO tells the decoders about a recording. */
#include "recorder/plan.h"
#include "recorder/softfilter.h"

/*
 * 3: every switch of a cpu is there, and readers follow the records of those that leave,
 * which name the one that comes; 2: only those of the tasks recorded, and readers follow the
 * ones that come. A task of a cgroup that comes from outside of it has no other
 * (intel_pt_context_switch(), tools/perf/util/intel-pt.c, which for 3 takes it only as a
 * substitute for one that was lost).
 */
static uint64_t switches_of(const struct plan *p)
{
	if (p->source == SOURCE_SOFT)
		return p->cfg->per_cpu ? 3 : 0;
	if (p->source != SOURCE_KERNEL || !p->cpus.n)
		return 0;
	return p->system_wide && !p->ev[0].cgroup ? 3 : 2;
}

struct fmt_pt_info plan_pt_info(const struct plan *p, const struct fmt_time_conv *conv)
{
	bool per_cpu = p->source == SOURCE_SOFT ? p->cfg->per_cpu :
						  p->source == SOURCE_KERNEL && p->cpus.n;
	uint64_t cap = 0;

	(void)pio_pmu_cap(&p->pmu, "event_trace", &cap);
	return (struct fmt_pt_info){
		.pmu_type = p->pmu.type,
		.time_shift = conv->shift,
		.time_mult = conv->mult,
		.time_zero = conv->zero,
		.cap_user_time_zero = conv->cap_time_zero,
		.tsc_bit = pio_pmu_mask(&p->pmu, "tsc"),
		.noretcomp_bit = pio_pmu_mask(&p->pmu, "noretcomp"),
		.have_sched_switch = switches_of(p),
		.snapshot_mode = p->cfg->snapshot,
		.per_cpu_mmaps = per_cpu,
		.mtc_bit = pio_pmu_mask(&p->pmu, "mtc"),
		.mtc_freq_bits = pio_pmu_mask(&p->pmu, "mtc_period"),
		.tsc_ctc_n = p->pmu.tsc_art_n,
		.tsc_ctc_d = p->pmu.tsc_art_d,
		.cyc_bit = pio_pmu_mask(&p->pmu, "cyc"),
		.max_nonturbo_ratio = p->pmu.max_nonturbo_ratio,
		.cap_event_trace = cap,
		.filter = p->source == SOURCE_SOFT ? softfilter_text(&p->filter) : p->filter.text,
	};
}
