/* SPDX-License-Identifier: Apache-2.0 */
/* ID_INDEX: which queue, cpu and thread each id has. */
#include <inttypes.h>

#include "format/abi.h"
#include "format/le.h"
#include "recorder/check_priv.h"

enum { ENTRY = 32 };

static void take(struct check *c, uint64_t at, const uint8_t *p)
{
	struct check_id *row, was;
	uint64_t id = le_get64(p);

	if (fmt_reader_event_by_id(&c->in->r, id) < 0)
		check_find(c, CHECK_ID_INDEX, at, "ids of the events only",
			   "id %" PRIu64, id);
	row = check_row(c, &c->ids, id);
	if (!row)
		return;
	was = *row;
	row->idx = le_get64(p + 8);
	row->cpu = le_get64(p + 16);
	row->tid = le_get64(p + 24);
	/* Recordings that were put together may tell of an id again. */
	if ((was.idx || was.cpu || was.tid) &&
	    (was.idx != row->idx || was.cpu != row->cpu || was.tid != row->tid))
		check_find(c, CHECK_ID_INDEX, at, "one queue, cpu and thread for an id",
			   "id %" PRIu64 " of queue %" PRIu64
			   " again, as of queue %" PRIu64,
			   id, was.idx, row->idx);
}

void check_id_index(struct check *c, const struct check_rec *cr)
{
	const struct fmt_rec *rec = cr->rec;
	uint64_t n = le_get64(rec->p + 8);

	for (uint64_t i = 0; i < n && !c->err; i++)
		take(c, rec->inflated ? rec->at : rec->at + 16 + i * ENTRY,
		     rec->p + 16 + i * ENTRY);
}

/* Ids of events that ID_INDEX leaves out; without one there is nothing to miss. */
void check_ids_end(struct check *c)
{
	const struct fmt_reader *r = c->r;

	if (!c->ids.n || c->rep->found[CHECK_LIMIT].n)
		return;
	for (size_t i = 0; i < r->nr_events; i++)
		for (size_t k = 0; k < r->events[i].nr_ids; k++) {
			uint64_t id = le_get64(r->events[i].ids + 8 * k);

			if (id && !check_map_find(&c->ids, id))
				check_find(c, CHECK_NO_IDS,
					   (uint64_t)(r->events[i].ids + 8 * k - r->p),
					   "every id of the events in ID_INDEX",
					   "id %" PRIu64
					   " of event %zu, which is not there",
					   id, i);
		}
}
