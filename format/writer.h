/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layout of a whole perf.data file, or stream, written front to back.
 *
 * A seekable file is valid after every round: the feature bitmap stays zero and data.size
 * (one aligned 8-byte store at offset 48) advances only when all bytes before it are
 * written. Whoever dies in between leaves a file that stock perf opens up to the last
 * round. A stream is valid by its form.
 *
 * One thing in the attrs would spoil that: perf refuses a file with a tracepoint event but
 * no TRACING_DATA section, and that section comes last. So the attrs section of a file
 * calls tracepoints PERF_TYPE_RAW (same config) until the section is there; a file cut
 * short, or one without tracing data, opens and shows their samples as "raw 0x...".
 *
 * The writer owns no descriptor: bytes leave through a sink. It never copies what it is
 * handed: headers and spans go out in one call. Only when ring bytes are to be compressed
 * (fmt_writer_zip()) do they pass through its memory, 64 KiB at a time.
 *
 * Order of calls: fmt_writer_init, fmt_writer_begin, any of put/spans/aux and
 * fmt_writer_round, at last fmt_writer_finish; fmt_writer_done at any time.
 * Every function returns 0 or what the sink returned (-errno); after a failure of the sink
 * only fmt_writer_rollback, fmt_writer_finish and fmt_writer_done may be called.
 */
#ifndef FORMAT_WRITER_H
#define FORMAT_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "format/auxtrace.h"
#include "format/buf.h"
#include "format/event.h"
#include "format/feature.h"
#include "format/zip.h"

struct fmt_sink {
	/* Append all bytes of v[0..n). May change the iovecs. 0 or -errno. */
	int (*append)(void *ctx, struct iovec *v, int n);
	/* Overwrite n bytes at a file offset; NULL for a stream. */
	int (*patch)(void *ctx, uint64_t at, const void *p, size_t n);
	/* Cut the file to `size` and append from there on; NULL for a stream. */
	int (*cut)(void *ctx, uint64_t size);
	/* Make everything appended so far durable; NULL when not asked for. Called before
	 * data.size is advanced. */
	int (*sync)(void *ctx);
	void *ctx;
};

/* Ring bytes that were compressed, and what that made of them. */
struct fmt_zipped {
	uint64_t in, out;
};

struct fmt_writer {
	struct fmt_sink sink;
	bool pipe;
	uint64_t data_offset; /* file offset of the data section */
	uint64_t pos;	      /* bytes appended so far */
	uint64_t valid;	      /* pos at the end of the last completed round */
	bool dirty;	      /* something was written since the last round */
	struct fmt_aux_index *index;
	size_t nr_index, cap_index;
	size_t valid_index; /* nr_index at the end of the last completed round */
	size_t nr_events;
	size_t entry; /* of the attrs section: an attr and where its ids are */
	struct fmt_id_list *ids; /* of each event, in a file */
	struct fmt_buf scratch;
	struct fmt_zip *zip; /* NULL: ring bytes leave as they are */
	struct fmt_zipped zipped, valid_zipped; /* now, and after the last completed round */
	int failed;  /* what the sink said; everything but rollback and finish repeats it */
	bool unsure; /* a patch failed: the header may hold the old value or the new */
	bool complete; /* the bitmap is stored: nothing is cut off any more */
};

/* pipe: the stream form; the sink then needs append only. */
void fmt_writer_init(struct fmt_writer *w, const struct fmt_sink *sink, bool pipe);

/* Between init and begin: the ring bytes of fmt_writer_round_spans() leave in COMPRESSED
 * records. Readers then need the COMPRESSED feature (f->zip_level and what follows) before
 * the first of them: a stream has it among its first records; in a file the first record must
 * be that of fmt_put_header_feature(), since the features come too late for one that is
 * killed. 0, -EINVAL (no such level) or -ENOMEM. */
int fmt_writer_zip(struct fmt_writer *w, int level);
/* How many times smaller compressing made the ring bytes, rounded; 0: none were. */
uint32_t fmt_writer_zip_ratio(const struct fmt_writer *w);

/* File: header (bitmap 0, data.size 0), ids, attrs. Stream: 16-byte header, HEADER_ATTR and
 * the pipe's features with their end mark, TRACING_DATA where there is one. `f` is used in
 * a stream only and may be NULL for a file. A feature too long for a record is left out of
 * the stream; an event with more than 8174 ids does not fit one: -EMSGSIZE. All attrs of a
 * file have one size: -EINVAL. */
int fmt_writer_begin(struct fmt_writer *w, const struct fmt_event *ev, size_t nr_ev,
		     const struct fmt_features *f);

/* One id more for event `i` of fmt_writer_begin(), before any record that has it: a descriptor
 * that was opened later. The attrs section leaves the place (event.room) and claims it only
 * when the id stands there, so that readers never see an id that nothing was opened with.
 * -ENOSPC when there is no place left, -ESPIPE for a stream, where HEADER_ATTR records do
 * (fmt_put_header_attr()); the writer stays usable after both. */
int fmt_writer_add_id(struct fmt_writer *w, size_t i, uint64_t id);

/* In place of begin: a file that is there already, with its data section and nothing behind
 * it that is wanted. The sink appends at the end of the data. */
void fmt_writer_resume(struct fmt_writer *w, uint64_t data_offset, uint64_t data_size);
/* Each AUXTRACE record in it, for the index. 0 or -ENOMEM. */
int fmt_writer_resume_aux(struct fmt_writer *w, uint64_t file_offset);

/* Ready-made records, whole ones. */
int fmt_writer_put(struct fmt_writer *w, const struct fmt_buf *records);
/* Kernel ring bytes as they lie in the ring, whole records, up to 2 spans. */
int fmt_writer_spans(struct fmt_writer *w, const struct iovec *v, int n);
/* One AUXTRACE record and its trace bytes (up to 2 spans, in stream order). a->size is
 * ignored: the record says the sum of the spans padded to 8 with zeros (PT PAD). The index
 * remembers it. Nothing is written when there are no bytes. -ENOMEM leaves the file as it
 * was, and the writer usable. */
int fmt_writer_aux(struct fmt_writer *w, const struct fmt_auxtrace *a, const struct iovec *v,
		   int n);

/* An AUXTRACE record is what the next bytes begin with (put, spans): the index remembers it.
 * 0 or -ENOMEM. */
int fmt_writer_mark_aux(struct fmt_writer *w);

/* End of a round: FINISHED_ROUND when anything was written since the last one and `marker`
 * is set (leave it out before FINISHED_INIT), then data.size. */
int fmt_writer_round(struct fmt_writer *w, bool marker);
/* The same with the last records of the round: kernel ring bytes as they lie in the rings,
 * whole records, leave together with the marker in one call, or in as many COMPRESSED records
 * as it takes. v has room for n + 1 and is changed. When compressing fails, -ENOMEM or
 * -EBADMSG (fmt_zip_next()), roll back: a part may be written. */
int fmt_writer_round_spans(struct fmt_writer *w, struct iovec *v, int n, bool marker);

/* After a failed append: forget what followed the last round and cut the file there; the
 * writer is then as it was after that round. *ret_dropped is the number of bytes given up:
 * those that had been appended whole. For a stream nothing can be taken back: -ESPIPE. */
int fmt_writer_rollback(struct fmt_writer *w, uint64_t *ret_dropped);

/* Last act: completes the round (after a failure: rolls back to the last one), appends the
 * features (with build ids as HEADER_BUILD_ID records in a stream), and only then sets the
 * header's bitmap. f->aux is replaced by the writer's own index when f->have_aux is set.
 * With f->tracing_data, the tracepoints among f->events then get their type. When the
 * features fail, what there is of them is cut off again; finish may be tried once more
 * after any failure. -ENODATA when fmt_writer_begin did not succeed. A stream whose
 * sink failed stays as it is, and its error is repeated. */
int fmt_writer_finish(struct fmt_writer *w, const struct fmt_features *f);

void fmt_writer_done(struct fmt_writer *w);

#endif
