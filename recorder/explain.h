/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words for what went wrong when events were opened: the call, the object, the limit, what
 * was asked, what there is, and the command that mends it.
 */
#ifndef RECORDER_EXPLAIN_H
#define RECORDER_EXPLAIN_H

#include "perfio/evset.h"
#include "perfio/limits.h"
#include "perfio/pmu.h"
#include "recorder/plan.h"

/* Message and hints for a failed pio_evset_open(). Returns the exit status. */
int explain_fault(const struct plan *p, const struct pio_fault *why, int err);
/* Message about our own memory. Returns the exit status. */
int explain_no_memory(void);
/* Hint when err is -EMFILE or -ENFILE: the limit on descriptors. Nothing otherwise. */
void explain_nofile(const struct pio_limits *l, int err);
/* Parts of that. The event that a fault names, or NULL. */
const struct pio_event *explain_which(const struct plan *p, const struct pio_fault *why);
/* EBUSY: what excludes what, and who has perf events open. */
void explain_busy(const struct plan *p, const struct pio_fault *why);
/* A refused filter. */
void explain_filter(const struct plan *p, const struct pio_fault *why, int err);
/* A refused aux-action: true when it was one, and said so. */
bool explain_action(const struct plan *p, const struct pio_fault *why, int err);
/* An event of a control group that has no perf events: true when it was one, and said so. */
bool explain_cgroup(const struct plan *p, const struct pio_fault *why, int err);
/* A tracepoint that pio_tracepoint_load() did not give. Returns the exit status. */
int explain_tracepoint(const struct event_arg *a, int err);
/* Hint: which PMUs of this machine have an AUX area. */
void explain_aux_pmus(const struct pio_sys *sys);
/* Hint: the terms a PMU knows, with their valid values. */
void explain_terms(const struct pio_pmu *p);
/* Message and hints for a failed kcoredir_fill(). Returns the exit status. */
int explain_kcore(const struct pio_limits *l, const char *what, int err);
/* Hint for a failed ptrace(2) of our own child. */
void explain_ptrace(const struct pio_limits *l, int err);

#endif
