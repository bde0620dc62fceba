/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/decode/queues.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/ptwalk.h"
#include "recorder/input.h"

enum {
	QUEUES_MAX = 8192,
	PAD_MAX = 7,	/* perf pads a piece to a multiple of 8 */
	TAIL_MIN = 32,	/* a PSB and as much behind it: enough to know a place again */
};
#define SPOOL_MAX (UINT64_C(1) << 40) /* address space for it */

void queues_done(struct queues *v)
{
	for (size_t i = 0; i < v->nr; i++)
		free(v->q[i].piece);
	free(v->q);
	auxsample_ids_done(&v->ids);
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

static int take_sample(struct queues *v, const struct fmt_reader *from,
		       const struct fmt_rec *rec)
{
	struct queue_piece p = { .begins = true, .file_at = UINT64_MAX };
	const struct auxsample_id *id;
	struct fmt_when when;
	struct queue *q = NULL;
	size_t len;
	int err = 0;

	if (fmt_reader_when(from, rec, &when) ||
	    !auxsample_trace(from, rec, when.event, &p.p, &len))
		return 0;
	id = auxsample_owner(&v->ids, when.id);
	if (id)
		err = find_queue(v, id->idx, &q);
	if (!q) {
		v->left_out += len;
		return err;
	}
	p.len = len;
	if (!q->nr) {
		q->cpu = id->cpu;
		q->tid = id->tid;
	}
	if (!rec->inflated)
		p.file_at = rec->at + (uint64_t)(p.p - rec->p);
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
		return auxsample_take_ids(&v->ids, rec);
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
