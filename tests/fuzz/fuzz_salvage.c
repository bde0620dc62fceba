/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes at all through the walk over what is whole: what it gives lies in the file, in the
 * order of the file, and is the same each time; of a file that is trusted it is what the
 * reader sees.
 */
#include <errno.h>
#include <stdbool.h>

#include "format/abi.h"
#include "format/salvage.h"
#include "tests/fuzz/fuzz.h"

enum { TURNS_MAX = 40000 };

struct seen {
	uint64_t records, gaps, inflated, sum;
	bool all;
};

static struct seen walk(struct fmt_salvage *s)
{
	const struct fmt_reader *r = s->r;
	struct seen n = { 0 };
	struct fmt_gap gap;
	struct fmt_rec rec;
	uint64_t at = 0;
	int got;

	for (unsigned i = 0; i < TURNS_MAX; i++) {
		got = fmt_salvage_next(s, &rec, &gap);
		expect(got == FMT_SALVAGE_END || got == FMT_SALVAGE_REC ||
		       got == FMT_SALVAGE_GAP);
		if (got == FMT_SALVAGE_END) {
			n.all = true;
			break;
		}
		if (got == FMT_SALVAGE_GAP) {
			expect(gap.expected && *gap.expected);
			expect(gap.at <= r->len && gap.len <= r->len - gap.at);
			n.sum = fuzz_sum(n.sum, &gap.at, sizeof(gap.at));
			n.gaps++;
			continue;
		}
		expect(rec.size >= FMT_REC_HEADER_SIZE);
		n.sum = fuzz_sum(n.sum, rec.p, rec.size);
		if (rec.inflated) {
			n.inflated++;
			continue;
		}
		expect(rec.at >= at && rec.at >= r->data_offset);
		at = rec.at + rec.size + rec.payload_len;
		expect(at <= r->len);
		n.records++;
	}
	if (n.all) {
		expect(s->end <= r->len && s->end >= r->data_offset);
		expect(n.records <= r->len / FMT_REC_HEADER_SIZE);
	}
	return n;
}

/* The records, and whether all of them were whole. */
static bool plainly(struct fmt_reader *r, struct seen *n)
{
	struct fmt_rec rec;
	int got;

	*n = (struct seen){ 0 };
	while ((got = fmt_reader_next(r, &rec)) > 0 && n->records + n->inflated < TURNS_MAX)
		*(rec.inflated ? &n->inflated : &n->records) += 1;
	return !got && !r->nr_odd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *p = fuzz_copy(data, size);
	struct seen plain, first, second;
	struct fmt_reader r;
	struct fmt_salvage s;
	bool sound;

	if (fmt_reader_open(&r, p, size)) {
		fmt_reader_done(&r);
		free(p);
		return 0;
	}
	sound = plainly(&r, &plain);
	fmt_reader_done(&r);
	expect(!fmt_reader_open(&r, p, size));
	fmt_salvage_begin(&s, &r);
	first = walk(&s);
	fmt_salvage_rewind(&s);
	second = walk(&s);
	expect(first.records == second.records && first.gaps == second.gaps);
	expect(first.inflated == second.inflated && first.sum == second.sum);
	if (sound && s.trusted && first.all && r.data_end == s.declared) {
		expect(first.records == plain.records);
		expect(first.inflated == plain.inflated);
	}
	fmt_reader_done(&r);
	free(p);
	return 0;
}
