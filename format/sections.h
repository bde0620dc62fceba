/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The feature table of a file and the sections behind it, put together in memory: what
 * fmt_features has values for is encoded, what it copies from another file stays there.
 */
#ifndef FORMAT_SECTIONS_H
#define FORMAT_SECTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "format/abi.h"
#include "format/buf.h"
#include "format/feature.h"

/* Every bit of the bitmap may be a section. */
enum {
	FMT_SECTIONS_MAX = 64 * FMT_HDR_FEATURE_WORDS,
	FMT_SECTIONS_SPANS = 1 + FMT_SECTIONS_MAX,
};

struct fmt_sections {
	struct fmt_buf table, payloads;
	struct {
		const uint8_t *raw; /* NULL: in payloads, at `at` */
		uint64_t at, len;
	} s[FMT_SECTIONS_MAX];
	size_t n;
	uint64_t bits[FMT_HDR_FEATURE_WORDS]; /* for the file header */
};

struct fmt_sections *fmt_sections_new(void); /* NULL: no memory */
void fmt_sections_free(struct fmt_sections *t);

/* The bytes that belong at file offset `at`, where the data ends: the number of spans in v
 * (FMT_SECTIONS_SPANS, good until t is freed), or what fmt_put_feature() said. All that is
 * encoded is one span where nothing copied stands between. */
int fmt_sections_collect(struct fmt_sections *t, const struct fmt_features *f, uint64_t at,
			 struct iovec *v);

#endif
