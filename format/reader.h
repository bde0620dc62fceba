/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checked cursor over a perf.data file that lies in memory (mapped or read whole).
 *
 * Nothing is allocated from a number in the file, and every length is compared with the
 * bytes that are there before use. Reads header form and pipe form, little-endian, attrs of
 * 64 to 144 bytes. COMPRESSED records are yielded as they are.
 *
 * Errors: -EBADMSG malformed, -ENODATA cut short, -ENOTSUP sound but not ours (other byte
 * order, version 1). bad_at and bad_what then say where and what was expected.
 */
#ifndef FORMAT_READER_H
#define FORMAT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/feature.h"

/* One record as it lies in the file. */
struct fmt_rec {
	uint64_t at; /* file offset of its header */
	uint32_t type;
	uint16_t misc, size;	/* size: header, body and trailer */
	const uint8_t *p;	/* the header */
	const uint8_t *payload; /* AUXTRACE, TRACING_DATA: bytes after the record, or NULL */
	uint64_t payload_len;
};

struct fmt_reader_event {
	const uint8_t *attr; /* attr_size bytes */
	size_t attr_size;
	const uint8_t *ids; /* u64s, unaligned: use le_get */
	size_t nr_ids;
	const char *name; /* from EVENT_DESC or EVENT_UPDATE; NULL when the file has none */
};

struct fmt_reader {
	const uint8_t *p;
	uint64_t len;
	bool pipe;
	uint64_t data_offset, data_end; /* data_end: where records stop */
	bool finished;			/* header form: a feature table is there;
					   pipe form: unknown, false */
	uint64_t feat_bits[4];
	struct fmt_reader_event *events; /* owned */
	size_t nr_events;
	uint64_t at; /* of the next record */
	uint64_t bad_at;
	const char *bad_what;
};

/* Looks at header, attrs, ids and feature table. In pipe form the events are gathered as
 * HEADER_ATTR records pass fmt_reader_next(). The bytes stay the caller's and must outlive
 * the reader. Errors as above, or -ENOMEM. */
int fmt_reader_open(struct fmt_reader *ret, const void *bytes, uint64_t len);
void fmt_reader_done(struct fmt_reader *r);

/* The next record: 1, 0 at the end, or an error as above (the cursor stays). */
int fmt_reader_next(struct fmt_reader *r, struct fmt_rec *ret);
/* Back to the first record. */
void fmt_reader_rewind(struct fmt_reader *r);

/* Payload of a feature section of a header-form file: 0, -ENOENT when the file has none,
 * -EBADMSG when its table entry lies outside the file. */
int fmt_reader_feature(const struct fmt_reader *r, enum fmt_feat feat, const uint8_t **ret,
		       uint64_t *ret_len);
/* A string feature as NUL-terminated text inside the file, or NULL. */
const char *fmt_reader_feature_str(const struct fmt_reader *r, enum fmt_feat feat);

/* Which event a record belongs to, by its id: index into events, or -1. */
int fmt_reader_event_of(const struct fmt_reader *r, const struct fmt_rec *rec);
/* The trailer (or, of a SAMPLE, the same fields) of a kernel record. -ENOENT for user
 * records and events without sample_id_all, -EBADMSG when it does not fit. */
struct fmt_when {
	bool has_time, has_cpu, has_tid;
	uint64_t time, id;
	uint32_t pid, tid, cpu;
};
int fmt_reader_when(const struct fmt_reader *r, const struct fmt_rec *rec,
		    struct fmt_when *ret);

/* "MMAP2", "AUXTRACE" ...; NULL for types this reader has no name for. */
const char *fmt_record_name(uint32_t type);

#endif
