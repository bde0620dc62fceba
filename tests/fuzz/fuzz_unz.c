/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes at all as the content of COMPRESSED records: the records that come out do not
 * depend on how the stream was cut into COMPRESSED records, nor on what was inflated before.
 */
#include <errno.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/unz.h"
#include "tests/fuzz/fuzz.h"

enum { RECORDS_MAX = 5000 };

struct seen {
	unsigned n;		   /* records */
	uint64_t sum[RECORDS_MAX]; /* over all up to this one */
	int err;
};

static void note(struct seen *s, const uint8_t *rec)
{
	uint64_t sum = s->n ? s->sum[s->n - 1] : 0;
	size_t size = le_get16(rec + FMT_REC_AT_SIZE);

	expect(size >= FMT_REC_HEADER_SIZE);
	s->sum[s->n++] = fuzz_sum(sum, rec, size);
}

/* Until the first error: behind it, what can be found again depends on the cuts. */
static void inflate(struct seen *s, struct fmt_unz *u, const uint8_t *data, size_t size,
		    size_t step)
{
	const uint8_t *rec;
	uint64_t at, end = 0;
	size_t n;

	s->n = 0;
	s->err = 0;
	fmt_unz_reset(u);
	for (size_t i = 0; i < size && s->n < RECORDS_MAX && !s->err; i += n) {
		uint8_t *piece;

		n = step < size - i ? step : size - i;
		piece = fuzz_copy(data + i, n);
		fmt_unz_feed(u, piece, n);
		while (s->n < RECORDS_MAX &&
		       (s->err = fmt_unz_next(u, &rec, &at)) > 0) {
			expect(at == end); /* without a hole */
			end = at + le_get16(rec + FMT_REC_AT_SIZE);
			note(s, rec);
		}
		if (!s->err)
			expect(fmt_unz_carried(u) < 1 << 16);
		else if (s->err < 0)
			expect(!fmt_unz_carried(u));
		free(piece);
	}
	expect(s->err >= 0 || s->err == -EBADMSG || s->err == -EPROTO);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct seen whole, cut;
	static struct fmt_unz *u; /* for good: making one takes longer than using it */
	unsigned n;

	if (!u)
		expect(!fmt_unz_new(&u));
	inflate(&whole, u, data, size, size ? size : 1);
	inflate(&cut, u, data, size, 1 + size % 37);
	n = whole.n < cut.n ? whole.n : cut.n;
	/* One sees more records before a damaged place than the other, never others. */
	if (n)
		expect(whole.sum[n - 1] == cut.sum[n - 1]);
	if (whole.err >= 0 && cut.err >= 0)
		expect(whole.n == cut.n);
	return 0;
}
