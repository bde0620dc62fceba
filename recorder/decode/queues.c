/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/decode/queues.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/abi.h"
#include "format/fields.h"
#include "format/le.h"
#include "format/ptwalk.h"
#include "recorder/input.h"

enum {
	QUEUES_MAX = 8192,
	PAD_MAX = 7,	/* perf pads a piece to a multiple of 8 */
	TAIL_MIN = 32,	/* a PSB and as much behind it: enough to know a place again */
	ID_ENTRY = 32,	/* u64 id, idx, cpu, tid */
};
#define SPOOL_MAX (UINT64_C(1) << 40) /* address space for it */

void queues_done(struct queues *v)
{
	for (size_t i = 0; i < v->nr; i++)
		free(v->q[i].piece);
	free(v->q);
	free(v->id);
	if (v->spooled)
		munmap((void *)(uintptr_t)v->spooled, SPOOL_MAX);
	if (v->spool >= 0)
		close(v->spool);
	*v = QUEUES_INIT;
}

void queues_mode(struct queues *v, bool snapshot, bool timed)
{
	v->snapshot = snapshot;
	v->timed = timed;
}

/* v, or where it moved to, with room for one entry more than nr; NULL when there is none. */
static void *grow(void *v, size_t nr, size_t *room, size_t each)
{
	size_t n = *room ? 2 * *room : 16;

	if (nr < *room)
		return v;
	v = realloc(v, n * each);
	if (v)
		*room = n;
	return v;
}

/* The queue of that idx: *ret, or NULL when there are too many. */
static int find_queue(struct queues *v, uint32_t idx, struct queue **ret)
{
	size_t low = 0, high = v->nr;
	struct queue *all;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (v->q[mid].idx < idx)
			low = mid + 1;
		else
			high = mid;
	}
	*ret = NULL;
	if (low == v->nr || v->q[low].idx != idx) {
		if (v->nr == QUEUES_MAX)
			return 0;
		all = grow(v->q, v->nr, &v->room, sizeof(*all));
		if (!all)
			return -ENOMEM;
		v->q = all;
		memmove(all + low + 1, all + low, (v->nr - low) * sizeof(*all));
		all[low] = (struct queue){ .idx = idx };
		v->nr++;
	}
	*ret = &v->q[low];
	return 0;
}

static int add_piece(struct queue *q, struct queue_piece piece)
{
	struct queue_piece *all = grow(q->piece, q->nr, &q->room, sizeof(*all));

	if (!all)
		return -ENOMEM;
	q->piece = all;
	piece.at = q->bytes;
	piece.begins |= !q->nr;
	all[q->nr++] = piece;
	q->bytes += piece.len;
	return 0;
}

static void cut_last(struct queue *q, uint64_t n)
{
	q->piece[q->nr - 1].len -= n;
	q->bytes -= n;
}

static void skip(struct queue_piece *p, uint64_t n)
{
	p->p += n;
	p->len -= n;
	if (p->file_at != UINT64_MAX)
		p->file_at += n;
}

/* `doubled` bytes at the end of the last piece stand at the beginning of p, too. Of the
 * last one's end a few may be padding. */
static void drop_doubled(struct queue *q, struct queue_piece *p, uint64_t doubled)
{
	const struct queue_piece *last = &q->piece[q->nr - 1];
	uint64_t cut = doubled < PAD_MAX ? doubled : PAD_MAX;

	if (cut > last->len)
		cut = last->len;
	cut_last(q, cut);
	doubled -= cut;
	skip(p, doubled < p->len ? doubled : p->len);
}

/* Offsets count the bytes of the AUX stream. */
static void join_by_offset(const struct queues *v, struct queue *q, struct queue_piece *p,
			   uint64_t offset)
{
	const struct queue_piece *last = &q->piece[q->nr - 1];
	uint64_t doubled = q->end - offset;

	if (offset > q->end) {
		p->begins = true;
		q->gaps += !v->snapshot;
	} else if (v->snapshot && doubled > last->len) {
		p->begins = true;
	} else if (v->snapshot || doubled <= PAD_MAX) {
		drop_doubled(q, p, doubled);
	}
	/* Else a recorder that does not count: full trace is one stream all the same. */
}

/* A snapshot of what the last one had. */
static bool nothing_new(const struct queues *v, const struct queue *q, uint64_t offset,
			uint64_t len)
{
	return v->snapshot && q->nr && offset <= q->end && len <= q->end - offset &&
	       q->end - offset <= q->piece[q->nr - 1].len;
}

static int take_auxtrace(struct queues *v, const struct fmt_rec *rec)
{
	struct queue_piece p = { .p = rec->payload, .len = rec->payload_len };
	uint64_t offset;
	struct queue *q;
	int err;

	if (rec->size < FMT_AUXTRACE_RECORD_SIZE || !rec->payload || !rec->payload_len)
		return 0;
	err = find_queue(v, le_get32(rec->p + FMT_AUXTRACE_AT_IDX), &q);
	if (err || !q) {
		v->left_out += rec->payload_len;
		return err;
	}
	if (!q->nr) {
		q->cpu = le_get32(rec->p + FMT_AUXTRACE_AT_CPU);
		q->tid = le_get32(rec->p + FMT_AUXTRACE_AT_TID);
	}
	offset = le_get(rec->p + FMT_AUXTRACE_AT_OFFSET, 8);
	if (nothing_new(v, q, offset, rec->payload_len))
		return 0;
	p.reference = le_get(rec->p + FMT_AUXTRACE_AT_REFERENCE, 8);
	p.file_at = rec->at + rec->size;
	if (q->nr)
		join_by_offset(v, q, &p, offset);
	q->end = offset + rec->payload_len;
	return p.len ? add_piece(q, p) : 0;
}

static int by_id(const void *a, const void *b)
{
	const struct queues_id *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int take_ids(struct queues *v, const struct fmt_rec *rec)
{
	size_t at = FMT_REC_HEADER_SIZE + 8u;
	struct queues_id *all;
	uint64_t n;

	if (rec->size < at)
		return 0;
	for (n = le_get(rec->p + 8, 8); n && rec->size - at >= ID_ENTRY; n--) {
		const uint8_t *p = rec->p + at;

		all = grow(v->id, v->nr_ids, &v->room_ids, sizeof(*all));
		if (!all)
			return -ENOMEM;
		v->id = all;
		all[v->nr_ids++] = (struct queues_id){
			.id = le_get(p, 8), .idx = le_get32(p + 8),
			.cpu = le_get32(p + 16), .tid = le_get32(p + 24),
		};
		at += ID_ENTRY;
	}
	v->ids_sorted = false;
	return 0;
}

static const struct queues_id *find_id(struct queues *v, uint64_t id)
{
	struct queues_id key = { .id = id };

	if (!v->nr_ids)
		return NULL;
	if (!v->ids_sorted)
		qsort(v->id, v->nr_ids, sizeof(*v->id), by_id);
	v->ids_sorted = true;
	return bsearch(&key, v->id, v->nr_ids, sizeof(key), by_id);
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

/* Where the bytes stop that p has in common with the last piece: that one's end from its
 * last PSB on is found again in p. 0: nowhere. */
static size_t find_common(const struct queue_piece *last, const struct queue_piece *p,
			  size_t *ret_pad)
{
	size_t n = last->len, psb = 0, at, pad = 0;
	const uint8_t *found;

	while (pad < PAD_MAX && n && !last->p[n - 1]) {
		n--;
		pad++;
	}
	for (at = 0; fmt_pt_find_psb(last->p + at, n - at, &psb); at += FMT_PT_PSB_SIZE)
		at += psb;
	if (at < FMT_PT_PSB_SIZE)
		return 0;
	at -= FMT_PT_PSB_SIZE;
	if (n - at < TAIL_MIN)
		return 0;
	found = memmem(p->p, p->len, last->p + at, n - at);
	*ret_pad = pad;
	return found ? (size_t)(found - p->p) + n - at : 0;
}

static int open_spool(struct queues *v)
{
	void *p;

	v->spool = input_temporary();
	if (v->spool < 0)
		return v->spool;
	p = mmap(NULL, SPOOL_MAX, PROT_READ, MAP_SHARED, v->spool, 0);
	if (p == MAP_FAILED)
		return -errno;
	v->spooled = p;
	return 0;
}

/* What was inflated is gone with the next record: a file keeps it, as it may be as much as
 * the recording itself. */
static int put_aside(struct queues *v, struct queue_piece *p)
{
	int err = v->spooled ? 0 : open_spool(v);
	uint64_t at = v->spool_len;
	size_t done = 0;
	ssize_t got;

	if (!err && p->len > SPOOL_MAX - at)
		err = -EFBIG;
	while (!err && done < p->len) {
		got = pwrite(v->spool, p->p + done, p->len - done, (off_t)(at + done));
		if (got > 0)
			done += (size_t)got;
		else if (got < 0 && errno != EINTR)
			err = -errno;
	}
	v->spool_len = at + done;
	p->p = v->spooled + at;
	return err;
}

static int add_sample(struct queues *v, struct queue *q, struct queue_piece *p)
{
	size_t common = 0, pad = 0;

	if (v->timed && q->nr)
		common = find_common(&q->piece[q->nr - 1], p, &pad);
	if (common) {
		cut_last(q, pad);
		skip(p, common);
		p->begins = false;
	}
	return p->len ? add_piece(q, *p) : 0;
}

static bool has_aux(const struct fmt_reader *r, int event)
{
	const struct fmt_reader_event *e = &r->events[event];

	return fmt_attr_sample_type(e->attr, e->attr_size) & FMT_SAMPLE_AUX;
}

static int take_sample(struct queues *v, const struct fmt_reader *from,
		       const struct fmt_rec *rec)
{
	struct queue_piece p = { .begins = true, .file_at = UINT64_MAX };
	const struct queues_id *id;
	struct fmt_when when;
	struct span aux = { 0 };
	struct queue *q = NULL;
	int err = 0;

	if (fmt_reader_when(from, rec, &when) || when.event < 0 ||
	    !has_aux(from, when.event))
		return 0;
	fmt_fields(from, rec, when.event, find_aux, &aux);
	if (!aux.len)
		return 0;
	id = find_id(v, when.id);
	if (id)
		err = find_queue(v, id->idx, &q);
	if (!q) {
		v->left_out += aux.len;
		return err;
	}
	p.p = aux.p;
	p.len = aux.len;
	if (!q->nr) {
		q->cpu = id->cpu;
		q->tid = id->tid;
	}
	if (!rec->inflated)
		p.file_at = rec->at + (uint64_t)(aux.p - rec->p);
	else
		err = put_aside(v, &p);
	return err ? err : add_sample(v, q, &p);
}

int queues_take(struct queues *v, const struct fmt_reader *from, const struct fmt_rec *rec)
{
	switch (rec->type) {
	case FMT_REC_AUXTRACE:
		return take_auxtrace(v, rec);
	case FMT_REC_ID_INDEX:
		return take_ids(v, rec);
	case FMT_REC_SAMPLE:
		return take_sample(v, from, rec);
	default:
		return 0;
	}
}

const struct queue_piece *queue_piece_at(const struct queue *q, uint64_t at)
{
	size_t low = 0, high = q->nr;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (q->piece[mid].at <= at)
			low = mid;
		else
			high = mid;
	}
	return &q->piece[low];
}

size_t queue_read(const struct queue *q, uint64_t at, uint8_t *ret, size_t n)
{
	const struct queue_piece *p = queue_piece_at(q, at), *end = q->piece + q->nr;
	size_t done = 0;

	for (; done < n && p < end && !(done && p->begins); p++) {
		uint64_t off = at + done - p->at, part = p->len - off;

		if (part > n - done)
			part = n - done;
		memcpy(ret + done, p->p + off, part);
		done += part;
	}
	return done;
}

void queue_forget(const struct queue *q, uint64_t at, size_t n)
{
	const struct queue_piece *p = queue_piece_at(q, at), *end = q->piece + q->nr;
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uint64_t off, part;

	for (; n && p < end; p++, at += part, n -= part) {
		uintptr_t from, to;

		off = at - p->at;
		part = p->len - off < n ? p->len - off : n;
		from = ((uintptr_t)p->p + off + page - 1) & ~(page - 1);
		to = ((uintptr_t)p->p + off + part) & ~(page - 1);
		if (from < to)
			madvise((void *)from, to - from, MADV_DONTNEED);
	}
}
