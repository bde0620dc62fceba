/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/export/recsort.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "format/abi.h"
#include "format/le.h"

struct run {
	const uint8_t *p, *end; /* records that are left */
	uint64_t time;		/* of the first of them */
	size_t number;
};

int recsort_note(struct recsort *s, uint64_t at, const struct fmt_when *w)
{
	bool goes_on = s->nr && (!w->has_time || w->time >= s->last);
	uint64_t *runs = s->runs;

	if (w->has_time)
		s->last = w->time;
	if (goes_on)
		return 0;
	if (!(s->nr & (s->nr - 1))) { /* full at every power of two */
		runs = realloc(runs, (s->nr ? 2 * s->nr : 1) * sizeof(*runs));
		if (!runs)
			return -ENOMEM;
		s->runs = runs;
	}
	runs[s->nr++] = at;
	return 0;
}

static size_t size_at(const uint8_t *p)
{
	return le_get16(p + FMT_REC_AT_SIZE);
}

static void look(struct run *run, const struct fmt_reader *r)
{
	struct fmt_when w;
	struct fmt_rec rec = { .p = run->p };

	if (run->p == run->end)
		return;
	rec.type = le_get32(rec.p);
	rec.misc = le_get16(rec.p + FMT_REC_AT_MISC);
	rec.size = (uint16_t)size_at(rec.p);
	if (!fmt_reader_when(r, &rec, &w) && w.has_time)
		run->time = w.time;
}

static bool before(const struct run *a, const struct run *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	return a->number < b->number;
}

/* A heap: the run with the earliest record is h[0]. */
static void sink(struct run *h, size_t n, size_t i)
{
	struct run x = h[i];
	size_t k;

	while ((k = 2 * i + 1) < n) {
		if (k + 1 < n && before(&h[k + 1], &h[k]))
			k++;
		if (!before(&h[k], &x))
			break;
		h[i] = h[k];
		i = k;
	}
	h[i] = x;
}

static int merge(struct run *h, size_t n, struct outfile *f, const struct fmt_reader *r)
{
	int err = 0;

	for (size_t i = n / 2; i--;)
		sink(h, n, i);
	while (n && !err) {
		size_t size = size_at(h->p);

		err = outfile_write(f, h->p, size);
		h->p += size;
		look(h, r);
		if (h->p == h->end)
			h[0] = h[--n];
		if (n)
			sink(h, n, 0);
	}
	return err;
}

int recsort_finish(struct recsort *s, struct outfile *f, const struct fmt_reader *r)
{
	uint64_t size = f->size;
	const uint8_t *p;
	struct run *h;
	int err;

	if (s->nr < 2)
		return 0;
	h = calloc(s->nr, sizeof(*h));
	if (!h)
		return -ENOMEM;
	err = outfile_map(f, &p);
	if (err) {
		free(h);
		return err;
	}
	for (size_t i = 0; i < s->nr; i++) {
		h[i].p = p + s->runs[i];
		h[i].end = p + (i + 1 < s->nr ? s->runs[i + 1] : size);
		h[i].number = i;
		look(&h[i], r);
	}
	err = outfile_restart(f);
	if (!err)
		err = merge(h, s->nr, f, r);
	munmap((void *)(uintptr_t)p, size);
	free(h);
	return err;
}

void recsort_done(struct recsort *s)
{
	free(s->runs);
	*s = (struct recsort){ 0 };
}
