/* SPDX-License-Identifier: Apache-2.0 */
#include "format/reader.h"

#include <errno.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/reader_priv.h"

/* The header before there were features (Linux 2.6.31); perf still reads it. */
#define OLD_HEADER_SIZE 72u
/* attr.size of the first ABI, and what a section entry adds to it. */
#define ATTR_STEP_MIN (64u + FMT_SECTION_SIZE)
/* struct perf_record_header_tracing_data, with its pad word. */
#define TRACING_RECORD_MAX 16u

int fmt_reader_bad(struct fmt_reader *r, int err, uint64_t at, const char *what)
{
	r->bad_at = at;
	r->bad_what = what;
	return err;
}

int fmt_reader_odd(struct fmt_reader *r, const struct fmt_rec *rec, const char *what)
{
	if (!r->odd_what) {
		r->odd_at = rec->at;
		r->odd_what = what;
	}
	return 0;
}

int fmt_reader_section(const struct fmt_reader *r, uint64_t at, uint64_t len,
		       const uint8_t **ret)
{
	if (at > r->len || len > r->len - at)
		return -ENODATA;
	*ret = r->p + at;
	return 0;
}

static uint64_t word(const struct fmt_reader *r, unsigned at)
{
	return le_get(r->p + at, 8);
}

static int open_pipe(struct fmt_reader *r)
{
	r->pipe = true;
	r->data_offset = FMT_PIPE_HEADER_SIZE;
	r->data_end = r->len;
	r->features_at = r->len;
	return 0;
}

static int place_data(struct fmt_reader *r, uint64_t header_size)
{
	uint64_t at = word(r, FMT_HDR_DATA), size = word(r, FMT_HDR_DATA_SIZE);

	if (at < header_size)
		return fmt_reader_bad(r, -EBADMSG, FMT_HDR_DATA,
				      "a data section behind the file header");
	if (at > r->len)
		return fmt_reader_bad(r, -ENODATA, FMT_HDR_DATA,
				      "a data section within the file");
	r->data_offset = at;
	r->killed = !size;
	if (r->killed || size > r->len - at) {
		r->missing = r->killed ? 0 : size - (r->len - at);
		size = r->len - at;
	}
	r->data_end = at + size;
	r->features_at = r->data_end;
	return 0;
}

static int open_file(struct fmt_reader *r, uint64_t header_size)
{
	uint64_t step;
	int err;

	if (header_size > r->len)
		return fmt_reader_bad(r, -ENODATA, r->len, "a whole file header");
	step = word(r, FMT_HDR_ATTR_SIZE);
	if (step < ATTR_STEP_MIN)
		return fmt_reader_bad(r, -EBADMSG, FMT_HDR_ATTR_SIZE,
				      "an attr_size of 80 or more");
	err = place_data(r, header_size);
	if (err)
		return err;
	err = fmt_reader_attrs(r, word(r, FMT_HDR_ATTRS), word(r, FMT_HDR_ATTRS + 8),
			       step);
	if (err)
		return err;
	/* perf sets the bits when it starts and writes the table when it ends. */
	if (header_size == FMT_HEADER_SIZE && !r->killed && !r->missing)
		for (unsigned i = 0; i < FMT_HDR_FEATURE_WORDS; i++)
			r->feat_bits[i] = word(r, FMT_HDR_FEATURES + 8 * i);
	r->finished = fmt_reader_has_table(r);
	fmt_reader_event_desc(r);
	return 0;
}

static int open_any(struct fmt_reader *r)
{
	uint64_t size;

	if (r->len < 8)
		return fmt_reader_bad(r, -ENODATA, r->len, "the magic PERFILE2");
	if (!memcmp(r->p, "PERFFILE", 8))
		return fmt_reader_bad(r, -ENOTSUP, 0,
				      "the magic PERFILE2, not a version 1 file");
	if (word(r, FMT_HDR_MAGIC) == FMT_MAGIC_SWAPPED)
		return fmt_reader_bad(r, -ENOTSUP, 0,
				      "little-endian numbers, not big-endian ones");
	if (word(r, FMT_HDR_MAGIC) != FMT_MAGIC)
		return fmt_reader_bad(r, -EBADMSG, 0, "the magic PERFILE2");
	if (r->len < FMT_PIPE_HEADER_SIZE)
		return fmt_reader_bad(r, -ENODATA, r->len, "a whole file header");
	size = word(r, FMT_HDR_SIZE);
	if (size == FMT_PIPE_HEADER_SIZE)
		return open_pipe(r);
	if (size == FMT_HEADER_SIZE || size == OLD_HEADER_SIZE)
		return open_file(r, size);
	return fmt_reader_bad(r, -EBADMSG, FMT_HDR_SIZE,
			      "a header size of 104, 72 or 16");
}

int fmt_reader_open(struct fmt_reader *ret, const void *bytes, uint64_t len)
{
	struct fmt_reader r = {
		.p = bytes, .len = len, .same_layout = true, .same_id_place = true,
	};
	int err = open_any(&r);

	if (err) {
		/* The words are for the caller, the half-built reader is not. */
		fmt_reader_events_done(&r);
		*ret = (struct fmt_reader){ .bad_at = r.bad_at, .bad_what = r.bad_what };
		return err;
	}
	r.at = r.data_offset;
	r.gathered = r.data_offset;
	*ret = r;
	return 0;
}

void fmt_reader_done(struct fmt_reader *r)
{
	fmt_reader_events_done(r);
	*r = (struct fmt_reader){ 0 };
}

void fmt_reader_rewind(struct fmt_reader *r)
{
	r->at = r->data_offset;
	r->bad_at = 0;
	r->bad_what = NULL;
	r->cut = (struct fmt_rec){ 0 };
}

/* The record at r->at goes beyond data_end. */
static int runs_over(struct fmt_reader *r, const char *what)
{
	if (r->killed) {
		r->data_end = r->at;
		return 0;
	}
	return fmt_reader_bad(r, r->data_end == r->len ? -ENODATA : -EBADMSG, r->at,
			      what);
}

/* How many bytes follow the record, outside its size: 0, or an error. */
static int payload_len(struct fmt_reader *r, const struct fmt_rec *rec, uint64_t *ret)
{
	uint64_t n;

	if (rec->type == FMT_REC_AUXTRACE) {
		if (rec->size < FMT_AUXTRACE_RECORD_SIZE)
			return fmt_reader_bad(r, -EBADMSG, rec->at,
					      "an AUXTRACE record of 48 bytes");
		*ret = le_get(rec->p + FMT_AUXTRACE_AT_SIZE, 8);
		return 0;
	}
	if (rec->size < 12)
		return fmt_reader_bad(r, -EBADMSG, rec->at,
				      "a TRACING_DATA record of 12 bytes or more");
	n = le_get32(rec->p + 8);
	/* simpleperf puts the tracing data inside the record's own size. */
	*ret = rec->size > TRACING_RECORD_MAX ? 0 : n;
	return 0;
}

static int take_payload(struct fmt_reader *r, struct fmt_rec *rec)
{
	uint64_t left = r->data_end - rec->at - rec->size;
	int err = payload_len(r, rec, &rec->payload_len);

	if (err)
		return err;
	rec->payload = rec->payload_len ? rec->p + rec->size : NULL;
	if (rec->payload_len > left) {
		rec->payload_len = left;
		r->cut = *rec;
		return runs_over(r, "the whole payload of this record");
	}
	return 1;
}

/* What a record says about events and features, once. */
static int gather(struct fmt_reader *r, const struct fmt_rec *rec)
{
	int err = 0;

	if (rec->at < r->gathered)
		return 0;
	if (rec->type == FMT_REC_HEADER_ATTR)
		err = fmt_reader_take_attr(r, rec);
	else if (rec->type == FMT_REC_EVENT_UPDATE)
		err = fmt_reader_take_update(r, rec);
	else if (rec->type == FMT_REC_HEADER_FEATURE)
		err = fmt_reader_take_feature(r, rec);
	if (!err)
		r->gathered = rec->at + rec->size;
	return err;
}

static int at_end(struct fmt_reader *r)
{
	if (!r->missing)
		return 0;
	return fmt_reader_bad(r, -ENODATA, r->at,
			      "more records: data.size exceeds the file");
}

int fmt_reader_next(struct fmt_reader *r, struct fmt_rec *ret)
{
	struct fmt_rec rec = { .at = r->at, .p = r->p + r->at };
	uint64_t left = r->data_end - r->at;
	int err;

	if (!left)
		return at_end(r);
	if (left < FMT_REC_HEADER_SIZE)
		return runs_over(r, "a whole record header");
	rec.type = le_get32(rec.p);
	rec.misc = le_get16(rec.p + FMT_REC_AT_MISC);
	rec.size = le_get16(rec.p + FMT_REC_AT_SIZE);
	if (rec.size < FMT_REC_HEADER_SIZE)
		return fmt_reader_bad(r, -EBADMSG, r->at, "a record size of 8 or more");
	if (rec.size > left)
		return runs_over(r, "a record that ends within the data");
	if (rec.type == FMT_REC_AUXTRACE || rec.type == FMT_REC_HEADER_TRACING_DATA) {
		err = take_payload(r, &rec);
		if (err <= 0)
			return err;
	}
	err = gather(r, &rec);
	if (err)
		return err;
	r->at += rec.size + rec.payload_len;
	*ret = rec;
	return 1;
}
