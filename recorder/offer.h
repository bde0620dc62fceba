/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this machine offers and what this user may use of it. Nothing is inferred that
 * can be tried: events are opened and their rings mapped, a child is seized. offer_fix.c
 * turns what did not work into commands to type.
 */
#ifndef RECORDER_OFFER_H
#define RECORDER_OFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfio/evset.h"
#include "perfio/limits.h"
#include "perfio/pmu.h"
#include "perfio/sys.h"

struct offer_try {
	int err;	  /* 0: it works */
	const char *call; /* what failed; static */
};

struct offer_pmu {
	struct pio_pmu pmu;
	struct offer_try all;	 /* user code of all tasks on a cpu */
	struct offer_try own;	 /* user code of an own task */
	struct offer_try kernel; /* an own task's time in the kernel as well */
};

struct offer_fix {
	char need[96];	   /* "to record all tasks" */
	char command[160]; /* to be typed */
	char why[160];
};

struct offer {
	struct pio_limits limits;
	struct offer_pmu *pmu; /* those with an AUX area */
	size_t nr_pmu;
	struct offer_try switches_all, switches_own;
	struct offer_try tracepoints; /* sched:sched_switch of all tasks */
	struct offer_try kallsyms;    /* are the kernel's addresses shown? */
	struct offer_try ptrace;      /* of an own child */
	bool x86_64;		      /* what the software source can step */
	uint64_t mlock_budget;	      /* bytes, UINT64_MAX: no limit */
	uint64_t mlock_wanted;	      /* for rings of the default sizes */
	uint64_t fds_wanted;	      /* for a system-wide recording */
	struct offer_fix fix[12];
	size_t nr_fix;
};

/* 0 or -ENOMEM, or what reading sysfs said. */
__attribute__((warn_unused_result))
int offer_collect(struct offer *ret, const struct pio_sys *sys);
void offer_done(struct offer *o);

/* Fills in fix[] from the rest. */
void offer_find_fixes(struct offer *o);

/* What --source=auto takes for a command, and for all tasks: "kernel", "soft", "none". */
const char *offer_auto_command(const struct offer *o);
const char *offer_auto_all(const struct offer *o);

/* Terms whose values are bit numbers in a capability; ends with a NULL term. */
struct offer_valid {
	const char *term, *cap;
};
extern const struct offer_valid offer_valid[];

void list_text(const struct offer *o);
/* 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int list_json(const struct offer *o);

#endif
