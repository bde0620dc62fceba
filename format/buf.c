/* SPDX-License-Identifier: Apache-2.0 */
#include "format/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"

static uint8_t *grow(struct fmt_buf *b, size_t n)
{
	size_t want, cap = b->cap ? b->cap : 256;
	uint8_t *p;

	if (b->err)
		return NULL;
	if (__builtin_add_overflow(b->len, n, &want) || want > SIZE_MAX / 2) {
		b->err = -EOVERFLOW;
		return NULL;
	}
	while (cap < want)
		cap *= 2;
	if (cap != b->cap) {
		p = realloc(b->data, cap);
		if (!p) {
			b->err = -ENOMEM;
			return NULL;
		}
		b->data = p;
		b->cap = cap;
	}
	p = b->data + b->len;
	b->len = want;
	return p;
}

void fmt_buf_done(struct fmt_buf *b)
{
	free(b->data);
	*b = (struct fmt_buf){ 0 };
}

void fmt_buf_reset(struct fmt_buf *b)
{
	b->len = 0;
	b->err = 0;
}

void fmt_put(struct fmt_buf *b, const void *src, size_t n)
{
	uint8_t *p = grow(b, n);

	if (p && n)
		memcpy(p, src, n);
}

void fmt_put_le(struct fmt_buf *b, uint64_t v, unsigned n)
{
	uint8_t *p = grow(b, n);

	if (p)
		le_put(p, v, n);
}

void fmt_put_zero(struct fmt_buf *b, size_t n)
{
	uint8_t *p = grow(b, n);

	if (p && n)
		memset(p, 0, n);
}

void fmt_put_str(struct fmt_buf *b, const char *s, size_t align)
{
	size_t n = strlen(s);
	size_t padded = (n + align) & ~(align - 1); /* room for the NUL, rounded up */

	fmt_put(b, s, n);
	fmt_put_zero(b, padded - n);
}

size_t fmt_record_begin(struct fmt_buf *b, uint32_t type, uint16_t misc)
{
	size_t at = b->len;

	fmt_put_le(b, type, 4);
	fmt_put_le(b, misc, 2);
	fmt_put_le(b, 0, 2); /* size, patched by fmt_record_end() */
	return at;
}

int fmt_record_end(struct fmt_buf *b, size_t at)
{
	size_t size = b->len - at;

	if (!b->err && (size > UINT16_MAX || size % 8))
		b->err = -EMSGSIZE;
	if (b->err)
		b->len = at;
	else
		le_put(b->data + at + FMT_REC_AT_SIZE, size, 2);
	return b->err;
}
