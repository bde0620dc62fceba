/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU lists as the kernel and people write them: "0-3,8,10-11".
 *
 * present: there; online: running now, a subset; possible: may come. Rings are opened on
 * online cpus; arrays are sized by the highest present one. cpu0 often has no `online` file,
 * so the lists in /sys/devices/system/cpu are read, never the per-cpu files.
 */
#ifndef PERFIO_CPUS_H
#define PERFIO_CPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "perfio/sys.h"

#define PIO_CPU_MAX 65536 /* a sanity bound, far above any kernel's NR_CPUS */

struct pio_cpus {
	int *cpu; /* ascending, each once */
	size_t n;
};

/* 0; -EINVAL (not a list; *ret_bad, if not NULL, points at the offending character);
 * -ERANGE (a number of PIO_CPU_MAX or more); -ENOMEM. An empty string is -EINVAL. */
__attribute__((warn_unused_result))
int pio_cpus_parse(struct pio_cpus *ret, const char *list, const char **ret_bad);
__attribute__((warn_unused_result))
int pio_cpus_online(struct pio_cpus *ret, const struct pio_sys *sys);
__attribute__((warn_unused_result))
int pio_cpus_possible(struct pio_cpus *ret, const struct pio_sys *sys);
__attribute__((warn_unused_result))
int pio_cpus_present(struct pio_cpus *ret, const struct pio_sys *sys);
bool pio_cpus_has(const struct pio_cpus *c, int cpu);
/* "0-3,8" into buf; the length, or -ENOSPC. */
int pio_cpus_format(const struct pio_cpus *c, char *buf, size_t size);
void pio_cpus_done(struct pio_cpus *c);

#endif
