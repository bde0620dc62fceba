/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/bytes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct soft_chunk {
	struct soft_chunk *next;
	size_t begin, end, size; /* unread bytes are data[begin..end) */
	uint8_t data[];
};

/* Most threads write little; a first chunk of a page keeps thousands of them cheap. */
enum { CHUNK_MIN = 4096, CHUNK_MAX = 65536 };

static void drop_head(struct soft_bytes *b)
{
	struct soft_chunk *c = b->head;

	b->head = c->next;
	if (!b->head)
		b->tail = NULL;
	free(c);
}

void soft_bytes_done(struct soft_bytes *b)
{
	while (b->head)
		drop_head(b);
	*b = (struct soft_bytes){ .limit = b->limit, .window = b->window };
}

/* Whole chunks that the window does not need are forgotten. */
static void move_window(struct soft_bytes *b)
{
	while (b->window && b->head != b->tail) {
		size_t n = b->head->end - b->head->begin;

		if (b->held - n < b->window)
			return;
		b->held -= n;
		b->offset += n;
		drop_head(b);
	}
}

bool soft_bytes_reserve(struct soft_bytes *b, size_t n)
{
	size_t limit = b->limit ? b->limit : SOFT_BYTES_LIMIT;
	size_t size = CHUNK_MIN;
	struct soft_chunk *c = b->tail;

	assert(n <= CHUNK_MAX);
	if (c && c->size - c->end < n)
		move_window(b);
	if (b->held + n > limit)
		return false;
	if (c && c->size - c->end >= n)
		return true;
	if (c)
		size = c->size < CHUNK_MAX / 2 ? c->size * 2 : CHUNK_MAX;
	if (size < n)
		size = n;
	c = malloc(sizeof(*c) + size);
	if (!c)
		return false;
	*c = (struct soft_chunk){ .size = size };
	if (b->tail)
		b->tail->next = c;
	else
		b->head = c;
	b->tail = c;
	return true;
}

void soft_bytes_put(struct soft_bytes *b, const void *p, size_t n)
{
	struct soft_chunk *c = b->tail;

	assert(c && c->size - c->end >= n);
	memcpy(c->data + c->end, p, n);
	c->end += n;
	b->held += n;
}

int soft_bytes_peek(struct soft_bytes *b, struct iovec v[2])
{
	int n = 0;

	b->shown = 0;
	for (struct soft_chunk *c = b->head; c && n < 2; c = c->next) {
		if (c->begin == c->end)
			continue;
		v[n++] = (struct iovec){ c->data + c->begin, c->end - c->begin };
		b->shown += c->end - c->begin;
	}
	return n;
}

size_t soft_bytes_copy(const struct soft_bytes *b, uint64_t from, void *to, size_t n)
{
	uint64_t pos = b->offset; /* of the chunk */
	size_t done = 0;

	for (const struct soft_chunk *c = b->head; c && done < n; c = c->next) {
		size_t here = c->end - c->begin, skip;

		if (from >= pos && from - pos < here) {
			skip = (size_t)(from - pos);
			here -= skip;
			if (here > n - done)
				here = n - done;
			memcpy((uint8_t *)to + done, c->data + c->begin + skip, here);
			done += here;
			from += here;
		}
		pos += c->end - c->begin;
	}
	return done;
}

void soft_bytes_release(struct soft_bytes *b)
{
	size_t left = b->shown;

	b->offset += left;
	b->held -= left;
	b->shown = 0;
	while (b->head) {
		struct soft_chunk *c = b->head;
		size_t n = c->end - c->begin < left ? c->end - c->begin : left;

		c->begin += n;
		left -= n;
		if (c->begin != c->end)
			break;
		if (!c->next) {
			c->begin = c->end = 0;
			break;
		}
		drop_head(b);
	}
}

void soft_bytes_trim(struct soft_bytes *b)
{
	while (!b->held && b->head)
		drop_head(b);
}
