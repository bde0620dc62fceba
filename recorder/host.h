/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this machine is: the values behind the feature sections hostname, osrelease, arch,
 * nrcpus, cpudesc, cpuid, total_mem, cmdline, cpu and numa topology, caches, pmu_mappings,
 * pmu_caps, version.
 */
#ifndef RECORDER_HOST_H
#define RECORDER_HOST_H

#include "format/feature.h"
#include "perfio/sys.h"

struct host {
	struct fmt_features f; /* pointers into memory that host owns */
	void *mem;	       /* private */
};

/* Fills f's machine fields; the recording's fields (events, aux, times, build ids, tracing
 * data) stay empty for the session. `version` is the whole VERSION text. Facts that cannot
 * be read are left out. 0 or -ENOMEM. argv is borrowed; the program's path of element 0
 * becomes /proc/self/exe's target, as perf has it. */
__attribute__((warn_unused_result))
int host_collect(struct host *ret, const struct pio_sys *sys, const char *version, int argc,
		 char **argv);
void host_done(struct host *h);

#endif
