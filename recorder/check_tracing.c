/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TRACING_DATA: the files of tracefs that tell what tracepoints' samples hold. The layout
 * of version 0.6, read_trace_data() in tools/perf/util/trace-event-read.c (Linux 6.1).
 */
#include <string.h>

#include "recorder/check_section.h"

static const uint8_t magic[10] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };

static void word(struct check_section *s, const char *want, size_t n, const char *what)
{
	const uint8_t *p = s->p + s->at;

	check_skip(s, n, what);
	if (!s->bad && memcmp(p, want, n)) {
		s->at -= n;
		s->bad = what;
	}
}

static void name(struct check_section *s)
{
	const uint8_t *end;

	if (s->bad)
		return;
	end = memchr(s->p + s->at, 0, (size_t)(s->len - s->at));
	if (end)
		s->at = (uint64_t)(end - s->p) + 1;
	else
		s->bad = "a name with a NUL";
}

static void file(struct check_section *s, unsigned size_bytes)
{
	uint64_t n = check_take(s, size_bytes, "the size of a file");

	check_skip(s, n, "a whole file");
}

static void formats(struct check_section *s)
{
	uint64_t n = check_take(s, 4, "a number of formats");

	for (; n && !s->bad; n--)
		file(s, 8);
}

void check_tracing(struct check_section *s)
{
	char version[8] = "";
	uint64_t n, from;

	word(s, (const char *)magic, sizeof(magic), "the magic of tracing data");
	from = s->at;
	name(s);
	if (!s->bad && s->at - from <= sizeof(version))
		memcpy(version, s->p + from, (size_t)(s->at - from));
	check_skip(s, 6, "byte order, size of long, page size");
	word(s, "header_page", 12, "header_page");
	file(s, 8);
	word(s, "header_event", 13, "header_event");
	file(s, 8);
	formats(s);
	n = check_take(s, 4, "a number of event systems");
	for (; n && !s->bad; n--) {
		name(s);
		formats(s);
	}
	file(s, 4); /* kallsyms */
	file(s, 4); /* printk_formats */
	/* Recorders before Linux 4.9 (version 0.5) have no saved_cmdlines. */
	if (strcmp(version, "0.6") >= 0)
		file(s, 8);
}
