/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Half a packet at the end of Intel PT trace that was cut. Packets are told from where the
 * stream can be entered, which may be some chunks of the queue before.
 */
#include "format/le.h"
#include "format/ptwalk.h"
#include "recorder/recover_priv.h"

static struct recover_chunk *chunk(struct recover *c, uint64_t i)
{
	return &c->chunks[i % RECOVER_CHUNKS_MAX];
}

static bool has_psb(const struct recover_chunk *k)
{
	size_t at;

	return fmt_pt_find_psb(k->p, k->len, &at);
}

/* The chunk of the last one's queue where the walk can begin; nr_chunks: there is none. */
static uint64_t first_chunk(struct recover *c)
{
	uint64_t last = c->nr_chunks - 1, oldest;
	uint32_t idx = chunk(c, last)->idx;

	oldest = c->nr_chunks > RECOVER_CHUNKS_MAX ? c->nr_chunks - RECOVER_CHUNKS_MAX : 0;
	for (uint64_t i = last + 1; i-- > oldest;) {
		const struct recover_chunk *k = chunk(c, i);

		if (k->idx != idx)
			continue;
		if (i != last && k->torn)
			break;
		if (has_psb(k))
			return i;
	}
	return c->nr_chunks;
}

static unsigned cut_packet(struct recover *c)
{
	const struct recover_chunk *last = chunk(c, c->nr_chunks - 1);
	struct fmt_ptwalk w = { 0 };
	uint64_t i = first_chunk(c);

	if (i == c->nr_chunks)
		return 0;
	for (; i < c->nr_chunks; i++)
		if (chunk(c, i)->idx == last->idx)
			fmt_ptwalk_feed(&w, chunk(c, i)->p, chunk(c, i)->len);
	fmt_ptwalk_end(&w);
	return (unsigned)(w.tail < last->len ? w.tail : last->len);
}

unsigned recover_cut_packet(struct recover *c, const struct fmt_rec *rec)
{
	bool torn = rec->payload_len < le_get64(rec->p + FMT_AUXTRACE_AT_SIZE);

	if (c->facts.trace_kind != FMT_AUXTRACE_INTEL_PT)
		return 0;
	*chunk(c, c->nr_chunks++) = (struct recover_chunk){
		.p = rec->payload, .len = rec->payload_len, .torn = torn,
		.idx = le_get32(rec->p + FMT_AUXTRACE_AT_IDX),
	};
	return torn ? cut_packet(c) : 0;
}
