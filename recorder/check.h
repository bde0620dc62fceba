/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a perf.data file sound? `auxrec check` walks it once, holds every part against the
 * others, and lists what it finds. Each kind of finding has a name, a severity, and one
 * row: the first of its kind with place and words, and how many more there were.
 *
 *   damage  the file contradicts the format or itself: readers refuse it, stop in it, or
 *           take from it what is not true
 *   loss    the file is what its recorder wrote, but something is missing from the
 *           recording: lost records, trace that was announced and is not there, a
 *           recording that was interrupted
 *   remark  allowed, and worth knowing: what old or new readers do not take
 *
 * Memory does not grow with the file: one row per kind, cpu, queue, kernel id and switch
 * source, up to CHECK_ROWS_MAX each; what goes beyond is not judged, and that is a
 * remark.
 *
 * Rules: tools/perf/util/{header,session,auxtrace,ordered-events,intel-pt}.c (Linux 6.1
 * and 6.12), perf_event_open(2).
 */
#ifndef RECORDER_CHECK_H
#define RECORDER_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/input.h"
#include "recorder/jtree.h"

enum { CHECK_ROWS_MAX = 65536 };

enum check_severity { CHECK_REMARK, CHECK_LOSS, CHECK_DAMAGE };

enum check_kind {
	/* The file as a whole. */
	CHECK_HEADER,
	CHECK_BROKEN,
	CHECK_CUT,
	CHECK_OVERLAP,
	CHECK_UNFINISHED,
	CHECK_TRAILING,
	/* Events. */
	CHECK_LAYOUT,
	CHECK_ID_ZERO,
	CHECK_ID_TWICE,
	CHECK_ID_INDEX,
	CHECK_NO_IDS,
	CHECK_NEW_ATTR,
	/* Records. */
	CHECK_SHORT,
	CHECK_ODD,
	CHECK_UNKNOWN_ID,
	CHECK_NO_EVENT,
	CHECK_HIDDEN_TRACE,
	CHECK_LEFT_OVER,
	CHECK_MISALIGNED,
	CHECK_UNKNOWN_TYPE,
	CHECK_LOST,
	CHECK_LOST_SAMPLES,
	/* Their order. */
	CHECK_LATE,
	CHECK_UNSORTED,
	CHECK_BACKWARDS,
	/* Switches. */
	CHECK_SWITCH_KIND,
	CHECK_SWITCH_LOST,
	CHECK_SWITCH_GAP,
	/* AUX trace. */
	CHECK_AUX_INFO,
	CHECK_NO_AUX_INFO,
	CHECK_MIXED_QUEUE,
	CHECK_AUX_OVERLAP,
	CHECK_AUX_TRUNCATED,
	CHECK_AUX_PARTIAL,
	CHECK_AUX_COLLISION,
	CHECK_AUX_ERROR,
	CHECK_AUX_ABSENT,
	CHECK_AUX_GAP,
	CHECK_AUX_UNANNOUNCED,
	CHECK_AUX_FLAGS,
	CHECK_AUX_AGAIN,
	CHECK_TIMELESS,
	/* The index of AUXTRACE records. */
	CHECK_INDEX_FOREIGN,
	CHECK_INDEX_MISSING,
	CHECK_INDEX_TWICE,
	CHECK_NO_INDEX,
	/* Features. */
	CHECK_FEATURE,
	CHECK_EVENT_DESC,
	CHECK_GROUP_DESC,
	CHECK_COMPRESSED,
	CHECK_EMPTY_FEATURE,
	CHECK_UNKNOWN_FEATURE,
	CHECK_NO_TRACING_DATA,
	CHECK_OUTSIDE_TIME,
	CHECK_BUILD_ID,
	/* A recording that is a directory. */
	CHECK_KCORE,
	CHECK_PART_MISSING,
	CHECK_PARTS,
	/* What was not judged. */
	CHECK_LIMIT,
	CHECK_NR_KINDS
};

enum { CHECK_FOUND_MAX = 200, CHECK_EXPECTED_MAX = 120 };

/* The first of a kind. */
struct check_found {
	uint64_t n;    /* how many there were; 0: none */
	uint64_t sum;  /* of what they say: bytes, records ...; 0: nothing to add up */
	const char *path; /* of the file it is in, which may be a part of a directory */
	unsigned part; /* 0: the file itself */
	bool has_at;   /* false: the fault has no place, something is missing */
	uint64_t at;
	char found[CHECK_FOUND_MAX], expected[CHECK_EXPECTED_MAX];
};

struct check_report {
	struct check_found found[CHECK_NR_KINDS];
	uint64_t records, bytes; /* walked; inflated records are records, too */
};

/* Judges what input_open gave for *in, which returned `err`. 0, or -errno where nothing
 * could be judged: no memory, or a system call failed. */
__attribute__((warn_unused_result))
int check_file(struct check_report *ret, struct input *in, int err);

const char *check_kind_name(enum check_kind k);
enum check_severity check_severity_of(enum check_kind k);
const char *check_severity_name(enum check_severity s);
/* Worst of what was found; CHECK_REMARK where there is nothing or nothing worse. */
enum check_severity check_verdict(const struct check_report *r);
/* Kinds that were found: damage first, then losses, then remarks, each by its place.
 * *ret_n of them in order[]. */
void check_order(const struct check_report *r, enum check_kind order[CHECK_NR_KINDS],
		 size_t *ret_n);

/* On stdout. */
void check_print_text(const struct check_report *r, const char *path);
/* An object without "decode"; *err as jtree.h has it. */
json_t *check_json(const struct check_report *r, const char *path, int *err);

#endif
