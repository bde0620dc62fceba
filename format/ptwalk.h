/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fast walk over raw Intel PT bytes: which packets there are, how many, where the
 * stream can be entered (PSB), and how much of it is none of these. It looks at the
 * length of each packet and at the payload of TSC only; what packets mean is for a
 * decoder to say.
 *
 * The bytes of one queue come piece after piece, and a packet may lie in two of them. The
 * walk begins at the first PSB. Where bytes are no packet it goes on at the next PSB,
 * which are the last 16 bytes of 02 82 02 82 ...
 *
 * Packets: Intel SDM vol. 3C, 33.4.2 (packet definitions); TRIG as libipt reads it. A
 * packet whose reserved bits are set is none, as libipt has it: TMA, MODE, TNT without a
 * stop bit, PTW and IP payloads of a reserved size, CYC beyond 64 bits.
 */
#ifndef FORMAT_PTWALK_H
#define FORMAT_PTWALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fmt_pt_kind {
	FMT_PT_NONE,
	FMT_PT_PAD,
	FMT_PT_PSB,
	FMT_PT_PSBEND,
	FMT_PT_TNT_8,
	FMT_PT_TNT_64,
	FMT_PT_TIP,
	FMT_PT_TIP_PGE,
	FMT_PT_TIP_PGD,
	FMT_PT_FUP,
	FMT_PT_PIP,
	FMT_PT_MODE_EXEC,
	FMT_PT_MODE_TSX,
	FMT_PT_TSC,
	FMT_PT_TMA,
	FMT_PT_MTC,
	FMT_PT_CYC,
	FMT_PT_CBR,
	FMT_PT_OVF,
	FMT_PT_STOP,
	FMT_PT_VMCS,
	FMT_PT_MNT,
	FMT_PT_PTW,
	FMT_PT_EXSTOP,
	FMT_PT_MWAIT,
	FMT_PT_PWRE,
	FMT_PT_PWRX,
	FMT_PT_BBP,
	FMT_PT_BIP,
	FMT_PT_BEP,
	FMT_PT_CFE,
	FMT_PT_EVD,
	FMT_PT_TRIG,
	FMT_PT_KINDS
};
#define FMT_PT_PSB_SIZE	  16u
#define FMT_PT_PACKET_MAX 16u /* no packet is longer than a PSB */

/* A zeroed one is ready. All places are counted from the first byte that was fed. */
struct fmt_ptwalk {
	/* A packet begins at the next byte. Set before the first byte: trust it to be so,
	 * and count what is before the first PSB, too. */
	bool synced;

	uint64_t n[FMT_PT_KINDS]; /* packets of each kind */
	uint64_t bytes;		  /* fed so far */
	uint64_t first_psb; /* bytes before the first PSB; all of them without one */
	uint64_t skipped;   /* bytes behind it that are no packet, up to the next PSB */
	uint64_t nr_bad, first_bad; /* how often that was so, and the first place */
	uint64_t tail;		    /* bytes of a last packet that is not whole */
	bool has_tsc;
	uint64_t first_tsc, last_tsc;
	/* From one PSB to the next, where nothing is missing between them. */
	uint64_t nr_dist, sum_dist, min_dist, max_dist;

	/* Optional: told of each packet. Slower. */
	void (*packet)(void *ctx, enum fmt_pt_kind kind, uint64_t at, unsigned size);
	void *ctx;

	/* Private. */
	uint64_t at;   /* of the next byte to look at */
	unsigned bip;  /* in a BBP block: bytes of a BIP's payload, else 0 */
	uint64_t from; /* not synced: since here */
	uint64_t run;  /* not synced: bytes of the PSB pattern just seen */
	bool has_psb;
	uint64_t last_psb;
	unsigned nr_held; /* the beginning of a packet */
	uint8_t held[2 * FMT_PT_PACKET_MAX];
};

/* The next n bytes of the queue. */
void fmt_ptwalk_feed(struct fmt_ptwalk *w, const void *p, size_t n);
/* Bytes are missing here: what was fed last does not go on in what is fed next. */
void fmt_ptwalk_gap(struct fmt_ptwalk *w);
/* No more bytes will come; the numbers above are final. */
void fmt_ptwalk_end(struct fmt_ptwalk *w);

/* "psb", "tip.pge", "mode.exec" ...: the names ptdump prints. */
const char *fmt_pt_name(enum fmt_pt_kind kind);
/* Does a PSB begin within these bytes? *ret_at says where. */
bool fmt_pt_find_psb(const void *p, size_t n, size_t *ret_at);

#endif
