/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A byte queue that grows by chunks. What is reserved in one go lies in one chunk, so that
 * whoever writes whole units after a reservation never has a unit cut by a reader, nor by
 * a window that has moved on.
 */
#ifndef PERFIO_SOFT_BYTES_H
#define PERFIO_SOFT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct soft_chunk;

struct soft_bytes {
	struct soft_chunk *head, *tail;
	uint64_t offset; /* stream position of the first byte that is still here */
	size_t held;	 /* bytes here */
	size_t shown;	 /* of these, handed out by the last peek */
	size_t limit;	 /* reservations beyond this fail; 0: SOFT_BYTES_LIMIT */
	size_t window;	 /* keep at least the newest so many bytes, forget older; 0: all */
};

#define SOFT_BYTES_LIMIT ((size_t)256 << 20)

void soft_bytes_done(struct soft_bytes *b);
/* Room for n <= 65536 contiguous bytes, which is as much as a piece that is handed out has. False:
 * no memory, or the limit. */
bool soft_bytes_reserve(struct soft_bytes *b, size_t n);
/* n bytes of what was reserved. */
void soft_bytes_put(struct soft_bytes *b, const void *p, size_t n);
/* The first bytes in one or two pieces; returns the number of pieces. */
int soft_bytes_peek(struct soft_bytes *b, struct iovec v[2]);
/* Copy up to n bytes from a position of the stream on: how many of them are here. Nothing counts
 * as handed out. */
size_t soft_bytes_copy(const struct soft_bytes *b, uint64_t from, void *to, size_t n);
/* Drop what the last peek handed out. */
void soft_bytes_release(struct soft_bytes *b);
/* Give memory back if nothing is queued. */
void soft_bytes_trim(struct soft_bytes *b);

#endif
