/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records in the order of their times, kept apart from the few that are not: what comes is
 * noted as runs, each in order, and runs are merged at the end. Records of one time stay in
 * the order they came. Memory: 8 bytes a run; usually there is one.
 */
#ifndef RECORDER_EXPORT_RECSORT_H
#define RECORDER_EXPORT_RECSORT_H

#include "format/reader.h"
#include "recorder/export/outset.h"

/* A zeroed one is empty. */
struct recsort {
	uint64_t *runs; /* where each begins */
	size_t nr;
	uint64_t last; /* time of the last record */
};

/* A record is about to be written at `at`. One without a time (has_time false) stays behind
 * the record before it. 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int recsort_note(struct recsort *s, uint64_t at, const struct fmt_when *w);
/* Puts f in order; r tells the times of its records. Nothing to do for a single run. 0,
 * -ENOMEM, or what outfile.h says. */
__attribute__((warn_unused_result))
int recsort_finish(struct recsort *s, struct outfile *f, const struct fmt_reader *r);
void recsort_done(struct recsort *s);

#endif
