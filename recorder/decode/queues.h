/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The AUX trace of a recording as queues: for each idx the pieces of its stream, in file
 * order, which stay where they are in the file.
 *
 * Pieces of full trace are one stream; where their offsets say that bytes are missing, a new
 * stretch begins. A snapshot goes on in the next one where the two overlap, and the doubled
 * bytes are dropped: by their offsets, or in AUX samples, which have none, by the bytes from
 * the last PSB on. Padding at the end of a piece (up to 7 bytes) is dropped where the next
 * piece says what belongs there.
 */
#ifndef RECORDER_DECODE_QUEUES_H
#define RECORDER_DECODE_QUEUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/auxtrace.h"
#include "format/reader.h"
#include "recorder/auxsample.h"

#define QUEUES_NONE UINT32_MAX /* no cpu, no thread */

struct queue_piece {
	const uint8_t *p; /* in the file, or put aside */
	uint64_t len;
	uint64_t at;	  /* of its first byte among the queue's */
	uint64_t file_at; /* UINT64_MAX: it was inflated */
	uint64_t reference; /* TSC when it was read, 0 where not told */
	bool begins;	    /* a stretch: it does not go on where the last one ended */
};

struct queue {
	uint32_t idx;
	uint32_t cpu, tid; /* of its first piece; QUEUES_NONE where it has none */
	struct queue_piece *piece;
	size_t nr, room;
	uint64_t bytes;
	uint64_t gaps;
	uint64_t end; /* of the last piece, in the AUX stream */
};

struct queues {
	struct queue *q; /* by idx */
	size_t nr;
	uint64_t left_out; /* bytes in queues beyond the 8192 that are kept, or that no
			      ID_INDEX names */

	/* Private. */
	bool snapshot, timed;
	size_t room;
	struct auxsample_ids ids;
	int spool; /* inflated pieces, in a file without a name; -1: none */
	const uint8_t *spooled;
	uint64_t spool_len;
};
#define QUEUES_INIT (struct queues){ .spool = -1, .ids = AUXSAMPLE_IDS_INIT }

void queues_done(struct queues *v);
/* From AUXTRACE_INFO: before any piece. timed: TSC packets can be told apart. */
void queues_mode(struct queues *v, bool snapshot, bool timed);
/* A record of any type: AUXTRACE, ID_INDEX and SAMPLE count. 0, -ENOMEM, or -errno of
 * putting inflated trace aside. */
__attribute__((warn_unused_result))
int queues_take(struct queues *v, const struct fmt_reader *from, const struct fmt_rec *rec);
/* The piece that holds byte `at` of the queue. */
const struct queue_piece *queue_piece_at(const struct queue *q, uint64_t at);
/* Bytes from `at` on, to the end of the stretch at most: how many. */
size_t queue_read(const struct queue *q, uint64_t at, uint8_t *ret, size_t n);

/* Gives the pages of these bytes back: the next one who reads them gets them from the file
 * again. Only for pieces that lie in a mapped file. */
void queue_forget(const struct queue *q, uint64_t at, size_t n);

#endif
