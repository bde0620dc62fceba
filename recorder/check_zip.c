/* SPDX-License-Identifier: Apache-2.0 */
/*
 * COMPRESSED records: the feature that readers need to inflate them, and what the reader
 * of format/ stumbled over.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "recorder/check_priv.h"

enum { MMAP_LEN_AT = 16, FEATURE_SIZE = 20 };

/* Odd things belong to the record that was just given, or to the COMPRESSED one that
 * ends. */
static void odd(struct check *c, const struct fmt_rec *rec)
{
	struct check_zip *z = &c->zip;
	uint64_t at = c->r->odd_at;
	char type[24];

	if (c->r->nr_odd == z->seen_odd)
		return;
	z->seen_odd = c->r->nr_odd;
	if (!rec && !c->r->pipe && !c->in->r.finished)
		return; /* the last record's end was never written */
	if (rec && rec->inflated && rec->type == FMT_REC_AUXTRACE)
		return; /* check_auxtrace() says so */
	check_find(c, CHECK_ODD, at, c->r->odd_what, "a record %s",
		   at + 4 <= c->r->len ? check_type(le_get32(c->r->p + at), type) : "?");
}

static void end_of_one(struct check_zip *z)
{
	if (z->bytes > z->most) {
		z->most = z->bytes;
		z->most_at = z->now_at;
	}
	z->bytes = 0;
}

void check_zip(struct check *c, const struct check_rec *cr)
{
	const struct fmt_rec *rec = cr->rec;
	struct check_zip *z = &c->zip;

	odd(c, rec);
	if (rec->inflated) {
		z->bytes += rec->size;
	} else if (rec->type == FMT_REC_COMPRESSED || rec->type == FMT_REC_COMPRESSED2) {
		end_of_one(z);
		z->now_at = rec->at;
		if (z->at == CHECK_NOWHERE)
			z->at = rec->at;
	}
}

/* A reader inflates into as many bytes as the recorder's ring had. A record that begins
 * in one COMPRESSED record and ends in the next is counted with the next, so allow for
 * one. */
static void feature(struct check *c)
{
	const struct check_zip *z = &c->zip;
	const uint8_t *p;
	uint64_t len, most = z->most > UINT16_MAX ? z->most - UINT16_MAX : 0;
	char expected[CHECK_EXPECTED_MAX];

	if (fmt_reader_feature(&c->in->r, FMT_FEAT_COMPRESSED, &p, &len)) {
		if (c->in->r.finished || c->in->r.pipe)
			check_find(c, CHECK_COMPRESSED, z->at, "the feature COMPRESSED",
				   "COMPRESSED records, which readers cannot inflate "
				   "without it");
		return;
	}
	if (len < FEATURE_SIZE)
		return; /* check_feature() says so */
	if (le_get32(p + MMAP_LEN_AT) < most) {
		snprintf(expected, sizeof(expected),
			 "an mmap_len of that or more, not %u",
			 le_get32(p + MMAP_LEN_AT));
		check_find(c, CHECK_COMPRESSED, z->most_at, expected,
			   "a COMPRESSED record with %" PRIu64 " bytes in it", z->most);
	}
}

/* The end of a file or of one of its parts. */
void check_zip_end(struct check *c)
{
	odd(c, NULL);
	end_of_one(&c->zip);
	if (c->zip.at != CHECK_NOWHERE)
		feature(c);
	c->zip = (struct check_zip){ .at = CHECK_NOWHERE };
}
