/* SPDX-License-Identifier: Apache-2.0 */
#include "format/head.h"

#include "format/abi.h"
#include "format/auxtrace.h"
#include "format/record.h"

static void put_section(struct fmt_buf *b, uint64_t offset, uint64_t size)
{
	fmt_put_le(b, offset, 8);
	fmt_put_le(b, size, 8);
}

/* The attr of a file that has no TRACING_DATA yet: see the top of writer.h. */
static void put_early_attr(struct fmt_buf *b, const struct fmt_event *e)
{
	size_t size = fmt_event_attr_size(e);
	uint32_t type = fmt_attr_type(e->attr, size);

	fmt_put_le(b, type == FMT_TYPE_TRACEPOINT ? FMT_TYPE_RAW : type, 4);
	fmt_put(b, e->attr + 4, size - 4);
}

/* Header, ids, attrs; the data section follows. All of them are multiples of 8 long. */
void fmt_put_file_head(struct fmt_buf *b, const struct fmt_event *ev, size_t nr_ev,
		       size_t attr_size)
{
	uint64_t ids = FMT_HEADER_SIZE, attrs = ids, entry = attr_size + FMT_SECTION_SIZE;

	for (size_t i = 0; i < nr_ev; i++)
		attrs += 8 * (ev[i].nr_ids + ev[i].room);
	fmt_put_le(b, FMT_MAGIC, 8);
	fmt_put_le(b, FMT_HEADER_SIZE, 8);
	fmt_put_le(b, entry, 8);
	put_section(b, attrs, nr_ev * entry);
	put_section(b, attrs + nr_ev * entry, 0);
	put_section(b, 0, 0); /* event types: obsolete */
	fmt_put_zero(b, 8 * FMT_HDR_FEATURE_WORDS);

	for (size_t i = 0; i < nr_ev; i++) {
		for (size_t j = 0; j < ev[i].nr_ids; j++)
			fmt_put_le(b, ev[i].ids[j], 8);
		fmt_put_zero(b, 8 * ev[i].room);
	}
	for (size_t i = 0; i < nr_ev; i++) {
		put_early_attr(b, &ev[i]);
		put_section(b, ids, 8 * ev[i].nr_ids);
		ids += 8 * (ev[i].nr_ids + ev[i].room);
	}
}

/* The features of a stream, as far as each fits a record, and their end mark. */
static void put_stream_features(struct fmt_buf *b, const struct fmt_features *f)
{
	for (unsigned i = 1; i < FMT_FEAT_LAST; i++)
		if (fmt_feature_in_pipe((enum fmt_feat)i))
			fmt_put_header_feature(b, (enum fmt_feat)i, f);
	fmt_put_header_feature(b, FMT_FEAT_LAST, f);
}

/* The record that announces `len` bytes of tracing data and counts their padding, too. */
static void put_header_tracing_data(struct fmt_buf *b, size_t len)
{
	size_t at = fmt_record_begin(b, FMT_REC_HEADER_TRACING_DATA, 0);

	fmt_put_le(b, len + (-len & 7), 4);
	fmt_put_le(b, 0, 4);
	(void)fmt_record_end(b, at);
}

int fmt_put_stream_head(struct fmt_buf *b, const struct fmt_event *ev, size_t nr_ev,
			const struct fmt_features *f)
{
	fmt_put_le(b, FMT_MAGIC, 8);
	fmt_put_le(b, FMT_PIPE_HEADER_SIZE, 8);
	for (size_t i = 0; i < nr_ev; i++)
		if (fmt_put_header_attr(b, &ev[i]))
			return b->err;
	put_stream_features(b, f);
	if (f->tracing_data)
		put_header_tracing_data(b, f->tracing_data_len);
	return b->err;
}
