/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes at all through the reader. With clang:
 *
 *	clang -std=gnu11 -D_GNU_SOURCE -I. -g -O1 -fsanitize=fuzzer,address,undefined \
 *		-o fuzz_reader tests/fuzz/fuzz_reader.c format/[a-z]*.c
 */
#include <stdlib.h>

#include "format/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(int truth)
{
	if (!truth)
		abort();
}

static void ask_features(const struct fmt_reader *r)
{
	const uint8_t *p;
	uint64_t n;

	for (unsigned k = 0; k < 256; k++) {
		if (!fmt_reader_feature(r, (enum fmt_feat)k, &p, &n))
			expect(n <= r->len && p >= r->p && p + n <= r->p + r->len);
		fmt_reader_feature_str(r, (enum fmt_feat)k);
		fmt_reader_feature_list(r, (enum fmt_feat)k, 2);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t turns, first = 0;
	struct fmt_reader r;
	struct fmt_when w;
	struct fmt_rec rec;

	if (fmt_reader_open(&r, data, size)) {
		expect(r.bad_what != NULL);
		fmt_reader_done(&r);
		return 0;
	}
	for (unsigned walk = 0; walk < 2; walk++) {
		fmt_reader_rewind(&r);
		for (turns = 0; fmt_reader_next(&r, &rec) > 0; turns++) {
			expect(turns < size / 8);
			expect(rec.at + rec.size + rec.payload_len == r.at);
			expect(r.at <= size);
			fmt_reader_event_of(&r, &rec);
			fmt_reader_when(&r, &rec, &w);
		}
		/* The second walk sees what the first saw. */
		expect(!walk || turns == first);
		first = turns;
	}
	ask_features(&r);
	fmt_reader_done(&r);
	return 0;
}
