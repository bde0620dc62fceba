/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a recording, as perf's control word evlist shows them. */
#include "recorder/ctlwords.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format/fields.h"
#include "recorder/log.h"
#include "recorder/session.h"

struct text {
	char s[4096];
	size_t n;
	unsigned inside; /* lists and groups that are open */
	const char *sep; /* before the next field */
};

__attribute__((format(printf, 2, 3)))
static void add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->s + t->n, sizeof(t->s) - t->n, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->n = t->n + (size_t)n < sizeof(t->s) ? t->n + (size_t)n : sizeof(t->s) - 1;
}

static void add_flags(struct text *t, const struct fmt_field *f)
{
	const struct fmt_flag *at = f->flags;
	const char *name, *sep = "";
	uint64_t v = f->v;

	while ((name = fmt_flags_next(&at, &v))) {
		add(t, "%s%s", sep, name);
		sep = "|";
	}
	if (v)
		add(t, "%s0x%" PRIx64, sep, v);
}

static void add_value(struct text *t, const struct fmt_field *f)
{
	if (f->kind == FMT_AS_FLAGS)
		add_flags(t, f);
	else if (f->kind == FMT_AS_WORD && f->word)
		add(t, "%s", f->word);
	else
		add(t, f->kind == FMT_AS_HEX ? "0x%" PRIx64 : "%" PRIu64, f->v);
}

/* Numbers that are not 0, at the top. */
static void add_field(void *ctx, const struct fmt_field *f)
{
	struct text *t = ctx;

	switch (f->kind) {
	case FMT_AS_LIST:
	case FMT_AS_GROUP:
		t->inside++;
		return;
	case FMT_AS_END:
		t->inside--;
		return;
	case FMT_AS_TEXT:
	case FMT_AS_BYTES:
		return;
	default:
		break;
	}
	if (t->inside || !f->v)
		return;
	add(t, "%s%s: ", t->sep, f->name);
	t->sep = ", ";
	add_value(t, f);
}

static void print_attr(const struct fmt_event *e)
{
	struct text t = { .sep = ": " };

	add(&t, "%s", e->name);
	(void)fmt_attr_fields(e->attr, fmt_event_attr_size(e), add_field, &t);
	log_text(t.s);
}

static void print_freq(const struct session *s, const struct fmt_event *e)
{
	struct text t = { 0 };
	const struct perf_event_attr *a = NULL;

	for (size_t i = 0; i < s->set.nr_ev; i++)
		if (s->set.ev[i].name == e->name)
			a = &s->set.ev[i].attr;
	if (!a)
		a = &s->plan.soft_attr;
	add(&t, "%s: %s=%" PRIu64, e->name, a->freq ? "sample_freq" : "sample_period",
	    (uint64_t)a->sample_period);
	log_text(t.s);
}

static void print_group(const struct session *s, size_t i)
{
	const struct pio_event *ev = s->set.ev;
	struct text t = { 0 };
	bool members = false;

	for (size_t k = i + 1; k < s->set.nr_ev; k++)
		members |= ev[k].leader == i + 1 && !ev[k].missing;
	add(&t, "%s%s", members ? "{" : "", ev[i].name);
	for (size_t k = i + 1; k < s->set.nr_ev; k++)
		if (ev[k].leader == i + 1 && !ev[k].missing)
			add(&t, ",%s", ev[k].name);
	add(&t, "%s", members ? "}" : "");
	log_text(t.s);
}

static void print_groups(const struct session *s)
{
	if (s->source.soft)
		log_text(s->plan.pt_name);
	for (size_t i = 0; i < s->set.nr_ev; i++)
		if (!s->set.ev[i].leader && !s->set.ev[i].missing)
			print_group(s, i);
}

int evlist_print(const struct session *s, const char *how)
{
	char kind = how ? how[0] == '-' && how[1] && !how[2] ? how[1] : '?' : 0;

	if (kind && !strchr("vgF", kind))
		return -EINVAL;
	if (kind == 'g')
		print_groups(s);
	for (size_t i = 0; i < s->nr_events && kind != 'g'; i++)
		if (kind == 'v')
			print_attr(&s->events[i]);
		else if (kind == 'F')
			print_freq(s, &s->events[i]);
		else
			log_text(s->events[i].name);
	return 0;
}
