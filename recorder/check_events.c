/* SPDX-License-Identifier: Apache-2.0 */
/* The rules across events, and their ids. perf looks at these when it opens a file. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format/abi.h"
#include "format/event.h"
#include "format/le.h"
#include "recorder/check_priv.h"

static uint64_t attr_at(const struct check *c, size_t i)
{
	return (uint64_t)(c->r->events[i].attr - c->r->p);
}

static uint64_t sample_type(const struct check *c, size_t i)
{
	return fmt_attr_sample_type(c->r->events[i].attr, c->r->events[i].attr_size);
}

static uint64_t read_format(const struct check *c, size_t i)
{
	return fmt_attr_read_format(c->r->events[i].attr, c->r->events[i].attr_size);
}

static bool id_all(const struct check *c, size_t i)
{
	return fmt_attr_flags(c->r->events[i].attr, c->r->events[i].attr_size) &
	       FMT_ATTR_F_SAMPLE_ID_ALL;
}

/* Words before the id in a sample, words behind it in a trailer; -1: there is no id. */
static int before(uint64_t st)
{
	if (st & FMT_SAMPLE_IDENTIFIER)
		return 0;
	if (!(st & FMT_SAMPLE_ID))
		return -1;
	return 1 + __builtin_popcountll(st & (FMT_SAMPLE_IP | FMT_SAMPLE_TID |
					      FMT_SAMPLE_TIME | FMT_SAMPLE_ADDR));
}

static int behind(uint64_t st)
{
	if (st & FMT_SAMPLE_IDENTIFIER)
		return 0;
	if (!(st & FMT_SAMPLE_ID))
		return -1;
	return 1 + __builtin_popcountll(st & (FMT_SAMPLE_STREAM_ID | FMT_SAMPLE_CPU));
}

static void layouts(struct check *c)
{
	for (size_t i = 0; i < c->r->nr_events; i++) {
		uint64_t st = sample_type(c, i), first = sample_type(c, 0);

		if (before(st) < 0)
			check_find(c, CHECK_LAYOUT, attr_at(c, i),
				   "IDENTIFIER or ID in every event's sample_type",
				   "event %zu without either: whose a record is remains "
				   "ambiguous", i);
		else if (before(st) != before(first) || behind(st) != behind(first))
			check_find(c, CHECK_LAYOUT, attr_at(c, i),
				   "the id at one place in the records of all events",
				   "event %zu with sample_type %#" PRIx64
				   ", event 0 with %#" PRIx64,
				   i, st, first);
		if (id_all(c, i) != id_all(c, 0))
			check_find(c, CHECK_LAYOUT, attr_at(c, i),
				   "sample_id_all in all events or in none",
				   "sample_id_all %d in event %zu, %d in event 0",
				   id_all(c, i), i, id_all(c, 0));
	}
}

static void reads(struct check *c)
{
	if (sample_type(c, 0) & FMT_SAMPLE_READ && !(read_format(c, 0) & FMT_FORMAT_ID))
		check_find(c, CHECK_LAYOUT, attr_at(c, 0) + FMT_ATTR_AT_READ_FORMAT,
			   "ID in the read_format of an event that samples READ",
			   "read_format %#" PRIx64, read_format(c, 0));
}

/* perf refuses a file whose attrs are longer than its own, whatever they say. */
static void sizes(struct check *c)
{
	for (size_t i = 0; i < c->r->nr_events; i++)
		if (c->r->events[i].attr_size > FMT_ATTR_SIZE && !c->r->pipe)
			check_find(c, CHECK_NEW_ATTR, attr_at(c, i) + FMT_ATTR_AT_SIZE,
				   "128 bytes or less, or perf 6.1 refuses the file",
				   "an attr of %zu bytes", c->r->events[i].attr_size);
}

struct owned {
	uint64_t id;
	size_t event;
	uint64_t at;
};

static int by_id(const void *a, const void *b)
{
	const struct owned *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static size_t count_ids(const struct fmt_reader *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->nr_events; i++)
		n += r->events[i].nr_ids;
	return n;
}

static void gather_ids(const struct fmt_reader *r, struct owned *all)
{
	for (size_t i = 0; i < r->nr_events; i++)
		for (size_t k = 0; k < r->events[i].nr_ids; k++) {
			const uint8_t *p = r->events[i].ids + 8 * k;

			*all++ = (struct owned){ le_get64(p), i, (uint64_t)(p - r->p) };
		}
}

/* A file may hold as many ids as it has room for: too many are not sorted. */
static void ids(struct check *c)
{
	size_t n = count_ids(c->r);
	struct owned *all;

	if (!n)
		return;
	if (n > 16 * CHECK_ROWS_MAX) {
		check_find(c, CHECK_LIMIT, CHECK_NOWHERE, "fewer, or not all is judged",
			   "%zu ids of events", n);
		return;
	}
	all = malloc(n * sizeof(*all));
	if (!all) {
		c->err = -ENOMEM;
		return;
	}
	gather_ids(c->r, all);
	qsort(all, n, sizeof(*all), by_id);
	for (size_t i = 0; i < n; i++) {
		if (!all[i].id)
			check_find(c, CHECK_ID_ZERO, all[i].at, "ids that are not 0",
				   "id 0 of event %zu", all[i].event);
		else if (i && all[i].id == all[i - 1].id)
			check_find(c, CHECK_ID_TWICE, all[i].at, "each id once",
				   "id %" PRIu64 " of event %zu, which event %zu has",
				   all[i].id, all[i].event, all[i - 1].event);
	}
	free(all);
}

static void without_ids(struct check *c)
{
	for (size_t i = 0; i < c->r->nr_events; i++)
		if (!c->r->events[i].nr_ids)
			check_find(c, CHECK_NO_IDS, attr_at(c, i),
				   "ids, or its records cannot be told from others",
				   "event %zu without ids", i);
}

static void tracepoints(struct check *c)
{
	const uint8_t *p;
	uint64_t len;

	if (c->tracing_data || !fmt_reader_feature(c->r, FMT_FEAT_TRACING_DATA, &p, &len))
		return;
	for (size_t i = 0; i < c->r->nr_events; i++)
		if (fmt_attr_type(c->r->events[i].attr, c->r->events[i].attr_size) ==
		    FMT_TYPE_TRACEPOINT)
			check_find(c, CHECK_NO_TRACING_DATA, attr_at(c, i),
				   "TRACING_DATA, or perf refuses the file",
				   "event %zu, a tracepoint", i);
}

void check_events(struct check *c)
{
	const uint8_t *p;
	uint64_t len;

	/* With one event every record is its own; counts of perf stat have no samples. */
	if (c->r->nr_events > 1 && fmt_reader_feature(c->r, FMT_FEAT_STAT, &p, &len)) {
		layouts(c);
		without_ids(c);
	}
	if (c->r->nr_events)
		reads(c);
	sizes(c);
	ids(c);
	tracepoints(c);
}
