/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/check_section.h"

#include <stdbool.h>
#include <string.h>

#include "format/le.h"

void check_skip(struct check_section *s, uint64_t bytes, const char *what)
{
	if (s->bad)
		return;
	if (bytes > s->len - s->at)
		s->bad = what;
	else
		s->at += bytes;
}

uint64_t check_take(struct check_section *s, unsigned bytes, const char *what)
{
	const uint8_t *p = s->p + s->at;

	check_skip(s, bytes, what);
	return s->bad ? 0 : le_get(p, bytes);
}

void check_text(struct check_section *s)
{
	uint64_t n = check_take(s, 4, "the length of a text"), from = s->at;

	check_skip(s, n, "a text that ends within the section");
	if (!s->bad && !memchr(s->p + from, 0, (size_t)n)) {
		s->at = from;
		s->bad = "a text with a NUL";
	}
}

void check_entries(struct check_section *s, uint64_t n, uint64_t each, const char *what)
{
	if (!s->bad && n > (s->len - s->at) / each)
		s->bad = what;
	check_skip(s, n * each, what);
}

static void texts(struct check_section *s)
{
	uint64_t n = check_take(s, 4, "a number of texts");

	for (; n && !s->bad; n--)
		check_text(s);
}

static bool at_end(const struct check_section *s)
{
	return s->bad || s->at == s->len;
}

/* process_cpu_topology() in tools/perf/util/header.c: cores and sockets of each cpu came
 * with Linux 3.12, dies with 5.1. What is there must be whole; what follows is newer. */
void check_topology(struct check_section *s, uint64_t nr_cpus)
{
	texts(s);
	texts(s);
	if (at_end(s))
		return;
	check_entries(s, nr_cpus, 8, "core and socket of each cpu");
	if (at_end(s))
		return;
	texts(s);
	check_entries(s, nr_cpus, 4, "the die of each cpu");
}
