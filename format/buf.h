/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growable byte buffer whose first failure sticks.
 *
 * Encoders put field after field without looking; the caller looks once, at the end, at
 * buf.err (or at what fmt_record_end() returns). After a failure every put is a no-op.
 * A zeroed struct fmt_buf is a valid empty buffer. Growing moves the bytes: keep offsets,
 * never pointers, across a put.
 */
#ifndef FORMAT_BUF_H
#define FORMAT_BUF_H

#include <stddef.h>
#include <stdint.h>

struct fmt_buf {
	uint8_t *data;
	size_t len, cap;
	int err; /* 0, or the first failure: -ENOMEM, -EOVERFLOW, -EMSGSIZE */
};

/* Frees the bytes and leaves an empty buffer; twice is safe. */
void fmt_buf_done(struct fmt_buf *b);

/* Forgets content and error, keeps the memory. */
void fmt_buf_reset(struct fmt_buf *b);

/* Append n bytes. */
void fmt_put(struct fmt_buf *b, const void *src, size_t n);
/* Append the low n (1..8) bytes of v, little-endian. */
void fmt_put_le(struct fmt_buf *b, uint64_t v, unsigned n);
/* Append n zero bytes. */
void fmt_put_zero(struct fmt_buf *b, size_t n);
/* Append s, its NUL, and zeros up to a multiple of align (a power of two). */
void fmt_put_str(struct fmt_buf *b, const char *s, size_t align);

/*
 * Bracket of one record: begin appends the 8-byte perf_event_header with size 0 and
 * returns where it stands, end patches the size.
 * fmt_record_end returns 0; -EMSGSIZE when the record is longer than a header can say
 * (65535) or not a multiple of 8, which also takes the record back out; or buf.err.
 */
size_t fmt_record_begin(struct fmt_buf *b, uint32_t type, uint16_t misc);
int fmt_record_end(struct fmt_buf *b, size_t at);

#endif
