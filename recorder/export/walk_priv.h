/* SPDX-License-Identifier: Apache-2.0 */
/* How survey.c and walk.c look at a recording: the same way. */
#ifndef RECORDER_EXPORT_WALK_PRIV_H
#define RECORDER_EXPORT_WALK_PRIV_H

#include "recorder/export/export.h"

enum { EXPORT_ROWS_MAX = 8192 };

/* One record of the file. */
struct export_seen {
	const struct fmt_reader *r;
	const struct fmt_rec *rec;
	struct fmt_when when; /* zeroed where it has none */
};

/* Calls on(ctx, seen) for each record, the cut one at the end of a file included. fault, when
 * not NULL, is told of each place where the recording is damaged. 0, on's value, -ENOMEM. */
int export_each(struct export *x, int (*on)(void *ctx, const struct export_seen *s),
		void (*fault)(struct export *x, const struct fmt_reader *r, uint64_t at,
			      const char *what),
		void *ctx);

/* The row of key in a table of rows of `size` bytes, which begin with their key; NULL when it
 * is not there. */
void *export_find(struct export_table *t, size_t size, uint32_t key);
/* Made, zeroed but for its key, when it is not there; NULL without memory, or (*ret_full)
 * when there are EXPORT_ROWS_MAX. */
void *export_row(struct export_table *t, size_t size, uint32_t key, bool *ret_full);

/* Is it a record of trace (AUXTRACE, or a SAMPLE with AUX data)? *ret without queue, offset,
 * number and TSCs then. *ret_key: which queue; EXPORT_NONE: a sample that none is known of. */
bool export_trace_of(struct export *x, const struct export_seen *s,
		     struct export_piece *ret, uint32_t *ret_key);

/* The time of a kernel record, 0 for those that were synthesised, and for all without one. */
static inline bool export_synthesised(const struct fmt_when *w)
{
	return w->has_time && !w->time;
}

/* The TSCs of a piece that stands for itself. */
void export_piece_tscs(struct export_piece *p, uint64_t upper);
/* Does a piece touch the window? */
bool export_piece_within(const struct export *x, const struct export_piece *p);

/* All 64 bits of a TSC packet's 56, near the TSC `upper` (0: not known). */
uint64_t export_whole_tsc(uint64_t tsc, uint64_t upper);

#endif
