/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ptflip SEED IN OUT     copy a perf.data file with one branch outcome turned round
 * ptflip -t IN OUT       copy it with the second half of its longest queue blanked
 *
 * The negative control of the checkers: what they say of such a file must be "different".
 * The bit is chosen by SEED among all TNT bits, which libipt's packet decoder finds; a
 * search for bytes that look like a TNT packet would hit other packets' payloads.
 */
#include <intel-pt.h>

#include "tests/tools/pdata.h"

struct bit {
	uint64_t at; /* in the file */
	unsigned int shift;
};

static struct pt_packet_decoder *packets(const struct pd_queue *q)
{
	struct pt_packet_decoder *d;
	struct pt_config c;

	pt_config_init(&c);
	c.begin = q->v;
	c.end = q->v + q->n;
	d = pt_pkt_alloc_decoder(&c);
	if (!d)
		pd_give_up("libipt refused the configuration");
	return d;
}

/* SDM vol. 3, 33.4: a short TNT holds its bits from bit 1 on, a long TNT from byte 2. */
static struct bit locate(const struct pd_queue *q, uint64_t offset,
			 enum pt_packet_type type, unsigned int i)
{
	unsigned int shift = type == ppt_tnt_8 ? i + 1 : i + 16;

	return (struct bit){ pd_file_offset(q, offset + shift / 8), shift % 8 };
}

/* Counts the TNT bits of a queue; the one with number `want` goes to *ret. */
static uint64_t walk(const struct pd_queue *q, uint64_t want, struct bit *ret)
{
	struct pt_packet_decoder *d = packets(q);
	struct pt_packet p;
	uint64_t n = 0, offset;

	if (pt_pkt_sync_forward(d) >= 0) {
		while (pt_pkt_get_offset(d, &offset) >= 0 &&
		       pt_pkt_next(d, &p, sizeof(p)) > 0) {
			unsigned int bits = 0;

			if (p.type == ppt_tnt_8 || p.type == ppt_tnt_64)
				bits = p.payload.tnt.bit_size;
			if (want >= n && want - n < bits)
				*ret = locate(q, offset, p.type,
					      (unsigned int)(want - n));
			n += bits;
		}
	}
	pt_pkt_free_decoder(d);
	return n;
}

static void flip(struct pd_file *f, const struct pd_queue *q, size_t n, uint64_t seed)
{
	uint64_t total = 0, pick;
	struct bit b = { 0, 0 };
	size_t i = 0;

	for (size_t k = 0; k < n; k++)
		total += walk(&q[k], UINT64_MAX, &b);
	if (!total)
		pd_give_up("no TNT packet");
	/* A step of a linear congruential generator (D. Knuth, MMIX) spreads 1, 2, 3. */
	pick = (seed * 6364136223846793005u + 1442695040888963407u) >> 16;
	pick %= total;
	for (uint64_t skip = pick; skip >= (total = walk(&q[i], skip, &b)); i++)
		skip -= total;
	f->v[b.at] ^= (uint8_t)(1u << b.shift);
	printf("queue %u tid %u: TNT bit %llu, file offset %#llx, bit %u\n", q[i].idx,
	       q[i].tid, (unsigned long long)pick, (unsigned long long)b.at, b.shift);
}

static void blank(struct pd_file *f, const struct pd_queue *q, size_t n)
{
	const struct pd_queue *longest = q;

	for (size_t k = 0; k < n; k++)
		if (q[k].n > longest->n)
			longest = &q[k];
	if (!n || longest->n < 2)
		pd_give_up("no trace");
	for (uint64_t at = longest->n / 2; at < longest->n; at++)
		f->v[pd_file_offset(longest, at)] = 0; /* the PAD packet */
	printf("queue %u tid %u: %zu bytes blanked\n", longest->idx, longest->tid,
	       longest->n - longest->n / 2);
}

int main(int argc, char **argv)
{
	struct pd_file f;
	struct pd_queue *q;
	size_t n;
	FILE *out;

	if (argc != 4)
		pd_give_up("usage: ptflip SEED|-t IN OUT");
	pd_open(&f, argv[2]);
	n = pd_queues(&f, &q);
	if (!strcmp(argv[1], "-t"))
		blank(&f, q, n);
	else
		flip(&f, q, n, strtoull(argv[1], NULL, 0));
	out = fopen(argv[3], "we");
	if (!out || fwrite(f.v, 1, f.n, out) != f.n || fclose(out))
		pd_give_up("%s: cannot be written", argv[3]);
	return 0;
}
