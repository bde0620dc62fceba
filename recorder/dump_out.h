/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines on standard output at hundreds of megabytes a second: numbers and texts are put
 * into one buffer that is written when it is full, always at the end of a line.
 *
 * Room is made before each piece, so nothing has to be checked on the way; the first
 * failure sticks in err, and what is put after it goes nowhere. Grammar: auxrec-dump(1).
 */
#ifndef RECORDER_DUMP_OUT_H
#define RECORDER_DUMP_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct out {
	char *p; /* owned */
	size_t n, room;
	size_t line; /* where the line that is being made begins */
	int err;     /* 0, -ENOMEM, or what write(2) gave; -EPIPE: nobody reads on */
};

/* 0 or -ENOMEM. */
int out_init(struct out *o);
/* Writes the lines that are whole. */
void out_flush(struct out *o);
/* Writes them and gives the memory back. Returns err. */
int out_done(struct out *o);

enum { OUT_PIECE = 1 << 16 }; /* the most that room is made for at once */

/* Slow path of out_room(). */
void out_make_room(struct out *o);
/* Before up to n bytes (OUT_PIECE at most) are put without another look. */
static inline void out_room(struct out *o, size_t n)
{
	if (o->room - o->n < n)
		out_make_room(o);
}

static inline void out_char(struct out *o, char c)
{
	out_room(o, 1);
	o->p[o->n++] = c;
}

/* n: OUT_PIECE at most. */
static inline void out_bytes(struct out *o, const char *s, size_t n)
{
	out_room(o, n);
	memcpy(o->p + o->n, s, n);
	o->n += n;
}

/* A name: shorter than OUT_PIECE. */
static inline void out_str(struct out *o, const char *s)
{
	out_bytes(o, s, strlen(s));
}

void out_dec(struct out *o, uint64_t v);
void out_int(struct out *o, int64_t v);
void out_hex(struct out *o, uint64_t v); /* with 0x */
void out_time(struct out *o, uint64_t ns); /* seconds with nine decimals */
/* Two digits a byte. */
void out_hexbytes(struct out *o, const uint8_t *p, size_t n);
/* Between quotes, escaped. json: bytes that are not UTF-8 become U+FFFD, else \xNN. */
void out_quoted(struct out *o, const uint8_t *p, size_t n, bool json);
/* The newline; writes when there is enough to write. */
void out_end_line(struct out *o);
#endif
