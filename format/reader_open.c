/* SPDX-License-Identifier: Apache-2.0 */
/* The start of a file: its header, or the words why it is none. */
#include <errno.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/reader_priv.h"

/* The header before there were features (Linux 2.6.31); perf still reads it. */
#define OLD_HEADER_SIZE 72u
/* attr.size of the first ABI, and what a section entry adds to it. */
#define ATTR_STEP_MIN (64u + FMT_SECTION_SIZE)

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

void fmt_reader_end_data(struct fmt_reader *r, uint64_t at, uint64_t shift)
{
	r->data_end = at;
	r->features_at = at;
	r->features_shift = shift;
	if (word(r, FMT_HDR_SIZE) == FMT_HEADER_SIZE)
		for (unsigned i = 0; i < FMT_HDR_FEATURE_WORDS; i++)
			r->feat_bits[i] = word(r, FMT_HDR_FEATURES + 8 * i);
	r->finished = fmt_reader_has_table(r);
	fmt_reader_event_desc(r);
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
	if (!r->killed && !r->missing)
		fmt_reader_end_data(r, r->data_end, 0);
	return 0;
}

static int open_any(struct fmt_reader *r)
{
	uint64_t size;

	if (r->len < 8)
		return fmt_reader_bad(r, -ENODATA, r->len, "the magic PERFILE2");
	r->version = word(r, FMT_HDR_MAGIC) == FMT_MAGIC_V1 ? 1 : 2;
	if (word(r, FMT_HDR_MAGIC) == FMT_MAGIC_SWAPPED)
		return fmt_reader_bad(r, -ENOTSUP, 0,
				      "little-endian numbers, not big-endian ones");
	if (r->version == 2 && word(r, FMT_HDR_MAGIC) != FMT_MAGIC)
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

/* The words are for the caller, a half-built reader is not. */
static int finish_open(struct fmt_reader *ret, struct fmt_reader *r, int err)
{
	if (err) {
		fmt_reader_events_done(r);
		*ret = (struct fmt_reader){ .bad_at = r->bad_at, .bad_what = r->bad_what };
		return err;
	}
	r->at = r->data_offset;
	r->gathered = r->data_offset;
	*ret = *r;
	return 0;
}

int fmt_reader_open(struct fmt_reader *ret, const void *bytes, uint64_t len)
{
	struct fmt_reader r = {
		.p = bytes, .len = len, .same_layout = true, .same_id_place = true,
	};

	return finish_open(ret, &r, open_any(&r));
}

int fmt_reader_open_stream(struct fmt_reader *ret, const void *bytes,
			   int (*more)(void *ctx, uint64_t want, uint64_t *len), void *ctx)
{
	struct fmt_reader r = {
		.p = bytes, .more = more, .more_ctx = ctx,
		.same_layout = true, .same_id_place = true,
	};
	int err = more(ctx, FMT_PIPE_HEADER_SIZE, &r.len);

	if (!err)
		err = open_any(&r);
	if (!err && !r.pipe)
		err = fmt_reader_bad(&r, -EBADMSG, FMT_HDR_SIZE,
				     "pipe form: only that can be read as it comes");
	return finish_open(ret, &r, err);
}

int fmt_reader_open_part(struct fmt_reader *ret, const struct fmt_reader *whole,
			 const void *bytes, uint64_t len)
{
	*ret = (struct fmt_reader){
		.p = bytes, .len = len, .data_end = len, .features_at = len,
		.killed = whole->killed,
		.events = whole->events, .nr_events = whole->nr_events, .ids = whole->ids,
		.same_layout = whole->same_layout, .same_id_place = whole->same_id_place,
		.id_in_sample = whole->id_in_sample, .id_in_trailer = whole->id_in_trailer,
		.shares_events = true,
	};
	return 0;
}

int fmt_reader_open_bare(struct fmt_reader *ret, uint64_t sample_type, const void *bytes,
			 uint64_t len)
{
	*ret = (struct fmt_reader){
		.p = bytes, .len = len, .data_end = len, .features_at = len,
		.same_layout = true, .same_id_place = true,
	};
	le_put(ret->bare_attr + FMT_ATTR_AT_SIZE, sizeof(ret->bare_attr), 4);
	le_put(ret->bare_attr + FMT_ATTR_AT_SAMPLE_TYPE, sample_type, 8);
	le_put(ret->bare_attr + FMT_ATTR_AT_FLAGS, FMT_ATTR_F_SAMPLE_ID_ALL, 8);
	return fmt_reader_add_bare(ret, ret->bare_attr, sizeof(ret->bare_attr));
}
