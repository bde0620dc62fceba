/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a file, and to which of them a record belongs.
 *
 * A record carries the kernel id of its event at a place that depends on the event's
 * sample_type, so the place must be the same for all events before the id can be read at
 * all (perf demands that too). With one event there is nothing to look up.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/reader_priv.h"

enum {
	EVENTS_MAX = 65536, /* a bound for what a file can make us allocate */
	ATTR_MIN = 64,	    /* PERF_ATTR_SIZE_VER0 */
	ATTR_MAX = 144,	    /* PERF_ATTR_SIZE_VER9 (Linux 6.18) */
};
enum { NO_EVENT = -1 };

struct id {
	uint64_t id;
	unsigned event;
};

/* Whoever asks for an id asks for it again and again: a ring's records come in one piece. */
struct ids {
	void *root; /* tree of struct id */
	struct id *last;
};

static int by_id(const void *a, const void *b)
{
	uint64_t x = ((const struct id *)a)->id, y = ((const struct id *)b)->id;

	return x < y ? -1 : x > y;
}

static int add_id(struct fmt_reader *r, uint64_t id, unsigned event)
{
	struct ids *ids = r->ids;
	struct id *n, **at;

	if (!ids) {
		ids = calloc(1, sizeof(*ids));
		if (!ids)
			return -ENOMEM;
		r->ids = ids;
	}
	n = malloc(sizeof(*n));
	if (!n)
		return -ENOMEM;
	*n = (struct id){ .id = id, .event = event };
	at = tsearch(n, &ids->root, by_id);
	if (!at || *at != n)
		free(n); /* the first owner of an id keeps it */
	return at ? 0 : -ENOMEM;
}

/* `last` may be read and set by several threads: what it points at never changes. */
static int find_id(const struct fmt_reader *r, uint64_t id)
{
	struct id key = { .id = id }, **at, *last;
	struct ids *ids = r->ids;

	if (!ids)
		return NO_EVENT;
	last = __atomic_load_n(&ids->last, __ATOMIC_RELAXED);
	if (last && last->id == id)
		return (int)last->event;
	at = tfind(&key, &ids->root, by_id);
	if (!at)
		return NO_EVENT;
	__atomic_store_n(&ids->last, *at, __ATOMIC_RELAXED);
	return (int)(*at)->event;
}

static size_t words(uint64_t bits)
{
	return 8u * (size_t)__builtin_popcountll(bits);
}

int fmt_reader_event_by_id(const struct fmt_reader *r, uint64_t id)
{
	return find_id(r, id);
}

/* Where the id stands in a SAMPLE, from its start: 0 when nowhere. */
static uint8_t sample_id_at(uint64_t st)
{
	if (st & FMT_SAMPLE_IDENTIFIER)
		return FMT_REC_HEADER_SIZE;
	if (!(st & FMT_SAMPLE_ID))
		return 0;
	return (uint8_t)(FMT_REC_HEADER_SIZE +
			 words(st & (FMT_SAMPLE_IP | FMT_SAMPLE_TID | FMT_SAMPLE_TIME |
				     FMT_SAMPLE_ADDR)));
}

/* Where it stands in any other record, from its end: 0 when nowhere. */
static uint8_t trailer_id_at(uint64_t st)
{
	if (st & FMT_SAMPLE_IDENTIFIER)
		return 8;
	if (!(st & FMT_SAMPLE_ID))
		return 0;
	return (uint8_t)(8 + words(st & (FMT_SAMPLE_STREAM_ID | FMT_SAMPLE_CPU)));
}

/* Fields at the start of a sample, and of a trailer, in the order they have there; each is
 * 8 bytes. An IDENTIFIER comes first in the one and last in the other. */
#define IN_SAMPLE                                                                        \
	(FMT_SAMPLE_IDENTIFIER | FMT_SAMPLE_IP | FMT_SAMPLE_TID | FMT_SAMPLE_TIME |      \
	 FMT_SAMPLE_ADDR | FMT_SAMPLE_ID | FMT_SAMPLE_STREAM_ID | FMT_SAMPLE_CPU)
#define IN_TRAILER                                                                       \
	(FMT_SAMPLE_TID | FMT_SAMPLE_TIME | FMT_SAMPLE_ID | FMT_SAMPLE_STREAM_ID |       \
	 FMT_SAMPLE_CPU | FMT_SAMPLE_IDENTIFIER)

/* Taken out of the attr once, not for each record. */
static void prepare(struct fmt_reader *r, struct fmt_reader_event *e)
{
	const struct fmt_reader_event *first = r->events;

	e->sample_type = fmt_attr_sample_type(e->attr, e->attr_size);
	e->id_all = fmt_attr_flags(e->attr, e->attr_size) & FMT_ATTR_F_SAMPLE_ID_ALL;
	e->sample_size = (uint8_t)words(e->sample_type & IN_SAMPLE);
	e->trailer_size = (uint8_t)words(e->sample_type & IN_TRAILER);
	if (e == first) {
		r->id_in_sample = sample_id_at(e->sample_type);
		r->id_in_trailer = trailer_id_at(e->sample_type);
	}
	if (e->sample_type != first->sample_type || e->id_all != first->id_all)
		r->same_layout = false;
	if (sample_id_at(e->sample_type) != r->id_in_sample ||
	    trailer_id_at(e->sample_type) != r->id_in_trailer || e->id_all != first->id_all)
		r->same_id_place = false;
}

static int add_event(struct fmt_reader *r, const struct fmt_reader_event *e)
{
	size_t n = r->nr_events;
	struct fmt_reader_event *all;

	if (n >= EVENTS_MAX)
		return -EOVERFLOW;
	if (!(n & (n - 1))) { /* full at every power of two */
		all = realloc(r->events, (n ? 2 * n : 1) * sizeof(*all));
		if (!all)
			return -ENOMEM;
		r->events = all;
	}
	r->events[n] = *e;
	r->nr_events++;
	prepare(r, &r->events[n]);
	for (size_t i = 0; i < e->nr_ids; i++)
		if (add_id(r, le_get(e->ids + 8 * i, 8), (unsigned)n))
			return -ENOMEM;
	return 0;
}

/* The attr at p, of which at most `left` bytes are there. Its own size, or 0. */
static size_t attr_size(const uint8_t *p, uint64_t left)
{
	size_t size;

	if (left < ATTR_MIN)
		return 0;
	size = le_get32(p + FMT_ATTR_AT_SIZE);
	if (!size)
		size = ATTR_MIN; /* recorders before Linux 2.6.32 */
	return size < ATTR_MIN || size > left ? 0 : size;
}

static void set_attr(struct fmt_reader_event *e, const uint8_t *p, size_t size)
{
	e->attr = p;
	e->attr_size = size < ATTR_MAX ? size : ATTR_MAX;
}

/* One entry of the attrs section; *ids_left bounds what lists that overlap could ask
 * for. */
static int attr_entry(struct fmt_reader *r, uint64_t at, uint64_t step,
		      uint64_t *ids_left)
{
	const uint8_t *p = r->p + at;
	struct fmt_reader_event e = { 0 };
	uint64_t bytes;
	int err;

	if (attr_size(p, step - FMT_SECTION_SIZE) != step - FMT_SECTION_SIZE)
		return fmt_reader_bad(r, -EBADMSG, at,
				      "an attr of the header's attr_size - 16 bytes");
	set_attr(&e, p, step - FMT_SECTION_SIZE);
	bytes = le_get(p + step - 8, 8);
	if (fmt_reader_section(r, le_get(p + step - 16, 8), bytes, &e.ids))
		return fmt_reader_bad(r, -ENODATA, at + step - 16, "ids within the file");
	if (bytes > *ids_left)
		return fmt_reader_bad(r, -EBADMSG, at + step - 16,
				      "id lists that do not overlap");
	*ids_left -= bytes;
	e.nr_ids = bytes / 8;
	err = add_event(r, &e);
	if (err == -EOVERFLOW)
		return fmt_reader_bad(r, -EBADMSG, at, "no more than 65536 events");
	return err;
}

int fmt_reader_attrs(struct fmt_reader *r, uint64_t at, uint64_t len, uint64_t step)
{
	uint64_t ids_left = r->len;
	const uint8_t *p;
	int err = 0;

	if (fmt_reader_section(r, at, len, &p))
		return fmt_reader_bad(r, -ENODATA, FMT_HDR_ATTRS,
				      "an attrs section within the file");
	for (; !err && len >= step; at += step, len -= step)
		err = attr_entry(r, at, step, &ids_left);
	return err;
}

int fmt_reader_take_attr(struct fmt_reader *r, const struct fmt_rec *rec)
{
	size_t left = rec->size - FMT_REC_HEADER_SIZE, size;
	const uint8_t *p = rec->p + FMT_REC_HEADER_SIZE;
	struct fmt_reader_event e = { 0 };
	int err;

	size = attr_size(p, left);
	if (!size)
		return fmt_reader_odd(r, rec, "a HEADER_ATTR record that holds its attr");
	if (rec->at < r->gathered)
		return 0;
	set_attr(&e, p, size);
	e.ids = p + size;
	e.nr_ids = (left - size) / 8;
	err = add_event(r, &e);
	if (err == -EOVERFLOW)
		return fmt_reader_odd(r, rec, "no more than 65536 events");
	/* perf 4.14 sends the names first, later ones the attrs. */
	if (!err && r->sent[FMT_FEAT_EVENT_DESC].p)
		fmt_reader_event_desc(r);
	return err;
}

int fmt_reader_take_update(struct fmt_reader *r, const struct fmt_rec *rec)
{
	int i;

	if (rec->size < 24)
		return fmt_reader_odd(r, rec,
				      "an EVENT_UPDATE record of 24 bytes or more");
	if (le_get(rec->p + 8, 8) != FMT_EVENT_UPDATE_NAME)
		return 0;
	if (!memchr(rec->p + 24, 0, rec->size - 24u))
		return fmt_reader_odd(r, rec,
				      "an event name that ends within its record");
	if (rec->at < r->gathered)
		return 0;
	i = find_id(r, le_get(rec->p + 16, 8));
	if (i >= 0)
		r->events[i].name = (const char *)rec->p + 24;
	return 0;
}

void fmt_reader_event_desc(struct fmt_reader *r)
{
	uint64_t len, at = 8, step, ids;
	const uint8_t *p;
	const char *s;

	if (fmt_reader_feature(r, FMT_FEAT_EVENT_DESC, &p, &len) || len < 8)
		return;
	step = (uint64_t)le_get32(p + 4) + 4; /* attr, u32 number of ids */
	for (size_t i = 0; i < r->nr_events && i < le_get32(p); i++) {
		if (step > len - at)
			return;
		at += step;
		ids = 8 * (uint64_t)le_get32(p + at - 4);
		s = fmt_reader_text(p, len, &at);
		if (!s || ids > len - at)
			return;
		at += ids;
		if (!r->events[i].name)
			r->events[i].name = s;
	}
}

int fmt_reader_add_bare(struct fmt_reader *r, const uint8_t *attr, size_t size)
{
	return add_event(r, &(struct fmt_reader_event){ .attr = attr, .attr_size = size });
}

void fmt_reader_events_done(struct fmt_reader *r)
{
	struct ids *ids = r->ids;

	if (r->shares_events)
		return;
	if (ids)
		tdestroy(ids->root, free);
	free(ids);
	r->ids = NULL;
	free(r->events);
	r->events = NULL;
	r->nr_events = 0;
}

int fmt_reader_event_of(const struct fmt_reader *r, const struct fmt_rec *rec)
{
	bool sample = rec->type == FMT_REC_SAMPLE;
	uint64_t id;
	size_t at;

	if (rec->type >= FMT_REC_USER_START || !r->nr_events)
		return NO_EVENT;
	if (r->nr_events == 1)
		return 0;
	if (!r->same_id_place || (!sample && !r->events->id_all))
		return NO_EVENT;
	at = sample ? r->id_in_sample : r->id_in_trailer;
	if (!at || rec->size < FMT_REC_HEADER_SIZE + 8 || at > rec->size - 8u)
		return NO_EVENT;
	id = le_get64(sample ? rec->p + at : rec->p + rec->size - at);
	return id ? find_id(r, id) : 0;
}

/* Field by field into *w, which is zeroed: written narrow and copied wide, it would wait. */
static void take_fields(struct fmt_when *w, uint64_t st, const uint8_t *p)
{
	if (st & FMT_SAMPLE_IP)
		p += 8;
	if (st & FMT_SAMPLE_TID) {
		w->has_tid = true;
		w->pid = le_get32(p);
		w->tid = le_get32(p + 4);
		p += 8;
	}
	if (st & FMT_SAMPLE_TIME) {
		w->has_time = true;
		w->time = le_get64(p);
		p += 8;
	}
	if (st & FMT_SAMPLE_ADDR)
		p += 8;
	if (st & FMT_SAMPLE_ID) {
		w->id = le_get64(p);
		p += 8;
	}
	if (st & FMT_SAMPLE_STREAM_ID)
		p += 8;
	if (st & FMT_SAMPLE_CPU) {
		w->has_cpu = true;
		w->cpu = le_get32(p);
		p += 8;
	}
}

int fmt_reader_when(const struct fmt_reader *r, const struct fmt_rec *rec,
		    struct fmt_when *ret)
{
	bool sample = rec->type == FMT_REC_SAMPLE;
	int event = fmt_reader_event_of(r, rec);
	const struct fmt_reader_event *e;
	const uint8_t *p, *id;
	uint64_t st;
	size_t need;

	if (rec->type >= FMT_REC_USER_START || !r->nr_events)
		return -ENOENT;
	if (event < 0 && !r->same_layout)
		return -ENOENT;
	e = &r->events[event < 0 ? 0 : event];
	if (!sample && !e->id_all)
		return -ENOENT;
	st = e->sample_type;
	need = sample ? e->sample_size : e->trailer_size;
	if (need > rec->size - FMT_REC_HEADER_SIZE)
		return -EBADMSG;
	memset(ret, 0, sizeof(*ret));
	ret->event = event;
	p = rec->p + (sample ? FMT_REC_HEADER_SIZE : rec->size - need);
	id = sample ? p : rec->p + rec->size - 8;
	if (sample && st & FMT_SAMPLE_IDENTIFIER)
		p += 8;
	take_fields(ret, sample ? st : st & IN_TRAILER, p);
	if (st & FMT_SAMPLE_IDENTIFIER)
		ret->id = le_get64(id);
	return 0;
}
