/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of any content into COMPRESSED records, however the ring's spans cut them: out of
 * these come the same bytes again.
 */
#include <stdbool.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/unz.h"
#include "format/zip.h"
#include "tests/fuzz/fuzz.h"

enum { BYTES_MAX = 400000, SPANS_MAX = 64 };

/* Whole records with what is in data: a byte gives the size of each. */
static size_t make_records(uint8_t *ret, const uint8_t *data, size_t size)
{
	size_t n = 0, len, body;

	for (size_t i = 0; i < size; i += 1 + body) {
		len = 8 + 8 * (size_t)data[i];
		if (data[i] == 0xff)
			len = 65528; /* the longest that is aligned */
		if (len > BYTES_MAX - n)
			break;
		body = len - 8 < size - i - 1 ? len - 8 : size - i - 1;
		memset(ret + n, data[i], len);
		memcpy(ret + n + 8, data + i + 1, body);
		le_put(ret + n + FMT_REC_AT_SIZE, len, 2);
		n += len;
	}
	return n;
}

static int cut(struct iovec *v, uint8_t *p, size_t n, uint64_t seed)
{
	int nr = 0;

	for (size_t at = 0; at < n; nr++) {
		size_t len = nr == SPANS_MAX - 1 ? n - at : 1 + seed % 5000;

		if (len > n - at)
			len = n - at;
		v[nr] = (struct iovec){ .iov_base = p + at, .iov_len = len };
		at += len;
		seed = seed * 0x9e3779b97f4a7c15u >> 3;
	}
	return nr;
}

/* What comes out goes on at `at` of the bytes at p. Returns behind it. */
static size_t inflate(struct fmt_unz *u, const struct iovec *rec, const uint8_t *p, size_t n,
		      size_t at)
{
	const uint8_t *b = rec->iov_base, *out;
	uint64_t place;
	size_t size;
	int got;

	expect(rec->iov_len >= FMT_REC_HEADER_SIZE && rec->iov_len <= FMT_ZIP_RECORD_MAX);
	expect(rec->iov_len % 8 == 0);
	expect(le_get32(b) == FMT_REC_COMPRESSED);
	expect(le_get16(b + FMT_REC_AT_SIZE) == rec->iov_len);
	fmt_unz_feed(u, b + FMT_REC_HEADER_SIZE, rec->iov_len - FMT_REC_HEADER_SIZE);
	while ((got = fmt_unz_next(u, &out, &place)) > 0) {
		size = le_get16(out + FMT_REC_AT_SIZE);
		expect(place == at && size <= n - at && !memcmp(out, p + at, size));
		at += size;
	}
	expect(!got);
	return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t records[BYTES_MAX];
	static struct fmt_zip *z;
	static struct fmt_unz *u;
	size_t n = make_records(records, data, size), at = 0, in, sum = 0;
	struct iovec v[SPANS_MAX], rec;
	int got;

	if (!z)
		expect(!fmt_zip_new(&z, 1) && !fmt_unz_new(&u));
	fmt_unz_reset(u);
	fmt_zip_feed(z, v, cut(v, records, n, fuzz_sum(0, data, size)));
	expect(fmt_zip_more(z) == (n > 0));
	while ((got = fmt_zip_next(z, &rec, &in)) > 0) {
		expect(in && in <= FMT_ZIP_INFLATED_MAX);
		sum += in;
		at = inflate(u, &rec, records, n, at);
	}
	expect(!got && !fmt_zip_more(z));
	expect(at == n && sum == n && !fmt_unz_carried(u));
	return 0;
}
