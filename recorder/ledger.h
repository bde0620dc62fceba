/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What went into the file and what did not: counted while the bytes pass, per cpu (or
 * thread) and cause. The one source of the summary, the status line and --strict.
 */
#ifndef RECORDER_LEDGER_H
#define RECORDER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "recorder/oncpu.h"

enum { LEDGER_TYPES = 64 }; /* kernel record types are below 64 */

/* One place of the event set, or one queue of the software source. */
struct ledger_row {
	int cpu;	       /* -1: a thread's */
	int tid;	       /* -1: a cpu's */
	uint64_t aux_bytes, aux_chunks;
	uint64_t lost;	       /* records the kernel had no room for */
	uint64_t lost_before;  /* of those, by descriptors that are closed */
	uint64_t lost_samples;
	uint64_t truncated, partial, collision; /* AUX records with that flag */
	struct oncpu on; /* who runs there, where that is followed */
};

struct ledger {
	struct ledger_row *row; /* first the places, then the software queues */
	size_t n, cap;
	uint64_t by_type[LEDGER_TYPES];
	uint64_t records;	/* all kernel records */
	uint64_t first_ns, last_ns; /* of timed records; last 0: none seen */
	uint64_t rolled_back;	/* bytes taken back out of the file after a write error, */
	uint64_t given_up;	/* and records, with those that were still in the rings */
	uint64_t dropped;	/* trace bytes the software source had no memory for */
	uint64_t untold;	/* its programs whose events the kernel has ended */
	uint64_t unexplained;	/* its steps that no rule explains: gaps */
	uint64_t refused;	/* programs it could not step (32 bits) */
	uint64_t unjoined;	/* cpus that came online and could not be recorded */
	uint64_t unreadable;	/* processes whose maps could have been read by others */
};

/* Row i, made if need be. NULL: no memory. */
struct ledger_row *ledger_row(struct ledger *l, size_t i, int cpu, int tid);
void ledger_done(struct ledger *l);

/* Who wants to see records: each of these types (bit n: type n) in one piece, which begins at pos
 * of the spans. A value other than 0 ends the walk. */
struct ledger_visit {
	uint64_t types;
	int (*fn)(void *ctx, const uint8_t *rec, size_t size, size_t pos);
	void *ctx;
};

/* Walk the records of a ring (up to 2 spans, whole records, as lent by pio_ring_peek) and
 * count them in row r. visit may be NULL. Returns 0; -EBADMSG when the bytes are not records
 * (the walk stops there); what visit->fn returned. */
__attribute__((warn_unused_result))
int ledger_walk(struct ledger *l, struct ledger_row *r, const struct iovec *v, int n,
		const struct ledger_visit *visit);

/* Count a record of ours, and widen the recording's time span by it. */
void ledger_count(struct ledger *l, uint32_t type);
void ledger_time(struct ledger *l, uint64_t ns);
/* n records of a type that were counted by a walk do not go into the file (now). */
void ledger_uncount(struct ledger *l, uint32_t type, uint64_t n);

struct ledger_losses {
	uint64_t lost, lost_samples, truncated, partial, collision, aux_bytes;
};
struct ledger_losses ledger_sum(const struct ledger *l);
/* Is anything missing from the recording? */
bool ledger_lossy(const struct ledger *l);

#endif
