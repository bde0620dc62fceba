/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes at all through the walk over Intel PT packets: all of them are accounted for, the
 * numbers do not depend on how the bytes were cut into pieces, and libipt sees the same
 * packets as far as it goes.
 */
#include <intel-pt.h>

#include "format/ptwalk.h"
#include "tests/fuzz/fuzz.h"

enum { PACKETS_MAX = 1 << 17 };

struct seen {
	size_t n;
	uint64_t sum, end; /* bytes of all packets; behind the last one */
	struct {
		uint64_t at;
		uint8_t kind, size;
	} packets[PACKETS_MAX];
};

static void note(void *ctx, enum fmt_pt_kind kind, uint64_t at, unsigned size)
{
	struct seen *s = ctx;

	expect(kind > FMT_PT_NONE && kind < FMT_PT_KINDS && fmt_pt_name(kind));
	expect(size && size <= FMT_PT_PACKET_MAX && at >= s->end);
	s->end = at + size;
	s->sum += size;
	if (s->n < PACKETS_MAX) {
		s->packets[s->n].at = at;
		s->packets[s->n].kind = (uint8_t)kind;
		s->packets[s->n].size = (uint8_t)size;
	}
	s->n++;
}

static void feed(struct fmt_ptwalk *w, const uint8_t *data, size_t size, size_t step)
{
	size_t n;

	for (size_t i = 0; i < size; i += n) {
		uint8_t *piece;

		n = step < size - i ? step : size - i;
		piece = fuzz_copy(data + i, n);
		fmt_ptwalk_feed(w, piece, n);
		free(piece);
	}
}

static void accounted(const struct fmt_ptwalk *w, const struct seen *s, bool synced)
{
	uint64_t n = 0;

	for (unsigned k = 0; k < FMT_PT_KINDS; k++)
		n += w->n[k];
	expect(n == s->n && s->end <= w->bytes);
	expect(w->tail < FMT_PT_PACKET_MAX);
	expect(w->nr_bad || synced || w->n[FMT_PT_PSB] || w->first_psb == w->bytes);
	if (synced && w->nr_bad) /* before the first PSB nothing counts as skipped */
		expect(s->sum + w->skipped + w->tail <= w->bytes);
	else
		expect(s->sum + w->skipped + w->tail + (synced ? 0 : w->first_psb) ==
		       w->bytes);
	expect(w->has_tsc == (w->n[FMT_PT_TSC] > 0));
	expect(!w->nr_dist || (w->min_dist <= w->max_dist &&
			       w->sum_dist >= w->max_dist && w->min_dist >= 16));
	expect(w->nr_dist < w->n[FMT_PT_PSB] || !w->nr_dist);
}

static void expect_same(const struct fmt_ptwalk *a, const struct fmt_ptwalk *b)
{
	expect(!memcmp(a->n, b->n, sizeof(a->n)));
	expect(a->bytes == b->bytes && a->first_psb == b->first_psb);
	expect(a->skipped == b->skipped && a->tail == b->tail);
	expect(a->nr_bad == b->nr_bad && a->first_bad == b->first_bad);
	expect(a->first_tsc == b->first_tsc && a->last_tsc == b->last_tsc);
	expect(a->nr_dist == b->nr_dist && a->sum_dist == b->sum_dist);
	expect(a->min_dist == b->min_dist && a->max_dist == b->max_dist);
}

/* Packets that libipt 2.0 does not know. */
static bool newer(uint8_t kind)
{
	return kind == FMT_PT_BBP || kind == FMT_PT_BEP || kind == FMT_PT_BIP ||
	       kind == FMT_PT_CFE || kind == FMT_PT_EVD || kind == FMT_PT_TRIG;
}

/* The same packets from the first PSB on, until one of both sees none. */
static void against_libipt(uint8_t *data, size_t size, const struct fmt_ptwalk *w,
			   const struct seen *s)
{
	struct pt_packet_decoder *d;
	struct pt_packet packet;
	struct pt_config config;
	uint64_t at;
	int got;

	pt_config_init(&config);
	config.begin = data;
	config.end = data + size;
	d = pt_pkt_alloc_decoder(&config);
	expect(d && pt_pkt_sync_set(d, w->first_psb) >= 0);
	for (size_t i = 0; i < s->n && i < PACKETS_MAX; i++) {
		expect(pt_pkt_get_offset(d, &at) >= 0);
		if (s->packets[i].at != at) { /* ours went on at another PSB */
			expect(w->nr_bad && w->first_bad == at);
			expect(pt_pkt_next(d, &packet, sizeof(packet)) < 0);
			break;
		}
		got = pt_pkt_next(d, &packet, sizeof(packet));
		if (got < 0 && newer(s->packets[i].kind))
			break;
		expect(got == s->packets[i].size);
	}
	pt_pkt_free_decoder(d);
}

/* Two pieces with a gap between them are two traces. */
static void with_a_gap(const uint8_t *data, size_t size)
{
	struct fmt_ptwalk both = { 0 }, a = { 0 }, b = { 0 };
	size_t n = size / 2;

	fmt_ptwalk_feed(&both, data, n);
	fmt_ptwalk_gap(&both);
	fmt_ptwalk_feed(&both, data + n, size - n);
	fmt_ptwalk_end(&both);
	fmt_ptwalk_feed(&a, data, n);
	fmt_ptwalk_end(&a);
	fmt_ptwalk_feed(&b, data + n, size - n);
	fmt_ptwalk_end(&b);
	for (unsigned k = 0; k < FMT_PT_KINDS; k++)
		expect(both.n[k] == a.n[k] + b.n[k]);
	expect(both.nr_bad == a.nr_bad + b.nr_bad && both.tail == b.tail);
	expect(both.nr_dist == a.nr_dist + b.nr_dist);
	expect(both.sum_dist == a.sum_dist + b.sum_dist);
}

static void walk(uint8_t *data, size_t size, bool synced)
{
	static struct seen s;
	struct fmt_ptwalk fast = { .synced = synced }, slow = { .synced = synced };
	struct fmt_ptwalk cut = { .synced = synced };

	s.n = s.sum = s.end = 0;
	slow.packet = note;
	slow.ctx = &s;
	feed(&fast, data, size, size + 1);
	fmt_ptwalk_end(&fast);
	fmt_ptwalk_feed(&slow, data, size);
	fmt_ptwalk_end(&slow);
	feed(&cut, data, size, 1 + size % 29);
	fmt_ptwalk_end(&cut);
	expect_same(&fast, &slow);
	expect_same(&fast, &cut);
	accounted(&slow, &s, synced);
	if (!synced && slow.n[FMT_PT_PSB])
		against_libipt(data, size, &slow, &s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *p = fuzz_copy(data, size);
	struct fmt_ptwalk w = { 0 };
	size_t at;
	bool has = fmt_pt_find_psb(p, size, &at);

	fmt_ptwalk_feed(&w, p, size);
	fmt_ptwalk_end(&w);
	expect(has == (w.n[FMT_PT_PSB] > 0) && (!has || at == w.first_psb));
	walk(p, size, false);
	walk(p, size, true);
	with_a_gap(p, size);
	free(p);
	return 0;
}
