/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a reading command reads: a perf.data file, a directory made by `perf record` (--kcore,
 * --threads) or auxrec, or standard input ("-").
 *
 * A file is mapped. A stream in pipe form is walked while it arrives: what has come lies in
 * an unlinked temporary file that is mapped, so memory stays bounded and pointers into it
 * stay good. A file in header form on a pipe is received whole first, as its feature table
 * stands at its end.
 *
 * A mapped file that somebody cuts short while it is read would end the program with
 * SIGBUS; the handler set here turns that into words and exit status 1.
 */
#ifndef RECORDER_INPUT_H
#define RECORDER_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/reader.h"

/* One data.N file of a directory: bare records of the events of the whole. */
struct input_part {
	char *path;
	struct fmt_reader r;
	struct input_bytes {
		const void *p; /* NULL: empty */
		uint64_t len;
		size_t mapped; /* bytes to unmap */
		int fd;	       /* a stream's temporary file, or 0 */
		int from;      /* what the stream comes from */
		bool ended;
		bool full; /* the temporary file cannot take more */
	} bytes;
};

/* What a file is that says nothing of itself. */
struct input_as {
	enum input_kind {
		INPUT_PERF_DATA,
		INPUT_PT,      /* raw Intel PT, one stream: `bytes` has it, the reader is
				  zeroed and stays so */
		INPUT_RECORDS, /* perf records without a file, as libipt's tools take them */
	} kind;
	uint64_t sample_type; /* records: what their trailers hold; 0: they have none */
};

struct input {
	const char *path; /* as given */
	struct input_as as;
	char *dir;	  /* the directory, or NULL */
	char *data;	  /* "DIR/data" then */
	const char *failed; /* the one of its files that could not be read, or NULL */
	struct fmt_reader r;
	struct input_part *parts; /* by number */
	size_t nr_parts;
	struct input_bytes bytes; /* of the file itself, or of DIR/data */

	/* Private: where the walk is. */
	size_t part;   /* 0: the file, n: parts[n - 1] */
	uint64_t kept; /* pages before this were given back */
};

/* Opens path. It must stay where it is. 0, -ENOMEM, what a system call gave (-EISDIR: a
 * directory without a data file), or what fmt_reader_open returned: then r.bad_what says
 * why, and input_done is still needed. */
int input_open(struct input *ret, const char *path);
int input_open_as(struct input *ret, const char *path, struct input_as as);
void input_done(struct input *in);
/* For an option table, `--as=KIND`: target is a struct input_as. 0, or -EINVAL after a
 * message. */
int input_as(void *target, const char *arg);
#define INPUT_AS_OPT(target)                                                             \
	{ 0, "as", "KIND", OPT_CALL, (target), input_as,                                 \
	  "FILE is no perf.data but pt, or records[,sample_type=0xN]" }
/* Do the bytes of what is no perf.data file begin like raw Intel PT, with a PSB in the first
 * 64 KiB? */
bool input_looks_pt(const struct input *in);
/* Why input_open or input_next failed, on stderr. Returns err. */
int input_say(const struct input *in, int err);
/* The same where the reader has nothing to say of it. */
int input_cannot(const struct input *in, int err);

/* The next record: of the file, then of its parts one after the other. 1, 0, or what
 * fmt_reader_next returned; *from is the reader it came from, whose bad_at and bad_what say
 * more. After an error in one part the next call goes on with the next part.
 * Pages that were passed are given back: a file of many gigabytes leaves memory alone. */
int input_next(struct input *in, struct fmt_rec *rec, struct fmt_reader **from);
/* For who walks over in->bytes alone: those before `at` are read no more by this walk. */
void input_passed(struct input *in, uint64_t at);
/* Wait until all of a stream has come; in->bytes is whole then. 0 or what read(2) said. */
int input_receive(struct input *in);
/* Back to the first record. Not for streams that are still arriving. */
void input_rewind(struct input *in);
/* The path of the reader's file, for messages: of a directory, that of the file in it. */
const char *input_path_of(const struct input *in, const struct fmt_reader *r);
/* A file without a name, in $TMPDIR or /tmp or memory: for what has to be kept and is as
 * much as the input. A descriptor or -errno. */
int input_temporary(void);
/* For who mends a recording that is a directory: its data.N, also where nothing in `data` says
 * that there are any, or `data` cannot be read. Their readers are not opened. What is a
 * perf.data file of its own is none of them. 0 or what a system call gave. */
int input_find_parts(struct input *in);
/* Bytes of the file and its parts, as far as they have come. */
uint64_t input_size(const struct input *in);

#endif
