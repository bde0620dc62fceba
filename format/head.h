/* SPDX-License-Identifier: Apache-2.0 */
/* What a perf.data file, or stream, begins with; the writer puts its data behind it. */
#ifndef FORMAT_HEAD_H
#define FORMAT_HEAD_H

#include <stddef.h>

#include "format/buf.h"
#include "format/event.h"
#include "format/feature.h"

/* Header (bitmap 0, data.size 0), the ids of all events with room for more, and the attrs
 * section, whose entries are attrs of attr_size bytes and where their ids are. Tracepoints are
 * called PERF_TYPE_RAW: see format/writer.h. */
void fmt_put_file_head(struct fmt_buf *b, const struct fmt_event *ev, size_t nr_ev,
		       size_t attr_size);

/* The 16-byte header, HEADER_ATTR records, features as far as each fits a record, and the
 * record that announces f->tracing_data, which goes behind it, padded to 8. b->err; -EMSGSIZE:
 * an event with more than 8174 ids. */
int fmt_put_stream_head(struct fmt_buf *b, const struct fmt_event *ev, size_t nr_ev,
			const struct fmt_features *f);

#endif
