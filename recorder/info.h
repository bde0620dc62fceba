/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `auxrec info` says about a file: one walk folds the records into numbers
 * (info_fold.c), which are then printed as text (info_text.c) or JSON (info_json.c).
 *
 * Memory does not grow with the file: one row per record type, queue, cpu and, for AUX
 * records with a flag, thread; beyond INFO_ROWS_MAX rows a table lumps together.
 */
#ifndef RECORDER_INFO_H
#define RECORDER_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/reader.h"
#include "recorder/input.h"

enum { INFO_TYPES = 128, INFO_ROWS_MAX = 8192, INFO_FAULTS_MAX = 16 };
#define INFO_NONE UINT32_MAX /* no cpu, no thread, no key */

/* Flags of AUX records, how often each was set. */
struct info_gaps {
	uint64_t truncated, partial, collision;
};

struct info_row {
	uint32_t key;	    /* idx, cpu, tid or type. INFO_NONE: not known, or the rest */
	uint32_t cpu, tid;  /* queue: of its first chunk, INFO_NONE where it has none */
	uint64_t n;	    /* queue: chunks; cpu, type: records */
	uint64_t bytes;	    /* queue: of trace */
	uint64_t records, samples; /* cpu: lost, as LOST and LOST_SAMPLES count them */
	struct info_gaps gaps;
};

struct info_table {
	struct info_row *rows; /* sorted by key */
	size_t nr, last;
	struct info_row rest; /* what found no row of its own */
};

struct info_fault {
	uint64_t at;
	char expected[120];
};

struct info {
	uint64_t types[INFO_TYPES]; /* records by type */
	struct info_table others;   /* those of type INFO_TYPES and up */
	uint64_t inflated[INFO_TYPES]; /* those that COMPRESSED records held */
	uint64_t inflated_others;
	struct info_table queues, cpus, tids;
	bool has_time;
	uint64_t first_ns, last_ns; /* of kernel records; time 0 is "synthesised" */
	uint64_t lost_records, lost_samples;
	struct info_gaps gaps;
	bool has_aux_info;
	uint32_t aux_type; /* FMT_AUXTRACE_* */
	uint64_t whole_to;   /* offset behind the last whole record */
	uint64_t not_walked; /* bytes of the records' section behind that */
	struct info_fault faults[INFO_FAULTS_MAX];
	size_t nr_faults; /* all of them, kept or not */
};

/* Walks the input once. 0, or -ENOMEM; damage is noted in faults, and what
 * stands before it is counted. */
int info_fold(struct info *ret, struct input *in);
void info_done(struct info *i);
__attribute__((format(printf, 3, 4))) void info_fault(struct info *i, uint64_t at,
						      const char *fmt, ...);
/* Announced feature sections that are not there or cannot be read: a fault each. */
void info_check_features(struct info *i, const struct fmt_reader *r);

/* Does a cpu's row hold any loss? */
static inline bool info_row_lost(const struct info_row *c)
{
	return c->records || c->samples || c->gaps.truncated || c->gaps.partial ||
	       c->gaps.collision;
}

/* "none", "soft", "kernel" or "unknown": who wrote the trace. */
const char *info_source(const struct info *i, const struct fmt_reader *r);
/* "intel_pt", "cs_etm" ..., or NULL. */
const char *info_aux_name(const struct info *i);
/* "perf", "monotonic" ...: the clock of the time stamps. */
const char *info_clock(const struct fmt_reader *r);
/* "type90" and the like for a type without a name; buf is used then. */
const char *info_type_name(uint32_t type, char buf[20]);

/* The file as the printers see it. */
struct info_file {
	const char *path;
	uint64_t bytes;
	const struct fmt_reader *r; /* zeroed when the file could not be opened */
	const struct info *i;
};
/* Both return 0 or -ENOMEM; a failing stdout is the caller's to look at. */
int info_print_text(const struct info_file *f);
int info_print_json(const struct info_file *f);

/* Arguments of the recorded command line that are shown. */
enum { INFO_ARGS_MAX = 4096 };

#endif
