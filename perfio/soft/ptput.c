/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/ptput.h"

#include <assert.h>
#include <errno.h>
#include <intel-pt.h>
#include <string.h>

/* More than the longest sequence written in one go: TNT, 16 MTC, OVF, TSC, TMA, FUP, PSB+,
 * TIP.PGE, with a CYC before all of them that can have one. */
enum { ROOM = 320 };
/* Bits of a short TNT packet: SDM 33.4.2.1. */
enum { TNT_SHORT = 6 };
/* More edges of the crystal clock in a row are told by a TSC. */
enum { MTC_MAX = 16 };
/* Of what an overflow is to lose, one part in so many. */
enum { LOSE_PART = 4 };

int soft_ptenc_init(struct soft_ptenc *ret, const struct soft_pt_config *cfg)
{
	struct pt_config c;

	*ret = (struct soft_ptenc){ .cfg = *cfg };
	pt_config_init(&c);
	c.begin = ret->buf;
	c.end = ret->buf + sizeof(ret->buf);
	ret->enc = pt_alloc_encoder(&c);
	return ret->enc ? 0 : -ENOMEM;
}

void soft_ptenc_done(struct soft_ptenc *e)
{
	pt_free_encoder(e->enc);
	e->enc = NULL;
}

/* The test switch: an overflow is due. */
static bool overflows(struct soft_pt *p)
{
	const uint64_t every = p->enc->cfg.ovf_every;

	if (!every || p->since_ovf < every)
		return false;
	p->since_ovf = 0;
	p->to_lose = every / LOSE_PART;
	p->overflow = true;
	return true;
}

void soft_put_room(struct soft_pt *p)
{
	if (!p->lost && (overflows(p) || !soft_bytes_reserve(&p->out, ROOM)))
		p->lost = true;
}

static void put(struct soft_pt *p, const struct pt_packet *k)
{
	struct soft_ptenc *e = p->enc;
	int n = pt_enc_sync_set(e->enc, 0);

	if (n >= 0)
		n = pt_enc_next(e->enc, k);
	assert(n > 0);
	if (p->overflow)
		p->to_lose -= p->to_lose < (unsigned)n ? p->to_lose : (unsigned)n;
	else if (p->lost)
		p->dropped += (unsigned)n;
	if (p->lost)
		return;
	soft_bytes_put(&p->out, e->buf, (size_t)n);
	p->since_psb += (unsigned)n;
	p->since_ovf += (unsigned)n;
	p->bytes += (unsigned)n;
}

static void put_plain(struct soft_pt *p, enum pt_packet_type type)
{
	put(p, &(struct pt_packet){ .type = type });
}

/* cyc_thresh n: at least 2^(n-1) cycles lie between two CYC packets (SDM 33.3.6). A cycle is a
 * tick. */
bool soft_put_cyc_due(const struct soft_pt *p, uint64_t ticks)
{
	const struct soft_pt_config *c = &p->enc->cfg;
	uint64_t passed = ticks - p->cyc_at;

	return c->cyc && passed && passed >= ((uint64_t)1 << c->cyc_thresh) >> 1;
}

/* Before each packet of a kind that says when something happened. */
static void put_cyc(struct soft_pt *p)
{
	struct pt_packet k = { .type = ppt_cyc };

	if (!soft_put_cyc_due(p, p->now))
		return;
	k.payload.cyc.value = p->now - p->cyc_at;
	p->cyc_at = p->now;
	put(p, &k);
}

void soft_put_psb(struct soft_pt *p)
{
	p->since_psb = 0;
	p->last_ip = 0;
	put_plain(p, ppt_psb);
}

void soft_put_psbend(struct soft_pt *p)
{
	put_plain(p, ppt_psbend);
}

void soft_put_ovf(struct soft_pt *p)
{
	p->last_ip = 0;
	put_plain(p, ppt_ovf);
}

void soft_put_cbr(struct soft_pt *p)
{
	struct pt_packet k = { .type = ppt_cbr };

	k.payload.cbr.ratio = SOFT_PT_RATIO;
	put(p, &k);
}

void soft_put_mode_tsx(struct soft_pt *p)
{
	struct pt_packet k = { .type = ppt_mode };

	k.payload.mode.leaf = pt_mol_tsx;
	put(p, &k);
}

void soft_put_mode_exec(struct soft_pt *p)
{
	struct pt_packet k = { .type = ppt_mode };

	k.payload.mode.leaf = pt_mol_exec;
	k.payload.mode.bits.exec = pt_set_exec_mode(ptem_64bit);
	put(p, &k);
}

void soft_put_tnt(struct soft_pt *p)
{
	struct pt_packet k = { .type = ppt_tnt_64 };

	if (!p->nr_tnt)
		return;
	if (p->nr_tnt <= TNT_SHORT)
		k.type = ppt_tnt_8;
	k.payload.tnt.bit_size = (uint8_t)p->nr_tnt;
	k.payload.tnt.payload = p->tnt;
	put_cyc(p);
	put(p, &k);
	p->tnt = 0;
	p->nr_tnt = 0;
}

/* IP compression: SDM 33.4.2.2, table of IPBytes. */
void soft_put_ip(struct soft_pt *p, enum soft_ip_kind kind, uint64_t ip)
{
	static const enum pt_packet_type types[] = {
		[SOFT_TIP] = ppt_tip, [SOFT_FUP] = ppt_fup, [SOFT_PGE] = ppt_tip_pge,
		[SOFT_PGD] = ppt_tip_pgd,
	};
	struct pt_packet k = { .type = types[kind] };
	uint64_t diff = ip ^ p->last_ip;
	/* After PSB and OVF the last IP is 0, but perf expands the FUP of a PSB+ by the one
	 * before (intel_pt_psb_with_fup(), seen in 6.1 and 6.12): say all of it there. */
	bool whole = kind == SOFT_FUP && !p->last_ip;

	if (!whole && !(diff >> 16)) {
		k.payload.ip.ipc = pt_ipc_update_16;
		k.payload.ip.ip = ip & 0xffff;
	} else if (!whole && !(diff >> 32)) {
		k.payload.ip.ipc = pt_ipc_update_32;
		k.payload.ip.ip = ip & 0xffffffff;
	} else if ((uint64_t)((int64_t)(ip << 16) >> 16) == ip) {
		k.payload.ip.ipc = pt_ipc_sext_48;
		k.payload.ip.ip = ip & 0xffffffffffff;
	} else {
		k.payload.ip.ipc = pt_ipc_full;
		k.payload.ip.ip = ip;
	}
	if (kind != SOFT_FUP)
		put_cyc(p);
	put(p, &k);
	p->last_ip = ip;
}

void soft_put_pgd(struct soft_pt *p)
{
	struct pt_packet k = { .type = ppt_tip_pgd };

	k.payload.ip.ipc = pt_ipc_suppressed;
	put_cyc(p);
	put(p, &k);
}

void soft_put_tracestop(struct soft_pt *p)
{
	put_plain(p, ppt_stop);
}

/* Size of the payload: SDM 33.4.2.18, PayloadBytes. */
void soft_put_ptw(struct soft_pt *p, uint64_t value, bool wide)
{
	struct pt_packet k = { .type = ppt_ptw };

	k.payload.ptw.payload = value;
	k.payload.ptw.plc = wide;
	k.payload.ptw.ip = p->enc->cfg.fup_on_ptw;
	put_cyc(p);
	put(p, &k);
}

/* The fast counter counts the ticks since the last edge of the crystal clock: SDM 33.4.2.12. */
static void put_tma(struct soft_pt *p)
{
	struct pt_packet k = { .type = ppt_tma };
	uint64_t ctc = p->now / SOFT_PT_CTC;

	k.payload.tma.ctc = (uint16_t)ctc;
	k.payload.tma.fc = (uint16_t)(p->now % SOFT_PT_CTC);
	put(p, &k);
	p->mtc = ctc >> p->enc->cfg.mtc_period;
}

void soft_put_tsc(struct soft_pt *p)
{
	struct pt_packet k = { .type = ppt_tsc };

	if (!p->enc->cfg.tsc)
		return;
	k.payload.tsc.tsc = p->now & (((uint64_t)1 << 56) - 1);
	put_cyc(p);
	put(p, &k);
	if (p->enc->cfg.mtc)
		put_tma(p);
}

/* MTC tells eight bits of the crystal clock (SDM 33.4.2.15). It is written when one of them
 * changes, so that is the moment of it. */
static void put_edge(struct soft_pt *p, uint64_t edge)
{
	struct pt_packet k = { .type = ppt_mtc };

	p->mtc = edge;
	p->now = (edge << p->enc->cfg.mtc_period) * SOFT_PT_CTC;
	k.payload.mtc.ctc = (uint8_t)edge;
	put_cyc(p);
	put(p, &k);
}

static uint64_t edge_at(const struct soft_pt *p, uint64_t ticks)
{
	return ticks / SOFT_PT_CTC >> p->enc->cfg.mtc_period;
}

bool soft_put_mtc_due(const struct soft_pt *p, uint64_t ticks)
{
	return p->enc->cfg.mtc && edge_at(p, ticks) != p->mtc;
}

void soft_put_mtc(struct soft_pt *p, uint64_t ticks)
{
	const uint64_t edge = edge_at(p, ticks);

	if (edge - p->mtc > MTC_MAX && p->enc->cfg.tsc) {
		p->now = ticks;
		soft_put_tsc(p);
		return;
	}
	if (edge - p->mtc > MTC_MAX)
		p->mtc = edge - 1;
	while (p->mtc != edge)
		put_edge(p, p->mtc + 1);
	p->now = ticks;
}
