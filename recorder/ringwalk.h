/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records in the spans that a ring lends (up to two, whole records). A header never
 * straddles the wrap: records and rings are multiples of 8.
 */
#ifndef RECORDER_RINGWALK_H
#define RECORDER_RINGWALK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "format/abi.h"
#include "format/le.h"

struct ringwalk {
	const struct iovec *v;
	size_t split, total; /* length of the first span, of both */
	uint8_t copy[UINT16_MAX];
};

static inline void ringwalk_begin(struct ringwalk *w, const struct iovec *v, int n)
{
	w->v = v;
	w->split = n > 0 ? v[0].iov_len : 0;
	w->total = w->split + (n > 1 ? v[1].iov_len : 0);
}

/* What lies at a position of the concatenation of the spans, up to the wrap. */
static inline const uint8_t *ringwalk_at(const struct ringwalk *w, size_t pos)
{
	if (pos < w->split)
		return (const uint8_t *)w->v[0].iov_base + pos;
	return (const uint8_t *)w->v[1].iov_base + (pos - w->split);
}

/* The size of the record at pos < total: 0 when it is none, or not whole. */
static inline size_t ringwalk_size(const struct ringwalk *w, size_t pos)
{
	size_t size = le_get16(ringwalk_at(w, pos) + FMT_REC_AT_SIZE);

	return size < FMT_REC_HEADER_SIZE || size % 8 || size > w->total - pos ? 0 : size;
}

/* The record at pos in one piece; where it straddles the wrap, good until the next call. */
static inline const uint8_t *ringwalk_whole(struct ringwalk *w, size_t pos, size_t size)
{
	size_t head;

	if (pos >= w->split || pos + size <= w->split)
		return ringwalk_at(w, pos);
	head = w->split - pos;
	memcpy(w->copy, ringwalk_at(w, pos), head);
	memcpy(w->copy + head, w->v[1].iov_base, size - head);
	return w->copy;
}

#endif
