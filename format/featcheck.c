/* SPDX-License-Identifier: Apache-2.0 */
#include "format/featcheck.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "format/abi.h"
#include "format/feature.h"
#include "format/le.h"

/*
 * Shapes: 4 and 8 are numbers of so many bytes, s a text, x a u32 length and its bytes, b a
 * bitmap (u64 bits and as many words as they need), n(...) and N(...) a u32 or u64 count and
 * that many of what is in the brackets. Source: tools/perf/util/header.c (Linux 6.1).
 */
static const char *const shapes[FMT_FEAT_LAST] = {
	[FMT_FEAT_HOSTNAME] = "s",
	[FMT_FEAT_OSRELEASE] = "s",
	[FMT_FEAT_VERSION] = "s",
	[FMT_FEAT_ARCH] = "s",
	[FMT_FEAT_NRCPUS] = "44",
	[FMT_FEAT_CPUDESC] = "s",
	[FMT_FEAT_CPUID] = "s",
	[FMT_FEAT_TOTAL_MEM] = "8",
	[FMT_FEAT_CMDLINE] = "n(s)",
	[FMT_FEAT_CPU_TOPOLOGY] = "n(s)n(s)",
	[FMT_FEAT_NUMA_TOPOLOGY] = "n(488s)",
	[FMT_FEAT_PMU_MAPPINGS] = "n(4s)",
	[FMT_FEAT_GROUP_DESC] = "n(s44)",
	[FMT_FEAT_AUXTRACE] = "N(88)",
	[FMT_FEAT_CACHE] = "4n(4444sss)",
	[FMT_FEAT_SAMPLE_TIME] = "88",
	[FMT_FEAT_MEM_TOPOLOGY] = "88N(88b)",
	[FMT_FEAT_CLOCKID] = "8",
	[FMT_FEAT_DIR_FORMAT] = "8",
	[FMT_FEAT_BPF_PROG_INFO] = "n(p)",
	[FMT_FEAT_BPF_BTF] = "n(4x)",
	[FMT_FEAT_COMPRESSED] = "44444",
	[FMT_FEAT_CPU_PMU_CAPS] = "n(ss)",
	[FMT_FEAT_CLOCK_DATA] = "4488",
	[FMT_FEAT_HYBRID_TOPOLOGY] = "n(ss)",
	[FMT_FEAT_PMU_CAPS] = "n(n(ss)s)",
};

struct walk {
	const uint8_t *p;
	uint64_t len, at;
	const char *expected; /* set: it went wrong at `at` */
};

static bool bad(struct walk *w, const char *expected)
{
	w->expected = expected;
	return false;
}

/* n more bytes? They are not passed. */
static bool has(struct walk *w, uint64_t n, const char *what)
{
	return n <= w->len - w->at || bad(w, what);
}

static bool pass(struct walk *w, uint64_t n, const char *what)
{
	if (!has(w, n, what))
		return false;
	w->at += n;
	return true;
}

static uint64_t peek(const struct walk *w, unsigned n)
{
	return le_get(w->p + w->at, n);
}

static bool text(struct walk *w)
{
	uint64_t n;

	if (!has(w, 4, "the length of a text"))
		return false;
	n = peek(w, 4);
	if (!has(w, 4 + n, "a text that ends within the section"))
		return false;
	if (n && !memchr(w->p + w->at + 4, 0, n))
		return bad(w, "a text with its final zero");
	return pass(w, 4 + n, "");
}

static bool bitmap(struct walk *w)
{
	uint64_t bits;

	if (!has(w, 8, "the size of a bitmap"))
		return false;
	bits = peek(w, 8);
	w->at += 8;
	if (bits / 8 > w->len - w->at)
		return bad(w, "a bitmap that ends within the section");
	return pass(w, (bits + 63) / 64 * 8, "a bitmap that ends within the section");
}

/* u32 info_len, u32 data_len, u64, info, data */
static bool program(struct walk *w)
{
	if (!has(w, 16, "a program"))
		return false;
	return pass(w, 16 + peek(w, 4) + le_get(w->p + w->at + 4, 4),
		    "a program that ends within the section");
}

static bool item(struct walk *w, char kind)
{
	switch (kind) {
	case '4':
		return pass(w, 4, "4 more bytes");
	case '8':
		return pass(w, 8, "8 more bytes");
	case 's':
		return text(w);
	case 'b':
		return bitmap(w);
	case 'p':
		return program(w);
	default:
		return has(w, 4, "a length") &&
		       pass(w, 4 + peek(w, 4), "bytes that end within the section");
	}
}

/* Behind the bracket that `shape` is in. */
static const char *closing(const char *shape)
{
	for (int depth = 1; depth; shape++)
		depth += *shape == '(' ? 1 : *shape == ')' ? -1 : 0;
	return shape;
}

static bool follow(struct walk *w, const char *shape);

static bool repeat(struct walk *w, const char *shape, unsigned width)
{
	uint64_t n;

	if (!has(w, width, "a count"))
		return false;
	n = peek(w, width);
	w->at += width;
	/* Each turn takes bytes or fails, so the count needs no bound. */
	for (uint64_t i = 0; i < n; i++)
		if (!follow(w, shape))
			return false;
	return true;
}

/* Up to the end of the shape or its closing bracket. */
static bool follow(struct walk *w, const char *shape)
{
	while (*shape && *shape != ')') {
		if (*shape == 'n' || *shape == 'N') {
			if (!repeat(w, shape + 2, *shape == 'n' ? 4 : 8))
				return false;
			shape = closing(shape + 2);
		} else if (!item(w, *shape++)) {
			return false;
		}
	}
	return true;
}

/* u32 nr, u32 attr_size; nr times: attr, u32 nr_ids, text, u64s. */
static bool event_desc(struct walk *w)
{
	uint64_t nr, attr, ids;

	if (!has(w, 8, "a number of events and the size of their attrs"))
		return false;
	nr = peek(w, 4);
	attr = le_get(w->p + w->at + 4, 4);
	w->at += 8;
	for (uint64_t i = 0; i < nr; i++) {
		if (!pass(w, attr, "a whole attr") || !has(w, 4, "a number of ids"))
			return false;
		ids = peek(w, 4);
		w->at += 4;
		if (!text(w) || !pass(w, 8 * ids, "ids that end within the section"))
			return false;
	}
	return true;
}

/* A row of records, of type 67 or (perf itself) 0. */
static bool build_ids(struct walk *w)
{
	uint64_t size;

	while (w->at < w->len) {
		if (!has(w, FMT_BUILD_ID_AT_NAME, "a whole build id"))
			return false;
		size = le_get16(w->p + w->at + FMT_REC_AT_SIZE);
		if (size < FMT_BUILD_ID_AT_NAME)
			return bad(w, "a build id of 36 bytes or more");
		if (!pass(w, size, "a build id that ends within the section"))
			return false;
	}
	return true;
}

static bool tracing_data(struct walk *w)
{
	static const char magic[] = "\027\010\104tracing";

	if (!has(w, sizeof(magic) - 1, "tracing data"))
		return false;
	return !memcmp(w->p, magic, sizeof(magic) - 1) || bad(w, "the word 'tracing'");
}

int fmt_feature_check(unsigned feat, const uint8_t *p, uint64_t len, uint64_t *ret_at,
		      const char **ret_expected)
{
	struct walk w = { .p = p, .len = len };
	bool good = true;

	if (!len)
		return 0;
	if (feat == FMT_FEAT_EVENT_DESC)
		good = event_desc(&w);
	else if (feat == FMT_FEAT_BUILD_ID)
		good = build_ids(&w);
	else if (feat == FMT_FEAT_TRACING_DATA)
		good = tracing_data(&w);
	else if (feat < FMT_FEAT_LAST && shapes[feat])
		good = follow(&w, shapes[feat]);
	if (good)
		return 0;
	*ret_at = w.at;
	*ret_expected = w.expected;
	return -EBADMSG;
}
