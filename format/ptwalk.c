/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two tables tell kind and length of nearly all packets: by their first byte, or by the
 * second behind 0x02. Where a longest packet is ahead in one piece none can be cut, so
 * the loop that does the bulk of the work (walk_fast) does not ask.
 */
#include "format/ptwalk.h"

#include <string.h>

#include "format/le.h"

#define PATTERN_EVEN UINT64_C(0x8202820282028202) /* 02 82 ... */
#define PATTERN_ODD  UINT64_C(0x0282028202820282) /* 82 02 ... */
#define EACH_BYTE(b) (UINT64_C(0x0101010101010101) * (b))
#define HIGH	     EACH_BYTE(0x80)
#define LOW7	     EACH_BYTE(0x7f)

/* What decode() says beside a length. */
enum { CUT = 0, BAD = -1 };

struct head {
	uint8_t kind, len; /* len 0: look closer */
};

/* clang-format off */
#define NIL { FMT_PT_NONE, 0 }
#define TNT { FMT_PT_TNT_8, 1 }
#define CYC { FMT_PT_CYC, 1 }
#define CYX { FMT_PT_CYC, 0 } /* more bytes follow */
#define IP(k, n) { (n) ? FMT_PT_##k : FMT_PT_NONE, (n) }
/* The 32 first bytes that agree in bits 5 to 7, which say how long an IP is. */
#define ROW(b00, b02, n, b19) \
	b00, IP(TIP_PGD, n), b02, CYC, TNT, NIL, TNT, CYX, \
	TNT, NIL, TNT, CYC, TNT, IP(TIP, n), TNT, CYX, \
	TNT, IP(TIP_PGE, n), TNT, CYC, TNT, NIL, TNT, CYX, \
	TNT, b19, TNT, CYC, TNT, IP(FUP, n), TNT, CYX
#define PAD  { FMT_PT_PAD, 1 }
#define TSC  { FMT_PT_TSC, 0 }
#define MTC  { FMT_PT_MTC, 2 }
#define MODE { FMT_PT_MODE_EXEC, 0 }
#define TRIG { FMT_PT_TRIG, 0 }
static const struct head by_first[256] = {
	ROW(PAD, NIL, 1, TSC),
	ROW(TNT, TNT, 3, NIL),
	ROW(TNT, TNT, 5, MTC),
	ROW(TNT, TNT, 7, NIL),
	ROW(TNT, TNT, 7, MODE),
	ROW(TNT, TNT, 0, NIL),
	ROW(TNT, TNT, 9, TRIG),
	ROW(TNT, TNT, 0, NIL),
};

static const struct head by_second[256] = {
	[0x03] = { FMT_PT_CBR, 4 },	[0x12] = { FMT_PT_PTW, 6 },
	[0x13] = { FMT_PT_CFE, 4 },	[0x22] = { FMT_PT_PWRE, 4 },
	[0x23] = { FMT_PT_PSBEND, 2 },	[0x32] = { FMT_PT_PTW, 10 },
	[0x33] = { FMT_PT_BEP, 2 },	[0x43] = { FMT_PT_PIP, 8 },
	[0x53] = { FMT_PT_EVD, 11 },	[0x62] = { FMT_PT_EXSTOP, 2 },
	[0x63] = { FMT_PT_BBP, 3 },	[0x73] = { FMT_PT_TMA, 7 },
	[0x82] = { FMT_PT_PSB, 16 },	[0x83] = { FMT_PT_STOP, 2 },
	[0x92] = { FMT_PT_PTW, 6 },	[0xa2] = { FMT_PT_PWRX, 7 },
	[0xa3] = { FMT_PT_TNT_64, 8 },	[0xb2] = { FMT_PT_PTW, 10 },
	[0xb3] = { FMT_PT_BEP, 2 },	[0xc2] = { FMT_PT_MWAIT, 10 },
	[0xc3] = { FMT_PT_MNT, 11 },	[0xc8] = { FMT_PT_VMCS, 7 },
	[0xe2] = { FMT_PT_EXSTOP, 2 },	[0xf3] = { FMT_PT_OVF, 2 },
};
/* clang-format on */

/* In a BBP block 100 in the lowest bits is a BIP: until one of these (as perf reads it;
 * SDM 33.4.2 does not say what ends a block without a BEP). */
static const bool keeps_block[FMT_PT_KINDS] = {
	[FMT_PT_PAD] = true, [FMT_PT_TSC] = true,    [FMT_PT_TMA] = true,
	[FMT_PT_MTC] = true, [FMT_PT_FUP] = true,    [FMT_PT_CYC] = true,
	[FMT_PT_CBR] = true, [FMT_PT_MNT] = true,    [FMT_PT_EXSTOP] = true,
	[FMT_PT_BIP] = true, [FMT_PT_PWRE] = true,   [FMT_PT_PWRX] = true,
};

static int cyc(const uint8_t *p, size_t n)
{
	size_t len = 1;
	bool more = p[0] & 4;

	/* The first byte has 5 bits, each further one 7: nine of those are beyond 64. */
	for (; more; more = p[len++] & 1) {
		if (len >= n)
			return CUT;
		if (len > 8)
			return BAD;
	}
	return (int)len;
}

/* MODE: the leaf is in its payload. */
static int mode(const uint8_t *p, size_t n, uint8_t *kind)
{
	if (n < 2)
		return CUT;
	*kind = p[1] & 0x20 ? FMT_PT_MODE_TSX : FMT_PT_MODE_EXEC;
	return p[1] & 0xc0 ? BAD : 2;
}

static int trig(const uint8_t *p, size_t n)
{
	if (n < 2)
		return CUT;
	return p[1] & 0x40 ? 5 : 3; /* with a count of instructions, or without */
}

/* Are the fixed bits of a packet behind 0x02 what they must be? It is all there. */
static bool sound(const uint8_t *p, uint8_t kind)
{
	switch (kind) {
	case FMT_PT_PSB:
		return le_get(p, 8) == PATTERN_EVEN && le_get(p + 8, 8) == PATTERN_EVEN;
	case FMT_PT_TNT_64:
		return le_get(p + 2, 6) > 1;
	case FMT_PT_TMA:
		return !p[4] && !(p[6] & 0xfe);
	default:
		return true;
	}
}

static int extended(const uint8_t *p, size_t n, uint8_t *kind)
{
	struct head h;

	if (n < 2)
		return CUT;
	h = by_second[p[1]];
	*kind = h.kind;
	if (h.kind == FMT_PT_NONE)
		return BAD;
	if (h.kind == FMT_PT_MNT && n > 2 && p[2] != 0x88)
		return BAD;
	if (n < h.len)
		return CUT;
	return sound(p, h.kind) ? h.len : BAD;
}

/* The packet at p, of which n bytes are there (1 or more): its length, CUT, or BAD. */
static int decode(const uint8_t *p, size_t n, unsigned bip, uint8_t *kind)
{
	struct head h = by_first[*p];
	int len = h.len;

	*kind = h.kind;
	if (bip && (*p & 7) == 4) {
		*kind = FMT_PT_BIP;
		len = 1 + (int)bip;
	} else if (*p == 2) {
		return extended(p, n, kind);
	} else if (h.kind == FMT_PT_TSC) {
		len = 8;
	} else if (!len && h.kind == FMT_PT_CYC) {
		return cyc(p, n);
	} else if (h.kind == FMT_PT_MODE_EXEC) {
		return mode(p, n, kind);
	} else if (h.kind == FMT_PT_TRIG) {
		len = trig(p, n);
	} else if (!len) {
		return BAD;
	}
	return (size_t)len <= n ? len : CUT;
}

static void count_psb(struct fmt_ptwalk *w)
{
	uint64_t dist = w->at - w->last_psb;

	if (w->n[FMT_PT_PSB] == 1)
		w->first_psb = w->at;
	if (w->has_psb) {
		if (!w->nr_dist++ || dist < w->min_dist)
			w->min_dist = dist;
		if (dist > w->max_dist)
			w->max_dist = dist;
		w->sum_dist += dist;
	}
	w->has_psb = true;
	w->last_psb = w->at;
}

/* Count the packet at w->at, whose bytes are at p. */
static void take(struct fmt_ptwalk *w, uint8_t kind, const uint8_t *p, unsigned len)
{
	w->n[kind]++;
	if (kind == FMT_PT_PSB) {
		count_psb(w);
	} else if (kind == FMT_PT_TSC) {
		w->last_tsc = le_get(p + 1, 7);
		if (!w->has_tsc)
			w->first_tsc = w->last_tsc;
		w->has_tsc = true;
	}
	if (kind == FMT_PT_BBP)
		w->bip = p[2] & 0x80 ? 4 : 8;
	else if (!keeps_block[kind])
		w->bip = 0;
	if (w->packet)
		w->packet(w->ctx, kind, w->at, len);
	w->at += len;
}

static void lose_sync(struct fmt_ptwalk *w)
{
	w->synced = false;
	w->bip = 0;
	w->from = w->at;
	w->run = 0;
}

static void bad(struct fmt_ptwalk *w)
{
	if (!w->nr_bad++)
		w->first_bad = w->at;
	lose_sync(w);
}

/* The run of the PSB pattern before w->at is over: its last 16 bytes are a PSB. */
static void gain_sync(struct fmt_ptwalk *w)
{
	static const uint8_t odd = 2;

	w->at -= FMT_PT_PSB_SIZE + (w->run & 1);
	if (w->n[FMT_PT_PSB])
		w->skipped += w->at - w->from;
	w->nr_held = w->run & 1; /* the 02 that goes on with something else than 82 */
	w->held[0] = odd;
	w->synced = true;
	take(w, FMT_PT_PSB, NULL, FMT_PT_PSB_SIZE);
}

/* Where the pattern of a PSB may begin: p[ret - 8] at the earliest, as each PSB holds 8
 * bytes at a multiple of 8 from p. n: none is in sight. */
static size_t glimpse(const uint8_t *p, size_t n)
{
	uint64_t v;
	size_t i;

	for (i = 0; i + 8 <= n; i += 8) {
		memcpy(&v, p + i, 8);
		v = le64toh(v);
		if (v == PATTERN_EVEN || v == PATTERN_ODD)
			return i;
	}
	return n;
}

/* Look for a PSB. Returns how many bytes were used. */
static size_t search(struct fmt_ptwalk *w, const uint8_t *p, size_t n)
{
	size_t i = 0, seen;

	while (i < n) {
		if (!w->run && n - i >= 16) {
			seen = glimpse(p + i, n - i);
			/* The last bytes: a pattern may begin there. */
			seen = seen < n - i ? seen : (n - i) & ~(size_t)7;
			seen = seen < 8 ? 0 : seen - 8;
			i += seen;
			w->at += seen;
		}
		for (size_t end = i + 24; i < n && (w->run || i < end); i++) {
			if (p[i] == (w->run & 1 ? 0x82 : 0x02)) {
				w->run++;
			} else if (w->run >= FMT_PT_PSB_SIZE) {
				gain_sync(w);
				return i;
			} else {
				w->run = p[i] == 0x02;
			}
			w->at++;
		}
	}
	return n;
}

/* How many of the eight bytes from p on are packets by themselves (PAD, TNT, short CYC)
 * before the first one that is not. In each word below, the highest bit of a byte
 * answers. */
static unsigned ones(struct fmt_ptwalk *w, const uint8_t *p)
{
	uint64_t v, pad, tnt, cyc1, other, in;
	unsigned run, pads, cycs;

	memcpy(&v, p, 8);
	v = le64toh(v);
	pad = ~(((v & LOW7) + LOW7) | v) & HIGH;
	tnt = (((v & EACH_BYTE(0x7c)) + LOW7) | v) & ~(v << 7) & HIGH;
	cyc1 = ~(((v & EACH_BYTE(7)) ^ EACH_BYTE(3)) + LOW7) & HIGH;
	other = HIGH & ~(pad | tnt | cyc1);
	run = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
	in = other ? (other & -other) - 1 : UINT64_MAX;
	pads = (unsigned)(((pad & in) >> 7) * EACH_BYTE(1) >> 56);
	cycs = (unsigned)(((cyc1 & in) >> 7) * EACH_BYTE(1) >> 56);
	w->n[FMT_PT_PAD] += pads;
	w->n[FMT_PT_CYC] += cycs;
	w->n[FMT_PT_TNT_8] += run - pads - cycs;
	return run;
}

/* The length of a CYC of more than one byte, up to 8 of them; 0 when it goes on. */
static unsigned long_cyc(const uint8_t *p)
{
	uint64_t v, last;

	memcpy(&v, p, 8);
	last = ~le64toh(v) & (EACH_BYTE(1) << 8);
	return last ? (unsigned)__builtin_ctzll(last) / 8 + 1 : 0;
}

/* Walk while a longest packet is ahead, nothing is wrong, and no block is open. Returns
 * the bytes used. */
static size_t walk_fast(struct fmt_ptwalk *w, const uint8_t *p, size_t n)
{
	const uint8_t *begin = p, *end = p + n;
	unsigned len;
	uint8_t kind;
	int got;

	while (end - p >= (ptrdiff_t)FMT_PT_PACKET_MAX) {
		struct head h = by_first[*p];

		if (h.len == 1) {
			len = ones(w, p);
			if (len) {
				p += len;
				continue;
			}
		}
		len = h.kind == FMT_PT_CYC ? long_cyc(p) : h.len;
		if (len) {
			w->n[h.kind]++;
			p += len;
			continue;
		}
		w->at += (uint64_t)(p - begin);
		begin = p;
		got = decode(p, FMT_PT_PACKET_MAX, 0, &kind);
		if (got <= 0)
			return n - (size_t)(end - p);
		take(w, kind, p, (unsigned)got);
		p += got;
		begin = p;
		if (w->bip)
			break;
	}
	w->at += (uint64_t)(p - begin);
	return n - (size_t)(end - p);
}

/* Walk from a packet's first byte on. Returns the bytes used; what is left of a packet
 * that is cut is held. */
static size_t walk(struct fmt_ptwalk *w, const uint8_t *p, size_t n)
{
	size_t i = 0;
	uint8_t kind;
	int got;

	while (i < n) {
		if (!w->packet && !w->bip)
			i += walk_fast(w, p + i, n - i);
		if (i == n)
			break;
		got = decode(p + i, n - i, w->bip, &kind);
		if (got == CUT) {
			w->nr_held = (unsigned)(n - i);
			memcpy(w->held, p + i, n - i);
			return n;
		}
		if (got == BAD) {
			bad(w);
			return i;
		}
		take(w, kind, p + i, (unsigned)got);
		i += (size_t)got;
	}
	return n;
}

/* Walk over the packet whose beginning is held. Returns the bytes used of p. */
static size_t join(struct fmt_ptwalk *w, const uint8_t *p, size_t n)
{
	unsigned had = w->nr_held;
	size_t more = n < FMT_PT_PACKET_MAX ? n : FMT_PT_PACKET_MAX;
	uint8_t kind;
	int got;

	memcpy(w->held + had, p, more);
	got = decode(w->held, had + more, w->bip, &kind);
	if (got == CUT) {
		w->nr_held += (unsigned)more;
		return more;
	}
	w->nr_held = 0;
	if (got == BAD) {
		bad(w);
		search(w, w->held, had);
		return 0;
	}
	take(w, kind, w->held, (unsigned)got);
	return (size_t)got - had;
}

void fmt_ptwalk_feed(struct fmt_ptwalk *w, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	size_t used;

	w->bytes += n;
	for (; n; p += used, n -= used) {
		if (!w->synced)
			used = search(w, p, n);
		else if (w->nr_held)
			used = join(w, p, n);
		else
			used = walk(w, p, n);
	}
	if (!w->n[FMT_PT_PSB])
		w->first_psb = w->bytes;
}

/* What is left when the bytes end. */
static void flush(struct fmt_ptwalk *w)
{
	if (!w->synced && w->run >= FMT_PT_PSB_SIZE)
		gain_sync(w);
	if (!w->synced && w->n[FMT_PT_PSB])
		w->skipped += w->bytes - w->from;
	w->tail = w->nr_held;
}

void fmt_ptwalk_gap(struct fmt_ptwalk *w)
{
	flush(w);
	w->skipped += w->nr_held;
	w->tail = 0;
	w->nr_held = 0;
	w->at = w->bytes;
	w->has_psb = false;
	lose_sync(w);
}

void fmt_ptwalk_end(struct fmt_ptwalk *w)
{
	flush(w);
	w->from = w->bytes;
	w->nr_held = 0;
}

const char *fmt_pt_name(enum fmt_pt_kind kind)
{
	static const char *const names[FMT_PT_KINDS] = {
		[FMT_PT_PAD] = "pad",		[FMT_PT_PSB] = "psb",
		[FMT_PT_PSBEND] = "psbend",	[FMT_PT_TNT_8] = "tnt.8",
		[FMT_PT_TNT_64] = "tnt.64",	[FMT_PT_TIP] = "tip",
		[FMT_PT_TIP_PGE] = "tip.pge",	[FMT_PT_TIP_PGD] = "tip.pgd",
		[FMT_PT_FUP] = "fup",		[FMT_PT_PIP] = "pip",
		[FMT_PT_MODE_EXEC] = "mode.exec", [FMT_PT_MODE_TSX] = "mode.tsx",
		[FMT_PT_TSC] = "tsc",		[FMT_PT_TMA] = "tma",
		[FMT_PT_MTC] = "mtc",		[FMT_PT_CYC] = "cyc",
		[FMT_PT_CBR] = "cbr",		[FMT_PT_OVF] = "ovf",
		[FMT_PT_STOP] = "stop",		[FMT_PT_VMCS] = "vmcs",
		[FMT_PT_MNT] = "mnt",		[FMT_PT_PTW] = "ptw",
		[FMT_PT_EXSTOP] = "exstop",	[FMT_PT_MWAIT] = "mwait",
		[FMT_PT_PWRE] = "pwre",		[FMT_PT_PWRX] = "pwrx",
		[FMT_PT_BBP] = "bbp",		[FMT_PT_BIP] = "bip",
		[FMT_PT_BEP] = "bep",		[FMT_PT_CFE] = "cfe",
		[FMT_PT_EVD] = "evd",		[FMT_PT_TRIG] = "trig",
	};

	return kind < FMT_PT_KINDS ? names[kind] : NULL;
}

bool fmt_pt_find_psb(const void *p, size_t n, size_t *ret_at)
{
	struct fmt_ptwalk w = { 0 };

	search(&w, p, n);
	flush(&w);
	*ret_at = w.first_psb;
	return w.n[FMT_PT_PSB];
}
