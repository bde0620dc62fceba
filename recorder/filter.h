/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address filters as perf has them (--filter of an AUX event, perf-record(1)):
 *
 *   filter|start|stop|tracestop ADDR[#N] [/ SIZE[#N]] [@FILE]
 *
 * several, separated by blanks or commas. ADDR and SIZE are numbers (C's notation) or
 * functions, which need blanks around them; a SIZE that is a function means up to its
 * end. `filter` and `tracestop` of a function, without a SIZE, are that function. ADDR
 * `*` is all of the file, or of the kernel. Without @FILE, addresses are the kernel's. #N
 * chooses the N-th function of a name, by address; #0, #g and #G the global one.
 *
 * The kernel takes numbers (PERF_EVENT_IOC_SET_FILTER): offsets in a file, or addresses.
 */
#ifndef RECORDER_FILTER_H
#define RECORDER_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfio/sys.h"

enum filter_action { FILTER_FILTER, FILTER_START, FILTER_STOP };

struct filter_item {
	enum filter_action action; /* tracestop is FILTER_STOP with a range */
	uint64_t at, size;	   /* size 0: a single address */
	char *file;		   /* real path, or NULL: the kernel */
};

struct filter {
	char *text; /* as the kernel takes it and the file keeps it; NULL: none */
	struct filter_item *item;
	size_t n;
};

/* What is wrong, in lines: the first tells it, those below help. */
struct filter_why {
	char text[2048];
};

/* What the event that is to be filtered can do. */
struct filter_event {
	const char *pmu; /* "intel_pt" */
	uint64_t most;	 /* items that it takes */
	bool ranges_only;
	bool whole_cpus; /* not single tasks */
	bool exclude_user, exclude_kernel;
};

/* 0; -EINVAL with *why filled in: the text, a file or a name in it is wrong; -ENOMEM. */
__attribute__((warn_unused_result))
int filter_parse(struct filter *ret, const struct pio_sys *sys, const char *text,
		 struct filter_why *why);
/* 0, or -EINVAL with *why filled in: this event cannot be filtered so. */
__attribute__((warn_unused_result))
int filter_check(const struct filter *f, const struct filter_event *e,
		 struct filter_why *why);
void filter_done(struct filter *f);

#endif
