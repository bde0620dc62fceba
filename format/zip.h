/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel records into COMPRESSED records, the counterpart of unz.h.
 *
 * Each COMPRESSED record is complete in itself: one zstd frame with its content size and a
 * checksum, of whole records wherever they are not too long for that. perf writes one
 * never-ended stream instead. Frames cost a tenth more bytes where little is recorded and
 * save some where there is much (context switches, level 1: 15.9 to 1 beside 14.8); and
 * nothing must be remembered, so that a file may be cut behind any record, what was taken
 * back out of it leaves no trace in what follows, and damage stays in its record.
 *
 * A frame whose length is no multiple of 8 has a skippable frame of 8 to 15 bytes in front
 * of it (zstd's RFC 8878, 3.1.2), so that records stay aligned. Not behind it: perf's reader
 * (zstd_decompress_stream(), tools/perf/util/zstd.c, Linux 6.1) takes the place of its output
 * for twice as far once it has to go on behind a frame with output.
 */
#ifndef FORMAT_ZIP_H
#define FORMAT_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* No COMPRESSED record inflates to more than this: what readers must know beforehand, from
 * the COMPRESSED feature. */
#define FMT_ZIP_INFLATED_MAX 65024u
/* Bytes a COMPRESSED record has at most. */
#define FMT_ZIP_RECORD_MAX 65528u

struct fmt_zip;

/* Levels are 1 (fast) to this, which is what zstd calls its maximum. */
int fmt_zip_level_max(void);

/* Memory is that of two records and of zstd's tables for input of this size: below 1 MiB at
 * level 1. 0, -EINVAL (no such level) or -ENOMEM. */
int fmt_zip_new(struct fmt_zip **ret, int level);
void fmt_zip_free(struct fmt_zip *z); /* NULL is allowed */

/* n spans whose concatenation is whole records. List and bytes stay the caller's, are not
 * changed, and must be there until fmt_zip_more() is false. What was fed before and not
 * taken is forgotten. */
void fmt_zip_feed(struct fmt_zip *z, const struct iovec *v, int n);
/* Is there anything left to make a record of? */
bool fmt_zip_more(const struct fmt_zip *z);
/* The next COMPRESSED record, with its header, valid until the next call, and the bytes that
 * are in it: 1, or 0 when there is no more. -EBADMSG: what was fed are no whole records;
 * -ENOMEM: zstd had no memory. After an error the rest of what was fed is forgotten. */
int fmt_zip_next(struct fmt_zip *z, struct iovec *ret, size_t *ret_inflated);

#endif
