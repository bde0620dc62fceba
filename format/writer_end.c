/* SPDX-License-Identifier: Apache-2.0 */
/* The last act: what stands behind the data, and what the head says once it is there. */
#include <errno.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/sections.h"
#include "format/writer_priv.h"

static int append_features(struct fmt_writer *w, const struct fmt_features *f,
			   uint64_t ret_bits[FMT_HDR_FEATURE_WORDS])
{
	struct fmt_sections *t = fmt_sections_new();
	struct iovec v[FMT_SECTIONS_SPANS];
	int n;

	if (!t)
		return -ENOMEM;
	n = fmt_sections_collect(t, f, w->pos, v);
	memcpy(ret_bits, t->bits, sizeof(t->bits));
	if (n > 0)
		n = fmt_writer_append(w, v, n);
	fmt_sections_free(t);
	return n;
}

/* The first word last, whose bits all files have. */
static int patch_bits(struct fmt_writer *w, const uint64_t bits[FMT_HDR_FEATURE_WORDS])
{
	int err = 0;

	for (unsigned i = FMT_HDR_FEATURE_WORDS; !err && i--;)
		if (bits[i] || !i)
			err = fmt_writer_patch(w, FMT_HDR_FEATURES + 8 * i, bits[i]);
	return err;
}

static int complete_file(struct fmt_writer *w, const struct fmt_features *f)
{
	uint64_t bits[FMT_HDR_FEATURE_WORDS];
	int err = append_features(w, f, bits);

	if (!err)
		err = fmt_writer_sync(w);
	if (!err)
		err = patch_bits(w, bits);
	if (!err)
		w->complete = true;
	else if (w->failed)
		(void)fmt_writer_roll_back(w); /* it keeps its own failure; the first one is told */
	return err;
}

/* The first 8 bytes of an attr are its type and size: one store for each tracepoint. */
static int name_tracepoints(struct fmt_writer *w, const struct fmt_features *f)
{
	uint64_t attrs = fmt_writer_attrs_at(w);
	int err = 0;

	if (!f->tracing_data || f->nr_events != w->nr_events)
		return 0;
	for (size_t i = 0; !err && i < f->nr_events; i++) {
		const uint8_t *attr = f->events[i].attr;

		if (fmt_attr_type(attr, FMT_ATTR_SIZE) == FMT_TYPE_TRACEPOINT)
			err = fmt_writer_patch(w, attrs + i * w->entry, le_get(attr, 8));
	}
	return err;
}

static int finish_stream(struct fmt_writer *w, const struct fmt_features *f)
{
	int there;

	fmt_buf_reset(&w->scratch);
	there = fmt_put_feature(&w->scratch, FMT_FEAT_BUILD_ID, f);
	if (there > 0)
		return fmt_writer_append_scratch(w);
	return there;
}

static int finish_file(struct fmt_writer *w, const struct fmt_features *f)
{
	struct fmt_features own = *f;
	int err = 0;

	if (!w->complete) {
		err = w->failed ? fmt_writer_roll_back(w) : fmt_writer_round(w, true);
		own.aux = w->index;
		own.nr_aux = w->nr_index;
		if (!err)
			err = complete_file(w, &own);
	}
	return err ? err : name_tracepoints(w, f);
}

int fmt_writer_finish(struct fmt_writer *w, const struct fmt_features *f)
{
	int err;

	if (!w->data_offset)
		return w->failed ? w->failed : -ENODATA;
	if (!w->pipe)
		return finish_file(w, f);
	err = fmt_writer_round(w, true);
	return err ? err : finish_stream(w, f);
}
