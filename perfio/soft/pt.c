/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/pt.h"

#include <assert.h>
#include <errno.h>
#include <intel-pt.h>
#include <string.h>

/* More than the longest sequence written in one go: TNT, OVF, TSC, FUP, PSB+, TIP.PGE. */
enum { ROOM = 128 };
/* Bits of a long and of a short TNT packet: SDM 33.4.2.1. */
enum { TNT_LONG = 47, TNT_SHORT = 6 };
/* No frequency is known; perf and libipt accept any. */
enum { BUS_RATIO = 10 };

int soft_ptenc_init(struct soft_ptenc *ret, uint32_t psb_bytes, bool tsc, bool noretcomp)
{
	struct pt_config c;

	*ret = (struct soft_ptenc){ .psb_bytes = psb_bytes, .tsc = tsc,
				    .noretcomp = noretcomp };
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

void soft_pt_init(struct soft_pt *ret, struct soft_ptenc *e)
{
	*ret = (struct soft_pt){ .enc = e };
}

void soft_pt_done(struct soft_pt *p)
{
	soft_bytes_done(&p->out);
}

/* Before every sequence; after it packets of the sequence stay together. */
static void room(struct soft_pt *p)
{
	if (!p->lost && !soft_bytes_reserve(&p->out, ROOM))
		p->lost = true;
}

static void put(struct soft_pt *p, const struct pt_packet *k)
{
	struct soft_ptenc *e = p->enc;
	int n = pt_enc_sync_set(e->enc, 0);

	if (n >= 0)
		n = pt_enc_next(e->enc, k);
	assert(n > 0);
	if (p->lost) {
		p->dropped += (unsigned)n;
		return;
	}
	soft_bytes_put(&p->out, e->buf, (size_t)n);
	p->since_psb += (unsigned)n;
	p->bytes += (unsigned)n;
}

static void put_plain(struct soft_pt *p, enum pt_packet_type type)
{
	put(p, &(struct pt_packet){ .type = type });
}

static void put_tsc(struct soft_pt *p, uint64_t ticks)
{
	struct pt_packet k = { .type = ppt_tsc };

	if (!p->enc->tsc)
		return;
	k.payload.tsc.tsc = ticks & (((uint64_t)1 << 56) - 1);
	put(p, &k);
}

static void put_mode_exec(struct soft_pt *p)
{
	struct pt_packet k = { .type = ppt_mode };

	k.payload.mode.leaf = pt_mol_exec;
	k.payload.mode.bits.exec = pt_set_exec_mode(ptem_64bit);
	put(p, &k);
}

/* IP compression: SDM 33.4.2.2, table of IPBytes. */
static void put_ip(struct soft_pt *p, enum pt_packet_type type, uint64_t ip)
{
	struct pt_packet k = { .type = type };
	uint64_t diff = ip ^ p->last_ip;
	/* After PSB and OVF the last IP is 0, but perf expands the FUP of a PSB+ by the one
	 * before (intel_pt_psb_with_fup(), seen in 6.1 and 6.12): say all of it there. */
	bool whole = type == ppt_fup && !p->last_ip;

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
	put(p, &k);
	p->last_ip = ip;
}

static void put_pgd(struct soft_pt *p)
{
	struct pt_packet k = { .type = ppt_tip_pgd };

	k.payload.ip.ipc = pt_ipc_suppressed;
	put(p, &k);
	p->on = false;
}

static void put_tnt(struct soft_pt *p)
{
	struct pt_packet k = { .type = ppt_tnt_64 };

	if (!p->nr_tnt)
		return;
	if (p->nr_tnt <= TNT_SHORT)
		k.type = ppt_tnt_8;
	k.payload.tnt.bit_size = (uint8_t)p->nr_tnt;
	k.payload.tnt.payload = p->tnt;
	put(p, &k);
	p->tnt = 0;
	p->nr_tnt = 0;
}

/* PSB+ (SDM 33.4.2.17): where a reader can start. `ip` counts only while packets are on. */
static void put_psb(struct soft_pt *p, uint64_t ip, uint64_t ticks)
{
	struct pt_packet tsx = { .type = ppt_mode };
	struct pt_packet cbr = { .type = ppt_cbr };

	if (!p->lost && !p->begun) {
		p->begun = true;
		p->start_ticks = ticks;
	}
	p->since_psb = 0;
	p->last_ip = 0;
	p->nr_ret = 0;
	put_plain(p, ppt_psb);
	put_tsc(p, ticks);
	tsx.payload.mode.leaf = pt_mol_tsx;
	put(p, &tsx);
	cbr.payload.cbr.ratio = BUS_RATIO;
	put(p, &cbr);
	if (p->on) {
		put_mode_exec(p);
		put_ip(p, ppt_fup, ip);
	}
	put_plain(p, ppt_psbend);
}

/* Packets were given up: say so, and where the thread is now (SDM 33.3.8). */
static void resume_lost(struct soft_pt *p, uint64_t ip, uint64_t ticks)
{
	if (!soft_bytes_reserve(&p->out, ROOM))
		return;
	p->lost = false;
	p->tnt = 0;
	p->nr_tnt = 0;
	p->last_ip = 0;
	p->nr_ret = 0;
	put_plain(p, ppt_ovf);
	if (!p->on)
		return;
	put_tsc(p, ticks);
	put_ip(p, ppt_fup, ip);
}

static bool psb_due(const struct soft_pt *p)
{
	return !p->begun || p->since_psb >= p->enc->psb_bytes;
}

void soft_pt_at(struct soft_pt *p, uint64_t ip, uint64_t ticks, bool resync)
{
	bool due = psb_due(p);

	if (p->on && !due && !resync && !p->lost)
		return;
	if (p->lost)
		resume_lost(p, ip, ticks);
	room(p);
	if (p->on)
		put_tnt(p);
	if (due)
		put_psb(p, ip, ticks);
	else if (!p->on || resync)
		put_tsc(p, ticks);
	if (p->on)
		return;
	put_mode_exec(p);
	put_ip(p, ppt_tip_pge, ip);
	p->on = true;
}

void soft_pt_cond(struct soft_pt *p, bool taken)
{
	p->tnt = p->tnt << 1 | taken;
	if (++p->nr_tnt == TNT_LONG)
		soft_pt_flush(p);
}

void soft_pt_call(struct soft_pt *p, uint64_t ret)
{
	if (p->enc->noretcomp)
		return;
	p->ret_top = (p->ret_top + 1) % SOFT_PT_RETS;
	p->ret[p->ret_top] = ret;
	if (p->nr_ret < SOFT_PT_RETS)
		p->nr_ret++;
}

void soft_pt_jump(struct soft_pt *p, uint64_t to)
{
	room(p);
	put_tnt(p);
	put_ip(p, ppt_tip, to);
}

void soft_pt_far(struct soft_pt *p, uint64_t to)
{
	soft_pt_jump(p, to);
	p->nr_ret = 0;
}

void soft_pt_return(struct soft_pt *p, uint64_t to)
{
	if (p->nr_ret && p->ret[p->ret_top] == to) {
		p->ret_top = (p->ret_top + SOFT_PT_RETS - 1) % SOFT_PT_RETS;
		p->nr_ret--;
		soft_pt_cond(p, true);
		return;
	}
	/* Calls and returns no longer pair up; a reader keeps its stack, ours starts anew. */
	p->nr_ret = 0;
	soft_pt_jump(p, to);
}

void soft_pt_leave(struct soft_pt *p)
{
	if (!p->on)
		return;
	room(p);
	put_tnt(p);
	put_pgd(p);
}

void soft_pt_cut(struct soft_pt *p, uint64_t ip)
{
	if (!p->on)
		return;
	room(p);
	put_tnt(p);
	put_ip(p, ppt_fup, ip);
	put_pgd(p);
}

size_t soft_pt_end(const struct soft_pt *p, uint64_t ip, uint8_t *buf, size_t size)
{
	struct soft_pt end = *p;
	size_t n;

	if (p->lost)
		return 0;
	end.out = (struct soft_bytes){ 0 };
	soft_pt_cut(&end, ip);
	n = soft_bytes_copy(&end.out, 0, buf, size);
	soft_bytes_done(&end.out);
	return n;
}

void soft_pt_forget(struct soft_pt *p)
{
	p->nr_ret = 0;
}

void soft_pt_want_psb(struct soft_pt *p)
{
	p->since_psb = p->enc->psb_bytes;
}

void soft_pt_flush(struct soft_pt *p)
{
	if (!p->nr_tnt)
		return;
	room(p);
	put_tnt(p);
}
