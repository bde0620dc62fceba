/* SPDX-License-Identifier: Apache-2.0 */
/* What the writer's files share. Each function returns 0 or w->failed, which it sets. */
#ifndef FORMAT_WRITER_PRIV_H
#define FORMAT_WRITER_PRIV_H

#include "format/writer.h"

/* The only way out. The sink may change v. */
int fmt_writer_append(struct fmt_writer *w, struct iovec *v, int n);
/* What is in w->scratch. */
int fmt_writer_append_scratch(struct fmt_writer *w);
/* One aligned store: whoever dies beside it leaves the old value or the new one. */
int fmt_writer_patch(struct fmt_writer *w, uint64_t at, uint64_t value);
int fmt_writer_sync(struct fmt_writer *w);
/* Cut off what lies behind the last round. If the header may already claim it, or claim
 * features behind it, the header is set right first. -ESPIPE: nothing can be taken back. */
int fmt_writer_roll_back(struct fmt_writer *w);
/* File offset of the attrs section. */
uint64_t fmt_writer_attrs_at(const struct fmt_writer *w);

#endif
