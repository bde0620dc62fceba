/* SPDX-License-Identifier: Apache-2.0 */
#include "format/zip.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "format/abi.h"
#include "format/le.h"

enum {
	PAD_MIN = 8, /* a skippable frame: magic number, size */
	PAD_MAX = 15,
	FRAME_AT = PAD_MAX + 1 + FMT_REC_HEADER_SIZE, /* in out[]: padding goes before it */
	FRAME_MAX = ZSTD_COMPRESSBOUND(FMT_ZIP_INFLATED_MAX),
};

static_assert(FMT_REC_HEADER_SIZE + PAD_MAX + FRAME_MAX <= FMT_ZIP_RECORD_MAX,
	      "a piece that cannot be compressed fits a record all the same");

struct fmt_zip {
	ZSTD_CCtx *z;
	const struct iovec *v; /* fed and not taken: n spans, of the first what is behind at */
	int n;
	size_t at;
	size_t fill; /* of in[] */
	size_t rest; /* in[] begins with so much of a record that was too long for a piece */
	uint8_t in[FMT_ZIP_INFLATED_MAX];
	uint8_t out[FRAME_AT + FRAME_MAX];
};

int fmt_zip_level_max(void)
{
	return ZSTD_maxCLevel();
}

static bool set(struct fmt_zip *z, ZSTD_cParameter what, int value)
{
	return !ZSTD_isError(ZSTD_CCtx_setParameter(z->z, what, value));
}

int fmt_zip_new(struct fmt_zip **ret, int level)
{
	struct fmt_zip *z;

	if (level < 1 || level > fmt_zip_level_max())
		return -EINVAL;
	z = malloc(sizeof(*z));
	if (!z)
		return -ENOMEM;
	memset(z, 0, offsetof(struct fmt_zip, in));
	z->z = ZSTD_createCCtx();
	if (!z->z || !set(z, ZSTD_c_compressionLevel, level) ||
	    !set(z, ZSTD_c_checksumFlag, 1)) {
		fmt_zip_free(z);
		return -ENOMEM;
	}
	*ret = z;
	return 0;
}

void fmt_zip_free(struct fmt_zip *z)
{
	if (!z)
		return;
	ZSTD_freeCCtx(z->z);
	free(z);
}

void fmt_zip_feed(struct fmt_zip *z, const struct iovec *v, int n)
{
	z->v = v;
	z->n = n;
	z->at = z->fill = z->rest = 0;
}

/* Spans that are used up, or empty. */
static void skip_spans(struct fmt_zip *z)
{
	while (z->n && z->at == z->v->iov_len) {
		z->v++;
		z->n--;
		z->at = 0;
	}
}

static void fill(struct fmt_zip *z)
{
	for (skip_spans(z); z->n && z->fill < sizeof(z->in); skip_spans(z)) {
		size_t room = sizeof(z->in) - z->fill, n = z->v->iov_len - z->at;

		n = n < room ? n : room;
		memcpy(z->in + z->fill, (const uint8_t *)z->v->iov_base + z->at, n);
		z->fill += n;
		z->at += n;
	}
}

bool fmt_zip_more(const struct fmt_zip *z)
{
	for (int i = 0; i < z->n; i++)
		if (z->v[i].iov_len > (i ? 0 : z->at))
			return true;
	return z->fill > 0;
}

/* How much of in[] becomes a record: whole records, or all of it when one is longer. */
static int cut(struct fmt_zip *z, size_t *ret)
{
	size_t pos = z->rest, size = 0;

	if (pos > z->fill)
		return -EBADMSG;
	for (; z->fill - pos >= FMT_REC_HEADER_SIZE; pos += size) {
		size = le_get16(z->in + pos + FMT_REC_AT_SIZE);
		if (size < FMT_REC_HEADER_SIZE)
			return -EBADMSG;
		if (size > z->fill - pos)
			break;
	}
	if (!pos && z->fill < sizeof(z->in))
		return -EBADMSG; /* the record ends behind all that was fed */
	*ret = pos ? pos : z->fill;
	z->rest = pos ? 0 : size - z->fill;
	return 0;
}

/* The n bytes of a frame at out[FRAME_AT] become a record. */
static struct iovec wrap(struct fmt_zip *z, size_t n)
{
	const uint32_t skippable = 0x184d2a50; /* RFC 8878, 3.1.2 */
	size_t pad = n % 8 ? PAD_MIN + (-n & 7) : 0;
	uint8_t *frame = z->out + FRAME_AT - pad, *rec = frame - FMT_REC_HEADER_SIZE;
	size_t size = FMT_REC_HEADER_SIZE + pad + n;

	memset(rec, 0, FMT_REC_HEADER_SIZE + pad);
	le_put(rec, FMT_REC_COMPRESSED, 4);
	le_put(rec + FMT_REC_AT_SIZE, size, 2);
	if (pad) {
		le_put(frame, skippable, 4);
		le_put(frame + 4, pad - PAD_MIN, 4);
	}
	return (struct iovec){ rec, size };
}

int fmt_zip_next(struct fmt_zip *z, struct iovec *ret, size_t *ret_inflated)
{
	size_t from, n = 0;
	int err;

	fill(z);
	if (!z->fill)
		return 0;
	err = cut(z, &from);
	if (!err) {
		n = ZSTD_compress2(z->z, z->out + FRAME_AT, FRAME_MAX, z->in, from);
		err = ZSTD_isError(n) ? -ENOMEM : 0;
	}
	if (err) {
		fmt_zip_feed(z, NULL, 0);
		return err;
	}
	z->fill -= from;
	memmove(z->in, z->in + from, z->fill);
	*ret = wrap(z, n);
	*ret_inflated = from;
	return 1;
}
