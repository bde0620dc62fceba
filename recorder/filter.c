/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From words to numbers in three steps: a term is parsed, its names are looked up, its
 * numbers are printed. Each step may refuse it; the words for that are made where the
 * reason is known.
 */
#include "recorder/filter_priv.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A page, with the NUL: perf_event_set_filter(), kernel/events/core.c. */
#define TEXT_MAX 4096

struct parser {
	const char *s; /* what is left */
	struct filter_why *why;
	struct names names;
};

int filter_wrong(struct filter_why *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

void filter_more(struct filter_why *why, const char *fmt, ...)
{
	size_t at = strlen(why->text);
	va_list ap;

	va_start(ap, fmt);
	if (at + 1 < sizeof(why->text)) {
		why->text[at++] = '\n';
		vsnprintf(why->text + at, sizeof(why->text) - at, fmt, ap);
	}
	va_end(ap);
}

/* ---- parsing ---- */

static void skip(struct parser *p, const char *set)
{
	p->s += strspn(p->s, set);
}

static char *take_word(struct parser *p, const char *ends)
{
	size_t n = strcspn(p->s, ends);
	char *word = strndup(p->s, n);

	p->s += n;
	return word;
}

static int parse_action(struct parser *p, struct term *t)
{
	static const struct {
		const char *name;
		enum filter_action action;
		bool range;
	} actions[] = {
		{ "filter", FILTER_FILTER, true },
		{ "start", FILTER_START, false },
		{ "stop", FILTER_STOP, false },
		{ "tracestop", FILTER_STOP, true },
	};
	size_t n = strcspn(p->s, " ");

	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (strlen(actions[i].name) == n && !strncmp(p->s, actions[i].name, n)) {
			t->action = actions[i].action;
			t->range = actions[i].range;
			p->s += n;
			return 0;
		}
	return filter_wrong(p->why, "'%.*s' is no action: filter, start, stop or "
			    "tracestop", (int)(n < 64 ? n : 64), p->s);
}

static int parse_number(struct parser *p, uint64_t *ret, const char *ends)
{
	char *end;

	errno = 0;
	*ret = strtoull(p->s, &end, 0);
	if (errno)
		return filter_wrong(p->why, "number '%.*s' is too large",
				    (int)(end - p->s), p->s);
	if (*end && !strchr(ends, *end))
		return filter_wrong(p->why, "'%.*s' is not a number",
				    (int)strcspn(p->s, " ,/@"), p->s);
	p->s = end;
	return 0;
}

/* Behind a name: "#2", "#g". */
static int parse_nth(struct parser *p, struct operand *o)
{
	uint64_t n;
	int err;

	o->nth = ANY;
	skip(p, " ");
	if (*p->s != '#')
		return 0;
	p->s++;
	if (*p->s == 'g' || *p->s == 'G') {
		p->s++;
		o->nth = GLOBAL;
		return 0;
	}
	if (!isdigit((unsigned char)*p->s))
		return filter_wrong(p->why, "behind '%s #' stands neither a number nor g",
				    o->name);
	err = parse_number(p, &n, " ,/@");
	if (!err && n > INT_MAX)
		err = filter_wrong(p->why, "behind '%s #' stands too large a number",
				   o->name);
	o->nth = (long)n;
	return err;
}

static int parse_operand(struct parser *p, struct operand *o, const char *what)
{
	skip(p, " ");
	if (isdigit((unsigned char)*p->s))
		return parse_number(p, &o->number, " ,/@");
	if (!*p->s || *p->s == '/' || *p->s == '@' || *p->s == ',')
		return filter_wrong(p->why, "%s is missing: a number or a function",
				    what);
	o->name = take_word(p, " ");
	return o->name ? parse_nth(p, o) : -ENOMEM;
}

static int parse_term(struct parser *p, struct term *t)
{
	int err;

	err = parse_action(p, t);
	if (!err)
		err = parse_operand(p, &t->from, "the address");
	if (err)
		return err;
	skip(p, " ");
	if (*p->s == '/') {
		p->s++;
		t->range = t->sized = true;
		err = parse_operand(p, &t->to, "the size behind '/'");
		if (err)
			return err;
	}
	skip(p, " ");
	if (*p->s != '@')
		return 0;
	p->s++;
	skip(p, " ");
	t->file = take_word(p, " ,");
	if (!t->file)
		return -ENOMEM;
	return *t->file ? 0 : filter_wrong(p->why, "no file behind '@'");
}

static void term_done(struct term *t)
{
	free(t->from.name);
	free(t->to.name);
	free(t->file);
}

/* ---- printing ---- */

static const char *const names[] = {
	[FILTER_FILTER] = "filter", [FILTER_START] = "start", [FILTER_STOP] = "stop",
};

static void print_item(FILE *f, const struct filter_item *i)
{
	fprintf(f, "%s 0x%llx", names[i->action], (unsigned long long)i->at);
	if (i->size)
		fprintf(f, "/0x%llx", (unsigned long long)i->size);
	if (i->file)
		fprintf(f, "@%s", i->file);
}

static int print(struct filter *f, struct filter_why *why)
{
	size_t len;
	FILE *out = open_memstream(&f->text, &len);

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++) {
		if (i)
			fputc(',', out);
		print_item(out, &f->item[i]);
	}
	if (fclose(out))
		return -ENOMEM;
	if (len < TEXT_MAX)
		return 0;
	return filter_wrong(why, "the filter is longer than the kernel takes (%d bytes)",
			    TEXT_MAX - 1);
}

static int add_term(struct filter *f, struct parser *p, const struct term *t)
{
	struct filter_item *grown = reallocarray(f->item, f->n + 1, sizeof(*grown));
	int err;

	if (!grown)
		return -ENOMEM;
	f->item = grown;
	err = filter_resolve(&p->names, t, &grown[f->n]);
	if (!err)
		f->n++;
	return err;
}

int filter_parse(struct filter *ret, const struct pio_sys *sys, const char *text,
		 struct filter_why *why)
{
	struct parser p = { .s = text, .why = why, .names = { .sys = sys, .why = why } };
	struct filter f = { 0 };
	int err = 0;

	skip(&p, " ");
	if (!*p.s)
		err = filter_wrong(why, "it is empty");
	while (!err && *p.s) {
		struct term t = { .action = FILTER_FILTER };

		err = parse_term(&p, &t);
		if (!err)
			err = add_term(&f, &p, &t);
		term_done(&t);
		skip(&p, " ,");
	}
	filter_names_done(&p.names);
	if (!err)
		err = print(&f, why);
	if (err)
		filter_done(&f);
	else
		*ret = f;
	return err;
}

void filter_done(struct filter *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->item[i].file);
	free(f->item);
	free(f->text);
	*f = (struct filter){ 0 };
}

/* ---- what the event allows ---- */

static bool of_kernel(const struct filter_item *i)
{
	return !i->file && i->at >> 63;
}

/* What perf_event_parse_addr_filter() in kernel/events/core.c and in
 * arch/x86/events/intel/pt.c pt_event_addr_filters_validate() answer with a bare
 * EINVAL or EOPNOTSUPP (Linux 6.1). */
static int check_item(const struct filter_item *i, const struct filter_event *e,
		      struct filter_why *why)
{
	const char *name = names[i->action];
	unsigned long long at = i->at;

	if (e->ranges_only && i->action == FILTER_START)
		return filter_wrong(why, "'start 0x%llx': '%s' filters by ranges only: "
				    "use filter, or tracestop", at, e->pmu);
	if (e->ranges_only && !i->size)
		return filter_wrong(why, "'%s 0x%llx': '%s' stops at ranges only: use "
				    "tracestop, or give a size", name, at, e->pmu);
	if (i->file && e->whole_cpus)
		return filter_wrong(why, "'%s 0x%llx@%s': the kernel filters by file "
				    "only where single tasks are recorded, not with -a "
				    "or -C", name, at, i->file);
	if (i->file && e->exclude_user)
		return filter_wrong(why, "'%s 0x%llx@%s' is of user space, but the event "
				    "records the kernel only", name, at, i->file);
	if (of_kernel(i) && e->exclude_kernel)
		return filter_wrong(why, "'%s 0x%llx' is of the kernel, but the event "
				    "records user space only: for a file, write @FILE",
				    name, at);
	return 0;
}

int filter_check(const struct filter *f, const struct filter_event *e,
		 struct filter_why *why)
{
	if (!e->most)
		return filter_wrong(why, "'%s' on this machine has no address filters",
				    e->pmu);
	if (f->n > e->most)
		return filter_wrong(why, "%zu address filters, but '%s' on this machine "
				    "has %llu", f->n, e->pmu,
				    (unsigned long long)e->most);
	for (size_t i = 0; i < f->n; i++) {
		int err = check_item(&f->item[i], e, why);

		if (err)
			return err;
	}
	return 0;
}
