/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk over what is whole in a file that may be damaged: cut anywhere, with a data.size
 * that is wrong, with holes, or with other bytes between its records.
 *
 * The header's data.size is a hint only. Where every record fits up to the end it names (or
 * to the end of the file, when it names none) the file is trusted, and records of any type
 * are taken. Otherwise each record must be plausible (format/judge.h), and behind a place
 * where none is the walk goes on where a row of records begins that can be no chance.
 *
 * Memory does not grow with the file, and nothing is written.
 */
#ifndef FORMAT_SALVAGE_H
#define FORMAT_SALVAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/reader.h"

/* Bytes that are no record, or belong to one that is lost. */
struct fmt_gap {
	uint64_t at, len; /* in the file */
	uint64_t missing; /* bytes of trace that the record promised and the file lacks; 0 for a
			   * promise that no file can hold */
	const char *expected;
};

enum { FMT_SALVAGE_END = 0, FMT_SALVAGE_REC = 1, FMT_SALVAGE_GAP = 2 };

struct fmt_salvage {
	struct fmt_reader *r;
	bool killed;	   /* header form: data.size was never stored */
	bool impossible;   /* data.size is more than any file has: it says nothing */
	uint64_t missing;  /* bytes that the header or the feature table promises and the
			    * file lacks */
	uint64_t declared; /* where data.size says that the data ends; 0: nowhere */
	bool trusted;
	bool table;	/* the feature table is there, at `end` */
	uint64_t end;	/* where the data ends, once the walk is over */

	/* Private. */
	bool damaged;	/* the file was looked at, and is not trusted */
	bool over;	/* the walk */
	bool ended;	/* nothing was found up to the end of the file */
	uint64_t stop;	/* trusted: the end of the data */
	uint64_t taken; /* a record here was found by looking for one */
	uint64_t nr_odd;
	struct fmt_gap held; /* expected is NULL: none */
};

/* r must have been opened over a whole file, not a stream, or over a part, which has records and
 * nothing else; it must stay where it is. It is moved by the walk, and knows the feature table
 * (fmt_reader_feature()) when it is over. */
void fmt_salvage_begin(struct fmt_salvage *ret, struct fmt_reader *r);
/* Once more from the start. */
void fmt_salvage_rewind(struct fmt_salvage *s);

/* FMT_SALVAGE_REC: *rec, as fmt_reader_next() gives it; of an AUXTRACE that is not whole
 * payload_len is the part that is there, a multiple of 8. FMT_SALVAGE_GAP: *gap, in the
 * order of the file. FMT_SALVAGE_END, or -ENOMEM. */
int fmt_salvage_next(struct fmt_salvage *s, struct fmt_rec *rec, struct fmt_gap *gap);

#endif
