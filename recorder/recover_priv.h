/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of recover share. */
#ifndef RECORDER_RECOVER_PRIV_H
#define RECORDER_RECOVER_PRIV_H

#include "recorder/recover.h"

/* The events and features of the mended file. What they point to must stay until it is
 * written; zeroed, it owns nothing. */
struct recover_own {
	struct fmt_raw_feature raw[RECOVER_FEATURES];
	struct fmt_buf build_ids;
	struct fmt_event *events;
	uint64_t *ids;
};
void recover_own_done(struct recover_own *own);
/* own->events, one for each of c->r. 0 or -ENOMEM. */
int recover_events(const struct recover *c, struct recover_own *own);
/* Whatever is kept or rebuilt; recover_events() comes first. 0 or -ENOMEM. */
int recover_values(const struct recover *c, struct recover_own *own,
		   struct fmt_features *ret);

/* During the first walk: HEADER_FEATURE and HEADER_TRACING_DATA of a pipe. */
void recover_take_feature(struct recover *c, const struct fmt_rec *rec);
/* After it: what is to become of each feature. 0 or -ENOMEM. */
int recover_judge_features(struct recover *c);

/* To be told of each AUXTRACE record, in order, in each walk (which begins with
 * c->nr_chunks 0). How many bytes at the end of its trace are a packet that is cut: 0 when
 * the trace is whole, or when that cannot be known. */
unsigned recover_cut_packet(struct recover *c, const struct fmt_rec *rec);

/* Does a record go to the data section of the mended file? */
bool recover_is_data(const struct recover *c, const struct fmt_rec *rec);

#endif
