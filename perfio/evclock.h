/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What time it is on perf's own clock, for whoever wants to compare a moment with records. No
 * call tells that where the kernel gives no conversion of the TSC, as in many virtual machines:
 * so a record is made, of our own thread taking the name that it has, and its time is read.
 */
#ifndef PERFIO_EVCLOCK_H
#define PERFIO_EVCLOCK_H

#include "perfio/ring.h"

struct pio_evclock {
	struct pio_ring ring; /* its fd is owned; not mapped: cannot tell */
};
#define PIO_EVCLOCK_INIT (struct pio_evclock){ .ring = PIO_RING_INIT }

/* 0, or -errno of perf_event_open(2) or mmap(2) (one page of locked memory, and one of data). */
__attribute__((warn_unused_result))
int pio_evclock_open(struct pio_evclock *ret, const struct pio_sys *sys);
void pio_evclock_done(struct pio_evclock *c); /* twice is safe */
/* ns; 0 when it could not be told. Must be called from the thread that opened it. */
uint64_t pio_evclock_now(struct pio_evclock *c);

#endif
