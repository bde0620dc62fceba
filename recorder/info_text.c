/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/event.h"
#include "recorder/info.h"
#include "recorder/units.h"

/* Text from a file may hold anything, and a terminal obeys some of it. */
static void put_safe(const char *s)
{
	for (; *s; s++)
		putchar(iscntrl((unsigned char)*s) ? '?' : *s);
}

static void put_field(const char *name, const char *value)
{
	if (!value || !*value)
		return;
	printf("%-10s ", name);
	put_safe(value);
	putchar('\n');
}

static void put_head(const struct info_file *f)
{
	char size[16];

	printf("%-10s ", "file");
	put_safe(f->path);
	if (f->bytes >= 1024)
		printf(", %s", units_bytes(f->bytes, size));
	printf(" (%" PRIu64 " bytes)%s\n", f->bytes, f->r->pipe ? ", pipe form" : "");
}

static void put_finished(const struct info_file *f)
{
	printf("%-10s ", "finished");
	if (f->r->finished)
		fputs("yes", stdout);
	else if (f->r->pipe)
		fputs("not known of a stream", stdout);
	else
		fputs("no", stdout);
	if (!f->r->finished || f->i->nr_faults)
		printf("; records are whole up to byte %" PRIu64 " of %" PRIu64,
		       f->i->whole_to, f->bytes);
	putchar('\n');
}

static void put_source(const struct info_file *f)
{
	const char *source = info_source(f->i, f->r), *aux = info_aux_name(f->i);

	printf("%-10s %s", "source", source);
	if (aux)
		printf(", %s%s", aux, strcmp(source, "soft") ? "" : " made by software");
	else if (f->i->has_aux_info)
		printf(", trace of kind %" PRIu32, f->i->aux_type);
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
			printf("%-10s ", "host");
		fputs(sep, stdout);
		put_safe(s);
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
		put_safe(s);
		s = fmt_reader_feature_list(r, FMT_FEAT_CMDLINE, k);
	}
	puts(s ? " ..." : "");
}

static void put_seconds(uint64_t ns)
{
	printf("%" PRIu64 ".%09" PRIu64, ns / NS_PER_S, ns % NS_PER_S);
}

static void put_time(const struct info *i)
{
	if (!i->has_time)
		return;
	printf("%-10s ", "time");
	put_seconds(i->first_ns);
	fputs(" to ", stdout);
	put_seconds(i->last_ns);
	fputs(" s (", stdout);
	put_seconds(i->last_ns - i->first_ns);
	puts(" s)");
}

static void put_cpus(const struct info_table *t)
{
	const char *sep = "";
	uint32_t first;

	if (!t->nr)
		return;
	printf("%-10s ", "cpus");
	for (size_t k = 0; k < t->nr; k++) {
		first = t->rows[k].key;
		while (k + 1 < t->nr && t->rows[k + 1].key == t->rows[k].key + 1)
			k++;
		printf("%s%" PRIu32, sep, first);
		if (t->rows[k].key != first)
			printf("-%" PRIu32, t->rows[k].key);
		sep = ",";
	}
	putchar('\n');
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
		put_safe(e->name ? e->name : "(no name)");
		putchar('\n');
	}
}

static void put_records(const struct info *i)
{
	char buf[20];

	puts("\n     count  record");
	for (uint32_t k = 0; k < INFO_TYPES; k++)
		if (i->types[k])
			printf("%10" PRIu64 "  %s\n", i->types[k],
			       info_type_name(k, buf));
	for (size_t k = 0; k < i->others.nr; k++)
		printf("%10" PRIu64 "  %s\n", i->others.rows[k].n,
		       info_type_name(i->others.rows[k].key, buf));
	if (i->others.rest.n)
		printf("%10" PRIu64 "  other types\n", i->others.rest.n);
}

/* A number, or "-" where there is none. */
static void put_id(uint32_t id, int width)
{
	if (id == INFO_NONE)
		printf("%*s", width, "-");
	else
		printf("%*" PRIu32, width, id);
}

static void put_gaps(const struct info_gaps *g)
{
	printf("  %9" PRIu64 "  %7" PRIu64 "  %9" PRIu64 "\n", g->truncated, g->partial,
	       g->collision);
}

static void put_queue(const struct info_row *q)
{
	put_id(q->key, 7);
	put_id(q->cpu, 7);
	put_id(q->tid, 11);
	printf("  %14" PRIu64 "  %9" PRIu64, q->bytes, q->n);
	put_gaps(&q->gaps);
}

static void put_queues(const struct info_table *t)
{
	if (!t->nr && !t->rest.n)
		return;
	puts("\n  queue    cpu        tid           bytes     chunks  truncated  partial"
	     "  collision");
	for (size_t k = 0; k < t->nr; k++)
		put_queue(&t->rows[k]);
	if (t->rest.n)
		put_queue(&t->rest);
}

static void put_loss(uint64_t records, uint64_t samples, const struct info_gaps *g)
{
	printf("  %12" PRIu64 "  %12" PRIu64, records, samples);
	put_gaps(g);
}

static void put_cpu_loss(const struct info_row *c)
{
	if (!info_row_lost(c))
		return;
	put_id(c->key, 7);
	put_loss(c->records, c->samples, &c->gaps);
}

static void put_losses(const struct info *i)
{
	struct info_row all = { .records = i->lost_records, .samples = i->lost_samples,
				.gaps = i->gaps };

	if (!info_row_lost(&all)) {
		puts("\nnothing lost");
		return;
	}
	puts("\n    cpu  lost records  lost samples  truncated  partial  collision");
	for (size_t k = 0; k < i->cpus.nr; k++)
		put_cpu_loss(&i->cpus.rows[k]);
	put_cpu_loss(&i->cpus.rest);
	printf("%7s", "all");
	put_loss(all.records, all.samples, &all.gaps);
}

int info_print_text(const struct info_file *f)
{
	put_head(f);
	put_finished(f);
	put_source(f);
	put_field("recorder", fmt_reader_feature_str(f->r, FMT_FEAT_VERSION));
	put_host(f->r);
	put_command(f->r);
	put_field("clock", info_clock(f->r));
	put_time(f->i);
	put_cpus(&f->i->cpus);
	put_events(f->r);
	put_records(f->i);
	put_queues(&f->i->queues);
	put_losses(f->i);
	return 0;
}
