/* SPDX-License-Identifier: Apache-2.0 */
/* AUX trace, losses, threads and images as text. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/abi.h"
#include "recorder/info_priv.h"

/* What of AUXTRACE_INFO is not understood. */
static void put_info(const struct info_file *f)
{
	struct info_words w;

	if (!f->i->aux.info)
		return;
	w = info_aux_words(f);
	if (w.missing)
		printf("\nAUXTRACE_INFO ends before its field '%s'\n", w.missing);
	if (w.unknown)
		printf("\n%zu of %zu words in AUXTRACE_INFO are not understood\n",
		       w.unknown, w.nr);
}

static void put_flags(const struct rows *t)
{
	const uint64_t format = FMT_AUX_PMU_FORMAT_TYPE_MASK;

	if (!t->nr || (t->nr == 1 && !((const struct info_flags *)rows_at(t, 0))->key))
		return;
	puts("\n     count  flags of AUX records");
	for (size_t k = 0; k < t->nr; k++) {
		const struct info_flags *f = rows_at(t, k);
		uint64_t rest = f->key & ~format;

		printf("%10" PRIu64 "  %#" PRIx64, f->n, f->key);
		for (unsigned b = 0; info_flag_name(b); rest &= ~(UINT64_C(1) << b++))
			if (rest >> b & 1)
				printf("  %s", info_flag_name(b));
		if (f->key & format)
			printf("  format %" PRIu64, (f->key & format) >> 8);
		if (rest)
			printf("  unknown %#" PRIx64, rest);
		putchar('\n');
	}
}

static void put_queue(const struct info_queue *q)
{
	info_text_id(q->key == ROWS_REST ? INFO_NONE : (uint32_t)q->key, 7);
	info_text_id(q->cpu, 7);
	info_text_id(q->tid, 11);
	printf("  %14" PRIu64 "  %9" PRIu64 "  %9" PRIu64 "  %7" PRIu64 "  %9" PRIu64,
	       q->bytes, q->n, q->flagged.truncated, q->flagged.partial,
	       q->flagged.collision);
	if (q->samples)
		printf("  %" PRIu64 " samples", q->samples);
	if (q->flagged.overwrite)
		printf("  %" PRIu64 " overwrite", q->flagged.overwrite);
	if (q->gaps)
		printf("  %" PRIu64 " gaps of %" PRIu64 " bytes", q->gaps, q->gap_bytes);
	if (q->doubled)
		printf("  %" PRIu64 " bytes doubled", q->doubled);
	putchar('\n');
}

static void put_pt(const struct info_queue *q)
{
	const struct fmt_ptwalk *w = &q->pt->walk;

	info_text_id((uint32_t)q->key, 7);
	printf("  %9" PRIu64 "  %9" PRIu64 "  %10" PRIu64 "  %10" PRIu64 "  %10" PRIu64
	       "  %9" PRIu64,
	       w->n[FMT_PT_PSB], w->n[FMT_PT_OVF], w->first_psb,
	       w->nr_dist ? w->sum_dist / w->nr_dist : 0, w->max_dist, w->skipped);
	if (q->pt->time.known) {
		fputs("  ", stdout);
		info_text_seconds(q->pt->time.first_ns);
		fputs(" to ", stdout);
		info_text_seconds(q->pt->time.last_ns);
		fputs(" s", stdout);
	} else if (w->has_tsc) {
		printf("  tsc %#" PRIx64 " to %#" PRIx64, w->first_tsc, w->last_tsc);
	}
	putchar('\n');
}

static void put_pts(const struct rows *t)
{
	bool any = false;

	for (size_t k = 0; k < t->nr; k++) {
		const struct info_queue *q = rows_at(t, k);

		if (!q->pt)
			continue;
		if (!any)
			puts("\n  queue        psb        ovf  before psb   mean dist"
			     "    max dist"
			     "    skipped  first and last time");
		any = true;
		put_pt(q);
	}
}

static void put_ns(const struct info_span *s)
{
	if (s->known)
		printf("  %13.3f", (double)(s->last_ns - s->first_ns) / 1e3);
	else
		printf("  %13s", "-");
}

static void put_shot(const struct info *i, const struct info_shot *s)
{
	struct info_shot_spans at = info_shot_spans(i, s);

	printf("%10" PRIu32, s->nr);
	info_text_id(s->cpu, 7);
	info_text_id(s->tid, 11);
	put_ns(&at.trace);
	put_ns(&at.switches);
	put_ns(&at.both);
	if (s->pause_ns)
		printf("  %11.3f", (double)s->pause_ns / 1e3);
	else
		printf("  %11s", "-");
	if (at.frozen.known) {
		fputs("  ", stdout);
		info_text_seconds(at.frozen.first_ns);
		fputs(" s", stdout);
	}
	putchar('\n');
}

void info_text_shots(const struct info_file *f)
{
	const struct info_shots *t = &f->i->shots;
	size_t shown = 0, more = 0;

	if (!t->nr)
		return;
	puts("\n  snapshot    cpu        tid       trace us    switches us        both us"
	     "     pause us  frozen at");
	for (size_t k = 0; k < t->rows.nr; k++) {
		const struct info_shot *s = rows_at(&t->rows, k);

		if (!s->nr)
			continue;
		if (shown++ < INFO_SHOTS_TEXT)
			put_shot(f->i, s);
		else
			more++;
	}
	if (more || rows_rest(&t->rows))
		printf("%10s  and %zu%s\n", "...", more, rows_rest(&t->rows) ? " or more" : "");
}

void info_text_aux(const struct info_file *f)
{
	const struct rows *t = &f->i->aux.queues;

	put_info(f);
	put_flags(&f->i->aux.flags);
	if (f->i->aux.homeless)
		printf("\n%" PRIu64 " AUX samples are of no queue that ID_INDEX tells\n",
		       f->i->aux.homeless);
	if (!t->nr)
		return;
	puts("\n  queue    cpu        tid           bytes     chunks  truncated  partial"
	     "  collision");
	for (size_t k = 0; k < t->nr; k++)
		put_queue(rows_at(t, k));
	if (rows_rest(t))
		put_queue(rows_rest(t));
	put_pts(t);
}

static void put_loss(const char *cpu, const struct info_loss *l, enum info_cause c)
{
	printf("%7s  %-16s  %9" PRIu64, cpu, info_cause_name(c), l->n);
	if (info_cause_unit(c))
		printf("  %12" PRIu64 " %-7s", l->amount, info_cause_unit(c));
	else if (l->has_time)
		printf("  %20s", "");
	if (l->has_time) {
		fputs("  ", stdout);
		info_text_seconds(l->first_ns);
		fputs(" to ", stdout);
		info_text_seconds(l->last_ns);
	}
	putchar('\n');
}

static void put_cpu(const struct info_cpu *c)
{
	char cpu[24] = "-";

	if (!c)
		return;
	if (c->key < INFO_NONE)
		snprintf(cpu, sizeof(cpu), "%" PRIu64, c->key);
	for (unsigned k = 0; k < INFO_CAUSES; k++)
		if (c->loss[k].n)
			put_loss(cpu, &c->loss[k], k);
}

void info_text_losses(const struct info_file *f)
{
	const struct info *i = f->i;

	if (f->in->as.kind == INPUT_PT)
		return;
	if (!info_lost(i->loss)) {
		puts("\nnothing lost");
		return;
	}
	puts("\n    cpu  loss               records                  lost"
	     "  first and last time");
	for (size_t k = 0; k < i->cpus.nr; k++)
		put_cpu(rows_at(&i->cpus, k));
	put_cpu(rows_rest(&i->cpus));
	for (unsigned k = 0; k < INFO_CAUSES; k++)
		if (i->loss[k].n)
			put_loss("all", &i->loss[k], k);
}

static void put_task(const struct info_task *t, bool switches, bool folded)
{
	info_text_id(t->has_pid ? t->pid : INFO_NONE, 9);
	info_text_id((uint32_t)t->key, 9);
	if (switches) {
		fputs("  ", stdout);
		printf("%7" PRIu64 ".%09" PRIu64 "  %9" PRIu64, t->on_ns / 1000000000u,
		       t->on_ns % 1000000000u, t->runs);
	}
	if (folded)
		printf("  %9" PRIu64, t->folded);
	fputs("  ", stdout);
	info_text_safe(t->comm);
	putchar('\n');
}

int info_text_tasks(const struct info_file *f)
{
	const struct info_tasks *t = &f->i->tasks;
	const struct info_task **all;
	size_t nr;

	if (!t->tasks.nr)
		return 0;
	all = info_tasks_sorted(f->i, &nr);
	if (!all)
		return -ENOMEM;
	printf("\n      pid      tid%s%s  thread\n",
	       t->switches ? "           on cpu s       runs" : "",
	       t->folded ? "   left out" : "");
	for (size_t k = 0; k < nr && k < INFO_TASKS_TEXT; k++)
		put_task(all[k], t->switches, t->folded);
	if (nr > INFO_TASKS_TEXT)
		printf("%18zu  more threads\n", nr - INFO_TASKS_TEXT);
	if (rows_rest(&t->tasks))
		printf("%18s  and others beyond %d\n", "", INFO_TASKS_MAX);
	if (t->folded)
		printf("%18" PRIu64 "  pairs of switches that the tracer made are left out\n",
		       t->folded);
	free(all);
	return 0;
}

static void put_missing(const struct info_image *m)
{
	fputs("  ", stdout);
	info_text_safe(m->name);
	if (m->id_size)
		fputs("  ", stdout);
	for (unsigned k = 0; k < m->id_size; k++)
		printf("%02x", m->id[k]);
	printf("  (%s)\n", m->why);
}

int info_text_images(const struct info_file *f)
{
	const struct info_images *m = &f->i->images;

	if (!m->looked)
		return 0;
	printf("\nof %zu images with code, %zu are missing here%s\n", m->nr,
	       m->nr_missing, m->nr_missing ? ":" : "");
	for (size_t k = 0; k < m->nr_missing && k < INFO_TASKS_TEXT; k++)
		put_missing(&m->missing[k]);
	if (m->nr_missing > INFO_TASKS_TEXT)
		printf("  and %zu more\n", m->nr_missing - INFO_TASKS_TEXT);
	return 0;
}
