/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "format/le.h"
#include "recorder/input.h"
#include "recorder/recover.h"
#include "recorder/units.h"

static void put_safe(const char *s)
{
	for (; *s; s++)
		putchar(iscntrl((unsigned char)*s) ? '?' : *s);
}

static void put_place(uint64_t at, const char *expected)
{
	printf(" at byte %" PRIu64 " (0x%" PRIx64 "): expected %s\n", at, at, expected);
}

static void put_what(const struct recover *c)
{
	const struct fmt_salvage *s = &c->s;

	if (s->killed)
		fputs("; data.size was never stored", stdout);
	else if (s->impossible)
		printf("; data.size %" PRIu64 " is more than a file can have",
		       le_get64(c->p + FMT_HDR_DATA_SIZE));
	else if (s->missing)
		printf("; %" PRIu64 " bytes are missing", s->missing);
	else if (s->declared && s->declared != s->end && !c->head)
		printf("; data.size is %" PRIu64 ", not %" PRIu64,
		       s->end - c->r.data_offset, s->declared - c->r.data_offset);
}

/* A file, or one of a directory. */
static void put_head(const struct recover *c, const char *what, const char *path)
{
	printf("%-10s ", what);
	put_safe(path);
	printf(", %s", recover_state(c));
	if (c->r.pipe)
		fputs(", pipe form", stdout);
	put_what(c);
	putchar('\n');
}

static void put_records(const struct recover *c)
{
	char size[16];

	printf("%-10s %" PRIu64 " records", "whole", c->whole);
	if (c->inflated)
		printf(" and %" PRIu64 " compressed ones", c->inflated);
	if (c->trace_records)
		printf("; %s of trace in %" PRIu64, units_bytes(c->trace_bytes, size),
		       c->trace_records);
	putchar('\n');
}

static void put_torn(const struct recover *c)
{
	if (!c->nr_torn)
		return;
	printf("%-10s the trace of %" PRIu64 " %s", "cut", c->nr_torn,
	       c->nr_torn == 1 ? "record" : "records");
	if (c->gap_missing)
		printf(", shorter by %" PRIu64 " bytes that are not there", c->gap_missing);
	putchar('\n');
}

static void put_features(const struct recover *c, enum recover_fate fate, const char *what)
{
	const char *sep = "";
	char buf[20];

	for (unsigned i = 0; i < RECOVER_FEATURES; i++) {
		if (c->features[i].fate != fate)
			continue;
		if (!*sep)
			printf("%-10s features: ", what);
		printf("%s%s", sep, recover_feature_name(i, buf));
		sep = ", ";
	}
	if (*sep)
		putchar('\n');
}

static void put_gaps(const struct recover *c)
{
	for (size_t i = 0; i < c->nr_gaps && i < RECOVER_GAPS_MAX; i++) {
		printf("%-10s %" PRIu64 " bytes", "dropped", c->gaps[i].len);
		put_place(c->gaps[i].at, c->gaps[i].expected);
	}
	if (c->nr_gaps > RECOVER_GAPS_MAX)
		printf("%-10s in %" PRIu64 " more places; %" PRIu64 " bytes in all\n", "dropped",
		       c->nr_gaps - RECOVER_GAPS_MAX, c->gap_bytes);
}

static void put_dropped(const struct recover *c)
{
	char buf[20];

	put_gaps(c);
	for (unsigned i = 0; i < RECOVER_FEATURES; i++) {
		if (c->features[i].fate != RECOVER_DROPPED)
			continue;
		printf("%-10s feature '%s'", "dropped", recover_feature_name(i, buf));
		put_place(c->features[i].at, c->features[i].expected);
	}
	if (c->table_lost)
		printf("%-10s the features of the recorder: their table is nowhere\n",
		       "dropped");
}

/* Of a sound file that is not to be written elsewhere. */
static void put_nothing(const struct recover *c)
{
	printf("%-10s to mend%s\n", "nothing",
	       c->r.pipe ? "; -o OUT makes a finished file in header form of it" : "");
}

static void put_parts(const struct recover_report *r)
{
	for (size_t i = 0; i < r->nr_parts; i++) {
		put_head(&r->parts[i], "part", r->in->parts[i].path);
		put_records(&r->parts[i]);
		put_torn(&r->parts[i]);
		put_gaps(&r->parts[i]);
	}
}

static void put_done(const struct recover *c, const struct recover_report *r)
{
	printf("%-10s ", r->patched ? "mended" : "wrote");
	put_safe(r->out);
	fputs(c->r.pipe ? ", in header form\n" : "\n", stdout);
}

void recover_print_text(const struct recover *c, const struct recover_report *r)
{
	put_head(c, "file", r->in->dir ? input_path_of(r->in, &r->in->r) : r->path);
	put_records(c);
	put_torn(c);
	put_features(c, RECOVER_KEPT, r->out ? "kept" : "has");
	if (r->out)
		put_features(c, RECOVER_REBUILT, "rebuilt");
	put_dropped(c);
	put_parts(r);
	if (r->out)
		put_done(c, r);
	else
		put_nothing(c);
}
