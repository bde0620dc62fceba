/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of an event set share: evset.c opens, evset_cpu.c follows cpus that come
 * and go, evset_run.c starts and stops.
 */
#ifndef PERFIO_EVSET_PRIV_H
#define PERFIO_EVSET_PRIV_H

#include "perfio/evset.h"

struct opening {
	struct pio_evset s;
	const struct pio_target *t;
	struct pio_fault why;
};

/* Fill in o->why. Returns err. */
int pio_evset_fault(struct opening *o, int err, const char *call,
		    const struct pio_event *e, const struct pio_fd *f, size_t asked);
/* Open an event at a place: 0, or -errno with o->why. A thread that is gone is passed over
 * where there are others. */
int pio_evset_open_at(struct opening *o, struct pio_event *e, size_t place);
/* Give a descriptor its ring: 0, or -errno with o->why. */
int pio_evset_attach(struct opening *o, const struct pio_event *e, const struct pio_fd *f);
void pio_evset_unmap(struct pio_place *p);

#endif
