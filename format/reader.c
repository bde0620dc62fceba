/* SPDX-License-Identifier: Apache-2.0 */
#include "format/reader.h"

#include <errno.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/reader_priv.h"
#include "format/unz.h"

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
	r->nr_odd++;
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

void fmt_reader_done(struct fmt_reader *r)
{
	fmt_reader_events_done(r);
	fmt_unz_free(r->unz);
	*r = (struct fmt_reader){ 0 };
}

void fmt_reader_rewind(struct fmt_reader *r)
{
	r->at = r->data_offset;
	r->bad_at = 0;
	r->bad_what = NULL;
	r->odd_at = 0;
	r->odd_what = NULL;
	r->nr_odd = 0;
	r->cut = (struct fmt_rec){ 0 };
	r->inflating = false;
	if (r->unz)
		fmt_unz_reset(r->unz);
}

void fmt_reader_all_data(struct fmt_reader *r)
{
	r->data_end = r->len;
	r->killed = false;
	r->missing = 0;
	r->finished = false;
}

void fmt_reader_seek(struct fmt_reader *r, uint64_t at)
{
	r->at = at;
	r->bad_at = 0;
	r->bad_what = NULL;
	r->cut = (struct fmt_rec){ 0 };
	r->inflating = false;
	if (r->unz)
		fmt_unz_reset(r->unz);
}

/* Wait for n bytes from r->at on to be there, where more can come. */
static int await(struct fmt_reader *r, uint64_t n)
{
	int err;

	if (!r->more || n <= r->data_end - r->at || n > UINT64_MAX - r->at)
		return 0;
	err = r->more(r->more_ctx, r->at + n, &r->len);
	r->data_end = r->len;
	r->features_at = r->len;
	return err;
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

int fmt_rec_payload(const struct fmt_rec *rec, uint64_t *ret)
{
	*ret = 0;
	if (rec->type == FMT_REC_AUXTRACE) {
		if (rec->size < FMT_AUXTRACE_RECORD_SIZE)
			return -EBADMSG;
		*ret = le_get(rec->p + FMT_AUXTRACE_AT_SIZE, 8);
	} else if (rec->type == FMT_REC_HEADER_TRACING_DATA) {
		if (rec->size < 12)
			return -EBADMSG;
		/* simpleperf puts the tracing data inside the record's own size. */
		if (rec->size <= TRACING_RECORD_MAX)
			*ret = le_get32(rec->p + 8);
	}
	return 0;
}

static int take_payload(struct fmt_reader *r, struct fmt_rec *rec)
{
	uint64_t left;
	int err;

	if (fmt_rec_payload(rec, &rec->payload_len))
		return fmt_reader_bad(r, -EBADMSG, rec->at,
				      rec->type == FMT_REC_AUXTRACE ?
					      "an AUXTRACE record of 48 bytes" :
					      "a TRACING_DATA record of 12 bytes or more");
	err = await(r, rec->size + rec->payload_len);
	if (err)
		return err;
	left = r->data_end - rec->at - rec->size;
	rec->payload = rec->payload_len ? rec->p + rec->size : NULL;
	if (rec->payload_len > left) {
		rec->payload_len = left;
		r->cut = *rec;
		return runs_over(r, "the whole payload of this record");
	}
	return 1;
}

/* What a record says about events and features, taken once. In header form the header has said
 * which events and features there are, and parts share what it said. */
static int gather(struct fmt_reader *r, const struct fmt_rec *rec)
{
	int err = 0;

	if (r->shares_events)
		return 0;
	if (rec->type == FMT_REC_EVENT_UPDATE)
		err = fmt_reader_take_update(r, rec);
	else if (rec->type == FMT_REC_HEADER_ATTR && r->pipe)
		err = fmt_reader_take_attr(r, rec);
	else if (rec->type == FMT_REC_HEADER_FEATURE && r->pipe)
		err = fmt_reader_take_feature(r, rec);
	if (!err && r->gathered <= rec->at)
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

static void take_header(struct fmt_rec *rec)
{
	rec->type = le_get32(rec->p);
	rec->misc = le_get16(rec->p + FMT_REC_AT_MISC);
	rec->size = le_get16(rec->p + FMT_REC_AT_SIZE);
}

/* The next record as it lies in the file. */
static int next_outer(struct fmt_reader *r, struct fmt_rec *rec)
{
	uint64_t left;
	int err = await(r, FMT_REC_HEADER_SIZE);

	if (err)
		return err;
	left = r->data_end - r->at;
	if (!left)
		return at_end(r);
	if (left < FMT_REC_HEADER_SIZE)
		return runs_over(r, "a whole record header");
	*rec = (struct fmt_rec){ .at = r->at, .p = r->p + r->at };
	take_header(rec);
	if (rec->size < FMT_REC_HEADER_SIZE)
		return fmt_reader_bad(r, -EBADMSG, r->at, "a record size of 8 or more");
	err = await(r, rec->size);
	if (err)
		return err;
	if (rec->size > r->data_end - r->at)
		return runs_over(r, "a record that ends within the data");
	if (rec->type == FMT_REC_AUXTRACE || rec->type == FMT_REC_HEADER_TRACING_DATA) {
		err = take_payload(r, rec);
		if (err <= 0)
			return err;
	}
	err = gather(r, rec);
	return err ? err : 1;
}

/* Get ready to inflate what a COMPRESSED record carries. */
static int feed(struct fmt_reader *r, const struct fmt_rec *rec)
{
	size_t skip = FMT_REC_HEADER_SIZE, n = rec->size - FMT_REC_HEADER_SIZE;
	uint64_t said;

	if (!r->unz && fmt_unz_new(&r->unz))
		return -ENOMEM;
	if (rec->type == FMT_REC_COMPRESSED2) {
		if (n < 8)
			return fmt_reader_odd(r, rec, "a COMPRESSED2 record of 16 bytes");
		said = le_get(rec->p + skip, 8);
		skip += 8;
		n -= 8;
		if (said > n)
			fmt_reader_odd(r, rec, "a COMPRESSED2 data_size within its record");
		else
			n = (size_t)said;
	}
	fmt_unz_feed(r->unz, rec->p + skip, n);
	r->inflating = true;
	r->inflated_at = rec->at;
	return 0;
}

/* The payload of these would follow in the inflated bytes, where no reader looks for it. */
static void skip_payload(struct fmt_reader *r, const struct fmt_rec *rec)
{
	if (rec->type != FMT_REC_AUXTRACE || rec->size < FMT_AUXTRACE_RECORD_SIZE)
		return;
	fmt_unz_skip(r->unz, le_get(rec->p + FMT_AUXTRACE_AT_SIZE, 8));
	fmt_reader_odd(r, rec, "AUXTRACE outside of COMPRESSED records");
}

int fmt_reader_next_inflated(struct fmt_reader *r, struct fmt_rec *ret)
{
	struct fmt_rec rec = { .at = r->inflated_at, .inflated = true };
	int got;

	if (!r->inflating)
		return 0;
	got = fmt_unz_next(r->unz, &rec.p, &rec.inner_at);
	if (got > 0) {
		take_header(&rec);
		skip_payload(r, &rec);
		*ret = rec;
		return 1;
	}
	r->inflating = false;
	if (got == -EPROTO)
		fmt_reader_odd(r, &rec, "inflated records with a size of 8 or more");
	else if (got)
		fmt_reader_odd(r, &rec, "a sound zstd frame");
	return 0;
}

/* What nearly all records are: the kernel's, whole, with nothing behind them. */
static bool next_plain(struct fmt_reader *r, struct fmt_rec *ret)
{
	uint64_t left = r->data_end - r->at;
	struct fmt_rec rec = { .at = r->at, .p = r->p + r->at };

	if (r->inflating || left < FMT_REC_HEADER_SIZE)
		return false;
	take_header(&rec);
	if (rec.type >= FMT_REC_USER_START || rec.size < FMT_REC_HEADER_SIZE ||
	    rec.size > left)
		return false;
	*ret = rec;
	r->at += rec.size;
	return true;
}

int fmt_reader_next(struct fmt_reader *r, struct fmt_rec *ret)
{
	struct fmt_rec rec;
	int got;

	if (next_plain(r, ret))
		return 1;
	got = fmt_reader_next_inflated(r, ret);
	if (got)
		return got;
	got = next_outer(r, &rec);
	if (!got && r->unz && fmt_unz_carried(r->unz)) {
		rec = (struct fmt_rec){ .at = r->inflated_at };
		fmt_unz_reset(r->unz);
		fmt_reader_odd(r, &rec, "the end of the last inflated record");
	}
	if (got <= 0)
		return got;
	if (rec.type == FMT_REC_COMPRESSED || rec.type == FMT_REC_COMPRESSED2) {
		if (feed(r, &rec))
			return -ENOMEM;
	}
	r->at += rec.size + rec.payload_len;
	*ret = rec;
	return 1;
}
