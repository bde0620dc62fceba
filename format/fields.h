/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a record says, field by field, in the order the fields have in it: the trailer
 * (struct sample_id) of a kernel record comes last.
 *
 * Nothing is allocated and nothing is read outside the record. A count or length that asks
 * for more than the record has ends the visit: the fields before it were visited, and the
 * verdict names the field that is not whole. Bytes that no field takes are counted.
 *
 * Names are those of the structs in [uapi] and [perf] (format/abi.h), with these
 * differences, so that no two fields of one record share a name: the trailer's pid, tid, id,
 * stream_id and identifier begin with "s_"; the time stamp of a trailer or sample is "at".
 * A reserved field is visited (as "reserved") only when it is not 0.
 *
 * Sources: perf_event_open(2); the comments of enum perf_event_type [uapi, Linux 6.1 and
 * 6.19]; tools/lib/perf/include/perf/event.h [perf, Linux 6.1 and 7.0];
 * util/{intel-pt,intel-bts,arm-spe,cs-etm}.h of tools/perf for AUXTRACE_INFO.
 */
#ifndef FORMAT_FIELDS_H
#define FORMAT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/reader.h"

enum fmt_kind {
	FMT_AS_DEC,   /* v, best read in decimal */
	FMT_AS_INT,   /* v as int64_t: may be -1 */
	FMT_AS_HEX,   /* v: an address, a mask, an opaque number */
	FMT_AS_TIME,  /* v: nanoseconds of the recording's clock */
	FMT_AS_REAL,  /* v: the bits of a double */
	FMT_AS_WORD,  /* word, or v in decimal where word is NULL */
	FMT_AS_FLAGS, /* v: fmt_flags_next() names its bits */
	FMT_AS_TEXT,  /* len bytes at p, without the NUL */
	FMT_AS_BYTES, /* len bytes at p */
	FMT_AS_LIST,  /* opens a list: its elements have no name */
	FMT_AS_GROUP, /* opens a group of named fields */
	FMT_AS_END,   /* closes the last list or group */
};

/* Bits that have a name: those with (v & mask) == value. Ends with mask 0. */
struct fmt_flag {
	uint64_t mask, value;
	const char *name;
};

struct fmt_field {
	const char *name; /* NULL: an element of a list, or FMT_AS_END */
	enum fmt_kind kind;
	uint64_t v;
	const char *word;
	const struct fmt_flag *flags;
	const uint8_t *p;
	size_t len;
};

/* Is the record what its type says? */
struct fmt_fit {
	const char *missing; /* first field that is not whole in the record, or NULL */
	size_t left;	     /* bytes that no field took */
	bool known;	     /* false: a type without a description; left is its body */
};

/* Called for each field; f is good until it returns. */
typedef void fmt_field_fn(void *ctx, const struct fmt_field *f);

/* Visits the fields of rec, a record that fmt_reader_next gave, the header's misc first.
 * event: what fmt_reader_event_of said of rec. A kernel record whose event is not known
 * (-1) is visited up to its trailer, which is left, unless all events agree on it. */
struct fmt_fit fmt_fields(const struct fmt_reader *r, const struct fmt_rec *rec, int event,
			  fmt_field_fn *fn, void *ctx);

/* The fields of a perf_event_attr, `size` bytes (its own size word is not looked at). */
struct fmt_fit fmt_attr_fields(const uint8_t *attr, size_t size, fmt_field_fn *fn, void *ctx);

/* The name of some bits of *v, which are then taken off it; NULL when the rest of *v has
 * none. Begin with *at = flags. */
const char *fmt_flags_next(const struct fmt_flag **at, uint64_t *v);

/* The flags of perf_event_header.misc for a record type. */
const struct fmt_flag *fmt_misc_flags(uint32_t type);

/* Name of a kind of trace (FMT_AUXTRACE_*), as "INTEL_PT"; NULL for one without. */
const char *fmt_auxtrace_name(uint64_t kind);

#endif
