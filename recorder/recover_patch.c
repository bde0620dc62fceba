/* SPDX-License-Identifier: Apache-2.0 */
/* Mends a file where it is, when all of worth in it stands in its place already. */
#include <errno.h>
#include <stdlib.h>

#include "format/event.h"
#include "format/le.h"
#include "format/ptwalk.h"
#include "recorder/recover_priv.h"

/* Are all records in one row, the last of them the only one that may be cut? */
static bool in_one_row(const struct recover *c)
{
	const struct fmt_rec *t = &c->torn;

	if (c->nr_gaps > RECOVER_GAPS_MAX || c->nr_torn > 1)
		return false;
	for (size_t i = 0; i < c->nr_gaps; i++)
		if (c->gaps[i].at < c->s.end)
			return false;
	return !t->p || t->at + t->size + t->payload_len == c->s.end;
}

static size_t count(const struct recover *c, enum recover_fate fate)
{
	size_t n = 0;

	for (size_t i = 0; i < RECOVER_FEATURES; i++)
		n += c->features[i].fate == fate;
	return n;
}

/* perf opens no file with these but without tracing data. */
static bool has_tracepoints(const struct recover *c)
{
	const struct fmt_reader_event *e = c->r.events;

	for (size_t i = 0; i < c->r.nr_events; i++)
		if (fmt_attr_type(e[i].attr, e[i].attr_size) == FMT_TYPE_TRACEPOINT)
			return true;
	return false;
}

/* The features are where they belong, and only data.size is wrong. */
static bool features_are_right(const struct recover *c)
{
	return c->s.table && !c->r.features_shift && !count(c, RECOVER_DROPPED) &&
	       !count(c, RECOVER_REBUILT);
}

/* None is to be kept: new ones may take the place behind the data. */
static bool features_are_new(const struct recover *c)
{
	return !c->s.table && !count(c, RECOVER_KEPT) && !count(c, RECOVER_DROPPED) &&
	       !c->facts.zipped && !has_tracepoints(c) &&
	       le_get64(c->p + FMT_HDR_ATTRS) < c->s.end;
}

bool recover_can_patch(const struct recover *c)
{
	if (c->r.pipe || c->r.version != 2 || !c->nr_data || !c->r.nr_events ||
	    le_get64(c->p + FMT_HDR_SIZE) != FMT_HEADER_SIZE || !in_one_row(c))
		return false;
	return features_are_right(c) || features_are_new(c);
}

static int patch(const struct fmt_sink *sink, uint64_t at, uint64_t value)
{
	uint8_t le[8];

	le_put(le, value, sizeof(le));
	return sink->patch(sink->ctx, at, le, sizeof(le));
}

static int patch_size(const struct recover *c, const struct fmt_sink *sink)
{
	int err = patch(sink, FMT_HDR_DATA_SIZE, c->s.end - c->r.data_offset);

	return err ? err : sink->sync(sink->ctx);
}

static const uint8_t zeros[FMT_PT_PACKET_MAX];

/* Up to here the header promises nothing that is not there. */
static int make_valid(const struct recover *c, const struct fmt_sink *sink)
{
	const struct fmt_rec *t = &c->torn;
	int err = 0;

	for (unsigned i = 0; !err && i < FMT_HDR_FEATURE_WORDS; i++)
		if (le_get64(c->p + FMT_HDR_FEATURES + 8 * i))
			err = patch(sink, FMT_HDR_FEATURES + 8 * i, 0);
	if (!err && t->p)
		err = patch(sink, t->at + FMT_AUXTRACE_AT_SIZE, t->payload_len);
	if (!err && c->torn_blank)
		err = sink->patch(sink->ctx, c->s.end - c->torn_blank, zeros, c->torn_blank);
	if (!err)
		err = sink->sync(sink->ctx);
	if (!err)
		err = sink->cut(sink->ctx, c->s.end);
	return err ? err : patch_size(c, sink);
}

static int tell_traces(struct recover *c, struct fmt_writer *w)
{
	struct fmt_rec rec;
	struct fmt_gap gap;
	int got, err = 0;

	fmt_salvage_rewind(&c->s);
	while (!err && (got = fmt_salvage_next(&c->s, &rec, &gap)) > 0)
		if (got == FMT_SALVAGE_REC && rec.type == FMT_REC_AUXTRACE)
			err = fmt_writer_resume_aux(w, rec.at);
	return err ? err : got;
}

static int add_features(struct recover *c, struct recover_own *own,
			const struct fmt_sink *sink)
{
	struct fmt_features v;
	struct fmt_writer w;
	int err = recover_events(c, own);

	fmt_writer_init(&w, sink, false);
	fmt_writer_resume(&w, c->r.data_offset, c->s.end - c->r.data_offset);
	if (!err)
		err = tell_traces(c, &w);
	if (!err)
		err = recover_values(c, own, &v);
	/* All that is read of the file was read; now it may change. */
	if (!err)
		err = make_valid(c, sink);
	if (!err)
		err = fmt_writer_finish(&w, &v);
	fmt_writer_done(&w);
	return err ? err : sink->sync(sink->ctx);
}

int recover_patch(struct recover *c, const struct fmt_sink *sink)
{
	struct recover_own *own;
	int err;

	if (features_are_right(c))
		return patch_size(c, sink);
	own = calloc(1, sizeof(*own));
	if (!own)
		return -ENOMEM;
	err = add_features(c, own, sink);
	recover_own_done(own);
	free(own);
	return err;
}
