/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/auxsample.h"

#include <errno.h>
#include <string.h>

#include "format/abi.h"
#include "format/fields.h"
#include "format/le.h"

enum {
	IDS_MAX = 1 << 20, /* a bound for what a file can make us allocate */
	AT_NR = 8,	   /* ID_INDEX: u64 nr, then entries of u64 id, idx, cpu, tid */
	AT_IDS = 16,
	ENTRY = 32,
};

void auxsample_ids_done(struct auxsample_ids *t)
{
	check_map_done(&t->map);
	*t = AUXSAMPLE_IDS_INIT;
}

int auxsample_take_ids(struct auxsample_ids *t, const struct fmt_rec *rec)
{
	uint64_t n = rec->size < AT_IDS ? 0 : le_get64(rec->p + AT_NR);
	const uint8_t *p = rec->p + AT_IDS, *end = rec->p + rec->size;
	struct auxsample_id *row;
	void *found;
	int err;

	for (; n && end - p >= ENTRY; n--, p += ENTRY) {
		err = check_map_row(&t->map, le_get64(p), IDS_MAX, &found);
		if (err == -ENOMEM)
			return err;
		if (err < 0)
			continue;
		row = found;
		row->idx = le_get32(p + 8);
		row->cpu = le_get32(p + 16);
		row->tid = le_get32(p + 24);
	}
	return 0;
}

const struct auxsample_id *auxsample_owner(struct auxsample_ids *t, uint64_t id)
{
	return check_map_find(&t->map, id);
}

struct span {
	const uint8_t *p;
	size_t len;
};

static void find_aux(void *ctx, const struct fmt_field *f)
{
	struct span *s = ctx;

	if (f->kind == FMT_AS_BYTES && f->name && !strcmp(f->name, "aux"))
		*s = (struct span){ f->p, f->len };
}

bool auxsample_trace(const struct fmt_reader *r, const struct fmt_rec *rec, int event,
		     const uint8_t **ret, size_t *ret_len)
{
	struct span s = { 0 };

	if (rec->type != FMT_REC_SAMPLE || event < 0 || (size_t)event >= r->nr_events ||
	    !(r->events[event].sample_type & FMT_SAMPLE_AUX))
		return false;
	fmt_fields(r, rec, event, find_aux, &s);
	*ret = s.p;
	*ret_len = s.len;
	return s.len;
}
