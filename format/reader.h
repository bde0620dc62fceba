/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checked cursor over a perf.data file that lies in memory: mapped, read whole, or
 * growing while it is walked (a stream that is still being received).
 *
 * A recording whose recorder was killed is read as far as its records are whole: perf
 * leaves data.size 0 then, and records run to the end of the file; data_end moves back to
 * where the last whole one ends when the walk gets there. Where data.size promises more
 * than the file has, the whole records come first and -ENODATA after them.
 *
 * Nothing is allocated from a number in the file, and every length is compared with the
 * bytes that are there before use. Reads header form (version 1, too) and pipe form,
 * little-endian, attrs of 64 to 144 bytes. A COMPRESSED or COMPRESSED2 record is yielded
 * like any other, and the records inflated from it come right behind it.
 *
 * Files of the other byte order are refused: AUX trace comes from little-endian machines
 * (x86, and Arm as Linux distributions run it), and a record whose numbers change their
 * order can only be handed out as a copy.
 *
 * Errors: -EBADMSG malformed, -ENODATA cut short, -ENOTSUP sound but of the other byte
 * order. bad_at and bad_what then say where and what was expected.
 */
#ifndef FORMAT_READER_H
#define FORMAT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/feature.h"

/* One record as it lies in the file. */
struct fmt_rec {
	uint64_t at; /* file offset of its header, or of the COMPRESSED record it was in */
	uint64_t inner_at; /* inflated: its place among all inflated bytes */
	bool inflated;	   /* p is good until the next call on the reader only */
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

	/* What of attr is needed for each record. */
	uint64_t sample_type;
	bool id_all;	      /* FMT_ATTR_F_SAMPLE_ID_ALL */
	uint8_t trailer_size; /* of records that are no SAMPLE, where id_all */
	uint8_t sample_size;  /* of the same fields in a SAMPLE, and IP and ADDR */
};

struct fmt_reader {
	const uint8_t *p;
	uint64_t len;
	unsigned version; /* 1: magic PERFFILE, 2: PERFILE2; 0: bare records */
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
	/* Set when the walk stops at a record whose payload is not whole: that record,
	 * with payload_len the bytes that are there. p is NULL otherwise. */
	struct fmt_rec cut;
	/* The first record that could be stepped over but not understood (a HEADER_ATTR
	 * too short for its attr ...); odd_what is NULL when there was none. */
	uint64_t odd_at;
	const char *odd_what;
	uint64_t nr_odd; /* all of them */

	/* Private. */
	int (*more)(void *ctx, uint64_t want, uint64_t *len);
	void *more_ctx;
	struct fmt_unz *unz;	/* made at the first COMPRESSED record */
	bool inflating;		/* records of the last COMPRESSED record are to come */
	uint64_t inflated_at;	/* file offset of that record */
	bool shares_events;	/* a part: events and ids are those of the whole */
	uint8_t bare_attr[64];	/* bare records: the attr that stands for theirs */
	bool killed;		/* data.size was never stored */
	uint64_t missing;	/* bytes of the data section beyond the end of the file */
	uint64_t features_at;	/* the feature table */
	uint64_t features_shift; /* what its offsets lack */
	uint64_t gathered;	/* records before this offset told us what they know */
	bool same_layout;	/* one sample_type and sample_id_all for all events */
	bool same_id_place;	/* ids stand at one place in the records of all events */
	uint8_t id_in_sample, id_in_trailer; /* that place, from start or end; 0: nowhere */
	void *ids;		/* kernel id to event */
	struct fmt_span {
		const uint8_t *p;
		uint64_t len;
	} sent[FMT_FEAT_LAST];	/* HEADER_FEATURE payloads, the first of each */
};

/* Looks at header, attrs, ids and feature table. In pipe form the events are gathered as
 * HEADER_ATTR records pass fmt_reader_next(). The bytes stay the caller's and must outlive
 * the reader. Errors as above, or -ENOMEM. */
int fmt_reader_open(struct fmt_reader *ret, const void *bytes, uint64_t len);
void fmt_reader_done(struct fmt_reader *r);

/* The same over bytes that are still arriving, in pipe form: *bytes* is where they will lie,
 * and more(ctx, want, &len) waits until at least `want` of them are there or no more will
 * come, and sets len to how many there are: 0 or -errno, which fmt_reader_next returns. */
int fmt_reader_open_stream(struct fmt_reader *ret, const void *bytes,
			   int (*more)(void *ctx, uint64_t want, uint64_t *len),
			   void *ctx);
/* Records without a file header that belong to the file `whole`, which must stay where it
 * is and be done later: the data.N of a recording with threads. 0. */
int fmt_reader_open_part(struct fmt_reader *ret, const struct fmt_reader *whole,
			 const void *bytes, uint64_t len);
/* Records without a file header and without a file: the side band that libipt's tools take.
 * sample_type (FMT_SAMPLE_*) says what their trailers hold. *ret must stay where it is. 0 or
 * -ENOMEM. */
int fmt_reader_open_bare(struct fmt_reader *ret, uint64_t sample_type, const void *bytes,
			 uint64_t len);

/* The next record: 1, 0 at the end, or an error as above (the cursor stays). */
int fmt_reader_next(struct fmt_reader *r, struct fmt_rec *ret);
/* The next record out of the last COMPRESSED record alone: 1, 0 when the next record of the
 * file itself is due. */
int fmt_reader_next_inflated(struct fmt_reader *r, struct fmt_rec *ret);
/* Back to the first record. */
void fmt_reader_rewind(struct fmt_reader *r);

/* For whoever mends a file: data.size is not believed, records may come up to the end of
 * the file. */
void fmt_reader_all_data(struct fmt_reader *r);
/* Header form: records end at `at`, and the feature table is there. Its sections stand
 * `shift` bytes (modulo 2^64) behind where it says, when bytes before it were lost. */
void fmt_reader_end_data(struct fmt_reader *r, uint64_t at, uint64_t shift);
/* Go on at a file offset. A zstd stream is not carried on across the gap: what is left of
 * it would inflate to bytes that never were. */
void fmt_reader_seek(struct fmt_reader *r, uint64_t at);
/* Can there be `len` bytes from `at` on? Offsets in files are signed (off_t), and no stream of
 * trace gets that long. */
static inline bool fmt_can_hold(uint64_t at, uint64_t len)
{
	return at <= INT64_MAX && len <= INT64_MAX - at;
}
/* How many bytes follow a record outside its size (AUXTRACE, TRACING_DATA), by the record
 * itself, whose `size` bytes are there: 0, or -EBADMSG when it is too short to say. */
int fmt_rec_payload(const struct fmt_rec *rec, uint64_t *ret);

/* Payload of a feature section, or in pipe form of the first HEADER_FEATURE record of
 * that kind that has passed: 0, -ENOENT when the file has none, -EBADMSG when the table
 * entry or what it points at lies outside the file. */
int fmt_reader_feature(const struct fmt_reader *r, enum fmt_feat feat, const uint8_t **ret,
		       uint64_t *ret_len);
/* A string feature as NUL-terminated text inside the file, or NULL. */
const char *fmt_reader_feature_str(const struct fmt_reader *r, enum fmt_feat feat);

/* The i-th text of a string list feature (CMDLINE), or NULL behind the last. */
const char *fmt_reader_feature_list(const struct fmt_reader *r, enum fmt_feat feat,
				    uint32_t i);

/* Which event a kernel record belongs to, by its id: index into events, or -1 when that
 * cannot be known. Id 0 (a synthesised record) is the first event's. */
int fmt_reader_event_of(const struct fmt_reader *r, const struct fmt_rec *rec);
/* The event that owns a kernel id: index into events, or -1. */
int fmt_reader_event_by_id(const struct fmt_reader *r, uint64_t id);
/* The trailer (or, of a SAMPLE, the same fields) of a kernel record. -ENOENT for user
 * records, events without sample_id_all and records whose event is not known (unless all
 * events agree on the layout), -EBADMSG when it does not fit. */
struct fmt_when {
	bool has_time, has_cpu, has_tid;
	uint64_t time, id;
	uint32_t pid, tid, cpu;
	int event; /* what fmt_reader_event_of gives */
};
int fmt_reader_when(const struct fmt_reader *r, const struct fmt_rec *rec,
		    struct fmt_when *ret);

/* "MMAP2", "AUXTRACE" ...; NULL for types this reader has no name for. */
const char *fmt_record_name(uint32_t type);

#endif
