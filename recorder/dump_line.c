/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/dump_line.h"

#include <math.h>
#include <stdio.h>

#define OUT_LITERAL(o, s) out_bytes(o, s, sizeof(s) - 1)

void dline_begin(struct dline *l, uint64_t pos, uint64_t bytes, const char *kind)
{
	struct out *o = l->o;

	l->depth = 0;
	l->first = false;
	if (!l->json) {
		out_hex(o, pos);
		out_char(o, ' ');
		out_dec(o, bytes);
		out_char(o, ' ');
		out_str(o, kind);
		return;
	}
	OUT_LITERAL(o, "{\"pos\":");
	out_dec(o, pos);
	OUT_LITERAL(o, ",\"bytes\":");
	out_dec(o, bytes);
	OUT_LITERAL(o, ",\"kind\":\"");
	out_str(o, kind);
	out_char(o, '"');
}

void dline_end(struct dline *l)
{
	if (l->json)
		out_char(l->o, '}');
	out_end_line(l->o);
}

static void put_name(struct dline *l, const char *name)
{
	struct out *o = l->o;

	if (!l->first)
		out_char(o, l->depth || l->json ? ',' : ' ');
	l->first = false;
	if (!name)
		return;
	if (l->json)
		out_char(o, '"');
	out_str(o, name);
	if (l->json)
		OUT_LITERAL(o, "\":");
	else
		out_char(o, '=');
}

static void put_flags(struct dline *l, const struct fmt_field *f)
{
	const struct fmt_flag *at = f->flags;
	const char *name, *sep = l->json ? "[\"" : "";
	struct out *o = l->o;
	uint64_t v = f->v;

	if (!v) {
		out_str(o, l->json ? "[]" : "0");
		return;
	}
	while ((name = fmt_flags_next(&at, &v))) {
		out_str(o, sep);
		out_str(o, name);
		sep = l->json ? "\",\"" : "|";
	}
	if (v) {
		out_str(o, sep);
		out_hex(o, v);
	}
	if (l->json)
		OUT_LITERAL(o, "\"]");
}

static void put_bytes(struct dline *l, const struct fmt_field *f)
{
	size_t shown = f->len < l->bytes_shown ? f->len : l->bytes_shown;
	struct out *o = l->o;

	out_char(o, l->json ? '"' : '<');
	out_hexbytes(o, f->p, shown);
	if (shown < f->len) {
		out_char(o, '+');
		out_dec(o, f->len - shown);
	}
	out_char(o, l->json ? '"' : '>');
}

static void put_real(struct dline *l, uint64_t bits)
{
	char buf[40];
	double d;

	memcpy(&d, &bits, sizeof(d));
	if (isfinite(d))
		snprintf(buf, sizeof(buf), "%.17g", d);
	else
		snprintf(buf, sizeof(buf), l->json ? "null" : "%f", d);
	out_str(l->o, buf);
}

static void put_quoted_word(struct dline *l, const char *word)
{
	if (l->json)
		out_char(l->o, '"');
	out_str(l->o, word);
	if (l->json)
		out_char(l->o, '"');
}

static void put_hex(struct dline *l, uint64_t v)
{
	if (l->json)
		out_char(l->o, '"');
	out_hex(l->o, v);
	if (l->json)
		out_char(l->o, '"');
}

static void open_one(struct dline *l, bool list)
{
	out_char(l->o, list ? '[' : '{');
	l->depth++;
	l->lists = list ? l->lists | 1u << l->depth : l->lists & ~(1u << l->depth);
	l->first = true;
}

static void close_one(struct dline *l)
{
	out_char(l->o, l->lists >> l->depth & 1 ? ']' : '}');
	l->depth--;
	l->first = false;
}

void dline_field(void *ctx, const struct fmt_field *f)
{
	struct dline *l = ctx;

	if (f->kind == FMT_AS_END) {
		close_one(l);
		return;
	}
	put_name(l, f->name);
	switch (f->kind) {
	case FMT_AS_DEC:
		out_dec(l->o, f->v);
		break;
	case FMT_AS_INT:
		out_int(l->o, (int64_t)f->v);
		break;
	case FMT_AS_HEX:
		put_hex(l, f->v);
		break;
	case FMT_AS_TIME:
		if (l->json)
			out_dec(l->o, f->v);
		else
			out_time(l->o, f->v);
		break;
	case FMT_AS_REAL:
		put_real(l, f->v);
		break;
	case FMT_AS_WORD:
		if (f->word)
			put_quoted_word(l, f->word);
		else
			out_dec(l->o, f->v);
		break;
	case FMT_AS_FLAGS:
		put_flags(l, f);
		break;
	case FMT_AS_TEXT:
		out_quoted(l->o, f->p, f->len, l->json);
		break;
	case FMT_AS_BYTES:
		put_bytes(l, f);
		break;
	case FMT_AS_LIST:
	case FMT_AS_GROUP:
		open_one(l, f->kind == FMT_AS_LIST);
		break;
	case FMT_AS_END:
		break;
	}
}

void dline_num(struct dline *l, const char *name, enum fmt_kind kind, uint64_t v)
{
	dline_field(l, &(struct fmt_field){ .name = name, .kind = kind, .v = v });
}

void dline_text(struct dline *l, const char *name, const char *s)
{
	dline_field(l, &(struct fmt_field){ .name = name,
					    .kind = FMT_AS_TEXT,
					    .p = (const uint8_t *)s,
					    .len = strlen(s) });
}
