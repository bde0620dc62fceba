/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rings of a place hold while it stands still, copied, so that it may go on before
 * that is written: a pause then has no file in it, which may be slow, or a reader that sleeps.
 *
 * The pages of the first READY bytes of the copies are there from the start; the others come
 * when they are written to, which takes three times as long, and are given back behind the
 * snapshot. (To ask for them when a snapshot is wanted, before the cpus are stopped, would have
 * the rings go on for as long; huge pages come slower, by what the kernel does to find them.)
 * Where there is too little memory for all places at once, it is used several times, and places
 * wait for their turn; where there is none, they wait for the file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "recorder/flight.h"
#include "recorder/session.h"

enum {
	READY = 32 << 20,
	FREE_PARTS = 4, /* at most this part of the memory that is available */
};

static size_t need(const struct session *s, size_t i)
{
	const struct pio_place *p = &s->set.place[i];

	return (s->source.set ? p->ring.aux_len : 0) + p->newest.data_len;
}

void flight_room_open(struct session *s)
{
	struct flight_room *r = &s->flight.room;
	uint64_t most = pio_limits_memory(s->sys) / FREE_PARTS;
	size_t size = 0;
	void *p;

	for (size_t i = 0; i < s->set.nr_place; i++)
		size += need(s, i);
	if (size > most)
		size = (size_t)most;
	if (!size)
		return;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return;
	*r = (struct flight_room){ .p = p, .size = size };
	memset(r->p, 1, size < READY ? size : READY); /* so that the pages are there */
}

void flight_room_leave(struct session *s)
{
	struct flight_room *r = &s->flight.room;

	r->used = 0;
	if (r->size > READY)
		(void)madvise(r->p + READY, r->size - READY, MADV_DONTNEED);
}

void flight_room_close(struct session *s)
{
	struct flight_room *r = &s->flight.room;

	if (r->p)
		(void)munmap(r->p, r->size);
	*r = (struct flight_room){ 0 };
}

bool flight_fits(const struct session *s, size_t i)
{
	const struct flight_room *r = &s->flight.room;

	return need(s, i) <= r->size - r->used;
}

/* The spans, as one in the room. */
static int bring(struct flight_room *r, struct iovec v[2], int n)
{
	uint8_t *to = r->p + r->used;
	size_t len = 0;

	for (int k = 0; k < n; k++) {
		memcpy(to + len, v[k].iov_base, v[k].iov_len);
		len += v[k].iov_len;
	}
	if (!n)
		return 0;
	v[0] = (struct iovec){ to, len };
	r->used += len;
	return 1;
}

void flight_hold(struct session *s, size_t i, bool copy)
{
	struct pio_place *p = &s->set.place[i];
	struct flight_room *r = &s->flight.room;
	struct pio_newest all = p->newest;
	struct flight_hold h = { 0 };

	all.seen = s->flight.own ? 0 : p->newest.seen;
	if (p->ring.meta && s->source.set)
		h.nr_trace = snapshot_look(s, i, &h.aux, h.trace);
	h.whole = !p->ring.aux_wrapped;
	h.nr_records = pio_newest_peek(&all, h.records, &h.more);
	if (!s->flight.own)
		pio_newest_taken(&p->newest);
	h.copied = copy && flight_fits(s, i);
	if (h.copied) {
		h.nr_trace = bring(r, h.trace, h.nr_trace);
		h.nr_records = bring(r, h.records, h.nr_records);
	}
	s->flight.place[i].hold = h;
}
