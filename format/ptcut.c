/* SPDX-License-Identifier: Apache-2.0 */
#include "format/ptcut.h"

#include <string.h>

#include "format/ptwalk.h"

enum {
	PSB_PLUS_MAX = 256, /* a TSC comes among the first packets after a PSB, or not at all */
	NEAR = 64,	    /* closer than any two PSBs */
	TSC_UNUSED_BITS = 8,
};

struct queue {
	const struct iovec *v;
	size_t split, total;
};

static bool later(uint64_t a, uint64_t b)
{
	return (int64_t)((a - b) << TSC_UNUSED_BITS) > 0;
}

static size_t read_at(const struct queue *q, size_t at, uint8_t *buf, size_t size)
{
	size_t n = 0, part;

	if (at < q->split) {
		n = q->split - at < size ? q->split - at : size;
		memcpy(buf, (const uint8_t *)q->v[0].iov_base + at, n);
	}
	at += n;
	part = q->total - at < size - n ? q->total - at : size - n;
	if (part)
		memcpy(buf + n, (const uint8_t *)q->v[1].iov_base + (at - q->split), part);
	return n + part;
}

static bool find_psb(const struct queue *q, size_t from, size_t *ret)
{
	size_t at;

	if (from < q->split) {
		if (fmt_pt_find_psb((const uint8_t *)q->v[0].iov_base + from, q->split - from,
				    &at)) {
			*ret = from + at;
			return true;
		}
		from = q->split;
	}
	if (from >= q->total ||
	    !fmt_pt_find_psb((const uint8_t *)q->v[1].iov_base + (from - q->split),
			     q->total - from, &at))
		return false;
	*ret = from + at;
	return true;
}

static bool tsc_of(const struct queue *q, size_t psb, uint64_t *ret)
{
	struct fmt_ptwalk w = { .synced = true };
	uint8_t buf[PSB_PLUS_MAX];

	fmt_ptwalk_feed(&w, buf, read_at(q, psb, buf, sizeof(buf)));
	fmt_ptwalk_end(&w);
	*ret = w.first_tsc;
	return w.has_tsc;
}

/* The first PSB from a place on that tells the time. */
static bool next_timed(const struct queue *q, size_t from, size_t *ret, uint64_t *ret_tsc)
{
	for (; find_psb(q, from, ret); from = *ret + FMT_PT_PSB_SIZE)
		if (tsc_of(q, *ret, ret_tsc))
			return true;
	return false;
}

static struct queue queue(const struct iovec *v, int n)
{
	size_t split = n > 0 ? v[0].iov_len : 0;

	return (struct queue){ v, split, split + (n > 1 ? v[1].iov_len : 0) };
}

bool fmt_pt_begin(const struct iovec *v, int n, uint64_t *ret)
{
	struct queue q = queue(v, n);
	size_t at;

	return next_timed(&q, 0, &at, ret);
}

size_t fmt_pt_cut(const struct iovec *v, int n, uint64_t from)
{
	struct queue q = queue(v, n);
	size_t low = 0, high = q.total, at, cut = 0;
	uint64_t tsc;

	if (!next_timed(&q, 0, &at, &tsc) || later(tsc, from))
		return 0;
	/* The cut is a PSB that is not later; from `high` on, all are. */
	for (cut = low = at; high - low > NEAR;) {
		size_t mid = low + (high - low) / 2;

		if (next_timed(&q, mid, &at, &tsc) && at < high && !later(tsc, from))
			cut = low = at;
		else
			high = mid;
	}
	return cut;
}
