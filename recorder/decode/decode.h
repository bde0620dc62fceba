/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `auxrec check --decode` finds: libipt's block decoder over every Intel PT queue of a
 * file, with the code that the file's mappings name (images.h), for the threads and address
 * spaces that its records tell of (tasks.h).
 *
 * A queue is decoded in segments that begin at a PSB, several at once; each instruction is
 * counted in one of them. Memory: a few megabytes for each thread of ours, 16 bytes for each
 * context switch and 56 for each mapping; never the trace.
 *
 * After an error libipt can go on at the next PSB only: the bytes up to there are counted as
 * not decodable, and so are those before a queue's first PSB.
 */
#ifndef RECORDER_DECODE_DECODE_H
#define RECORDER_DECODE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/decode/images.h"
#include "recorder/input.h"
#include "recorder/jtree.h"

struct decode_opts {
	const char *images; /* a directory where images are looked for first, or NULL */
	unsigned threads;   /* 0: one for each cpu we may run on */
	uint64_t slice;	    /* bytes of trace that one takes at a time; 0: 4 MiB */
};

#define DECODE_NONE UINT32_MAX /* no cpu, no thread, no process */

/* One kind of error: libipt's code with its words, or one of our own. */
struct decode_error {
	int code;	   /* enum pt_error_code; DECODE_STUCK */
	const char *words; /* static */
	uint64_t n;
	/* The first of them, by queue and place. */
	uint32_t idx;	 /* queue */
	uint64_t offset; /* in the queue's bytes */
	uint64_t file_at; /* of that byte in the file; UINT64_MAX where it was inflated */
	uint64_t ip;	 /* of the instruction, 0 where not known */
	bool has_time;
	uint64_t time;
	uint32_t pid, tid;
};
#define DECODE_STUCK 1000 /* code goes on and on, and no packet is used */

/* An image that was asked for and is not there. */
struct decode_missing {
	const struct image *image; /* NULL: addresses that no mapping covers */
	uint64_t errors;	   /* caused by it */
	uint64_t first_ip;
};

struct decode_queue {
	uint32_t idx, cpu, tid; /* cpu, tid: DECODE_NONE where the queue has none */
	uint64_t bytes;		/* of trace, overlaps of snapshots not counted twice */
	uint64_t skipped;	/* of them not decodable */
	uint64_t nr_psb;	/* where decoding can begin */
	uint64_t insns, errors, overflows;
	uint64_t gaps;		/* places where bytes are missing between two pieces */
	bool has_time;
	uint64_t first_time, last_time; /* ns, of the decoder */
};

struct decode_thread {
	uint32_t pid, tid;
	char comm[16]; /* the last name it had, "" where not told */
	uint64_t insns;
};

struct decode_report {
	uint32_t aux_type;  /* FMT_AUXTRACE_*; decoded is FMT_AUXTRACE_INTEL_PT only */
	bool has_aux, timed; /* timed: trace and records share a clock */
	uint64_t insns, bytes, skipped, nr_errors;
	struct decode_queue *queues; /* by idx */
	size_t nr_queues;
	struct decode_thread *threads; /* by pid and tid */
	size_t nr_threads;
	struct decode_error *errors; /* by code */
	size_t nr_kinds;
	struct decode_missing *missing; /* most errors first */
	size_t nr_missing;

	struct images *images; /* owns what `missing` points at */
};

/*
 * Walks the input (from its first record) and decodes it. A file without AUX trace, or of a
 * kind other than Intel PT, gives an empty report and 0. Damage in the file is not judged
 * here: what stands before it is decoded. 0, -ENOMEM, or -errno of putting inflated trace
 * aside.
 */
__attribute__((warn_unused_result))
int decode_file(struct decode_report *ret, struct input *in, const struct decode_opts *o);
void decode_report_done(struct decode_report *r);

/* Bytes decodable, in hundredths of a percent, rounded down: 10000 says every byte. A report
 * without trace has 10000. */
unsigned decode_share(const struct decode_report *r);

/* Trace that does not fit the code, or is none: errors of any kind but missing code. */
bool decode_misfits(const struct decode_report *r);

/* On stdout. */
void decode_print_text(const struct decode_report *r);
/* An object, for the "decode" of a larger one; *err as jtree.h has it. */
json_t *decode_json(const struct decode_report *r, int *err);

#endif
