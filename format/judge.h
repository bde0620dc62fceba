/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is this a record? Told from the bytes alone, for files in which no size can be believed.
 *
 * A record gives itself away by a type that exists, a size that its fields fill exactly, a
 * trailer whose id is one of the file's events, and by what stands behind it.
 */
#ifndef FORMAT_JUDGE_H
#define FORMAT_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/reader.h"

/* What the header at a place says. */
enum fmt_head {
	FMT_HEAD_WHOLE,	  /* record and payload end within the file */
	FMT_HEAD_NONE,	  /* less than a header is left */
	FMT_HEAD_SMALL,	  /* a size that no record has */
	FMT_HEAD_TYPE,	  /* a type that no recorder has: 0, or above 65535 */
	FMT_HEAD_CUT,	  /* the record goes beyond the end of the file */
	FMT_HEAD_PAYLOAD, /* its payload does */
};
/* *ret is set when there is a header; payload_len is what the record says. */
enum fmt_head fmt_head_at(const struct fmt_reader *r, uint64_t at, struct fmt_rec *ret);

/* How sure is it that rec, whose bytes are there, is a record of this file? */
enum fmt_weight {
	FMT_WEIGHT_ALIEN = -2,	/* the id in it is of no event */
	FMT_WEIGHT_NONE = -1,	/* it is none, or of a type that nobody knows */
	FMT_WEIGHT_LIGHT = 0,	/* nothing speaks against it */
	FMT_WEIGHT_SOME = 1,	/* its fields fill it */
	FMT_WEIGHT_EXACT = 2,	/* and its header alone is hardly chance */
	FMT_WEIGHT_ENOUGH = 3,	/* its event's id is in it */
};
int fmt_judge_weight(const struct fmt_reader *r, const struct fmt_rec *rec);

/* Of a record that has weight: does its trailer stand where it must, so that nothing in
 * between is missing? */
bool fmt_judge_ends(const struct fmt_reader *r, const struct fmt_rec *rec);
/* Are all its fields there? Of a type that is not known here: is its number one that
 * recorders use? */
bool fmt_judge_possible(const struct fmt_reader *r, const struct fmt_rec *rec);

/* May a record begin at `at`, or be cut there by the end of the file? Lenient: also for the
 * types of recorders not known here. */
bool fmt_judge_follows(const struct fmt_reader *r, uint64_t at);
/* Is a row of records at `at` that can be no chance? Strict. */
bool fmt_judge_chain(const struct fmt_reader *r, uint64_t at);

/* Header form: is the feature table that the header's bits ask for at `at`? Most of its
 * entries must point behind it into the file; or the sections must be one row, which may
 * then stand elsewhere. strict: the first follows within FMT_JUDGE_TABLE_GAP bytes. */
#define FMT_JUDGE_TABLE_GAP 512u /* perf leaves entries that it could not fill unused */
bool fmt_judge_table(const struct fmt_reader *r, uint64_t at, bool strict);
/* What is to be added to the offsets in that table, when its sections are one row: where
 * bytes were lost or got in before it, all of them are wrong by as much. Told by what makes
 * the most sections sound. */
uint64_t fmt_judge_shift(const struct fmt_reader *r, uint64_t at);
/* Bytes of the table that the bits ask for; 0: no features are announced. */
uint64_t fmt_judge_table_size(const struct fmt_reader *r);

#endif
