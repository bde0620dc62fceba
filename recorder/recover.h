/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `auxrec recover` does with a file, over memory and a sink: one walk finds what is
 * whole (format/salvage.h) and what must be rebuilt, a second one writes it as a finished
 * file in header form. recover_features.c decides on the features, recover_write.c writes,
 * recover_patch.c mends a file where it is, recover_text.c and recover_json.c tell.
 *
 * Records keep their bytes and their order, with these exceptions:
 * - those in COMPRESSED records are stored inflated: perf 6.1 knows neither COMPRESSED2 nor
 *   COMPRESSED without its feature, which is written last and so missing where it matters;
 * - those of a pipe that say what a file says elsewhere (HEADER_ATTR, HEADER_FEATURE,
 *   HEADER_TRACING_DATA, HEADER_BUILD_ID) go there;
 * - an AUXTRACE whose trace is cut gets the size of what is there, and an Intel PT packet
 *   that is cut becomes PAD: decoders stumble over half a packet, and lose their way before.
 *
 * Nothing is taken from the machine this runs on: it need not be the one that recorded.
 * Memory does not grow with the file, but for one index entry an AUXTRACE record and what
 * the file says of its events and build ids.
 */
#ifndef RECORDER_RECOVER_H
#define RECORDER_RECOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/abi.h"
#include "format/reader.h"
#include "format/salvage.h"
#include "format/writer.h"

struct dsos;
struct input;

enum {
	RECOVER_GAPS_MAX = 64,
	RECOVER_CHUNKS_MAX = 512, /* a few of each queue */
	RECOVER_FEATURES = 64 * FMT_HDR_FEATURE_WORDS,
};

struct recover_feature {
	enum recover_fate {
		RECOVER_ABSENT,	 /* never there */
		RECOVER_KEPT,
		RECOVER_REBUILT, /* from the records */
		RECOVER_DROPPED,
	} fate;
	const uint8_t *p; /* kept: its bytes */
	uint64_t len;
	uint64_t at;	      /* dropped: in the file, */
	const char *expected; /* what was expected there */
};

/* What the records say that a feature tells. */
struct recover_facts {
	uint64_t first_ns, last_ns; /* of kernel records; last 0: none has a time */
	uint32_t nr_cpus;	    /* highest cpu + 1; 0: none was named */
	bool has_trace;		    /* AUXTRACE or AUXTRACE_INFO */
	uint32_t trace_kind;	    /* FMT_AUXTRACE_*, 0: not told */
	bool zipped;		    /* COMPRESSED or COMPRESSED2 */
	uint64_t index;		    /* hash of the places of AUXTRACE records, and */
	uint64_t nr_index;	    /* their number */
	struct dsos *dsos;	    /* of MMAP2 records with a build id, */
	uint64_t nr_dso_records;    /* so many of them */
	struct fmt_buf build_ids;   /* HEADER_BUILD_ID records of a pipe */
};

/* Where the trace of an AUXTRACE record is. */
struct recover_chunk {
	const uint8_t *p;
	uint64_t len;
	uint32_t idx;
	bool torn; /* the next one of its queue does not go on where it ends */
};

struct recover {
	const uint8_t *p;
	uint64_t len;
	struct fmt_reader r;
	struct fmt_salvage s;

	uint64_t whole, inflated; /* records: in the file, and in its COMPRESSED ones */
	uint64_t nr_data;	  /* of these, those that the mended file has as records */
	uint64_t trace_records, trace_bytes;
	struct fmt_rec torn;	/* the last AUXTRACE that was cut; p NULL: none */
	unsigned torn_blank;	/* its last bytes that are a part of a packet */
	uint64_t nr_torn;
	struct fmt_gap gaps[RECOVER_GAPS_MAX];
	uint64_t nr_gaps;	/* all of them */
	uint64_t gap_bytes, gap_missing;
	struct recover_feature features[RECOVER_FEATURES];
	bool table_lost; /* features are announced, the table is nowhere */
	struct recover_facts facts;
	struct recover_chunk chunks[RECOVER_CHUNKS_MAX]; /* the last ones, a ring */
	uint64_t nr_chunks;
	struct recover *head; /* of a part: the file `data` beside it; else NULL */
	size_t nr_parts;      /* of a head: those that were scanned */

	/* When set: bytes before `at` are not needed for a while. */
	void (*passed)(void *ctx, uint64_t at);
	void *ctx;
};

/* Walks over a whole file in memory, which must outlive *ret. *ret must stay where it is.
 * 0, -ENOMEM, or what fmt_reader_open() returned: then r.bad_what says why, and nothing can
 * be recovered. recover_done is needed always. */
int recover_scan(struct recover *ret, const void *p, uint64_t len,
		 void (*passed)(void *ctx, uint64_t at), void *ctx);
void recover_done(struct recover *c);

/* The same of a data.N of a recording that is a directory. *head is what its `data` gave, which
 * learns what the records of this part tell; it must stay where it is and be done later. 0 or
 * -ENOMEM. */
int recover_scan_part(struct recover *ret, struct recover *head, const void *p, uint64_t len,
		      void (*passed)(void *ctx, uint64_t at), void *ctx);
/* May the records of this file go on in data.N beside it? They do when it says so, and when what
 * would have said so is not there. */
bool recover_has_parts(const struct recover *c);

/* Was anything lost, of what the file once held? */
bool recover_lost(const struct recover *c);
/* Is there nothing to mend? */
bool recover_sound(const struct recover *c);

/* The mended file will stand alone: without the data.N of a directory, whose mark would make
 * readers look for them. */
void recover_leave_dir(struct recover *c);
/* Writes the finished file, or part: then there is neither header nor feature, and no record is
 * none too few. 0, -ENODATA when there is no whole record or no event (perf
 * opens no such file; nothing is written then), -ENOMEM, or what the sink returned. */
int recover_write(struct recover *c, const struct fmt_sink *sink);

/* Can the file be mended where it is: does it only need a data.size, or features behind its
 * data? Everything of worth stays where it stands then. */
bool recover_can_patch(const struct recover *c);
/* Does so. The sink appends at the end of the data, once its `cut` was called with that. In
 * this order, so that whoever is killed in between leaves a file that is no worse: bits off,
 * what lies behind the data cut off, data.size, features, bits on. */
int recover_patch(struct recover *c, const struct fmt_sink *sink);

/* "cpu topology", or "feature 128" in buf. */
const char *recover_feature_name(unsigned feat, char buf[20]);

/* What kind of file it is: "sound", "incomplete" (nothing was lost, but what readers need
 * beside the records is missing or wrong) or "damaged". */
const char *recover_state(const struct recover *c);

/* What was found and done, on stdout. */
struct recover_report {
	const char *path;
	const char *out; /* what was written, or NULL */
	bool patched;	 /* out is path, mended without a copy */
	const struct input *in;
	const struct recover *parts; /* of a directory: one for each of in->parts */
	size_t nr_parts;
};
void recover_print_text(const struct recover *c, const struct recover_report *r);
int recover_print_json(const struct recover *c, const struct recover_report *r);

#endif
