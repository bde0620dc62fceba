/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Intel PT packets of one queue, with what they say, by libipt's packet decoder.
 *
 * The bytes come piece after piece; a packet may lie in several. The walk begins at the
 * first PSB, and where bytes are no packet it goes on at the next PSB. What libipt 2.0 does
 * not know is decoded here: CFE, EVD and the IF bit of MODE.Exec (event trace), BBP, BIP and
 * BEP (PEBS) after Intel SDM vol. 3C, 33.4.2; TRIG as libipt 2.2 reads it.
 */
#ifndef RECORDER_DECODE_PACKETS_H
#define RECORDER_DECODE_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A packet, or bytes that are none: name "skipped" (before the first PSB), "error"
 * (text says which; size is up to the next PSB) or "gap" (bytes are missing before it). */
struct packet {
	uint64_t at;	  /* among the queue's bytes */
	uint64_t file_at; /* of its first byte */
	uint64_t size;
	const char *name; /* as libipt's ptdump has it: "tip.pge" */
	char text[48];	  /* what it says, as ptdump has it: "3: ffffffff81000000"; or "" */
	bool has_ip;	  /* TIP, FUP ... whose address is known without gaps: */
	uint64_t ip;
};

typedef void packets_fn(void *ctx, const struct packet *p);

struct packets;

/* 0 or -ENOMEM. */
int packets_new(struct packets **ret, packets_fn *fn, void *ctx);
void packets_free(struct packets *k);
/* The next n bytes of the queue, which are at file_at. They may go afterwards. 0, -ENOMEM. */
int packets_feed(struct packets *k, const uint8_t *p, size_t n, uint64_t file_at);
/* The last n bytes that were fed were padding: n is 7 at most. */
void packets_take_back(struct packets *k, size_t n);
/* Bytes are missing: what comes next does not go on where the last piece ended. The same
 * errors. */
int packets_gap(struct packets *k);
/* No more will come. The same errors. */
int packets_end(struct packets *k);

#endif
