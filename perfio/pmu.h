/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PMU as sysfs describes it: /sys/bus/event_source/devices/NAME/{type,format,caps,...}
 * (Documentation/ABI/testing/sysfs-bus-event_source-devices-format), and event
 * specifications such as intel_pt/tsc,psb_period=3/u parsed against it.
 */
#ifndef PERFIO_PMU_H
#define PERFIO_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfio/cpus.h"
#include "perfio/sys.h"

struct pio_term {
	char *name;
	unsigned word; /* 0 config, 1 config1, 2 config2 */
	uint64_t mask; /* bits it occupies; never 0 */
};

struct pio_cap {
	char *name, *value; /* one file of caps/, first line */
};

struct pio_pmu {
	char *name;
	uint32_t type;
	struct pio_term *terms; /* sorted by name */
	size_t nr_terms;
	struct pio_cap *caps; /* sorted by name */
	size_t nr_caps;
	uint64_t max_nonturbo_ratio, tsc_art_n, tsc_art_d; /* 0 when the files are missing */
	bool has_aux; /* a kind known to have an AUX area: intel_pt, intel_bts, cs_etm,
			 arm_spe_N, hisi_ptt... Sysfs has no such flag. */
};

/* 0; -ENOENT no such PMU; -EINVAL a format file that makes no sense; -ENOMEM; others from
 * reading sysfs. */
__attribute__((warn_unused_result))
int pio_pmu_load(struct pio_pmu *ret, const struct pio_sys *sys, const char *name);
void pio_pmu_done(struct pio_pmu *p);

/* Names and types of all PMUs, sorted by type; both arrays' memory is in *ret. */
struct pio_pmu_list {
	struct pio_pmu_name {
		char *name;
		uint32_t type;
	} *pmu;
	size_t n;
};
__attribute__((warn_unused_result))
int pio_pmu_list(struct pio_pmu_list *ret, const struct pio_sys *sys);
void pio_pmu_list_done(struct pio_pmu_list *l);

/* Mask of a format term in `config`, 0 when the PMU has none of that name. */
uint64_t pio_pmu_mask(const struct pio_pmu *p, const char *term);
/* A hexadecimal or decimal capability: true and *ret when there. */
bool pio_pmu_cap(const struct pio_pmu *p, const char *cap, uint64_t *ret);

/* What stands between the slashes, and the modifiers behind them. */
struct pio_config {
	uint64_t config[3];
	uint32_t aux_action; /* term aux-action=, see perfio/attrs.h */
	bool exclude_user, exclude_kernel, exclude_hv, exclude_guest, exclude_host;
};

struct pio_spec_error {
	char word[64];	  /* the offending term, value or modifier */
	const char *what; /* static: "unknown term", "value out of range" ... */
};

/*
 * Parse `spec` ("", "tsc,psb_period=3", ...) and `modifiers` ("", "u", "k", "uk") against p,
 * starting from *ret as given (so that defaults stay unless named). `term` alone means 1.
 * psb_period, mtc_period and cyc_thresh values must have their bit set in
 * caps/psb_periods, mtc_periods, cycle_thresholds; the terms psb_period and cyc need
 * caps/psb_cyc, mtc needs caps/mtc (arch/x86/events/intel/pt.c, pt_event_valid).
 * 0, or -EINVAL with *why filled in.
 */
__attribute__((warn_unused_result))
int pio_pmu_parse(struct pio_config *ret, const struct pio_pmu *p, const char *spec,
		  const char *modifiers, struct pio_spec_error *why);

/* perf's defaults for Intel PT: pt, branch, tsc; mtc with the period nearest 3 and
 * psb_period nearest 3 where the caps allow them (tools/perf/arch/x86/util/intel-pt.c). */
void pio_pmu_pt_defaults(struct pio_config *ret, const struct pio_pmu *p);

#endif
