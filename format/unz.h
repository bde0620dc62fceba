/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The zstd stream that the COMPRESSED records of a file carry, given out as the records it
 * holds. perf cuts one never-ended stream into records wherever a buffer was full, so a
 * record may begin in one COMPRESSED record and end in a later one.
 *
 * Memory is bounded whatever the frames say: one record and a window of output here, and
 * zstd's own window, which zstd limits to 128 MiB (ZSTD_WINDOWLOG_LIMIT_DEFAULT, zstd.h).
 */
#ifndef FORMAT_UNZ_H
#define FORMAT_UNZ_H

#include <stddef.h>
#include <stdint.h>

struct fmt_unz;

/* 0 or -ENOMEM. */
int fmt_unz_new(struct fmt_unz **ret);
void fmt_unz_free(struct fmt_unz *u); /* NULL is allowed */
/* Back to the start of a stream; what was carried over is forgotten. */
void fmt_unz_reset(struct fmt_unz *u);

/* The bytes of one COMPRESSED record, to be inflated by fmt_unz_next. They stay the
 * caller's and must be there until it returns 0 or an error. */
void fmt_unz_feed(struct fmt_unz *u, const uint8_t *p, size_t n);

/* The next whole record: 1; *ret (valid until the next call) and *at, its place among all
 * inflated bytes. 0: more bytes must be fed first. -EBADMSG: the frame is damaged; what
 * was fed is dropped, and the next fed bytes are taken for the start of a frame.
 * -EPROTO: an inflated record has a size below 8; the same is dropped. */
int fmt_unz_next(struct fmt_unz *u, const uint8_t **ret, uint64_t *at);

/* Leave out the next n inflated bytes. */
void fmt_unz_skip(struct fmt_unz *u, uint64_t n);
/* Bytes of a record whose end has not been fed yet. */
size_t fmt_unz_carried(const struct fmt_unz *u);

#endif
