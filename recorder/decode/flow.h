/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One segment of a queue through libipt's block decoder: how many instructions each thread
 * ran, and what went wrong.
 *
 * A segment begins at a PSB and ends where the next one begins, which is at a PSB, too. What
 * ran last before that PSB needs no packet, so the decoder runs on behind it: to be exact the
 * PSB+ at the end is decoded with the segment, and once more alone; where both ways meet, what
 * the second one finds is the next segment's.
 */
#ifndef RECORDER_DECODE_FLOW_H
#define RECORDER_DECODE_FLOW_H

#include <intel-pt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/decode/decode.h"
#include "recorder/decode/queues.h"
#include "recorder/decode/spaces.h"
#include "recorder/decode/tasks.h"

/* What all segments share. */
struct flow_setup {
	const struct tasks *tasks;
	const struct images *images;
	struct pt_config config; /* but begin and end */
	bool timed;
	uint64_t shift, mult, zero; /* TSC to ns, perf_event_mmap_page in <linux/perf_event.h> */
};

struct flow_segment {
	const struct queue *q;
	uint64_t from, to;	 /* of its PSB, and behind it: among the queue's bytes */
	const uint8_t *p;	 /* bytes from `from` on: what is of the segment, */
	size_t len;
	size_t beyond;		 /* and behind that, as much of the next PSB+ as there is; 0:
				    the stretch ends here */
};

/* What segments give, summed up. */
struct flow_sum {
	uint64_t insns, skipped, nr_psb, errors, overflows;
	bool has_time;
	uint64_t first_time, last_time;
};

struct flow_thread {
	uint32_t pid, tid;
	uint64_t insns;
};

/* One decoding thread's worker and what it found in all of its segments. */
struct flow {
	const struct flow_setup *s;
	struct spaces *spaces;
	struct flow_thread *thread; /* open addressing; insns 0 and pid NONE: free */
	size_t nr_threads, nr_slots;
	struct decode_error *error; /* one for each code */
	size_t nr_errors, room_errors;
	struct decode_missing *missing; /* one for each image */
	size_t nr_missing, room_missing;

	/* Private: where decoding stands. */
	const struct flow_segment *seg;
	struct pt_block_decoder *d;
	struct flow_sum *sum;
	uint64_t reference; /* TSC when the bytes were read */
	uint64_t now, until; /* ns; who and space hold until then */
	uint64_t who_until, space_until;
	struct tasks_who who;
	uint64_t insns;	     /* of `who`, not yet counted */
	uint64_t offset;     /* last one that libipt told */
	unsigned quiet;	     /* blocks since it moved */
	uint64_t mark;	     /* one of them, */
	unsigned repeats;    /* and how often it came again */
	int err;	     /* of memory: ends it all */
};

int flow_new(struct flow *ret, const struct flow_setup *s); /* 0 or -ENOMEM */
void flow_done(struct flow *f);
/* Adds to *sum. 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int flow_run(struct flow *f, const struct flow_segment *seg, struct flow_sum *sum);
/* Adds what g found to f. 0 or -ENOMEM. */
__attribute__((warn_unused_result))
int flow_merge(struct flow *f, const struct flow *g);

#endif
