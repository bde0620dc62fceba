/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feature sections. Old readers stop at the first that they cannot follow, and lose those
 * behind it; newer ones refuse the file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "format/abi.h"
#include "format/featcheck.h"
#include "format/le.h"
#include "recorder/check_priv.h"
#include "recorder/check_section.h"

static const char *name_of(unsigned feat, char buf[40])
{
	const char *name = feat < FMT_FEAT_LAST ? fmt_feature_name(feat) : NULL;

	if (name)
		snprintf(buf, 40, "feature '%s'", name);
	else
		snprintf(buf, 40, "feature %u", feat);
	return buf;
}

static bool may_be_empty(unsigned feat)
{
	return feat == FMT_FEAT_BRANCH_STACK || feat == FMT_FEAT_STAT ||
	       feat == FMT_FEAT_BUILD_ID;
}

static void times(struct check *c, const uint8_t *p, uint64_t at)
{
	uint64_t first = le_get64(p), last = le_get64(p + 8);

	if (first > last)
		check_find(c, CHECK_FEATURE, at, "a first time before the last",
			   "feature 'sample time' from %" PRIu64 " to %" PRIu64, first,
			   last);
}

/* cache and memory topology: readers take version 1 alone. */
static void version(struct check *c, unsigned feat, uint64_t v, uint64_t at)
{
	char name[40];

	if (v != 1)
		check_find(c, CHECK_UNKNOWN_FEATURE, at,
			   "version 1, or readers pass it over", "%s of version %" PRIu64,
			   name_of(feat, name), v);
}

static void closer(struct check *c, unsigned feat, struct check_section *s, uint64_t at)
{
	char name[40];

	if (feat == FMT_FEAT_TRACING_DATA)
		check_tracing(s);
	else if (feat == FMT_FEAT_CPU_TOPOLOGY && c->nr_cpus)
		check_topology(s, c->nr_cpus);
	if (s->bad)
		check_find(c, CHECK_FEATURE, at + s->at, s->bad,
			   "%" PRIu64 " of the %" PRIu64 " bytes of %s", s->len - s->at,
			   s->len, name_of(feat, name));
}

/* What a payload that can be followed says. */
static void meaning(struct check *c, unsigned feat, const uint8_t *p, uint64_t at)
{
	switch (feat) {
	case FMT_FEAT_NRCPUS:
		c->nr_cpus = le_get32(p);
		break;
	case FMT_FEAT_SAMPLE_TIME:
		times(c, p, at);
		break;
	case FMT_FEAT_CACHE:
	case FMT_FEAT_CLOCK_DATA:
		version(c, feat, le_get32(p), at);
		break;
	case FMT_FEAT_MEM_TOPOLOGY:
	case FMT_FEAT_DIR_FORMAT:
		version(c, feat, le_get64(p), at);
		break;
	case FMT_FEAT_COMPRESSED:
		if (le_get32(p + 4) != 1)
			check_find(c, CHECK_COMPRESSED, at + 4, "1, zstd",
				   "feature 'compressed' of type %u", le_get32(p + 4));
		break;
	}
	if (feat == FMT_FEAT_DIR_FORMAT && !c->in->dir)
		check_find(c, CHECK_PARTS, at,
			   "a directory, with the records in files data.N",
			   "feature 'dir format' in a file");
}

void check_feature(struct check *c, unsigned feat, const uint8_t *p, uint64_t len,
		   uint64_t at)
{
	struct check_section s = { .p = p, .len = len };
	const char *expected;
	uint64_t bad;
	char name[40];

	name_of(feat, name);
	if (feat >= FMT_FEAT_LAST || !feat) {
		check_find(c, CHECK_UNKNOWN_FEATURE, at, "features 1 to 31",
			   "%s of %" PRIu64 " bytes, passed over", name, len);
	} else if (!len) {
		/* Recorders that found nothing to say (perf 3.8). */
		if (!may_be_empty(feat))
			check_find(c, CHECK_EMPTY_FEATURE, at, "something in it",
				   "%s of 0 bytes", name);
	} else if (fmt_feature_check(feat, p, len, &bad, &expected)) {
		check_find(c, CHECK_FEATURE, at + bad, expected,
			   "%" PRIu64 " of the %" PRIu64 " bytes of %s", len - bad, len,
			   name);
	} else {
		closer(c, feat, &s, at);
		meaning(c, feat, p, at);
	}
}

void check_features(struct check *c)
{
	uint64_t entry = c->r->data_end, len;
	const uint8_t *p;
	char name[40];
	int err;

	for (unsigned k = 0; k < 256; k++) {
		if (!(c->r->feat_bits[k / 64] >> (k % 64) & 1))
			continue;
		err = fmt_reader_feature(c->r, (enum fmt_feat)k, &p, &len);
		if (!err)
			check_feature(c, k, p, len, (uint64_t)(p - c->r->p));
		else
			check_find(c, CHECK_FEATURE, entry, "a section within the file",
				   "%s announced, and no place for it", name_of(k, name));
		entry += FMT_SECTION_SIZE;
	}
}
