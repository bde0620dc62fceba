/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/pt.h"
#include "perfio/soft/ptput.h"

/* Bits of a long TNT packet: SDM 33.4.2.1. */
enum { TNT_LONG = 47 };

void soft_pt_init(struct soft_pt *ret, struct soft_ptenc *e)
{
	*ret = (struct soft_pt){ .enc = e };
}

void soft_pt_done(struct soft_pt *p)
{
	soft_bytes_done(&p->out);
}

/* Packets about branches are wanted. */
static bool branches(const struct soft_pt *p)
{
	return p->enc->cfg.branch;
}

/* The moment of all packets to come. Branch bits that wait are of the moment before. */
static void advance(struct soft_pt *p, uint64_t ticks)
{
	bool edges = p->on && soft_put_mtc_due(p, ticks);

	if (ticks == p->now)
		return;
	if (!p->begun)
		p->cyc_at = ticks;
	if (edges || (p->nr_tnt && soft_put_cyc_due(p, ticks))) {
		soft_put_room(p);
		soft_put_tnt(p);
	}
	if (edges)
		soft_put_mtc(p, ticks);
	p->now = ticks;
}

/* PSB+ (SDM 33.4.2.17): where a reader can start. `ip` counts only while packets are on. */
static void put_psb(struct soft_pt *p, uint64_t ip)
{
	if (!p->lost && !p->begun) {
		p->begun = true;
		p->start_ticks = p->now;
	}
	p->nr_ret = 0;
	soft_put_psb(p);
	soft_put_tsc(p);
	if (branches(p))
		soft_put_mode_tsx(p);
	soft_put_cbr(p);
	if (p->on && branches(p)) {
		soft_put_mode_exec(p);
		soft_put_ip(p, SOFT_FUP, ip);
	}
	soft_put_psbend(p);
}

/* Packets were given up: say so, and where the thread is now (SDM 33.3.8). */
static void resume_lost(struct soft_pt *p, uint64_t ip)
{
	if (p->to_lose)
		return;
	p->lost = p->overflow = false;
	p->since_ovf = 0;
	soft_put_room(p);
	if (p->lost)
		return;
	p->tnt = 0;
	p->nr_tnt = 0;
	p->nr_ret = 0;
	soft_put_ovf(p);
	if (!p->on)
		return;
	soft_put_tsc(p);
	if (branches(p))
		soft_put_ip(p, SOFT_FUP, ip);
}

static bool psb_due(const struct soft_pt *p)
{
	return !p->begun || p->since_psb >= p->enc->cfg.psb_bytes;
}

static void turn_on(struct soft_pt *p, uint64_t ip)
{
	if (branches(p)) {
		soft_put_mode_exec(p);
		soft_put_ip(p, SOFT_PGE, ip);
	}
	p->on = true;
}

void soft_pt_at(struct soft_pt *p, uint64_t ip, uint64_t ticks, bool resync)
{
	bool due;

	advance(p, ticks);
	due = psb_due(p);
	if (p->on && !due && !resync && !p->lost)
		return;
	if (p->lost)
		resume_lost(p, ip);
	soft_put_room(p);
	if (p->on)
		soft_put_tnt(p);
	if (due)
		put_psb(p, ip);
	else if (!p->on || resync)
		soft_put_tsc(p);
	if (!p->on)
		turn_on(p, ip);
}

void soft_pt_cond(struct soft_pt *p, bool taken)
{
	if (!branches(p))
		return;
	p->tnt = p->tnt << 1 | taken;
	if (++p->nr_tnt == TNT_LONG)
		soft_pt_flush(p);
}

void soft_pt_call(struct soft_pt *p, uint64_t ret)
{
	if (p->enc->cfg.noretcomp)
		return;
	p->ret_top = (p->ret_top + 1) % SOFT_PT_RETS;
	p->ret[p->ret_top] = ret;
	if (p->nr_ret < SOFT_PT_RETS)
		p->nr_ret++;
}

void soft_pt_jump(struct soft_pt *p, uint64_t to)
{
	if (!branches(p))
		return;
	soft_put_room(p);
	soft_put_tnt(p);
	soft_put_ip(p, SOFT_TIP, to);
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

/* SDM 33.4.2.18, and 33.3.1: the branches before it come first. */
void soft_pt_ptwrite(struct soft_pt *p, uint64_t ip, uint64_t value, bool wide)
{
	if (!p->enc->cfg.ptw)
		return;
	soft_put_room(p);
	soft_put_tnt(p);
	soft_put_ptw(p, value, wide);
	if (p->enc->cfg.fup_on_ptw)
		soft_put_ip(p, SOFT_FUP, ip);
}

static void turn_off(struct soft_pt *p)
{
	if (branches(p))
		soft_put_pgd(p);
	p->on = false;
}

void soft_pt_leave(struct soft_pt *p)
{
	if (!p->on)
		return;
	soft_put_room(p);
	soft_put_tnt(p);
	turn_off(p);
}

/* Calls that leave are on the return stack of some readers and not of others: it starts anew. */
void soft_pt_leave_to(struct soft_pt *p, uint64_t to)
{
	soft_put_room(p);
	soft_put_tnt(p);
	if (branches(p))
		soft_put_ip(p, SOFT_PGD, to);
	p->on = false;
	p->nr_ret = 0;
}

void soft_pt_stopped(struct soft_pt *p, uint64_t ticks)
{
	if (p->on)
		return;
	advance(p, ticks);
	soft_put_room(p);
	if (psb_due(p)) /* with others' packets before it, nobody could tell whose it is */
		put_psb(p, 0);
	soft_put_tracestop(p);
}

void soft_pt_cut(struct soft_pt *p, uint64_t ip)
{
	if (!p->on)
		return;
	soft_put_room(p);
	soft_put_tnt(p);
	if (branches(p))
		soft_put_ip(p, SOFT_FUP, ip);
	turn_off(p);
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
	p->since_psb = p->enc->cfg.psb_bytes;
}

void soft_pt_flush(struct soft_pt *p)
{
	if (!p->nr_tnt)
		return;
	soft_put_room(p);
	soft_put_tnt(p);
}
