/* SPDX-License-Identifier: Apache-2.0 */
/* What packets.c (the walk) and packet_text.c (what a packet says) share. */
#ifndef RECORDER_DECODE_PACKETS_PRIV_H
#define RECORDER_DECODE_PACKETS_PRIV_H

#include <intel-pt.h>

#include "recorder/decode/packets.h"

/* What packets say for those behind them. */
struct packet_state {
	uint64_t last_ip;
	bool has_last_ip;
	unsigned bip; /* in a BBP block: bytes of a BIP's payload, else 0 */
};

/* A packet that libipt does not know, in the n bytes at b: its size; 0: none of those;
 * -pte_eos: not whole; -pte_bad_packet. */
int packet_own(struct packet *p, struct packet_state *s, const uint8_t *b, size_t n);
/* What libipt decoded from the bytes at b. */
void packet_describe(struct packet *p, struct packet_state *s, const struct pt_packet *raw,
		     const uint8_t *b);

#endif
