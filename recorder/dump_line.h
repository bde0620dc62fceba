/* SPDX-License-Identifier: Apache-2.0 */
/* Fields as text or JSON, in the grammar of auxrec-dump(1). */
#ifndef RECORDER_DUMP_LINE_H
#define RECORDER_DUMP_LINE_H

#include "format/fields.h"
#include "recorder/dump_out.h"

struct dline {
	struct out *o;
	bool json;
	size_t bytes_shown; /* of a field that is bytes; the rest is counted */

	/* Private. */
	unsigned depth;
	uint32_t lists; /* bit: what is open at that depth is a list */
	bool first;	/* nothing stands in it yet */
};

/* Begins a line with where the thing is in the file, how long it is and what it is. */
void dline_begin(struct dline *l, uint64_t pos, uint64_t bytes, const char *kind);
/* fmt_field_fn: ctx is the struct dline. */
void dline_field(void *ctx, const struct fmt_field *f);
void dline_num(struct dline *l, const char *name, enum fmt_kind kind, uint64_t v);
void dline_text(struct dline *l, const char *name, const char *s);
void dline_end(struct dline *l);

#endif
