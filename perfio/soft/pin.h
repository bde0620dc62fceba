/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracer and traced threads on one cpu: there each step costs one switch; on two it costs a
 * wake-up across them. Where this is not allowed tracing is slower, no more. Trace by cpu has each
 * thread on the cpu of its trace, and the tracer on the first of these (cpus.h).
 */
#ifndef PERFIO_SOFT_PIN_H
#define PERFIO_SOFT_PIN_H

#include <sched.h>
#include <stdbool.h>

struct soft;
struct soft_thread;

/* Of a thread, or of the tracer: what it had before. */
struct soft_pin {
	bool on;
	cpu_set_t cpus;
};

/* t, which has begun to be traced, comes to the tracer's cpu; with the first one so does the
 * tracer, to a cpu that t may run on. */
void soft_pin(struct soft *s, struct soft_thread *t);
/* t was made by `parent`, on the cpus that it has (NULL: nobody knows by whom). */
void soft_pin_born(const struct soft *s, struct soft_thread *t, const struct soft_thread *parent);
/* t is another thread of its process from now on. If that was kept on one cpu, so is t, on its own,
 * and had the cpus that t had. */
void soft_pin_other(const struct soft *s, struct soft_thread *t);
/* Back to the cpus that it had, unless it has chosen others meanwhile. */
void soft_unpin(const struct soft *s, struct soft_thread *t);
/* All of them, and the tracer. */
void soft_unpin_all(struct soft *s);

#endif
