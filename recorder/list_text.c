/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "recorder/offer.h"

enum { LABEL = 22, WIDTH = 78 };

static void label(int indent, const char *name)
{
	printf("%*s%-*s", indent, "", LABEL - indent, name);
}

__attribute__((format(printf, 3, 4)))
static void row(int indent, const char *name, const char *fmt, ...)
{
	va_list ap;

	label(indent, name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static void try_row(int indent, const char *name, const struct offer_try *t)
{
	if (t->err)
		row(indent, name, "no: %s: %s", t->call, strerror(-t->err));
	else
		row(indent, name, "yes");
}

/* "0-3,6" of the bits that are set */
static void bits_row(int indent, const char *name, uint64_t bits)
{
	label(indent, name);
	for (unsigned i = 0, last; i < 64; i = last + 1) {
		last = i;
		if (!(bits >> i & 1))
			continue;
		while (last < 63 && bits >> (last + 1) & 1)
			last++;
		printf("%s%u", bits & ((UINT64_C(1) << i) - 1) ? "," : "", i);
		if (last > i)
			printf("-%u", last);
	}
	putchar('\n');
}

/* Words in as many lines as they need; *at is the column, 0 before the first. */
static void word(int indent, const char *name, const char *a, const char *b, int *at)
{
	const int len = (int)(strlen(a) + strlen(b)) + 2;

	if (!*at || *at + len > WIDTH) {
		if (*at)
			putchar('\n');
		label(indent, *at ? "" : name);
		*at = LABEL;
	}
	*at += printf("%s%s%s%s", *at > LABEL ? " " : "", a, *b ? "=" : "", b);
}

static void pmu_rows(const struct offer_pmu *p)
{
	uint64_t v;
	int at = 0;

	row(2, p->pmu.name, "type %u", p->pmu.type);
	try_row(4, "all tasks", &p->all);
	try_row(4, "own tasks", &p->own);
	try_row(4, "kernel code", &p->kernel);
	for (size_t i = 0; i < p->pmu.nr_terms; i++)
		word(4, "terms", p->pmu.terms[i].name, "", &at);
	if (at)
		putchar('\n');
	for (const struct offer_valid *w = offer_valid; w->term; w++)
		if (pio_pmu_cap(&p->pmu, w->cap, &v))
			bits_row(4, w->term, v);
	at = 0;
	for (size_t i = 0; i < p->pmu.nr_caps; i++)
		word(4, "caps", p->pmu.caps[i].name, p->pmu.caps[i].value, &at);
	if (at)
		putchar('\n');
}

static void sources(const struct offer *o)
{
	puts("sources");
	if (!o->nr_pmu)
		row(2, "kernel", "no: this machine has no PMU with an AUX area");
	for (size_t i = 0; i < o->nr_pmu; i++)
		pmu_rows(&o->pmu[i]);
	if (!o->x86_64)
		row(2, "software", "no: only on x86-64");
	else
		try_row(2, "software", &o->ptrace);
	puts("  context switches");
	try_row(4, "all tasks", &o->switches_all);
	try_row(4, "own tasks", &o->switches_own);
	try_row(2, "tracepoints", &o->tracepoints);
	try_row(2, "kernel addresses", &o->kallsyms);
	row(2, "default source", "%s for a command, %s for all tasks (-a)",
	    offer_auto_command(o), offer_auto_all(o));
}

static const char *size_text(char buf[32], uint64_t v)
{
	if (v == UINT64_MAX)
		return "unlimited";
	if (v >> 20 && !(v & 0xfffff))
		snprintf(buf, 32, "%" PRIu64 "M", v >> 20);
	else
		snprintf(buf, 32, "%" PRIu64 "K", v >> 10);
	return buf;
}

static const char *count_text(char buf[32], uint64_t v)
{
	if (v == UINT64_MAX)
		return "unlimited";
	snprintf(buf, 32, "%" PRIu64, v);
	return buf;
}

static void privileges(const struct pio_limits *l)
{
	const struct {
		bool has;
		const char *name;
	} caps[] = {
		{ l->cap_sys_admin, "sys_admin" },
		{ l->cap_perfmon, "perfmon" },
		{ l->cap_ipc_lock, "ipc_lock" },
		{ l->cap_sys_ptrace, "sys_ptrace" },
	};
	int at = 0;

	for (size_t i = 0; i < sizeof(caps) / sizeof(*caps); i++)
		if (caps[i].has)
			word(2, "capabilities", caps[i].name, "", &at);
	if (!at)
		word(2, "capabilities", "none", "", &at);
	if (l->userns)
		printf(" (a user namespace: perf counts none)");
	putchar('\n');
}

static void limits(const struct offer *o)
{
	const struct pio_limits *l = &o->limits;
	char a[32], b[32];

	puts("limits");
	row(2, "user", "%u", (unsigned)l->euid);
	privileges(l);
	if (l->paranoid == INT32_MAX)
		row(2, "perf_event_paranoid", "unknown");
	else
		row(2, "perf_event_paranoid", "%d", l->paranoid);
	row(2, "ring memory", "%s, all default rings take %s",
	    size_text(a, o->mlock_budget), size_text(b, o->mlock_wanted));
	row(2, "open files", "%s (hard limit %s), events on all cpus take %" PRIu64,
	    count_text(a, l->nofile_soft), count_text(b, l->nofile_hard), o->fds_wanted);
	row(2, "kptr_restrict", "%d", l->kptr_restrict);
	row(2, "yama.ptrace_scope", "%d", l->yama);
	row(2, "seccomp", "%s", l->seccomp > 0 ? "a filter is active" : "no filter");
	row(2, "lockdown", "%s", l->lockdown ? "confidentiality" : "not confidentiality");
}

void list_text(const struct offer *o)
{
	sources(o);
	putchar('\n');
	limits(o);
	if (o->nr_fix)
		puts("\nto change that");
	for (size_t i = 0; i < o->nr_fix; i++) {
		printf("  %s: %s\n", o->fix[i].need, o->fix[i].why);
		printf("    %s\n", o->fix[i].command);
	}
}
