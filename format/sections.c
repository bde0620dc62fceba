/* SPDX-License-Identifier: Apache-2.0 */
#include "format/sections.h"

#include <stdlib.h>

struct fmt_sections *fmt_sections_new(void)
{
	return calloc(1, sizeof(struct fmt_sections));
}

void fmt_sections_free(struct fmt_sections *t)
{
	fmt_buf_done(&t->table);
	fmt_buf_done(&t->payloads);
	free(t);
}

static int encode(struct fmt_sections *t, unsigned feat, const struct fmt_features *f)
{
	size_t from = t->payloads.len;
	int there = feat < FMT_FEAT_LAST ?
			    fmt_put_feature(&t->payloads, (enum fmt_feat)feat, f) : 0;

	t->s[t->n].at = from;
	t->s[t->n].len = t->payloads.len - from;
	return there;
}

static int take_all(struct fmt_sections *t, const struct fmt_features *f)
{
	const struct fmt_raw_feature *raw = f->raw, *end = raw + f->nr_raw;
	int there;

	for (unsigned i = 0; i < FMT_SECTIONS_MAX; i++) {
		if (raw != end && raw->feat == i) {
			t->s[t->n].raw = raw->p;
			t->s[t->n].len = raw->len;
			raw++;
			there = 1;
		} else {
			there = encode(t, i, f);
		}
		if (there < 0)
			return there;
		if (!there)
			continue;
		t->bits[i / 64] |= UINT64_C(1) << (i % 64);
		t->n++;
	}
	return 0;
}

/* One more stretch of bytes; *n spans so far. */
static void add(struct iovec *v, int *n, const uint8_t *p, uint64_t len)
{
	struct iovec *last = v + *n - 1;

	if (!len)
		return;
	if (*n && p == (uint8_t *)last->iov_base + last->iov_len)
		last->iov_len += len;
	else
		v[(*n)++] = (struct iovec){ .iov_base = (void *)(uintptr_t)p,
					    .iov_len = len };
}

int fmt_sections_collect(struct fmt_sections *t, const struct fmt_features *f, uint64_t at,
			 struct iovec *v)
{
	int err = take_all(t, f), n = 0;

	if (err)
		return err;
	at += t->n * FMT_SECTION_SIZE;
	for (size_t i = 0; i < t->n; i++) {
		fmt_put_le(&t->table, at, 8);
		fmt_put_le(&t->table, t->s[i].len, 8);
		at += t->s[i].len;
	}
	if (t->table.err)
		return t->table.err;
	v[n++] = (struct iovec){ .iov_base = t->table.data, .iov_len = t->table.len };
	for (size_t i = 0; i < t->n; i++)
		add(v, &n, t->s[i].raw ? t->s[i].raw : t->payloads.data + t->s[i].at,
		    t->s[i].len);
	return n;
}
