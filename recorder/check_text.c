/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "recorder/check.h"

/* Text from a file may hold anything, and a terminal obeys some of it. */
static void put_safe(const char *s)
{
	for (; *s; s++)
		putchar(iscntrl((unsigned char)*s) ? '?' : *s);
}

static void put_place(const struct check_found *f)
{
	if (f->part) {
		fputs("in ", stdout);
		put_safe(f->path);
		fputs(" ", stdout);
	}
	if (f->has_at)
		printf("at byte %" PRIu64 " (0x%" PRIx64 "): ", f->at, f->at);
	fputs("found ", stdout);
	put_safe(f->found);
	fputs(", expected ", stdout);
	put_safe(f->expected);
}

static void put_found(const struct check_report *r, enum check_kind k)
{
	const struct check_found *f = &r->found[k];

	printf("%-6s  %-15s  ", check_severity_name(check_severity_of(k)),
	       check_kind_name(k));
	put_place(f);
	if (f->n > 1)
		printf("; %" PRIu64 " like this", f->n);
	if (f->sum && f->sum != f->n)
		printf("; %" PRIu64 " in all", f->sum);
	putchar('\n');
}

static void put_verdict(const struct check_report *r, const struct check_found *first)
{
	switch (check_verdict(r)) {
	case CHECK_DAMAGE:
		fputs(first->part || first->has_at ? "damaged " : "damaged: ", stdout);
		put_place(first);
		putchar('\n');
		break;
	case CHECK_LOSS:
		puts(r->found[CHECK_UNFINISHED].n
			     ? "sound, but the recording was interrupted"
			     : "sound, with losses");
		break;
	case CHECK_REMARK:
		puts("sound");
		break;
	}
}

void check_print_text(const struct check_report *r, const char *path)
{
	enum check_kind order[CHECK_NR_KINDS];
	size_t n;

	check_order(r, order, &n);
	put_safe(path);
	fputs(": ", stdout);
	put_verdict(r, n ? &r->found[order[0]] : NULL);
	for (size_t i = 0; i < n; i++)
		put_found(r, order[i]);
}
