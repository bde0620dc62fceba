/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of a file, and how its records end. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/abi.h"
#include "format/le.h"
#include "recorder/check_priv.h"

enum { SECTIONS_MAX = 260 }; /* header, attrs, data, event_types, table, 255 payloads */

struct section {
	uint64_t at, len;
	unsigned feat; /* of a payload; else 0 and name is set */
	const char *name;
	uint64_t told_at; /* where the file tells of it */
};

struct sections {
	struct section s[SECTIONS_MAX];
	size_t n;
};

static void add(struct sections *all, const char *name, unsigned feat, uint64_t at,
		uint64_t len, uint64_t told_at)
{
	if (len && all->n < SECTIONS_MAX)
		all->s[all->n++] = (struct section){ at, len, feat, name, told_at };
}

static uint64_t word(const struct check *c, uint64_t at)
{
	return le_get64(c->r->p + at);
}

/* Payloads that lie within the file, and the table that tells of them. */
static void add_features(const struct check *c, struct sections *all)
{
	uint64_t entry = c->r->data_end, len;
	const uint8_t *p;

	if (!c->r->finished)
		return;
	for (unsigned k = 0; k < 256; k++) {
		if (!(c->r->feat_bits[k / 64] >> (k % 64) & 1))
			continue;
		if (!fmt_reader_feature(c->r, (enum fmt_feat)k, &p, &len))
			add(all, NULL, k, (uint64_t)(p - c->r->p), len, entry);
		entry += FMT_SECTION_SIZE;
	}
	add(all, "feature table", 0, c->r->data_end, entry - c->r->data_end,
	    FMT_HDR_FEATURES);
}

static int by_place(const void *a, const void *b)
{
	const struct section *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->told_at < y->told_at ? -1 : x->told_at > y->told_at;
}

static const char *name_of(const struct section *s, char buf[48])
{
	const char *feature = s->feat < FMT_FEAT_LAST ? fmt_feature_name(s->feat) : NULL;

	if (s->name)
		snprintf(buf, 48, "%s", s->name);
	else if (feature)
		snprintf(buf, 48, "feature '%s'", feature);
	else
		snprintf(buf, 48, "feature %u", s->feat);
	return buf;
}

static void overlaps(struct check *c, const struct sections *all)
{
	char a[48], b[48];

	for (size_t i = 1; i < all->n; i++) {
		const struct section *s = &all->s[i - 1], *t = &all->s[i];

		if (s->len > t->at - s->at)
			check_find(c, CHECK_OVERLAP, t->told_at,
				   "sections that do not overlap",
				   "%s at byte %" PRIu64
				   ", before the end of %s at byte %" PRIu64,
				   name_of(t, a), t->at, name_of(s, b), s->at + s->len);
	}
}

/* Bytes behind everything the file tells of: a recorder's status text, or a file that was
 * written over a longer one. */
static void trailing(struct check *c, const struct sections *all)
{
	uint64_t end = 0, last;

	if (!c->r->finished)
		return;
	for (size_t i = 0; i < all->n; i++) {
		last = all->s[i].at + all->s[i].len;
		end = last > end ? last : end;
	}
	if (end < c->r->len)
		check_find(c, CHECK_TRAILING, end, "the end of the file",
			   "%" PRIu64 " bytes that no section has", c->r->len - end);
}

/* Ids that lie where the records are: the lists are too many for the table above. */
static void ids_apart(struct check *c)
{
	const struct fmt_reader *r = c->r;

	for (size_t i = 0; i < r->nr_events; i++) {
		const struct fmt_reader_event *e = &r->events[i];
		uint64_t at = (uint64_t)(e->ids - r->p);

		if (e->nr_ids &&
		    (at < word(c, FMT_HDR_SIZE) ||
		     (at < r->data_end && at + 8 * e->nr_ids > r->data_offset)))
			check_find(c, CHECK_OVERLAP,
				   (uint64_t)(e->attr - r->p) + e->attr_size,
				   "ids outside of the header and of the data",
				   "ids of event %zu at byte %" PRIu64, i, at);
	}
}

void check_sections(struct check *c)
{
	struct sections all = { .n = 0 };
	const struct fmt_reader *r = c->r;
	uint64_t step;

	if (r->pipe)
		return;
	step = word(c, FMT_HDR_ATTR_SIZE);
	add(&all, "the file header", 0, 0, word(c, FMT_HDR_SIZE), FMT_HDR_SIZE);
	add(&all, "the attrs section", 0, word(c, FMT_HDR_ATTRS),
	    word(c, FMT_HDR_ATTRS + 8), FMT_HDR_ATTRS);
	add(&all, "the data section", 0, r->data_offset, r->data_end - r->data_offset,
	    FMT_HDR_DATA);
	add_features(c, &all);
	qsort(all.s, all.n, sizeof(*all.s), by_place);
	overlaps(c, &all);
	trailing(c, &all);
	ids_apart(c);
	if (word(c, FMT_HDR_ATTRS + 8) % step)
		check_find(c, CHECK_LAYOUT, FMT_HDR_ATTRS + 8,
			   "whole entries of attr_size",
			   "attrs of %" PRIu64 " bytes, attr_size %" PRIu64,
			   word(c, FMT_HDR_ATTRS + 8), step);
	check_features(c);
}

/* The reader stopped before the end: what stands there. */
void check_end_of_walk(struct check *c, int err, const struct fmt_reader *r)
{
	uint64_t at = r->bad_at, left;
	char type[24];

	left = at < r->data_end ? r->data_end - at : 0;
	if (left < FMT_REC_HEADER_SIZE)
		check_find(c, err == -ENODATA ? CHECK_CUT : CHECK_BROKEN, at, r->bad_what,
			   "%" PRIu64 " bytes", left);
	else
		check_find(c, err == -ENODATA ? CHECK_CUT : CHECK_BROKEN, at, r->bad_what,
			   "a header that says %s, %u bytes; %" PRIu64
			   " bytes are not read",
			   check_type(le_get32(r->p + at), type),
			   le_get16(r->p + at + FMT_REC_AT_SIZE), left);
}

/* Was the recorder able to end in order? Of a stream nothing tells. */
static void finished(struct check *c)
{
	const struct fmt_reader *r = c->r;
	bool killed = !word(c, FMT_HDR_DATA_SIZE);

	if (r->finished || c->rep->found[CHECK_CUT].n || c->rep->found[CHECK_BROKEN].n ||
	    word(c, FMT_HDR_SIZE) != FMT_HEADER_SIZE)
		return;
	for (unsigned k = 0; k < FMT_HDR_FEATURE_WORDS; k++)
		if (!killed && r->feat_bits[k])
			return; /* announced: check_features() misses them */
	check_find(c, CHECK_UNFINISHED, killed ? FMT_HDR_DATA_SIZE : FMT_HDR_FEATURES,
		   "what a recorder writes last: data.size and features",
		   "%s; records are whole up to byte %" PRIu64 " of %" PRIu64,
		   killed ? "data.size 0" : "no features", r->at, r->len);
}

void check_finished(struct check *c)
{
	if (!c->r->pipe)
		finished(c);
}
