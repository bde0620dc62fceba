/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/spans.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_ROOM ((size_t)16 * 1024)

/* The list points into blocks: they never move. */
struct spans_block {
	struct spans_block *next;
	size_t used;
	uint8_t p[BLOCK_ROOM];
};

void spans_reset(struct spans *s)
{
	s->n = 0;
	s->last = s->first;
	if (s->first)
		s->first->used = 0;
}

void spans_done(struct spans *s)
{
	struct spans_block *b, *next;

	for (b = s->first; b; b = next) {
		next = b->next;
		free(b);
	}
	free(s->v);
	*s = SPANS_INIT;
}

int spans_add(struct spans *s, void *p, size_t len)
{
	size_t cap = s->cap ? 2 * s->cap : 16;
	struct iovec *v;

	if (!len)
		return 0;
	if (s->n + 1 >= s->cap) {
		v = realloc(s->v, cap * sizeof(*v));
		if (!v)
			return -ENOMEM;
		s->v = v;
		s->cap = cap;
	}
	s->v[s->n++] = (struct iovec){ p, len };
	return 0;
}

static struct spans_block *next_block(struct spans *s)
{
	struct spans_block *b = s->last ? s->last->next : s->first;

	if (!b) {
		b = malloc(sizeof(*b));
		if (!b)
			return NULL;
		b->next = NULL;
		*(s->last ? &s->last->next : &s->first) = b;
	}
	b->used = 0;
	return s->last = b;
}

static void *keep(struct spans *s, const void *p, size_t len)
{
	struct spans_block *b = s->last;
	void *to;

	if (!b || len > BLOCK_ROOM - b->used)
		b = next_block(s);
	if (!b)
		return NULL;
	to = memcpy(b->p + b->used, p, len);
	b->used += len;
	return to;
}

void spans_ring(struct spans *s, const struct iovec *v, int n)
{
	s->ring = v;
	s->nr_ring = n;
	s->pos = 0;
}

/* The ring's own bytes, up to `end`. */
static int advance(struct spans *s, size_t end)
{
	size_t from = 0, upto;
	int err = 0;

	for (int i = 0; i < s->nr_ring && !err; i++, from = upto) {
		const struct iovec *v = &s->ring[i];
		size_t stop;

		upto = from + v->iov_len;
		stop = end < upto ? end : upto;
		if (s->pos < from || s->pos >= stop)
			continue;
		err = spans_add(s, (uint8_t *)v->iov_base + (s->pos - from), stop - s->pos);
		s->pos = stop;
	}
	return err;
}

int spans_replace(struct spans *s, size_t pos, const void *p, size_t len)
{
	void *kept;
	int err;

	assert(pos >= s->pos && len <= BLOCK_ROOM);
	err = advance(s, pos);
	if (err)
		return err;
	kept = keep(s, p, len);
	if (!kept)
		return -ENOMEM;
	s->pos = pos + len;
	return spans_add(s, kept, len);
}

int spans_skip(struct spans *s, size_t pos, size_t len)
{
	int err = advance(s, pos);

	s->pos = pos + len;
	return err;
}

int spans_ring_end(struct spans *s)
{
	int err = advance(s, SIZE_MAX);

	s->ring = NULL;
	s->nr_ring = 0;
	return err;
}
