/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/newestring.h"

#include "recorder/ringwalk.h"

enum {
	TIME_FROM_END = 24,  /* in a trailer, format/record.h */
	SAMPLE_TIME_AT = 32, /* IDENTIFIER, IP, TID before TIME */
	TIMED_MIN = FMT_REC_HEADER_SIZE + TIME_FROM_END,
};

static struct ringwalk walk; /* 64 KiB, and there is one recorder */

static uint64_t time_of(size_t pos, size_t size)
{
	const uint8_t *rec = ringwalk_whole(&walk, pos, size);

	if (le_get32(rec) == FMT_REC_SAMPLE)
		return size < SAMPLE_TIME_AT + 8 ? 0 : le_get(rec + SAMPLE_TIME_AT, 8);
	return size < TIMED_MIN ? 0 : le_get(rec + size - TIME_FROM_END, 8);
}

static void count(struct newestring *n, size_t pos, size_t size)
{
	uint64_t time = time_of(pos, size);

	n->records++;
	n->bytes += size;
	n->first_ns = time;
	if (!n->last_ns)
		n->last_ns = time;
}

/* From the newest to the oldest that lies before `end`; *ret_end: behind the last one. */
static void look(struct newestring *n, uint64_t from_ns, size_t end, size_t *ret_end)
{
	size_t pos = 0, size;

	for (; pos < end; pos += size) {
		size = ringwalk_size(&walk, pos);
		if (!size || size > end - pos)
			break;
		count(n, pos, size);
		if (n->first_ns < from_ns) {
			pos += size;
			break;
		}
	}
	*ret_end = pos;
}

int newestring_copy(const struct pio_newest *r, uint64_t from_ns, struct fmt_buf *b,
		    struct newestring *ret)
{
	struct iovec v[2];
	bool more;
	int n = pio_newest_peek(r, v, &more);

	return newestring_turn(v, n, more, from_ns, b, ret);
}

int newestring_turn(const struct iovec *v, int nr, bool more, uint64_t from_ns, struct fmt_buf *b,
		    struct newestring *ret)
{
	struct newestring n = { .more = more };
	size_t end, at = b->len, size;

	ringwalk_begin(&walk, v, nr);
	look(&n, from_ns, walk.total, &end);
	*ret = n;
	fmt_put_zero(b, end);
	if (b->err)
		return b->err;
	for (size_t pos = 0; pos < end; pos += size) {
		size = ringwalk_size(&walk, pos);
		memcpy(b->data + at + end - pos - size, ringwalk_whole(&walk, pos, size), size);
	}
	return 0;
}

/* Whether what was lent when the ring's head was `head` is as it was then up to `end`, now that
 * it has been read: newer records go over the oldest bytes. */
static bool intact(const struct pio_newest *r, uint64_t head, size_t end)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* read before the head is */
	return head - pio_newest_head(r) + end <= r->data_len;
}

void newestring_look(const struct pio_newest *r, bool still, struct newestring *ret)
{
	uint64_t head = pio_newest_head(r);
	struct newestring n = { 0 }, before;
	size_t size, next = 0; /* as large may be the one that the head does not tell of yet */
	struct iovec v[2];

	ringwalk_begin(&walk, v, pio_newest_peek(r, v, &n.more));
	for (size_t pos = 0; pos < walk.total; pos += size) {
		before = n;
		size = ringwalk_size(&walk, pos);
		if (size)
			count(&n, pos, size);
		if (!still && size > next)
			next = size;
		if (!size || !intact(r, head, pos + size + next)) {
			n = before;
			break;
		}
	}
	*ret = n;
}
