/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "format/le.h"
#include "recorder/decode/packets_priv.h"

/* The text of a packet, put together without printf: there are many of them. */
struct text {
	char *to, *end;
};

static void put(struct text *t, const char *s)
{
	while (*s && t->to < t->end)
		*t->to++ = *s++;
}

/* At least `width` hex digits. */
static void put_hex(struct text *t, uint64_t v, unsigned width)
{
	unsigned n = v ? (unsigned)(67 - __builtin_clzll(v)) / 4 : 1;

	for (n = n < width ? width : n; n-- && t->to < t->end;)
		*t->to++ = "0123456789abcdef"[v >> (4 * n) & 15];
}

static void put_dec(struct text *t, uint64_t v)
{
	if (v >= 10)
		put_dec(t, v / 10);
	if (t->to < t->end)
		*t->to++ = (char)('0' + v % 10);
}

static struct text text_of(struct packet *p)
{
	/* The text is zeroed: its last byte stays the NUL. */
	return (struct text){ p->text, p->text + sizeof(p->text) - 1 };
}

/* Words divided by ", ", as far as they apply. */
static void put_words(struct text *t, bool first, bool a, const char *as, bool b,
		      const char *bs)
{
	if (a) {
		put(t, first ? "" : ", ");
		put(t, as);
		first = false;
	}
	if (b) {
		put(t, first ? "" : ", ");
		put(t, bs);
	}
}

/* ---- what libipt knows ---- */

static void put_tnt(struct text *t, const struct pt_packet_tnt *tnt)
{
	for (unsigned i = tnt->bit_size; i--;)
		put(t, tnt->payload >> i & 1 ? "!" : ".");
}

/* The address, unless bits are missing that no packet before it gave. */
static void update_ip(struct packet *p, struct packet_state *s, const struct pt_packet_ip *ip)
{
	uint64_t low = ip->ipc == pt_ipc_update_16 ? UINT64_C(0xffff) :
		       ip->ipc == pt_ipc_update_32 ? UINT64_C(0xffffffff) :
						     UINT64_C(0xffffffffffff);

	switch (ip->ipc) {
	case pt_ipc_suppressed:
		return;
	case pt_ipc_update_16:
	case pt_ipc_update_32:
	case pt_ipc_update_48:
		s->last_ip = (s->last_ip & ~low) | (ip->ip & low);
		break;
	case pt_ipc_sext_48:
		s->last_ip = (uint64_t)((int64_t)(ip->ip << 16) >> 16);
		s->has_last_ip = true;
		break;
	case pt_ipc_full:
		s->last_ip = ip->ip;
		s->has_last_ip = true;
		break;
	}
	p->has_ip = s->has_last_ip;
	p->ip = s->last_ip;
}

static void put_ip(struct text *t, const struct pt_packet_ip *ip)
{
	put_dec(t, (uint64_t)ip->ipc);
	put(t, ": ");
	switch (ip->ipc) {
	case pt_ipc_suppressed:
		put(t, "????????????????");
		break;
	case pt_ipc_update_16:
		put(t, "????????????");
		put_hex(t, ip->ip & 0xffff, 4);
		break;
	case pt_ipc_update_32:
		put(t, "????????");
		put_hex(t, ip->ip & 0xffffffff, 8);
		break;
	case pt_ipc_update_48:
		put(t, "????");
		put_hex(t, ip->ip & 0xffffffffffff, 12);
		break;
	case pt_ipc_sext_48:
		put_hex(t, (uint64_t)((int64_t)(ip->ip << 16) >> 16), 16);
		break;
	case pt_ipc_full:
		put_hex(t, ip->ip, 16);
		break;
	}
}

static void describe_ip(struct packet *p, struct packet_state *s, const struct pt_packet *raw)
{
	struct text t = text_of(p);

	put_ip(&t, &raw->payload.ip);
	update_ip(p, s, &raw->payload.ip);
	p->name = raw->type == ppt_fup	   ? "fup" :
		  raw->type == ppt_tip	   ? "tip" :
		  raw->type == ppt_tip_pge ? "tip.pge" :
					     "tip.pgd";
}

/* libipt 2.0 does not know the interrupt flag, bit 2 of the payload. */
static void describe_mode(struct packet *p, const struct pt_packet_mode *mode,
			  const uint8_t *b)
{
	struct text t = text_of(p);
	bool csd = mode->bits.exec.csd, csl = mode->bits.exec.csl;

	if (mode->leaf == pt_mol_tsx) {
		p->name = "mode.tsx";
		put_words(&t, true, mode->bits.tsx.intx, "intx", mode->bits.tsx.abrt, "abrt");
		return;
	}
	p->name = "mode.exec";
	put_words(&t, true, csd, "cs.d", csl, "cs.l");
	put_words(&t, !csd && !csl, b[1] & 4, "if", false, "");
}

static void put_two(struct text *t, uint64_t a, uint64_t b, unsigned width)
{
	put_hex(t, a, width);
	put(t, ", ");
	put_hex(t, b, width);
}

static void describe_power(struct packet *p, const struct pt_packet *raw)
{
	const struct pt_packet_pwre *e = &raw->payload.pwre;
	const struct pt_packet_pwrx *x = &raw->payload.pwrx;
	struct text t = text_of(p);

	switch (raw->type) {
	case ppt_exstop:
		p->name = "exstop";
		put(&t, raw->payload.exstop.ip ? "ip" : "");
		break;
	case ppt_mwait:
		p->name = "mwait";
		put_two(&t, raw->payload.mwait.hints, raw->payload.mwait.ext, 8);
		break;
	case ppt_pwre:
		p->name = "pwre";
		put(&t, "c");
		put_dec(&t, (e->state + 1u) & 0xf);
		put(&t, ".");
		put_dec(&t, (e->sub_state + 1u) & 0xf);
		put(&t, e->hw ? ", hw" : "");
		break;
	default:
		p->name = "pwrx";
		put(&t, x->interrupt ? "int: " : "");
		put(&t, x->store ? "st: " : "");
		put(&t, x->autonomous ? "hw: " : "");
		put(&t, "c");
		put_dec(&t, (x->last + 1u) & 0xf);
		put(&t, ", c");
		put_dec(&t, (x->deepest + 1u) & 0xf);
		break;
	}
}

/* Packets of one number or two. */
static void describe_number(struct packet *p, const struct pt_packet *raw)
{
	struct text t = text_of(p);

	switch (raw->type) {
	case ppt_pip:
		p->name = "pip";
		put_hex(&t, raw->payload.pip.cr3, 1);
		put(&t, raw->payload.pip.nr ? ", nr" : "");
		break;
	case ppt_vmcs:
		p->name = "vmcs";
		put_hex(&t, raw->payload.vmcs.base, 1);
		break;
	case ppt_cbr:
		p->name = "cbr";
		put_hex(&t, raw->payload.cbr.ratio, 1);
		break;
	case ppt_tsc:
		p->name = "tsc";
		put_hex(&t, raw->payload.tsc.tsc, 1);
		break;
	case ppt_tma:
		p->name = "tma";
		put_two(&t, raw->payload.tma.ctc, raw->payload.tma.fc, 1);
		break;
	case ppt_mtc:
		p->name = "mtc";
		put_hex(&t, raw->payload.mtc.ctc, 1);
		break;
	case ppt_cyc:
		p->name = "cyc";
		put_hex(&t, raw->payload.cyc.value, 1);
		break;
	case ppt_mnt:
		p->name = "mnt";
		put_hex(&t, raw->payload.mnt.payload, 1);
		break;
	default:
		p->name = "ptw";
		put_dec(&t, raw->payload.ptw.plc);
		put(&t, ": ");
		put_hex(&t, raw->payload.ptw.payload, 1);
		put(&t, raw->payload.ptw.ip ? ", ip" : "");
		break;
	}
}

static const char *plain_name(enum pt_packet_type type)
{
	switch (type) {
	case ppt_pad:
		return "pad";
	case ppt_psb:
		return "psb";
	case ppt_psbend:
		return "psbend";
	case ppt_ovf:
		return "ovf";
	case ppt_stop:
		return "stop";
	default:
		return "unknown";
	}
}

void packet_describe(struct packet *p, struct packet_state *s, const struct pt_packet *raw,
		     const uint8_t *b)
{
	struct text t = text_of(p);

	switch (raw->type) {
	case ppt_fup:
	case ppt_tip:
	case ppt_tip_pge:
	case ppt_tip_pgd:
		describe_ip(p, s, raw);
		break;
	case ppt_tnt_8:
	case ppt_tnt_64:
		p->name = raw->type == ppt_tnt_8 ? "tnt.8" : "tnt.64";
		put_tnt(&t, &raw->payload.tnt);
		break;
	case ppt_mode:
		describe_mode(p, &raw->payload.mode, b);
		break;
	case ppt_exstop:
	case ppt_mwait:
	case ppt_pwre:
	case ppt_pwrx:
		describe_power(p, raw);
		break;
	case ppt_pip:
	case ppt_vmcs:
	case ppt_cbr:
	case ppt_tsc:
	case ppt_tma:
	case ppt_mtc:
	case ppt_cyc:
	case ppt_mnt:
	case ppt_ptw:
		describe_number(p, raw);
		break;
	default:
		p->name = plain_name(raw->type);
		break;
	}
	if (raw->type == ppt_psb || raw->type == ppt_ovf)
		*s = (struct packet_state){ 0 };
}

/* ---- what it does not ---- */

/* Control-flow event: 02 13, type and IP bit, vector. */
static int own_cfe(struct packet *p, const uint8_t *b)
{
	enum { INTR = 1, SIPI = 5, VMEXIT_INTR = 9, UINTR = 12 };
	struct text t = text_of(p);
	unsigned type = b[2] & 0x1f;

	p->name = "cfe";
	put_dec(&t, type);
	if (type == INTR || type == SIPI || type == VMEXIT_INTR || type == UINTR) {
		put(&t, ": ");
		put_dec(&t, b[3]);
	}
	put(&t, b[2] & 0x80 ? ", ip" : "");
	return 4;
}

/* Event data: 02 53, type, eight bytes. */
static int own_evd(struct packet *p, const uint8_t *b)
{
	struct text t = text_of(p);

	p->name = "evd";
	put_dec(&t, b[2] & 0x3f);
	put(&t, ": ");
	put_hex(&t, le_get(b + 3, 8), 1);
	return 11;
}

/* Begin of a block of items: 02 63, type and size bit. */
static int own_bbp(struct packet *p, struct packet_state *s, const uint8_t *b)
{
	struct text t = text_of(p);

	s->bip = b[2] & 0x80 ? 4 : 8;
	p->name = "bbp";
	put_hex(&t, b[2] & 0x1f, 1);
	put(&t, ", sz: ");
	put_dec(&t, s->bip);
	return 3;
}

static int own_bep(struct packet *p, struct packet_state *s, const uint8_t *b)
{
	struct text t = text_of(p);

	s->bip = 0;
	p->name = "bep";
	put(&t, b[1] & 0x80 ? "ip" : "");
	return 2;
}

/* An item of a block: five bits of id in its only opcode byte. */
static int own_bip(struct packet *p, const struct packet_state *s, const uint8_t *b, size_t n)
{
	struct text t = text_of(p);

	if (n < 1 + s->bip)
		return -pte_eos;
	p->name = "bip";
	put_hex(&t, b[0] >> 3, 1);
	put(&t, ": ");
	put_hex(&t, le_get(b + 1, s->bip), 1);
	return 1 + (int)s->bip;
}

static int own_trig(struct packet *p, const uint8_t *b, size_t n)
{
	enum { MULT = 0x20, ICNTV = 0x40, IP = 0x80 };
	size_t size = n > 1 && b[1] & ICNTV ? 5 : 3;
	struct text t = text_of(p);

	if (n < size)
		return -pte_eos;
	p->name = "trig";
	put_hex(&t, b[2], 2);
	put_words(&t, false, b[1] & IP, "ip", b[1] & MULT, "mult");
	if (b[1] & ICNTV) {
		put(&t, ", icnt: ");
		put_dec(&t, le_get(b + 3, 2));
	}
	return (int)size;
}

int packet_own(struct packet *p, struct packet_state *s, const uint8_t *b, size_t n)
{
	if (!n)
		return 0;
	if (s->bip && (b[0] & 7) == 4)
		return own_bip(p, s, b, n);
	if (b[0] == 0xd9)
		return own_trig(p, b, n);
	if (b[0] != 0x02 || n < 2)
		return 0;
	switch (b[1]) {
	case 0x13:
		return n < 4 ? -pte_eos : own_cfe(p, b);
	case 0x53:
		return n < 11 ? -pte_eos : own_evd(p, b);
	case 0x63:
		return n < 3 ? -pte_eos : own_bbp(p, s, b);
	case 0x33:
	case 0xb3:
		return own_bep(p, s, b);
	}
	return 0;
}
