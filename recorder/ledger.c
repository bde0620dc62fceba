/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/ledger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "recorder/ringwalk.h"

enum {
	TRAILER_TIME = 24,   /* from the end of a record: time of the common trailer */
	SAMPLE_TIME_AT = 32, /* IDENTIFIER, IP, TID before TIME */
};

struct ledger_row *ledger_row(struct ledger *l, size_t i, int cpu, int tid)
{
	if (i >= l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 16;
		struct ledger_row *p;

		while (cap <= i)
			cap *= 2;
		p = realloc(l->row, cap * sizeof(*p));
		if (!p)
			return NULL;
		l->row = p;
		l->cap = cap;
	}
	for (; l->n <= i; l->n++)
		l->row[l->n] = (struct ledger_row){ .cpu = -1, .tid = -1 };
	l->row[i].cpu = cpu;
	l->row[i].tid = tid;
	return &l->row[i];
}

void ledger_done(struct ledger *l)
{
	free(l->row);
	*l = (struct ledger){ 0 };
}

void ledger_count(struct ledger *l, uint32_t type)
{
	l->records++;
	l->by_type[type]++;
}

void ledger_uncount(struct ledger *l, uint32_t type, uint64_t n)
{
	l->records -= n;
	l->by_type[type] -= n;
}

void ledger_time(struct ledger *l, uint64_t ns)
{
	if (!ns)
		return;
	if (!l->first_ns || ns < l->first_ns)
		l->first_ns = ns;
	if (ns > l->last_ns)
		l->last_ns = ns;
}

static void see_time(struct ledger *l, const uint8_t *rec, uint32_t type, size_t size)
{
	if (type != FMT_REC_SAMPLE && size >= FMT_REC_HEADER_SIZE + TRAILER_TIME)
		ledger_time(l, le_get(rec + size - TRAILER_TIME, 8));
	else if (type == FMT_REC_SAMPLE && size >= SAMPLE_TIME_AT + 8)
		ledger_time(l, le_get(rec + SAMPLE_TIME_AT, 8));
}

static void see_aux(struct ledger_row *r, const uint8_t *rec, size_t size)
{
	uint64_t flags;

	if (size < FMT_AUX_AT_FLAGS + 8)
		return;
	flags = le_get(rec + FMT_AUX_AT_FLAGS, 8);
	r->truncated += !!(flags & FMT_AUX_TRUNCATED);
	r->partial += !!(flags & FMT_AUX_PARTIAL);
	r->collision += !!(flags & FMT_AUX_COLLISION);
}

/* Records whose content matters here; the others are only counted. */
static void look(struct ledger_row *r, const uint8_t *rec, uint32_t type, size_t size)
{
	switch (type) {
	case FMT_REC_LOST:
		if (size >= FMT_LOST_AT_LOST + 8)
			r->lost += le_get(rec + FMT_LOST_AT_LOST, 8);
		break;
	case FMT_REC_LOST_SAMPLES:
		if (size >= FMT_LOST_SAMPLES_AT_LOST + 8)
			r->lost_samples += le_get(rec + FMT_LOST_SAMPLES_AT_LOST, 8);
		break;
	case FMT_REC_AUX:
		see_aux(r, rec, size);
		break;
	}
}

#define OURS (UINT64_C(1) << FMT_REC_LOST | UINT64_C(1) << FMT_REC_LOST_SAMPLES | \
	      UINT64_C(1) << FMT_REC_AUX)

struct walk {
	struct ringwalk ring;
	const struct ledger_visit *visit;
};

static int see(struct walk *w, struct ledger_row *r, size_t pos, uint32_t type, size_t size)
{
	const uint8_t *rec = ringwalk_whole(&w->ring, pos, size);

	look(r, rec, type, size);
	if (w->visit && w->visit->types >> type & 1)
		return w->visit->fn(w->visit->ctx, rec, size, pos);
	return 0;
}

int ledger_walk(struct ledger *l, struct ledger_row *r, const struct iovec *v, int n,
		const struct ledger_visit *visit)
{
	const uint64_t content = OURS | (visit ? visit->types : 0);
	static struct walk w; /* 64 KiB, and there is one drain */
	size_t size, last = 0, last_size = 0;
	uint32_t type, last_type = 0;
	int err;

	ringwalk_begin(&w.ring, v, n);
	w.visit = visit;
	for (size_t pos = 0; pos < w.ring.total; pos += size) {
		type = le_get32(ringwalk_at(&w.ring, pos));
		size = ringwalk_size(&w.ring, pos);
		if (!size || type >= LEDGER_TYPES)
			return -EBADMSG;
		ledger_count(l, type);
		if (content >> type & 1) {
			err = see(&w, r, pos, type, size);
			if (err)
				return err;
		}
		if (!pos)
			see_time(l, ringwalk_whole(&w.ring, pos, size), type, size);
		last = pos;
		last_size = size;
		last_type = type;
	}
	if (last_size)
		see_time(l, ringwalk_whole(&w.ring, last, last_size), last_type, last_size);
	return 0;
}

struct ledger_losses ledger_sum(const struct ledger *l)
{
	struct ledger_losses s = { 0 };

	for (size_t i = 0; i < l->n; i++) {
		const struct ledger_row *r = &l->row[i];

		s.lost += r->lost;
		s.lost_samples += r->lost_samples;
		s.truncated += r->truncated;
		s.partial += r->partial;
		s.collision += r->collision;
		s.aux_bytes += r->aux_bytes;
	}
	return s;
}

bool ledger_lossy(const struct ledger *l)
{
	struct ledger_losses s = ledger_sum(l);

	return s.lost || s.lost_samples || s.truncated || s.partial || s.collision ||
	       l->rolled_back || l->given_up || l->dropped || l->untold || l->unexplained ||
	       l->refused || l->unreadable || l->unjoined;
}
