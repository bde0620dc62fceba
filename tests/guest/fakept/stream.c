/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Packet encodings: Intel SDM vol. 3, "Intel Processor Trace", packet definitions. */
#include <linux/smp.h>
#include <asm/msr.h>

#include "fakept.h"

enum { PTW_BYTES = 10 };

static void put_ptw(u8 *p, u64 seq)
{
	u64 payload = (u64)smp_processor_id() << 56 | seq;

	p[0] = 0x02;
	p[1] = 0x32;	/* 8 bytes of payload, no IP */
	memcpy(p + 2, &payload, 8);
}

static void stage_psb(struct fake_stream *s)
{
	u64 tsc = rdtsc() << 8 | 0x19;
	int i;

	for (i = 0; i < 16; i += 2) {
		s->part[i] = 0x02;
		s->part[i + 1] = 0x82;
	}
	memcpy(s->part + 16, &tsc, 8);
	s->part[24] = 0x02;
	s->part[25] = 0x23;
	s->part_len = 26;
	s->part_sent = 0;
	s->part_is_ptw = false;
	s->since_psb = 0;
}

static void stage_ptw(struct fake_stream *s)
{
	put_ptw(s->part, s->seq++);
	s->part_len = PTW_BYTES;
	s->part_sent = 0;
	s->part_is_ptw = true;
	s->since_psb += PTW_BYTES;
}

static u32 send_part(struct fake_cpu *c, u8 *to, u32 room)
{
	struct fake_stream *s = &c->stream;
	u32 n = min(room, s->part_len - s->part_sent);

	memcpy(to, s->part + s->part_sent, n);
	s->part_sent += n;
	if (s->part_sent == s->part_len && s->part_is_ptw)
		c->stats.ptw++;
	else if (s->part_sent == s->part_len)
		c->stats.psb++;
	return n;
}

static u32 send_ptws(struct fake_cpu *c, u8 *to, u32 room)
{
	struct fake_stream *s = &c->stream;
	u32 n = 0;

	while (room - n >= PTW_BYTES && s->since_psb < psb_bytes) {
		put_ptw(to + n, s->seq++);
		n += PTW_BYTES;
		s->since_psb += PTW_BYTES;
		c->stats.ptw++;
	}
	return n;
}

static u32 send_packets(struct fake_cpu *c, u8 *to, u32 room)
{
	struct fake_stream *s = &c->stream;

	if (s->part_sent == s->part_len && s->since_psb >= psb_bytes)
		stage_psb(s);
	else if (s->part_sent == s->part_len && room < PTW_BYTES)
		stage_ptw(s);
	if (s->part_sent < s->part_len)
		return send_part(c, to, room);
	return send_ptws(c, to, room);
}

static u32 send_feed(struct fake_stream *s, u8 *to, u32 room)
{
	u32 n = min_t(size_t, room, s->feed_len - s->feed_pos);

	memcpy(to, s->feed + s->feed_pos, n);
	s->feed_pos += n;
	return n;
}

/* Put up to n bytes at the head. Returns how many; less than n when a feed has run dry. */
u64 stream_emit(struct fake_cpu *c, struct fake_area *a, u64 n)
{
	u64 done = 0;

	while (done < n) {
		u64 at = c->head & (a->size - 1);
		u8 *to = a->page[at >> PAGE_SHIFT] + offset_in_page(at);
		u32 room = min_t(u64, n - done, PAGE_SIZE - offset_in_page(at));
		u32 sent = mode == 1 ? send_feed(&c->stream, to, room) :
				       send_packets(c, to, room);

		if (!sent)
			break;
		c->head += sent;
		c->stats.bytes += sent;
		done += sent;
	}
	return done;
}

/* Bytes that a begun packet still needs: only a full area may cut one in two. */
u32 stream_rest(const struct fake_stream *s)
{
	return s->part_len - s->part_sent;
}

/* Tracing begins: with a PSB, as on hardware. */
void stream_start(struct fake_stream *s)
{
	s->part_len = s->part_sent = 0;
	s->since_psb = psb_bytes;
}

/* The area is full. What was begun is lost, and so is what `bytes` would have held: at
 * least one number, or nobody could tell. A feed goes on where it was. */
void stream_cut(struct fake_cpu *c, u64 bytes)
{
	struct fake_stream *s = &c->stream;
	u64 lost = max_t(u64, bytes / PTW_BYTES, 1);

	if (mode != 1) {
		c->stats.dropped += lost + (stream_rest(s) && s->part_is_ptw);
		s->seq += lost;
	}
	stream_start(s);
}
