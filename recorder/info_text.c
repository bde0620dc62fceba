/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/abi.h"
#include "format/event.h"
#include "recorder/info_priv.h"
#include "recorder/units.h"

/* Text from a file may hold anything, and a terminal obeys some of it. */
void info_text_safe(const char *s)
{
	for (; *s; s++)
		putchar(iscntrl((unsigned char)*s) ? '?' : *s);
}

void info_text_field(const char *name)
{
	printf("%-10s ", name);
}

static void put_field(const char *name, const char *value)
{
	if (!value || !*value)
		return;
	info_text_field(name);
	info_text_safe(value);
	putchar('\n');
}

static void put_head(const struct info_file *f)
{
	const char *form = info_form(f);
	char size[16];

	info_text_field("file");
	info_text_safe(f->path);
	if (f->bytes >= 1024)
		printf(", %s", units_bytes(f->bytes, size));
	printf(" (%" PRIu64 " bytes)", f->bytes);
	if (!strcmp(form, "pt"))
		fputs(", raw Intel PT", stdout);
	else if (!strcmp(form, "records"))
		fputs(", bare records", stdout);
	else if (!strcmp(form, "pipe"))
		fputs(", pipe form", stdout);
	if (f->r->version == 1)
		fputs(", version 1", stdout);
	if (f->in->dir)
		fputs(", a directory", stdout);
	if (f->in->nr_parts)
		printf(" with %zu more files of records", f->in->nr_parts);
	putchar('\n');
}

static void put_finished(const struct info_file *f)
{
	if (f->in->as.kind != INPUT_PERF_DATA)
		return;
	info_text_field("finished");
	if (f->r->finished)
		fputs("yes", stdout);
	else if (f->r->pipe)
		fputs("not known of a stream", stdout);
	else
		fputs("no", stdout);
	if (!f->r->finished || f->i->nr_faults)
		printf("; records are whole up to byte %" PRIu64 " of %" PRIu64 "%s",
		       f->i->whole_to, f->in->bytes.len, f->in->dir ? " of 'data'" : "");
	putchar('\n');
}

static void put_source(const struct info_file *f)
{
	const char *source = info_source(f->i, f->r), *aux = info_aux_name(f->i);

	info_text_field("source");
	fputs(source, stdout);
	if (aux)
		printf(", %s%s", aux, strcmp(source, "soft") ? "" : " made by software");
	else if (f->i->aux.has_info)
		printf(", trace of kind %" PRIu32, f->i->aux.type);
	putchar('\n');
}

static void put_host(const struct fmt_reader *r)
{
	static const enum fmt_feat parts[] = { FMT_FEAT_HOSTNAME, FMT_FEAT_OSRELEASE,
					       FMT_FEAT_ARCH, FMT_FEAT_CPUDESC };
	const char *s, *sep = "";

	for (size_t k = 0; k < sizeof(parts) / sizeof(*parts); k++) {
		s = fmt_reader_feature_str(r, parts[k]);
		if (!s || !*s)
			continue;
		if (!*sep)
			info_text_field("host");
		fputs(sep, stdout);
		info_text_safe(s);
		sep = ", ";
	}
	if (*sep)
		putchar('\n');
}

static void put_command(const struct fmt_reader *r)
{
	const char *s = fmt_reader_feature_list(r, FMT_FEAT_CMDLINE, 0);

	if (!s)
		return;
	printf("%-10s", "command");
	for (uint32_t k = 1; s && k <= INFO_ARGS_MAX; k++) {
		putchar(' ');
		info_text_safe(s);
		s = fmt_reader_feature_list(r, FMT_FEAT_CMDLINE, k);
	}
	puts(s ? " ..." : "");
}

static void put_features(const struct info *i)
{
	const char *sep = "";

	for (unsigned k = 0; k < 64 * FMT_HDR_FEATURE_WORDS; k++) {
		if (!(i->features[k / 64] >> k % 64 & 1) || info_feature_name(k))
			continue;
		if (!*sep)
			info_text_field("features");
		printf("%s%u", *sep ? sep : "of unknown kind: ", k);
		sep = ", ";
	}
	if (*sep)
		putchar('\n');
}

void info_text_seconds(uint64_t ns)
{
	printf("%" PRIu64 ".%09" PRIu64, ns / NS_PER_S, ns % NS_PER_S);
}

static void put_clock(const struct fmt_reader *r)
{
	struct info_clock_data d;

	put_field("clock", info_clock(r));
	switch (info_clock_data(r, &d)) {
	case 0:
		info_text_field("real time");
		info_text_seconds(d.wall_ns);
		fputs(" s when the clock was at ", stdout);
		info_text_seconds(d.clock_ns);
		puts(" s");
		break;
	case -ENOTSUP:
		info_text_field("real time");
		printf("in CLOCK_DATA of version %" PRIu32 ", which is not understood\n",
		       d.version);
		break;
	default:
		break;
	}
}

static void put_conv(const struct info_conv *c)
{
	if (!c->from)
		return;
	info_text_field("tsc");
	if (c->problem)
		printf("no conversion to time: %s in %s\n", c->problem, c->from);
	else
		printf("to time by shift %" PRIu64 ", mult %" PRIu64 ", zero %" PRIu64
		       "\n",
		       c->shift, c->mult, c->zero);
}

static void put_span(const struct info_span *s)
{
	info_text_seconds(s->first_ns);
	fputs(" to ", stdout);
	info_text_seconds(s->last_ns);
	fputs(" s (", stdout);
	info_text_seconds(s->last_ns - s->first_ns);
	fputs(" s)", stdout);
}

static void put_window(const struct info *i, bool trace)
{
	const char *what = trace ? "trace" : "records";
	struct info_window w = info_window(i, trace);

	if (!w.nr)
		return;
	info_text_field("window");
	if (w.empty)
		printf("none: no moment with %s of all %zu cpus", what, w.nr);
	else
		put_span(&w.span);
	if (!w.empty)
		printf(", %s of all %zu cpus", what, w.nr);
	putchar('\n');
}

static void put_order(const struct info_order *o)
{
	if (!o->late)
		return;
	info_text_field("order");
	printf("%" PRIu64 " of %" PRIu64 " records are late, by up to %s%" PRIu64
	       " records and ",
	       o->late, o->nr, o->worst_is_more ? "more than " : "", o->worst_records);
	info_text_seconds(o->worst_ns);
	puts(" s");
}

static void put_times(const struct info_file *f)
{
	const struct info *i = f->i;

	put_clock(f->r);
	put_conv(&i->conv);
	if (i->time.known) {
		info_text_field("time");
		put_span(&i->time);
		putchar('\n');
	}
	put_window(i, false);
	put_window(i, true);
	put_order(&i->order);
	if (i->untold)
		printf("%-10s of %" PRIu64
		       " records: the events differ in layout, and no id "
		       "tells whose they are\n",
		       "ambiguous", i->untold);
}

static void put_cpus(const struct rows *t)
{
	const char *sep = "";

	for (size_t k = 0; k < t->nr; k++) {
		uint64_t first = ((const struct info_cpu *)rows_at(t, k))->key,
			 last = first;

		if (first == INFO_NONE)
			break;
		while (k + 1 < t->nr &&
		       ((const struct info_cpu *)rows_at(t, k + 1))->key == last + 1 &&
		       last + 1 != INFO_NONE) {
			last++;
			k++;
		}
		if (!*sep)
			info_text_field("cpus");
		printf("%s%" PRIu64, sep, first);
		if (last != first)
			printf("-%" PRIu64, last);
		sep = ",";
	}
	if (*sep)
		putchar('\n');
}

static void put_action(const struct fmt_reader_event *e)
{
	unsigned at = 0;
	uint32_t rest;

	for (const char *s; (s = info_aux_action(e, &at, &rest));)
		printf("  %s", s);
	if (rest)
		printf("  aux_action %#" PRIx32, rest);
}

static void put_events(const struct fmt_reader *r)
{
	if (!r->nr_events)
		return;
	puts("\n      type              config      ids  event");
	for (size_t k = 0; k < r->nr_events; k++) {
		const struct fmt_reader_event *e = &r->events[k];

		printf("%10" PRIu32 "  %#18" PRIx64 "  %7zu  ",
		       fmt_attr_type(e->attr, e->attr_size),
		       fmt_attr_config(e->attr, e->attr_size), e->nr_ids);
		info_text_safe(e->name ? e->name : "(no name)");
		put_action(e);
		putchar('\n');
	}
}

static bool has_inflated(const struct info *i)
{
	for (uint32_t k = 0; k < INFO_TYPES; k++)
		if (i->inflated[k])
			return true;
	return false;
}

static void put_type(bool two, uint64_t n, uint64_t inflated, const char *name)
{
	if (!n && !inflated)
		return;
	if (two)
		printf("%10" PRIu64 "  %10" PRIu64 "  %s\n", n, inflated, name);
	else
		printf("%10" PRIu64 "  %s\n", n, name);
}

static void put_records(const struct info_file *f)
{
	const struct info *i = f->i;
	const struct info_type *t;
	bool two = has_inflated(i);
	char buf[20];

	if (f->in->as.kind == INPUT_PT)
		return;
	puts(two ? "\n     count  compressed  record" : "\n     count  record");
	for (uint32_t k = 0; k < INFO_TYPES; k++)
		put_type(two, i->types[k], i->inflated[k], info_type_name(k, buf));
	for (size_t k = 0; k < i->others.nr; k++) {
		t = rows_at(&i->others, k);
		put_type(two, t->n, t->inflated, info_type_name((uint32_t)t->key, buf));
	}
	t = rows_rest(&i->others);
	if (t)
		put_type(two, t->n, t->inflated, "other types");
}

/* A number, or "-" where there is none. */
void info_text_id(uint32_t id, int width)
{
	if (id == INFO_NONE)
		printf("%*s", width, "-");
	else
		printf("%*" PRIu32, width, id);
}

int info_print_text(const struct info_file *f)
{
	put_head(f);
	put_finished(f);
	put_source(f);
	put_field("recorder", fmt_reader_feature_str(f->r, FMT_FEAT_VERSION));
	put_host(f->r);
	put_command(f->r);
	put_features(f->i);
	put_times(f);
	put_cpus(&f->i->cpus);
	put_events(f->r);
	put_records(f);
	info_text_aux(f);
	info_text_shots(f);
	info_text_losses(f);
	return info_text_tasks(f) ? -ENOMEM : info_text_images(f);
}
