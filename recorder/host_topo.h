/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of host.h that knows which cpus share what. Memory comes from the host and is
 * freed with it.
 */
#ifndef RECORDER_HOST_TOPO_H
#define RECORDER_HOST_TOPO_H

#include <stddef.h>

#include "perfio/cpus.h"
#include "recorder/host.h"

/* Zeroed; NULL: out of memory. */
void *host_alloc(struct host *h, size_t n, size_t size);
/* NULL: out of memory. */
const char *host_str(struct host *h, const char *s);

/* Each fills its fields of h->f; what sysfs does not tell is left out. 0 or -ENOMEM. */
int host_cpu_topo(struct host *h, const struct pio_sys *sys,
		  const struct pio_cpus *online);
int host_numa(struct host *h, const struct pio_sys *sys);
int host_caches(struct host *h, const struct pio_sys *sys, const struct pio_cpus *online);

#endif
