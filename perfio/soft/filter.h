/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address filters: which instructions are traced, by where they are and by what their thread has
 * executed before. A filter is of a file, and acts wherever that is mapped to be executed.
 *
 * As the filters of Intel PT (SDM vol. 3C, 33.2.4.3), but exact: that unit looks at branches that
 * are taken only, and so goes on until the next one where a thread walks out of a range.
 */
#ifndef PERFIO_SOFT_FILTER_H
#define PERFIO_SOFT_FILTER_H

#include "perfio/soft/soft.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct soft_mem;
struct soft_thread;

struct soft_filters {
	const struct soft_filter *v; /* the caller's */
	size_t n;		     /* 0: everything is traced */
	bool ranges, starts;	     /* there are such */
	bool switches;		     /* starts or stops */
};

/* What a thread has met so far. */
struct soft_filtered {
	bool started; /* behind a start and before a stop */
	bool stopped; /* for good */
};

/* Where a filter is in one address space. */
struct soft_site {
	uint64_t begin, end;
	enum soft_filter_kind kind;
	bool fixed; /* its code cannot change unseen: plants.h */
};

struct soft_sites {
	struct soft_site *v;
	size_t n, cap;
	uint32_t gen;	/* of the mappings that they are of */
	bool failed;	/* not all are known, for want of memory */
};

void soft_filters_init(struct soft_filters *f, const struct soft_filter *v, size_t n);
/* Those of m, as it is mapped now. */
const struct soft_sites *soft_sites_of(struct soft_mem *m, const struct soft_filters *f);
void soft_sites_done(struct soft_sites *s);

/* How a thread begins: with a program, or made by `parent`. */
void soft_filtered_init(struct soft_filtered *ret, const struct soft_filters *f,
			const struct soft_filtered *parent);
/* Is an instruction at ip traced if t comes there now? */
bool soft_filter_would(const struct soft_thread *t, uint64_t ip);
/* t has executed one at ip: the same, and t has met what is there. */
bool soft_filter_admits(struct soft_thread *t, uint64_t ip);
/* Nobody who is not traced shall come there unseen. */
bool soft_site_counts(const struct soft_site *s, const struct soft_filters *f);
/* t is traced where it is now, or at such a place. */
bool soft_filter_concerns(const struct soft_thread *t);

#endif
