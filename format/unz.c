/* SPDX-License-Identifier: Apache-2.0 */
#include "format/unz.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "format/abi.h"
#include "format/le.h"

enum {
	RECORD_MAX = 1 << 16, /* a record's size has 16 bits */
	OUT_MAX = 4 * RECORD_MAX
};

struct fmt_unz {
	ZSTD_DStream *z;
	ZSTD_inBuffer in;
	uint64_t at;		/* of out[start] among all inflated bytes */
	uint64_t skip;		/* still to be left out */
	size_t start, end;	/* inflated and not given out yet */
	bool more;		/* zstd may hold output back */
	uint8_t out[OUT_MAX];
};

int fmt_unz_new(struct fmt_unz **ret)
{
	struct fmt_unz *u = malloc(sizeof(*u));

	if (!u)
		return -ENOMEM;
	memset(u, 0, offsetof(struct fmt_unz, out));
	u->z = ZSTD_createDStream();
	if (!u->z) {
		free(u);
		return -ENOMEM;
	}
	*ret = u;
	return 0;
}

void fmt_unz_free(struct fmt_unz *u)
{
	if (!u)
		return;
	ZSTD_freeDStream(u->z);
	free(u);
}

static void drop(struct fmt_unz *u)
{
	ZSTD_DCtx_reset(u->z, ZSTD_reset_session_only);
	u->in = (ZSTD_inBuffer){ 0 };
	u->at += u->end - u->start;
	u->start = u->end = 0;
	u->skip = 0;
	u->more = false;
}

void fmt_unz_reset(struct fmt_unz *u)
{
	drop(u);
	u->at = 0;
}

void fmt_unz_feed(struct fmt_unz *u, const uint8_t *p, size_t n)
{
	u->in = (ZSTD_inBuffer){ .src = p, .size = n };
	u->more = n > 0;
}

/* Inflate behind what is there. 1: there is more of it; 0: the input is used up. */
static int inflate(struct fmt_unz *u)
{
	ZSTD_outBuffer o;

	if (!u->more)
		return 0;
	memmove(u->out, u->out + u->start, u->end - u->start);
	u->end -= u->start;
	u->start = 0;
	o = (ZSTD_outBuffer){ .dst = u->out, .size = OUT_MAX, .pos = u->end };
	if (ZSTD_isError(ZSTD_decompressStream(u->z, &o, &u->in)))
		return -EBADMSG;
	u->more = u->in.pos < u->in.size || o.pos == o.size;
	if (o.pos == u->end && !u->more)
		return 0;
	u->end = o.pos;
	return 1;
}

static void skip_some(struct fmt_unz *u)
{
	size_t n = u->end - u->start;

	if (n > u->skip)
		n = (size_t)u->skip;
	u->start += n;
	u->at += n;
	u->skip -= n;
}

/* The size of the record at out[start], 0 when it is not whole. */
static int whole(const struct fmt_unz *u, size_t *ret)
{
	size_t left = u->end - u->start, size;

	*ret = 0;
	if (u->skip || left < FMT_REC_HEADER_SIZE)
		return 0;
	size = le_get16(u->out + u->start + FMT_REC_AT_SIZE);
	if (size < FMT_REC_HEADER_SIZE)
		return -EPROTO;
	*ret = size <= left ? size : 0;
	return 0;
}

int fmt_unz_next(struct fmt_unz *u, const uint8_t **ret, uint64_t *at)
{
	size_t size;
	int got;

	for (;;) {
		skip_some(u);
		got = whole(u, &size);
		if (got < 0)
			break;
		if (size) {
			*ret = u->out + u->start;
			*at = u->at;
			u->start += size;
			u->at += size;
			return 1;
		}
		got = inflate(u);
		if (got <= 0)
			break;
	}
	if (got < 0)
		drop(u);
	return got;
}

void fmt_unz_skip(struct fmt_unz *u, uint64_t n)
{
	u->skip = n;
}

size_t fmt_unz_carried(const struct fmt_unz *u)
{
	return u->end - u->start;
}
