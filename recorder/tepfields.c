/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/tepfields.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <traceevent/event-parse.h>

#include "format/buf.h"
#include "format/le.h"
#include "recorder/tepclean.h"

enum { FORMAT_MAX = 65536, FORMATS_MAX = 16384 };

struct tracepoint {
	uint64_t id;
	struct tep_event *event;
};

struct tepfields {
	struct tep_handle *tep;
	struct tracepoint *all; /* by id */
	size_t nr;
};

/* What is not yet read of the payload. */
struct cursor {
	const uint8_t *p;
	uint64_t left;
	bool bad;
};

static const uint8_t *take(struct cursor *c, uint64_t n)
{
	const uint8_t *p = c->p;

	if (c->bad || n > c->left) {
		c->bad = true;
		return NULL;
	}
	c->p += n;
	c->left -= n;
	return p;
}

static uint64_t take_num(struct cursor *c, unsigned n)
{
	const uint8_t *p = take(c, n);

	return p ? le_get(p, n) : 0;
}

static const char *take_text(struct cursor *c)
{
	const uint8_t *end = c->bad ? NULL : memchr(c->p, 0, c->left);

	if (!end) {
		c->bad = true;
		return NULL;
	}
	return (const char *)take(c, (uint64_t)(end - c->p) + 1);
}

/* A name, its NUL, u64 size and as many bytes. */
static void skip_file(struct cursor *c, const char *name)
{
	const char *got = take_text(c);

	if (got && strcmp(got, name))
		c->bad = true;
	take(c, take_num(c, 8));
}

static bool is_name(const char *s)
{
	if (!s || !(isalpha((unsigned char)*s) || *s == '_'))
		return false;
	while (isalnum((unsigned char)*s) || *s == '_' || *s == '.')
		s++;
	return !*s;
}

static bool names_are_sound(const struct tep_event *e)
{
	const struct tep_format_field *f;

	for (f = e->format.common_fields; f; f = f->next)
		if (!is_name(f->name))
			return false;
	for (f = e->format.fields; f; f = f->next)
		if (!is_name(f->name))
			return false;
	return e->format.common_fields || e->format.fields;
}

/* What is made of a format stays with the handle. *ret is NULL where that is nothing. */
static int parse(struct tep_handle *tep, const uint8_t *text, size_t n,
		 struct tep_event **ret)
{
	struct fmt_buf b = { 0 };
	int id, err = tepclean(&b, text, n, &id);
	struct tep_event *e = NULL;

	/* The first of an id is kept, and found. */
	if (!err && !tep_find_event(tep, id) &&
	    !tep_parse_event(tep, (const char *)b.data, b.len - 1, "x"))
		e = tep_find_event(tep, id);
	fmt_buf_done(&b);
	*ret = e && names_are_sound(e) ? e : NULL;
	return err == -EBADMSG ? 0 : err;
}

static int take_format(struct tepfields *t, struct cursor *c)
{
	uint64_t n = take_num(c, 8);
	const uint8_t *text = take(c, n);
	struct tracepoint *all;
	struct tep_event *e;
	int err;

	if (!text || n > FORMAT_MAX)
		return 0;
	err = parse(t->tep, text, (size_t)n, &e);
	if (err || !e)
		return err;
	all = reallocarray(t->all, t->nr + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	t->all = all;
	all[t->nr++] = (struct tracepoint){ .id = (uint64_t)e->id, .event = e };
	return 0;
}

static int take_systems(struct tepfields *t, struct cursor *c)
{
	uint64_t systems = take_num(c, 4), n;
	int err = 0;

	for (; systems && !c->bad; systems--) {
		take_text(c); /* its name */
		for (n = take_num(c, 4); n && !c->bad && !err; n--)
			err = t->nr < FORMATS_MAX ? take_format(t, c) : -EBADMSG;
		if (err)
			return err;
	}
	return c->bad ? -EBADMSG : 0;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = ((const struct tracepoint *)a)->id;
	uint64_t y = ((const struct tracepoint *)b)->id;

	return x < y ? -1 : x > y;
}

static int read_all(struct tepfields *t, const uint8_t *data, uint64_t len)
{
	static const uint8_t magic[] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	struct cursor c = { .p = data, .left = len };
	const uint8_t *p = take(&c, sizeof(magic));
	int err;

	if (!p || memcmp(p, magic, sizeof(magic)))
		return -EBADMSG;
	take_text(&c);
	if (take_num(&c, 1)) /* big-endian */
		return -EBADMSG;
	tep_set_long_size(t->tep, (int)take_num(&c, 1));
	take(&c, 4); /* page size */
	skip_file(&c, "header_page");
	skip_file(&c, "header_event");
	for (uint64_t n = take_num(&c, 4); n && !c.bad; n--)
		take(&c, take_num(&c, 8));
	err = take_systems(t, &c);
	if (t->nr)
		qsort(t->all, t->nr, sizeof(*t->all), by_id);
	return err;
}

int tepfields_new(struct tepfields **ret, const uint8_t *data, uint64_t len)
{
	struct tepfields *t = calloc(1, sizeof(*t));

	*ret = NULL;
	if (!t)
		return -ENOMEM;
	tep_set_loglevel(TEP_LOG_NONE);
	t->tep = tep_alloc();
	if (!t->tep) {
		free(t);
		return -ENOMEM;
	}
	*ret = t;
	return read_all(t, data, len);
}

void tepfields_free(struct tepfields *t)
{
	if (!t)
		return;
	free(t->all);
	tep_free(t->tep);
	free(t);
}

/* ---- one sample ---- */

struct visit {
	const uint8_t *raw;
	size_t len;
	fmt_field_fn *fn;
	void *ctx;
};

static uint64_t number(const struct tep_format_field *f, const uint8_t *p, unsigned n)
{
	uint64_t v = le_get(p, n);

	if (f->flags & TEP_FIELD_IS_SIGNED && n < 8 && v >> (8 * n - 1))
		v |= UINT64_MAX << (8 * n);
	return v;
}

static void give_number(const struct visit *v, const char *name,
			const struct tep_format_field *f, const uint8_t *p, unsigned n)
{
	enum fmt_kind kind = f->flags & TEP_FIELD_IS_POINTER ? FMT_AS_HEX :
			     f->flags & TEP_FIELD_IS_SIGNED  ? FMT_AS_INT :
							       FMT_AS_DEC;

	v->fn(v->ctx, &(struct fmt_field){ .name = name, .kind = kind,
					   .v = number(f, p, n) });
}

static bool is_width(unsigned n)
{
	return n == 1 || n == 2 || n == 4 || n == 8;
}

static void give_text(const struct visit *v, const struct tep_format_field *f,
		      const uint8_t *p, size_t n)
{
	const uint8_t *end = n ? memchr(p, 0, n) : NULL;

	v->fn(v->ctx, &(struct fmt_field){ .name = f->name, .kind = FMT_AS_TEXT, .p = p,
					   .len = end ? (size_t)(end - p) : n });
}

static void give_array(const struct visit *v, const struct tep_format_field *f,
		       const uint8_t *p, size_t n)
{
	unsigned each = f->elementsize;

	if (!is_width(each) || each == 1) {
		v->fn(v->ctx, &(struct fmt_field){ .name = f->name, .kind = FMT_AS_BYTES,
						   .p = p, .len = n });
		return;
	}
	v->fn(v->ctx, &(struct fmt_field){ .name = f->name, .kind = FMT_AS_LIST });
	for (; n >= each; p += each, n -= each)
		give_number(v, NULL, f, p, each);
	v->fn(v->ctx, &(struct fmt_field){ .kind = FMT_AS_END });
}

/* __data_loc, __rel_loc: a word says where the bytes are. False: not within the sample. */
static bool find_dynamic(const struct visit *v, const struct tep_format_field *f,
			 const uint8_t **p, size_t *n)
{
	uint32_t word;
	size_t at;

	if (*n != 4)
		return false;
	word = le_get32(*p);
	at = word & 0xffff;
	if (f->flags & TEP_FIELD_IS_RELATIVE)
		at += (size_t)f->offset + 4;
	*n = word >> 16;
	if (at > v->len || *n > v->len - at)
		return false;
	*p = v->raw + at;
	return true;
}

static bool give_field(const struct visit *v, const struct tep_format_field *f)
{
	const uint8_t *p = v->raw;
	size_t n = (size_t)f->size;

	if (f->offset < 0 || f->size < 0 || (size_t)f->offset > v->len ||
	    n > v->len - (size_t)f->offset)
		return false;
	p += f->offset;
	if (f->flags & TEP_FIELD_IS_DYNAMIC && !find_dynamic(v, f, &p, &n))
		return false;
	if (f->flags & TEP_FIELD_IS_STRING)
		give_text(v, f, p, n);
	else if (f->flags & TEP_FIELD_IS_ARRAY || !is_width((unsigned)n))
		give_array(v, f, p, n);
	else
		give_number(v, f->name, f, p, (unsigned)n);
	return true;
}

static bool give_list(const struct visit *v, const struct tep_format_field *f)
{
	for (; f; f = f->next) {
		if (give_field(v, f))
			continue;
		v->fn(v->ctx, &(struct fmt_field){ .name = "short", .kind = FMT_AS_WORD,
						   .word = f->name });
		return false;
	}
	return true;
}

bool tepfields_visit(const struct tepfields *t, uint64_t id, const uint8_t *raw, size_t len,
		     fmt_field_fn *fn, void *ctx)
{
	const struct tracepoint key = { .id = id }, *found;
	struct visit v = { .raw = raw, .len = len, .fn = fn, .ctx = ctx };

	if (!t || !t->nr)
		return false;
	found = bsearch(&key, t->all, t->nr, sizeof(*t->all), by_id);
	if (!found)
		return false;
	fn(ctx, &(struct fmt_field){ .name = "fields", .kind = FMT_AS_GROUP });
	if (give_list(&v, found->event->format.common_fields))
		give_list(&v, found->event->format.fields);
	fn(ctx, &(struct fmt_field){ .kind = FMT_AS_END });
	return true;
}
