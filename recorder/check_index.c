/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The AUXTRACE index (feature 18) against the records. Readers that find one good entry
 * decode only what is in it, so an index that leaves out a record loses trace without a
 * word.
 *
 * Entries are in the order of the file, and so is the walk: one place in each is enough.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "recorder/check_priv.h"

enum {
	ENTRY = 16, /* u64 file offset of the record, u64 its size */
	SORTED_MAX = 1 << 22 /* entries that are sorted, if they are not: 64 MiB */
};

static uint64_t place(const uint8_t *entry)
{
	return le_get64(entry);
}

static int by_place(const void *a, const void *b)
{
	uint64_t x = place(a), y = place(b);

	return x < y ? -1 : x > y;
}

static bool in_order(const uint8_t *p, uint64_t n)
{
	for (uint64_t i = 1; i < n; i++)
		if (place(p + i * ENTRY) < place(p + (i - 1) * ENTRY))
			return false;
	return true;
}

static void sort(struct check *c, struct check_index *x)
{
	if (x->n > SORTED_MAX) {
		check_find(c, CHECK_LIMIT, x->at, "entries in the order of the file",
			   "%" PRIu64 " entries of the AUXTRACE index, not sorted", x->n);
		x->there = false;
		return;
	}
	x->sorted = malloc(x->n * ENTRY);
	if (!x->sorted) {
		c->err = -ENOMEM;
		return;
	}
	memcpy(x->sorted, x->p, x->n * ENTRY);
	qsort(x->sorted, x->n, ENTRY, by_place);
	x->p = x->sorted;
}

void check_index_begin(struct check *c)
{
	struct check_index *x = &c->index;
	const uint8_t *p;
	uint64_t len;

	if (c->r->pipe || fmt_reader_feature(c->r, FMT_FEAT_AUXTRACE, &p, &len) ||
	    len < 8)
		return;
	x->at = (uint64_t)(p - c->r->p);
	x->n = le_get64(p);
	if (x->n > (len - 8) / ENTRY)
		return; /* check_feature() says so */
	x->there = true;
	x->p = p + 8;
	if (!in_order(x->p, x->n))
		sort(c, x);
}

static void foreign(struct check *c, uint64_t entry)
{
	check_find(c, CHECK_INDEX_FOREIGN, c->index.at, "places of AUXTRACE records",
		   "an entry of the AUXTRACE index for byte %" PRIu64
		   ", where none begins", entry);
}

/* Entries up to and at the record that stands at `at`; true: it is among them. */
static bool look_up(struct check *c, uint64_t at)
{
	struct check_index *x = &c->index;
	bool found = false;
	uint64_t entry;

	for (; x->next < x->n; x->next++) {
		entry = place(x->p + x->next * ENTRY);
		if (entry > at)
			break;
		if (entry < at)
			foreign(c, entry);
		else if (found)
			check_find(c, CHECK_INDEX_TWICE, x->at, "each record once",
				   "two entries of the AUXTRACE index for byte %" PRIu64,
				   at);
		else if (le_get64(x->p + x->next * ENTRY + 8) != FMT_AUXTRACE_RECORD_SIZE)
			check_find(c, CHECK_INDEX_FOREIGN, x->at, "size 48",
				   "an entry of the AUXTRACE index for byte %" PRIu64
				   " with size %" PRIu64, at,
				   le_get64(x->p + x->next * ENTRY + 8));
		found |= entry == at;
	}
	return found;
}

void check_index_take(struct check *c, const struct check_rec *cr)
{
	const struct fmt_rec *rec = cr->rec;

	if (!c->index.there || c->part || rec->inflated)
		return;
	if (!look_up(c, rec->at) && c->index.n)
		check_find(c, CHECK_INDEX_MISSING, rec->at,
			   "an entry of the AUXTRACE index for it",
			   "an AUXTRACE record that readers with an index miss");
}

void check_index_end(struct check *c)
{
	struct check_index *x = &c->index;

	if (x->there)
		look_up(c, UINT64_MAX);
	if (c->r->finished && c->aux.nr_trace && !(x->there && x->n))
		check_find(c, CHECK_NO_INDEX, CHECK_NOWHERE,
			   "an index of them, or readers scan the file",
			   "%" PRIu64 " AUXTRACE records", c->aux.nr_trace);
}

void check_index_done(struct check_index *x)
{
	free(x->sorted);
	*x = (struct check_index){ 0 };
}
