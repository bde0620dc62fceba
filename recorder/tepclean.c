/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/tepclean.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A line, or what is left of it. */
struct scan {
	const char *p, *end;
};

static void blanks(struct scan *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t'))
		s->p++;
}

static bool literal(struct scan *s, const char *word)
{
	size_t n = strlen(word);

	blanks(s);
	if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n))
		return false;
	s->p += n;
	return true;
}

static bool number(struct scan *s, int *ret)
{
	const char *from;
	int v = 0;

	blanks(s);
	for (from = s->p; s->p < s->end && isdigit((unsigned char)*s->p); s->p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, *s->p - '0', &v))
			return false;
	*ret = v;
	return s->p > from;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* An identifier; its length, or 0. */
static size_t word(struct scan *s)
{
	const char *from;

	blanks(s);
	from = s->p;
	if (s->p < s->end && isdigit((unsigned char)*s->p))
		return 0;
	while (s->p < s->end && is_word(*s->p))
		s->p++;
	return (size_t)(s->p - from);
}

/* "[16]", "[]", "[sizeof(struct in6_addr)]". */
static bool brackets(struct scan *s)
{
	if (!literal(s, "["))
		return false;
	for (; s->p < s->end && *s->p != ']'; s->p++)
		if (!is_word(*s->p) && !strchr(" ()", *s->p))
			return false;
	return literal(s, "]");
}

/* A type and a name. A dynamic array has its brackets between the two. */
static bool declaration(struct scan *s)
{
	struct scan first = *s;
	bool dynamic = literal(&first, "__data_loc ") || literal(&first, "__rel_loc ");
	size_t words = 0;

	for (;;) {
		if (literal(s, "*")) {
			if (!words)
				return false;
			continue;
		}
		if (!word(s))
			break;
		words++;
		if (dynamic && words > 1 && brackets(s)) {
			dynamic = false; /* just the name is left */
			return word(s) && (blanks(s), s->p == s->end);
		}
	}
	if (words < 2 || s->p[-1] == '*')
		return false;
	blanks(s);
	return s->p == s->end || (brackets(s) && (blanks(s), s->p == s->end));
}

/* A line of a field: it is put. */
static bool field(struct fmt_buf *b, struct scan s)
{
	int offset, size, is_signed = 0;
	struct scan decl;
	char tail[80];

	if (!literal(&s, "field:"))
		return false;
	decl = (struct scan){ s.p, memchr(s.p, ';', (size_t)(s.end - s.p)) };
	if (!decl.end)
		return false;
	s.p = decl.end + 1;
	if (!literal(&s, "offset:") || !number(&s, &offset) || !literal(&s, ";") ||
	    !literal(&s, "size:") || !number(&s, &size) || !literal(&s, ";"))
		return false;
	if (literal(&s, "signed:") && (!number(&s, &is_signed) || !literal(&s, ";")))
		return false;
	blanks(&s);
	if (s.p != s.end)
		return false;
	fmt_put(b, "\tfield:", 7);
	fmt_put(b, decl.p, (size_t)(decl.end - decl.p));
	if (!declaration(&decl))
		return false;
	snprintf(tail, sizeof(tail), ";\toffset:%d;\tsize:%d;\tsigned:%d;\n", offset, size,
		 !!is_signed);
	fmt_put(b, tail, strlen(tail));
	return true;
}

static bool next_line(struct scan *s, struct scan *line)
{
	const char *end;

	if (s->p >= s->end)
		return false;
	end = memchr(s->p, '\n', (size_t)(s->end - s->p));
	*line = (struct scan){ s->p, end ? end : s->end };
	s->p = end ? end + 1 : s->end;
	return true;
}

/* The lines before the list of fields. */
static bool head(struct scan *s, int *id)
{
	struct scan line;

	*id = -1;
	while (next_line(s, &line)) {
		if (literal(&line, "format:"))
			return *id >= 0;
		if (literal(&line, "ID:") && !number(&line, id))
			return false;
	}
	return false;
}

/* Two lists, the fields of all tracepoints and those of this one, with an empty line between
 * them; an older kernel has but one. */
static bool fields(struct fmt_buf *b, struct scan *s)
{
	size_t blank = 0, n = 0;
	struct scan line;

	while (next_line(s, &line)) {
		blanks(&line);
		if (literal(&line, "print fmt:"))
			break;
		if (line.p == line.end) {
			if (!blank++ && n)
				fmt_put(b, "\n", 1);
			continue;
		}
		if (blank > 1 || !field(b, line))
			return false;
		n++;
	}
	return n;
}

int tepclean(struct fmt_buf *b, const uint8_t *text, size_t n, int *ret_id)
{
	struct scan s = { (const char *)text, (const char *)text + n };
	static const char print[] = "\nprint fmt: \"\"\n";
	char start[64];
	bool split;

	if (!head(&s, ret_id))
		return -EBADMSG;
	split = memmem(s.p, (size_t)(s.end - s.p), "\n\n\tfield:", 9);
	snprintf(start, sizeof(start), "name: x\nID: %d\nformat:\n%s", *ret_id,
		 split ? "" : "\n");
	fmt_put(b, start, strlen(start));
	if (!fields(b, &s))
		return -EBADMSG;
	fmt_put(b, print, sizeof(print));
	return b->err;
}
