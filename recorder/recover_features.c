/* SPDX-License-Identifier: Apache-2.0 */
/* The features of a damaged file: which are sound, which the records can replace. */
#include <errno.h>
#include <stdio.h>

#include "format/event.h"
#include "format/featcheck.h"
#include "format/judge.h"
#include "format/le.h"
#include "recorder/dsos.h"
#include "recorder/hash.h"
#include "recorder/recover_priv.h"

const char *recover_feature_name(unsigned feat, char buf[20])
{
	const char *name = feat < FMT_FEAT_LAST ? fmt_feature_name((enum fmt_feat)feat) : NULL;

	if (name)
		return name;
	snprintf(buf, 20, "feature %u", feat);
	return buf;
}

static void keep(struct recover_feature *f, const uint8_t *p, uint64_t len)
{
	if (f->fate == RECOVER_ABSENT)
		*f = (struct recover_feature){ .fate = RECOVER_KEPT, .p = p, .len = len };
}

static void drop(struct recover_feature *f, uint64_t at, const char *expected)
{
	*f = (struct recover_feature){ .fate = RECOVER_DROPPED, .at = at, .expected = expected };
}

void recover_take_feature(struct recover *c, const struct fmt_rec *rec)
{
	uint64_t feat;

	if (!c->r.pipe || rec->inflated)
		return;
	if (rec->type == FMT_REC_HEADER_TRACING_DATA)
		keep(&c->features[FMT_FEAT_TRACING_DATA], rec->payload, rec->payload_len);
	if (rec->type != FMT_REC_HEADER_FEATURE || rec->size < 16)
		return;
	feat = le_get64(rec->p + 8);
	/* The end mark has the number of the first feature its recorder does not know. */
	if (feat < RECOVER_FEATURES && (feat < FMT_FEAT_LAST || rec->size > 16))
		keep(&c->features[feat], rec->p + 16, rec->size - 16u);
}

/* Header form: the sections that the table names. */
static void take_section(struct recover *c, unsigned feat)
{
	struct recover_feature *f = &c->features[feat];
	const uint8_t *p;
	uint64_t len, at;
	int err = fmt_reader_feature(&c->r, (enum fmt_feat)feat, &p, &len);

	if (err == -ENOENT)
		return;
	if (err) {
		drop(f, c->s.end, "an entry of the feature table that is within the file");
		return;
	}
	at = (uint64_t)(p - c->p);
	if (len && at < c->s.end && at + len > c->r.data_offset)
		drop(f, at, "a feature section outside of the data");
	else
		keep(f, p, len);
}

static void check_shape(struct recover *c, unsigned feat)
{
	struct recover_feature *f = &c->features[feat];
	const char *expected;
	uint64_t at;

	if (f->fate == RECOVER_KEPT && fmt_feature_check(feat, f->p, f->len, &at, &expected))
		drop(f, (uint64_t)(f->p - c->p) + at, expected);
}

/* Does the index name each AUXTRACE record, in their order? */
static bool index_is_right(const struct recover *c, const struct recover_feature *f)
{
	uint64_t h = HASH_INIT, at;

	if (f->len < 8 || le_get64(f->p) != c->facts.nr_index)
		return false;
	for (uint64_t i = 0; i < c->facts.nr_index; i++) {
		at = le_get64(f->p + 8 + 16 * i);
		if (le_get64(f->p + 16 + 16 * i) != FMT_AUXTRACE_RECORD_SIZE)
			return false;
		h = hash_bytes(h, &at, sizeof(at));
	}
	return h == c->facts.index;
}

static void judge_index(struct recover *c)
{
	struct recover_feature *f = &c->features[FMT_FEAT_AUXTRACE];

	if (f->fate == RECOVER_KEPT && index_is_right(c, f))
		return;
	if (f->fate != RECOVER_ABSENT || (c->facts.has_trace && !c->s.table))
		f->fate = RECOVER_REBUILT;
}

/* What says something of each event says it of those that are there. */
static void judge_event_desc(struct recover *c)
{
	struct recover_feature *f = &c->features[FMT_FEAT_EVENT_DESC];

	if (f->fate == RECOVER_KEPT && f->len >= 8 && le_get32(f->p) != c->r.nr_events)
		drop(f, (uint64_t)(f->p - c->p), "as many events as there are attrs");
}

static bool all_named(const struct recover *c)
{
	for (size_t i = 0; i < c->r.nr_events; i++)
		if (!c->r.events[i].name || !*c->r.events[i].name)
			return false;
	return c->r.nr_events > 0;
}

static bool has_branches(const struct recover *c)
{
	const struct fmt_reader_event *e = c->r.events;

	for (size_t i = 0; i < c->r.nr_events; i++)
		if (fmt_attr_sample_type(e[i].attr, e[i].attr_size) & FMT_SAMPLE_BRANCH_STACK)
			return true;
	return false;
}

static void rebuild(struct recover *c, enum fmt_feat feat, bool can)
{
	struct recover_feature *f = &c->features[feat];

	/* A file that was finished lacks what its recorder left out. */
	if (can && (f->fate == RECOVER_DROPPED || (f->fate == RECOVER_ABSENT && !c->s.table)))
		f->fate = RECOVER_REBUILT;
}

static int judge_build_ids(struct recover *c)
{
	const struct fmt_build_id *rows;
	size_t n;
	int err = dsos_rows(c->facts.dsos, NULL, &rows, &n);

	rebuild(c, FMT_FEAT_BUILD_ID, !err && (n || c->facts.build_ids.len));
	return err;
}

int recover_judge_features(struct recover *c)
{
	if (!c->r.pipe)
		c->table_lost = !c->s.table && !c->s.killed && fmt_judge_table_size(&c->r);
	for (unsigned i = 0; i < RECOVER_FEATURES; i++) {
		if (c->s.table)
			take_section(c, i);
		check_shape(c, i);
	}
	/* Its records are stored inflated. */
	if (c->facts.zipped)
		c->features[FMT_FEAT_COMPRESSED].fate = RECOVER_ABSENT;
	judge_index(c);
	judge_event_desc(c);
	rebuild(c, FMT_FEAT_EVENT_DESC, all_named(c));
	rebuild(c, FMT_FEAT_BRANCH_STACK, has_branches(c));
	rebuild(c, FMT_FEAT_NRCPUS, c->facts.nr_cpus > 0);
	rebuild(c, FMT_FEAT_SAMPLE_TIME, c->facts.last_ns > 0);
	rebuild(c, FMT_FEAT_DIR_FORMAT, c->nr_parts > 0);
	return judge_build_ids(c);
}

void recover_leave_dir(struct recover *c)
{
	struct recover_feature *f = &c->features[FMT_FEAT_DIR_FORMAT];

	if (f->fate == RECOVER_KEPT)
		drop(f, (uint64_t)(f->p - c->p), "a directory, with records in its data.N");
}

static bool rebuilt(const struct recover *c, enum fmt_feat feat)
{
	return c->features[feat].fate == RECOVER_REBUILT;
}

/* Rows as the recorder sent them, and those of the MMAP2 records. */
static int put_build_ids(const struct recover *c, struct recover_own *own)
{
	struct fmt_features f = { 0 };

	fmt_put(&own->build_ids, c->facts.build_ids.data, c->facts.build_ids.len);
	if (dsos_rows(c->facts.dsos, NULL, &f.build_ids, &f.nr_build_ids))
		return -ENOMEM;
	(void)fmt_put_feature(&own->build_ids, FMT_FEAT_BUILD_ID, &f);
	return own->build_ids.err;
}

static void put_raw(struct recover_own *own, struct fmt_features *f, unsigned feat,
		    const uint8_t *p, uint64_t len)
{
	own->raw[f->nr_raw++] = (struct fmt_raw_feature){ .feat = feat, .p = p, .len = len };
}

/* The writer takes these by their values, as it has more to do with them. */
static bool is_own(unsigned feat)
{
	return feat == FMT_FEAT_TRACING_DATA || feat == FMT_FEAT_AUXTRACE;
}

/* PERF_DIR_VERSION: data.N beside the file. */
static const uint8_t dir_version[8] = { 1 };

int recover_values(const struct recover *c, struct recover_own *own, struct fmt_features *ret)
{
	const struct recover_feature *all = c->features;
	struct fmt_features f = { .raw = own->raw, .events = own->events };

	f.nr_events = c->r.nr_events;
	f.have_aux = all[FMT_FEAT_AUXTRACE].fate != RECOVER_ABSENT;
	if (all[FMT_FEAT_TRACING_DATA].fate == RECOVER_KEPT) {
		f.tracing_data = all[FMT_FEAT_TRACING_DATA].p;
		f.tracing_data_len = all[FMT_FEAT_TRACING_DATA].len;
	}
	f.have_sample_time = rebuilt(c, FMT_FEAT_SAMPLE_TIME);
	f.first_ns = c->facts.first_ns;
	f.last_ns = c->facts.last_ns;
	if (rebuilt(c, FMT_FEAT_NRCPUS))
		f.nr_cpus_avail = f.nr_cpus_online = c->facts.nr_cpus;
	if (rebuilt(c, FMT_FEAT_BUILD_ID) && put_build_ids(c, own))
		return -ENOMEM;
	for (unsigned i = 0; i < RECOVER_FEATURES; i++) {
		if (i == FMT_FEAT_BUILD_ID && rebuilt(c, i))
			put_raw(own, &f, i, own->build_ids.data, own->build_ids.len);
		else if (i == FMT_FEAT_BRANCH_STACK && rebuilt(c, i))
			put_raw(own, &f, i, NULL, 0);
		else if (i == FMT_FEAT_DIR_FORMAT && rebuilt(c, i))
			put_raw(own, &f, i, dir_version, sizeof(dir_version));
		else if (all[i].fate == RECOVER_KEPT && !is_own(i))
			put_raw(own, &f, i, all[i].p, all[i].len);
	}
	*ret = f;
	return 0;
}
