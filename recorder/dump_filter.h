/* SPDX-License-Identifier: Apache-2.0 */
/* Which records are shown. What a record does not say it cannot match: with a list of cpus,
 * a record without a cpu is not shown. */
#ifndef RECORDER_DUMP_FILTER_H
#define RECORDER_DUMP_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/reader.h"

enum { DUMP_TYPES_NAMED = 128 }; /* types with names have numbers below this */

struct number_set {
	struct number_range {
		int64_t from, to;
	} *range; /* owned */
	size_t n;
};

struct dump_filter {
	struct number_set types, cpus, pids, tids; /* empty: all */
	bool has_time;
	uint64_t from, to; /* ns */
	const char *event; /* borrowed; NULL: all */
};

void dump_filter_done(struct dump_filter *f);

/* "0,2-3", "-1": 0, -EINVAL, -ENOMEM. */
int number_set_parse(struct number_set *ret, const char *list);
bool number_set_has(const struct number_set *s, int64_t v);
/* "MMAP2,aux,81": names as fmt_record_name has them, or numbers. The same errors; *bad is
 * the first word that is neither. */
int dump_types_parse(struct number_set *ret, const char *list, const char **bad);

/* Is the record one that shall be shown? *event: what fmt_reader_event_of says of it. */
bool dump_filter_pass(const struct dump_filter *f, const struct fmt_reader *r,
		      const struct fmt_rec *rec, int *event);
/* Is a queue? cpu, tid: UINT32_MAX for none. */
bool dump_filter_queue(const struct dump_filter *f, uint32_t cpu, uint32_t tid);

#endif
