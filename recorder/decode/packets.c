/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/decode/packets.h"

#include <errno.h>
#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

#include "format/ptwalk.h"
#include "recorder/decode/packets_priv.h"

/* Held back until more comes: the longest packet, and the padding of a piece. */
#define UNKNOWN UINT64_MAX
enum { HOLD = FMT_PT_PACKET_MAX + 7, HELD_MAX = 3 * HOLD };

struct packets {
	packets_fn *fn;
	void *ctx;
	uint64_t at; /* of the first byte that is not yet decoded */
	bool synced;
	const char *lost;     /* not synced: "skipped", "error" or "gap", */
	const char *lost_why; /* the error, */
	uint64_t lost_at, lost_file; /* and since where; UNKNOWN: at the next piece */
	struct packet_state s;
	size_t nr_held;
	uint8_t held[HELD_MAX];
	uint64_t held_file[HELD_MAX]; /* where each lies in the file */
};

/* A piece to decode. */
struct piece {
	const uint8_t *p;
	size_t n;
	size_t stop; /* packets that begin before this */
	uint64_t file_at;	 /* of p, where files is NULL */
	const uint64_t *files; /* of each byte */
	struct pt_packet_decoder *pt;
};

static uint64_t file_of(const struct piece *x, size_t pos)
{
	return x->files ? x->files[pos] : x->file_at + pos;
}

int packets_new(struct packets **ret, packets_fn *fn, void *ctx)
{
	struct packets *k = calloc(1, sizeof(*k));

	*ret = k;
	if (!k)
		return -ENOMEM;
	k->fn = fn;
	k->ctx = ctx;
	k->lost = "skipped";
	k->lost_file = UNKNOWN;
	return 0;
}

void packets_free(struct packets *k)
{
	free(k);
}

static void lose_sync(struct packets *k, const char *lost, const char *why, uint64_t file_at)
{
	k->synced = false;
	k->lost = lost;
	k->lost_why = why;
	k->lost_at = k->at;
	k->lost_file = file_at;
	k->s = (struct packet_state){ 0 };
}

/* Tells of the bytes since the sync was lost. */
static void tell_lost(struct packets *k)
{
	struct packet p = { .at = k->lost_at, .file_at = k->lost_file,
			    .size = k->at - k->lost_at, .name = k->lost };

	if (!p.size && strcmp(k->lost, "gap"))
		return;
	if (k->lost_why)
		strncpy(p.text, k->lost_why, sizeof(p.text) - 1);
	k->fn(k->ctx, &p);
}

/* Goes on at the next PSB; returns how many bytes that took. */
static size_t find_sync(struct packets *k, const struct piece *x, size_t pos)
{
	size_t n;
	bool found = fmt_pt_find_psb(x->p + pos, x->n - pos, &n);

	if (!found || n >= x->stop - pos) {
		k->at += x->stop - pos;
		return x->stop - pos;
	}
	k->at += n;
	tell_lost(k);
	k->synced = true;
	return n;
}

/* One packet at pos, told of; its size. Where there is none, the sync is lost, and the next
 * PSB is behind this byte at the earliest. */
static size_t take_packet(struct packets *k, const struct piece *x, size_t pos)
{
	struct packet p = { .at = k->at, .file_at = file_of(x, pos) };
	struct pt_packet raw;
	int size = packet_own(&p, &k->s, x->p + pos, x->n - pos);

	if (!size) {
		size = pt_pkt_sync_set(x->pt, pos);
		if (size >= 0)
			size = pt_pkt_next(x->pt, &raw, sizeof(raw));
		if (size > 0)
			packet_describe(&p, &k->s, &raw, x->p + pos);
	}
	if (size <= 0) {
		lose_sync(k, "error",
			  size == -pte_eos ? "the packet is not whole" :
					     pt_errstr(pt_errcode(size)),
			  p.file_at);
		k->at++;
		return 1;
	}
	p.size = (uint64_t)size;
	k->fn(k->ctx, &p);
	k->at += (uint64_t)size;
	return (size_t)size;
}

/* Decodes the packets that begin before x->stop. *used: up to where. */
static int walk(struct packets *k, struct piece *x, size_t *used)
{
	struct pt_config c;
	size_t pos = 0;

	*used = 0;
	if (!x->stop)
		return 0;
	pt_config_init(&c);
	c.begin = (uint8_t *)(uintptr_t)x->p;
	c.end = c.begin + x->n;
	x->pt = pt_pkt_alloc_decoder(&c);
	if (!x->pt)
		return -ENOMEM;
	if (!k->synced && k->lost_file == UNKNOWN)
		k->lost_file = file_of(x, 0);
	while (pos < x->stop) {
		if (!k->synced)
			pos += find_sync(k, x, pos);
		else
			pos += take_packet(k, x, pos);
	}
	pt_pkt_free_decoder(x->pt);
	*used = pos;
	return 0;
}

static void hold(struct packets *k, const uint8_t *p, size_t n, uint64_t file_at)
{
	for (size_t i = 0; i < n; i++) {
		k->held[k->nr_held] = p[i];
		k->held_file[k->nr_held++] = file_at + i;
	}
}

static void drop_held(struct packets *k, size_t n)
{
	k->nr_held -= n;
	memmove(k->held, k->held + n, k->nr_held);
	memmove(k->held_file, k->held_file + n, k->nr_held * sizeof(*k->held_file));
}

/* The packets that begin in what was held back, as far as these bytes complete them. Returns
 * how many of the bytes need no other look, or an error. */
static ssize_t join(struct packets *k, const uint8_t *p, size_t n, uint64_t file_at)
{
	struct piece x = { .p = k->held, .files = k->held_file };
	size_t old = k->nr_held, used;
	int err;

	n = n < HELD_MAX - old ? n : HELD_MAX - old;
	hold(k, p, n, file_at);
	x.n = k->nr_held;
	x.stop = x.n > HOLD ? x.n - HOLD : 0;
	x.stop = x.stop < old ? x.stop : old;
	err = walk(k, &x, &used);
	if (err)
		return err;
	if (used < old) { /* then all n bytes are held */
		drop_held(k, used);
		return (ssize_t)n;
	}
	k->nr_held = 0;
	return (ssize_t)(used - old);
}

int packets_feed(struct packets *k, const uint8_t *p, size_t n, uint64_t file_at)
{
	struct piece x = { 0 };
	ssize_t joined;
	size_t used;
	int err;

	if (k->nr_held) {
		joined = join(k, p, n, file_at);
		if (joined < 0)
			return (int)joined;
		p += joined;
		n -= (size_t)joined;
		file_at += (uint64_t)joined;
		if (k->nr_held)
			return 0;
	}
	x = (struct piece){ .p = p, .n = n, .file_at = file_at,
			    .stop = n > HOLD ? n - HOLD : 0 };
	err = walk(k, &x, &used);
	if (!err)
		hold(k, p + used, n - used, file_at + used);
	return err;
}

void packets_take_back(struct packets *k, size_t n)
{
	k->nr_held -= n < k->nr_held ? n : k->nr_held;
}

int packets_end(struct packets *k)
{
	struct piece x = { .p = k->held, .n = k->nr_held, .stop = k->nr_held,
			   .files = k->held_file };
	size_t used;
	int err = walk(k, &x, &used);

	k->nr_held = 0;
	if (!err && !k->synced && k->at != k->lost_at)
		tell_lost(k);
	return err;
}

int packets_gap(struct packets *k)
{
	int err = packets_end(k);

	lose_sync(k, "gap", NULL, UNKNOWN);
	return err;
}
