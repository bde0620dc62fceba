/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf.data files put together by hand, field by field, without the project's writer:
 * what a reader's tests compare with. Both have two events, ten records (a pipe has five more
 * before them) and 24 bytes of trace.
 *
 *   event 0  type 8            ids 11 12  "intel_pt/soft/u"
 *   event 1  type 1, config 9  id 21      "dummy:u"
 */
#ifndef TESTS_UNIT_HANDMADE_H
#define TESTS_UNIT_HANDMADE_H

#include "format/buf.h"

enum { HANDMADE_RECORDS = 10, HANDMADE_TRACE = 24 };
/* IP|TID|TIME|CPU|IDENTIFIER: every trailer has 32 bytes. */
#define HANDMADE_SAMPLE_TYPE 0x10087u

/* at: offsets of the ten records' headers; at[HANDMADE_RECORDS] is behind the last. */
struct handmade {
	struct fmt_buf b;
	size_t at[HANDMADE_RECORDS + 1];
	size_t data_at;
};

void handmade_file(struct handmade *h);
void handmade_pipe(struct handmade *h);
/* The ten records alone. */
void handmade_records(struct handmade *h);

/* Parts, for files of a test's own. */
void handmade_attr(struct fmt_buf *b, uint32_t type, uint64_t config,
		   uint64_t sample_type, uint64_t flags, size_t size);
void handmade_trailer(struct fmt_buf *b, uint64_t time, uint32_t cpu, uint64_t id);
/* A pipe's header. */
void handmade_pipe_header(struct fmt_buf *b);
/* A HEADER_ATTR with a 64-byte attr and one id. */
void handmade_header_attr(struct fmt_buf *b, uint64_t sample_type, uint64_t flags,
			  uint64_t id);

#endif
