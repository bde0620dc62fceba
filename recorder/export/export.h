/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all exits of `auxrec export` share. An exit is a row of the table in exporters.c: a
 * name for --to and a function that gets a struct export.
 *
 * By then the recording was walked once (survey.c): its queues, streams of records, images
 * and clock are known, so an exit can name its files, and refuse, before it writes. It then
 * walks the recording once more through export_walk (walk.c), which hands out trace and
 * records within the filters only.
 *
 * Queues are the recording's: the AUX trace of one cpu or thread (AUXTRACE.idx). Streams are
 * the kernel's records (types below 64, without SAMPLE), parted by where they happened.
 *
 * Filters. --cpu chooses queues and streams of cpus; records of other cpus that tell of
 * processes, mappings and kernel code are handed out all the same, as the stream OTHERS.
 * --time A,B cuts each queue at PSBs: from the last one not later than A (from its first byte
 * where all are later) to the first one later than B. Snapshots and AUX samples are whole
 * pieces: those are kept whose time stamps touch A to B. A queue without time stamps is kept.
 * Records are kept from the first on, as all that stands before A may be needed to know what
 * runs after it, up to B, or later as far as a queue's trace goes.
 */
#ifndef RECORDER_EXPORT_EXPORT_H
#define RECORDER_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/auxtrace.h"
#include "format/ptwalk.h"
#include "perfio/cpus.h"
#include "recorder/auxsample.h"
#include "recorder/decode/images.h"
#include "recorder/decode/tasks.h"
#include "recorder/export/outset.h"
#include "recorder/input.h"

#define EXPORT_NONE UINT32_MAX /* no cpu, no thread, no kind of trace */

struct export_opts {
	const char *path;     /* the recording */
	const char *base;     /* what output names begin with */
	const char *images;   /* a directory where images are looked for first, or NULL */
	struct pio_cpus cpus; /* none: all */
	bool windowed;	      /* from and to count */
	uint64_t from, to;    /* ns of the recording's clock */
	bool force, no_images;
};

struct export_queue {
	uint32_t idx;	   /* first: the key */
	uint32_t cpu, tid; /* of its first piece; EXPORT_NONE where it has none */
	bool chosen;
	bool loose; /* its pieces are snapshots or AUX samples: each stands for itself */
	uint64_t pieces, bytes; /* all there are */
	uint64_t gaps; /* between two pieces, by their offsets, bytes are missing */
	uint64_t nr_psb;
	bool has_tsc;
	uint64_t first_tsc, last_tsc; /* all 64 bits, as far as the recorder told them */
	uint64_t from, to; /* not loose: the part within the window */

	/* Private. */
	struct fmt_ptwalk walk;
	uint64_t end;	/* in the AUX stream, where the next piece should begin */
	uint64_t upper; /* TSC when the last piece was read */
	uint64_t psb;	/* of a PSB whose TSC is to come */
	bool in_psb, has_from, has_to;
	uint64_t ends; /* ns of the PSB at `to` */
	const struct export *x;
};

enum export_kind {
	EXPORT_CPU,    /* records of one cpu */
	EXPORT_THREAD, /* of one thread: where queues are per thread */
	EXPORT_HEAD,   /* records without a time: what the recorder synthesised */
	EXPORT_REST,   /* no cpu (thread) is told, or more than 8192 of them */
	EXPORT_OTHERS, /* of cpus that were not chosen */
};

struct export_stream {
	uint32_t key; /* cpu or tid, EXPORT_NONE for the others */
	enum export_kind kind;
	bool chosen;
	uint64_t records, bytes; /* all there are */
	bool has_time;
	uint64_t first, last; /* ns */
	/* What LOST and LOST_SAMPLES count; AUX records with a flag. */
	uint64_t lost, lost_samples, truncated, partial, collision;
};

struct export_table {
	void *rows; /* sorted by key */
	size_t nr, last;
};

struct export {
	const struct export_opts *o;
	struct input *in;
	struct outset out;

	/* From the survey. */
	struct export_table queues;    /* of struct export_queue */
	struct export_table cpus, tids; /* of struct export_stream */
	struct export_stream head, rest, others;
	bool by_thread;	   /* streams are tids, else cpus */
	uint32_t aux_type; /* FMT_AUXTRACE_*, or EXPORT_NONE */
	bool has_pt;
	struct fmt_pt_info pt; /* filter is not set */
	const struct fmt_reader_event *pt_event; /* or NULL */
	struct images *images; /* found */
	struct tasks *tasks;   /* sorted */
	uint64_t homeless;     /* AUX samples whose queue no ID_INDEX tells */
	uint64_t until;	       /* ns: records later than that are left out */
	uint64_t faults;       /* places where the recording is damaged */

	/* Private. */
	struct auxsample_ids ids;
};

struct exporter {
	const char *name;  /* of --to */
	const char *about; /* one line */
	/* Writes into x->out and does not commit it. 0; -EEXIST, said; or -errno, which is
	 * about x->out.failed where that is set. */
	int (*run)(struct export *x);
};

extern const struct exporter exporters[];
extern const size_t nr_exporters;

int export_libipt(struct export *x);

/* Fills x from its input, which is open and at its first record. Faults are said and counted,
 * what stands before them counts. 0 or -errno, said. */
__attribute__((warn_unused_result))
int export_survey(struct export *x);
void export_done(struct export *x);

static inline struct export_queue *export_queue_at(const struct export *x, size_t i)
{
	return (struct export_queue *)x->queues.rows + i;
}

static inline const struct export_table *export_streams(const struct export *x)
{
	return x->by_thread ? &x->tids : &x->cpus;
}

static inline struct export_stream *export_stream_at(const struct export *x, size_t i)
{
	return (struct export_stream *)export_streams(x)->rows + i;
}

/* Is there a clock that trace and records share? */
static inline bool export_timed(const struct export *x)
{
	return x->has_pt && x->pt.cap_user_time_zero && x->pt.time_mult;
}

/* ns of the recording's clock, for a whole TSC. */
uint64_t export_ns(const struct export *x, uint64_t tsc);

/* A stretch of trace, as it lies in the recording. */
struct export_piece {
	struct export_queue *q;
	const uint8_t *p;
	uint64_t len;	  /* not 0 */
	uint64_t file_at; /* of its record */
	uint64_t offset;  /* of p in the queue's trace, all pieces counted */
	uint64_t number;  /* of the piece in its queue, from 0 */
	bool has_time;	  /* AUX samples of timed events ... */
	uint64_t time;	  /* ... when the sample was taken, ns */
	uint32_t cpu, tid; /* of the record */
	bool has_tsc;	       /* loose pieces only */
	uint64_t first_tsc, last_tsc;
};

/* What export_walk calls. 0 goes on; another value ends the walk and is returned. */
struct export_sink {
	int (*trace)(void *ctx, const struct export_piece *p);
	/* s: the stream it belongs to. rec is good until the call returns. */
	int (*record)(void *ctx, const struct fmt_rec *rec, const struct fmt_when *w,
		      struct export_stream *s);
	void *ctx;
};

/* All trace and records within the filters, in the order of the file. 0, a sink's value, or
 * -ENOMEM. */
__attribute__((warn_unused_result))
int export_walk(struct export *x, const struct export_sink *sink);

#endif
