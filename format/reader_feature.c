/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/reader_priv.h"

static bool has_bit(const struct fmt_reader *r, unsigned feat)
{
	return feat < 256 && r->feat_bits[feat / 64] >> (feat % 64) & 1;
}

/* Bits set below feat: the place of its entry in the table. */
static unsigned rank(const struct fmt_reader *r, unsigned feat)
{
	unsigned n = 0;

	for (unsigned i = 0; i < feat; i++)
		n += has_bit(r, i);
	return n;
}

bool fmt_reader_has_table(const struct fmt_reader *r)
{
	unsigned n = rank(r, 256);
	const uint8_t *p;

	return n && !fmt_reader_section(r, r->features_at, n * FMT_SECTION_SIZE, &p);
}

int fmt_reader_feature(const struct fmt_reader *r, enum fmt_feat feat,
		       const uint8_t **ret, uint64_t *ret_len)
{
	uint64_t at, len;
	const uint8_t *p;

	if (feat < FMT_FEAT_LAST && r->sent[feat].p) {
		*ret = r->sent[feat].p;
		*ret_len = r->sent[feat].len;
		return 0;
	}
	if (r->pipe || !has_bit(r, feat))
		return -ENOENT;
	at = r->features_at + rank(r, feat) * FMT_SECTION_SIZE;
	if (fmt_reader_section(r, at, FMT_SECTION_SIZE, &p))
		return -EBADMSG;
	at = le_get(p, 8) + r->features_shift;
	len = le_get(p + 8, 8);
	if (fmt_reader_section(r, at, len, &p))
		return -EBADMSG;
	*ret = p;
	*ret_len = len;
	return 0;
}

const char *fmt_reader_text(const uint8_t *p, uint64_t len, uint64_t *at)
{
	const uint8_t *s;
	uint32_t n;

	if (len < 4 || *at > len - 4)
		return NULL;
	n = le_get32(p + *at);
	s = p + *at + 4;
	if (n > len - *at - 4 || !memchr(s, 0, n))
		return NULL;
	*at += 4 + (uint64_t)n;
	return (const char *)s;
}

const char *fmt_reader_feature_str(const struct fmt_reader *r, enum fmt_feat feat)
{
	const uint8_t *p;
	uint64_t len, at = 0;

	if (fmt_reader_feature(r, feat, &p, &len))
		return NULL;
	return fmt_reader_text(p, len, &at);
}

const char *fmt_reader_feature_list(const struct fmt_reader *r, enum fmt_feat feat,
				    uint32_t i)
{
	const char *s = NULL;
	const uint8_t *p;
	uint64_t len, at = 4;

	if (fmt_reader_feature(r, feat, &p, &len) || len < 4 || i >= le_get32(p))
		return NULL;
	for (uint64_t k = 0; k <= i; k++) {
		s = fmt_reader_text(p, len, &at);
		if (!s)
			return NULL;
	}
	return s;
}

int fmt_reader_take_feature(struct fmt_reader *r, const struct fmt_rec *rec)
{
	uint64_t feat;

	if (rec->size < 16)
		return fmt_reader_odd(r, rec,
				      "a HEADER_FEATURE record of 16 bytes or more");
	feat = le_get(rec->p + 8, 8);
	/* FMT_FEAT_LAST and above: the end mark, or newer than us. */
	if (feat >= FMT_FEAT_LAST || r->sent[feat].p)
		return 0;
	r->sent[feat].p = rec->p + 16;
	r->sent[feat].len = rec->size - 16u;
	r->feat_bits[0] |= UINT64_C(1) << feat;
	if (feat == FMT_FEAT_EVENT_DESC)
		fmt_reader_event_desc(r);
	return 0;
}
