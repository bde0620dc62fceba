/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/dump_out.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	OUT_ROOM = 1 << 20,
	OUT_FULL = 1 << 18, /* written at the next end of a line */
};

int out_init(struct out *o)
{
	*o = (struct out){ .p = malloc(OUT_ROOM), .room = OUT_ROOM };
	return o->p ? 0 : -ENOMEM;
}

void out_flush(struct out *o)
{
	size_t done = 0;
	ssize_t got;

	while (!o->err && done < o->line) {
		got = write(STDOUT_FILENO, o->p + done, o->line - done);
		if (got >= 0)
			done += (size_t)got;
		else if (errno != EINTR)
			o->err = -errno;
	}
	memmove(o->p, o->p + o->line, o->n - o->line);
	o->n -= o->line;
	o->line = 0;
}

void out_make_room(struct out *o)
{
	size_t room = 2 * o->room;
	char *p;

	out_flush(o);
	if (!o->err && o->room - o->n < OUT_PIECE) { /* one long line */
		p = realloc(o->p, room);
		if (p) {
			o->p = p;
			o->room = room;
		} else {
			o->err = -ENOMEM;
		}
	}
	if (o->err) /* nothing will be written any more: begin anew */
		o->n = 0;
}

int out_done(struct out *o)
{
	out_flush(o);
	free(o->p);
	o->p = NULL;
	return o->err;
}

void out_end_line(struct out *o)
{
	out_char(o, '\n');
	o->line = o->n;
	if (o->n >= OUT_FULL)
		out_flush(o);
}

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
			    "25262728293031323334353637383940414243444546474849"
			    "50515253545556575859606162636465666768697071727374"
			    "75767778798081828384858687888990919293949596979899";
static const char digits[] = "0123456789abcdef";

/* The digits of v right-aligned before end; returns where they begin. */
static char *decimal(char *end, uint64_t v)
{
	while (v >= 100) {
		end -= 2;
		memcpy(end, pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		memcpy(end, pairs + 2 * v, 2);
	} else {
		*--end = digits[v];
	}
	return end;
}

void out_dec(struct out *o, uint64_t v)
{
	char buf[20], *p = decimal(buf + sizeof(buf), v);

	out_bytes(o, p, (size_t)(buf + sizeof(buf) - p));
}

void out_int(struct out *o, int64_t v)
{
	if (v >= 0) {
		out_dec(o, (uint64_t)v);
		return;
	}
	out_char(o, '-');
	out_dec(o, 0 - (uint64_t)v);
}

void out_hex(struct out *o, uint64_t v)
{
	unsigned n = v ? (unsigned)(67 - __builtin_clzll(v)) / 4 : 1;
	char *p;

	out_room(o, 18);
	p = o->p + o->n;
	*p++ = '0';
	*p++ = 'x';
	for (unsigned i = n; i--; v >>= 4)
		p[i] = digits[v & 15];
	o->n += 2 + n;
}

void out_time(struct out *o, uint64_t ns)
{
	char buf[32], *end = buf + sizeof(buf), *p;
	uint32_t rest = (uint32_t)(ns % 1000000000);

	for (int i = 0; i < 4; i++, rest /= 100) {
		end -= 2;
		memcpy(end, pairs + 2 * (rest % 100), 2);
	}
	*--end = digits[rest];
	*--end = '.';
	p = decimal(end, ns / 1000000000);
	out_bytes(o, p, (size_t)(buf + sizeof(buf) - p));
}

void out_hexbytes(struct out *o, const uint8_t *p, size_t n)
{
	size_t now;
	char *to;

	for (; n; n -= now) {
		now = n < OUT_PIECE / 2 ? n : OUT_PIECE / 2;
		out_room(o, 2 * now);
		to = o->p + o->n;
		for (size_t i = 0; i < now; i++, p++) {
			*to++ = digits[*p >> 4];
			*to++ = digits[*p & 15];
		}
		o->n += 2 * now;
	}
}

/* Bytes of the UTF-8 sequence at p, or 0 (RFC 3629: no surrogates, nothing overlong). */
static size_t utf8(const uint8_t *p, size_t n)
{
	size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;

	if (p[0] < 0xc2 || p[0] > 0xf4 || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return len;
}

/* \u00NN, what JSON and C have in common for the rest. */
static char *put_code(char *to, uint8_t c)
{
	memcpy(to, "\\u00", 4);
	to[4] = digits[c >> 4];
	to[5] = digits[c & 15];
	return to + 6;
}

/* An ASCII character that does not stand for itself. */
static char *put_escape(char *to, uint8_t c)
{
	static const char from[] = "\"\\\b\f\n\r\t", word[] = "\"\\bfnrt";
	const char *at = c ? strchr(from, c) : NULL;

	if (!at)
		return put_code(to, c);
	*to++ = '\\';
	*to++ = word[at - from];
	return to;
}

static char *put_other(char *to, const uint8_t *p, size_t len, bool json)
{
	if (len == 2 && p[0] == 0xc2 && p[1] < 0xa0)
		return put_code(to, p[1]); /* controls that terminals obey */
	if (len) {
		memcpy(to, p, len);
		return to + len;
	}
	if (json) {
		memcpy(to, "\\ufffd", 6);
		return to + 6;
	}
	*to++ = '\\';
	*to++ = 'x';
	*to++ = digits[*p >> 4];
	*to++ = digits[*p & 15];
	return to;
}

/* At most OUT_PIECE / 8 bytes; returns how many were put, at least 1. */
static size_t put_piece(struct out *o, const uint8_t *p, size_t n, bool json)
{
	size_t i = 0, len, most = n < OUT_PIECE / 8 ? n : OUT_PIECE / 8;
	char *to;

	out_room(o, OUT_PIECE);
	to = o->p + o->n;
	while (i < most) {
		if (p[i] >= 0x20 && p[i] < 0x7f && p[i] != '"' && p[i] != '\\') {
			*to++ = (char)p[i++];
		} else if (p[i] < 0x80) {
			to = put_escape(to, p[i++]);
		} else {
			len = utf8(p + i, n - i);
			to = put_other(to, p + i, len, json);
			i += len ? len : 1;
		}
	}
	o->n = (size_t)(to - o->p);
	return i;
}

void out_quoted(struct out *o, const uint8_t *p, size_t n, bool json)
{
	out_char(o, '"');
	for (size_t i = 0; i < n;)
		i += put_piece(o, p + i, n - i, json);
	out_char(o, '"');
}
