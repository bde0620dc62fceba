/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AUX-area samples: a SAMPLE of an event with PERF_SAMPLE_AUX carries the newest trace of the
 * cpu (or thread) it was taken on. Which queue that is, ID_INDEX tells for the sample's id.
 */
#ifndef RECORDER_AUXSAMPLE_H
#define RECORDER_AUXSAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/reader.h"
#include "recorder/check_map.h"

/* The queue of an id. */
struct auxsample_id {
	uint64_t id;
	uint32_t idx, cpu, tid; /* cpu, tid: UINT32_MAX for none */
};

struct auxsample_ids {
	struct check_map map; /* of struct auxsample_id */
};
#define AUXSAMPLE_IDS_INIT                                                               \
	(struct auxsample_ids){ .map = { .size = sizeof(struct auxsample_id) } }

void auxsample_ids_done(struct auxsample_ids *t);
/* An ID_INDEX record: what it says of an id replaces what one before it did. Beyond a million
 * ids no new one is taken. 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int auxsample_take_ids(struct auxsample_ids *t, const struct fmt_rec *rec);
/* NULL: ID_INDEX tells none. Good until the next record is taken. */
const struct auxsample_id *auxsample_owner(struct auxsample_ids *t, uint64_t id);

/* The trace in a SAMPLE of that event: its bytes, or false when there are none. */
bool auxsample_trace(const struct fmt_reader *r, const struct fmt_rec *rec, int event,
		     const uint8_t **ret, size_t *ret_len);

#endif
