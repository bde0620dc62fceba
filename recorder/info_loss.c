/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger of losses, by cpu and cause. */
#include <errno.h>

#include "format/abi.h"
#include "format/event.h"
#include "format/le.h"
#include "recorder/info_priv.h"

#define AUX_LOSS (FMT_AUX_TRUNCATED | FMT_AUX_PARTIAL | FMT_AUX_COLLISION)

static const struct {
	const char *name, *key, *unit;
} causes[INFO_CAUSES] = {
	[INFO_LOST] = { "lost records", "lost", "records" },
	[INFO_LOST_SAMPLES] = { "lost samples", "lost_samples", "samples" },
	[INFO_READ_LOST] = { "lost by READ", "read_lost", "samples" },
	[INFO_AUX_TRUNCATED] = { "AUX truncated", "aux_truncated", NULL },
	[INFO_AUX_PARTIAL] = { "AUX partial", "aux_partial", NULL },
	[INFO_AUX_COLLISION] = { "AUX collision", "aux_collision", NULL },
	[INFO_TRACE_GAP] = { "gap in the trace", "trace_gap", "bytes" },
};

const char *info_cause_name(enum info_cause c)
{
	return causes[c].name;
}

const char *info_cause_key(enum info_cause c)
{
	return causes[c].key;
}

const char *info_cause_unit(enum info_cause c)
{
	return causes[c].unit;
}

bool info_lost(const struct info_loss loss[INFO_CAUSES])
{
	for (unsigned c = 0; c < INFO_CAUSES; c++)
		if (loss[c].n)
			return true;
	return false;
}

void info_loss_add(struct info_loss *l, uint64_t amount, const uint64_t *ns)
{
	struct info_span s = { l->has_time, l->first_ns, l->last_ns };

	l->n++;
	l->amount += amount;
	if (!ns)
		return;
	info_span_add(&s, *ns);
	l->has_time = true;
	l->first_ns = s.first_ns;
	l->last_ns = s.last_ns;
}

static void add(struct info *i, const struct info_kernel *k, enum info_cause c,
		uint64_t amount)
{
	const uint64_t *ns = k->real && k->when.has_time ? &k->when.time : NULL;

	info_loss_add(&i->loss[c], amount, ns);
	info_loss_add(&k->cpu->loss[c], amount, ns);
}

/* Is there a body of so many bytes? A fault if not. */
static bool has_body(struct info *i, const struct fmt_rec *rec, unsigned size)
{
	if (rec->size >= size)
		return true;
	info_fault(i, rec->at, "a record of %u bytes or more", size);
	return false;
}

static int count_flags(struct rows *t, uint64_t key, uint64_t flags)
{
	struct info_flagged *f = rows_get(t, key);

	if (!f)
		return -ENOMEM;
	f->truncated += !!(flags & FMT_AUX_TRUNCATED);
	f->partial += !!(flags & FMT_AUX_PARTIAL);
	f->collision += !!(flags & FMT_AUX_COLLISION);
	f->overwrite += !!(flags & FMT_AUX_OVERWRITE);
	return 0;
}

static int fold_aux(struct info *i, const struct info_kernel *k)
{
	uint64_t flags = le_get64(k->rec->p + FMT_AUX_AT_FLAGS);
	struct info_flags *f = rows_get(&i->aux.flags, flags);
	int err;

	if (!f)
		return -ENOMEM;
	f->n++;
	/* Its offsets are those of a buffer that goes round: pieces need not follow. */
	if (flags & FMT_AUX_OVERWRITE)
		i->aux.snapshot = true;
	if (flags & FMT_AUX_TRUNCATED)
		add(i, k, INFO_AUX_TRUNCATED, 0);
	if (flags & FMT_AUX_PARTIAL)
		add(i, k, INFO_AUX_PARTIAL, 0);
	if (flags & FMT_AUX_COLLISION)
		add(i, k, INFO_AUX_COLLISION, 0);
	if (!(flags & (AUX_LOSS | FMT_AUX_OVERWRITE)))
		return 0;
	err = count_flags(&i->aux.by_cpu, k->cpu->key, flags);
	if (err || !k->when.has_tid)
		return err;
	return count_flags(&i->aux.by_tid, k->when.tid, flags);
}

/* The sum of the words `lost` of a READ, whose layout is its event's read_format:
 * perf_event_open(2). False where it has none, or is too short. */
static bool read_lost(const struct info_kernel *k, uint64_t *ret)
{
	const struct fmt_reader_event *e = &k->r->events[k->when.event];
	uint64_t fmt = fmt_attr_read_format(e->attr, e->attr_size);
	uint64_t flags = fmt_attr_flags(e->attr, e->attr_size), n = 1;
	size_t times = (size_t)__builtin_popcountll(
		fmt & (FMT_FORMAT_TOTAL_TIME_ENABLED | FMT_FORMAT_TOTAL_TIME_RUNNING));
	size_t at = FMT_READ_AT_VALUES, end = k->rec->size, one;

	if (flags & FMT_ATTR_F_SAMPLE_ID_ALL)
		end -= fmt_trailer_size(fmt_attr_sample_type(e->attr, e->attr_size));
	if (!(fmt & FMT_FORMAT_LOST) || end < at + 8)
		return false;
	one = fmt & FMT_FORMAT_ID ? 24 : 16; /* value, id, lost */
	if (fmt & FMT_FORMAT_GROUP) {
		n = le_get64(k->rec->p + at);
		at += 8 + 8 * times;
	} else {
		one += 8 * times;
	}
	*ret = 0;
	for (; n && at <= end && one <= end - at; n--, at += one)
		*ret += le_get64(k->rec->p + at + one - 8);
	return !n;
}

static void fold_read(struct info *i, const struct info_kernel *k)
{
	uint64_t lost = 0;

	if (k->when.event >= 0 && k->r->nr_events && read_lost(k, &lost) && lost)
		add(i, k, INFO_READ_LOST, lost);
}

int info_loss_fold(struct info *i, const struct info_kernel *k)
{
	const struct fmt_rec *rec = k->rec;

	switch (rec->type) {
	case FMT_REC_LOST:
		if (has_body(i, rec, FMT_LOST_AT_LOST + 8))
			add(i, k, INFO_LOST, le_get64(rec->p + FMT_LOST_AT_LOST));
		return 0;
	case FMT_REC_LOST_SAMPLES:
		if (has_body(i, rec, FMT_LOST_SAMPLES_AT_LOST + 8))
			add(i, k, INFO_LOST_SAMPLES,
			    le_get64(rec->p + FMT_LOST_SAMPLES_AT_LOST));
		return 0;
	case FMT_REC_AUX:
		if (has_body(i, rec, FMT_AUX_AT_FLAGS + 8))
			return fold_aux(i, k);
		return 0;
	case FMT_REC_READ:
		fold_read(i, k);
		return 0;
	default:
		return 0;
	}
}
