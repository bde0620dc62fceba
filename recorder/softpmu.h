/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PMU that the software source imitates: the terms of intel_pt that it honours, at the
 * places where the hardware's driver has them (arch/x86/events/intel/pt.c, Linux 6.1), and
 * a type number that no PMU of this machine uses.
 */
#ifndef RECORDER_SOFTPMU_H
#define RECORDER_SOFTPMU_H

#include <stdbool.h>
#include <stdint.h>

#include "perfio/pmu.h"
#include "perfio/soft/pt.h"

/* 0 or -errno. pio_pmu_done() frees it. */
__attribute__((warn_unused_result))
int softpmu_make(struct pio_pmu *ret, const struct pio_sys *sys);
/* pt, branch, tsc, psb_period=3 (a PSB+ each 16 KiB). */
void softpmu_defaults(struct pio_config *ret);
/* What the finished configuration means. */
struct soft_pt_config softpmu_packets(const struct pio_config *c);
/* Does the kernel's ring page convert rdtsc to perf time here? If not, the virtual TSC and
 * the sideband both use CLOCK_MONOTONIC_RAW. */
bool softpmu_tsc_usable(const struct pio_sys *sys);

#endif
