/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * AUX-area samples: a sampling event in this event's group takes the newest bytes along
 * (perf_prepare_sample_aux(), kernel/events/core.c, Linux 6.1). The function that copies them
 * is not exported to modules; a short-lived probe tells where it is.
 */
#include "fakept.h"

#include <linux/kprobes.h>

typedef long copy_aux_fn(struct perf_output_handle *aux, struct perf_output_handle *to,
			 unsigned long from, unsigned long until);
static copy_aux_fn *copy_aux;

void sample_init(void)
{
	struct kprobe probe = { .symbol_name = "perf_output_copy_aux" };

	if (register_kprobe(&probe))
		return;
	copy_aux = (copy_aux_fn *)probe.addr;
	unregister_kprobe(&probe);
}

long sample_aux(struct perf_event *event, struct perf_output_handle *to, unsigned long size)
{
	struct fake_cpu *c = this_cpu_ptr(&fake_cpus);
	struct fake_area *a = perf_get_aux(&c->handle);
	u64 until, from = 0;

	if (!a || !a->overwrite || !copy_aux)
		return 0;
	until = c->head & (a->size - 1);
	if (until < size)
		from = a->size;
	return copy_aux(&c->handle, to, from + until - size, until);
}
