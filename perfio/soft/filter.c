/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/filter.h"
#include "perfio/soft/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

void soft_filters_init(struct soft_filters *f, const struct soft_filter *v, size_t n)
{
	*f = (struct soft_filters){ .v = v, .n = n };
	for (size_t i = 0; i < n; i++) {
		f->ranges |= v[i].kind == SOFT_FILTER_RANGE;
		f->starts |= v[i].kind == SOFT_FILTER_START;
		f->switches |= v[i].kind == SOFT_FILTER_START || v[i].kind == SOFT_FILTER_STOP;
	}
}

void soft_sites_done(struct soft_sites *s)
{
	free(s->v);
	*s = (struct soft_sites){ 0 };
}

/* ---- where they are ---- */

struct mapping {
	uint64_t begin, end, offset;
	char perm[5];
	dev_t dev;
	ino_t ino;
	const char *path;
};

/* proc(5), /proc/PID/maps. */
static bool parse(struct mapping *m, char *line)
{
	unsigned long begin, end, offset, ino;
	unsigned int major, minor;
	int at = 0;

	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &begin, &end, m->perm, &offset, &major,
		   &minor, &ino, &at) != 7 || !at)
		return false;
	m->begin = begin;
	m->end = end;
	m->offset = offset;
	m->dev = makedev(major, minor);
	m->ino = ino;
	m->path = line + at;
	line[at + (int)strcspn(line + at, "\n")] = 0;
	return m->perm[2] == 'x' && ino;
}

/* Some file systems have two numbers for one device. */
static bool is_of(const struct mapping *m, const struct soft_filter *f)
{
	return (m->ino == f->ino && m->dev == f->dev) || !strcmp(m->path, f->path);
}

static void add(struct soft_sites *s, const struct soft_site *site)
{
	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 8;
		struct soft_site *v = reallocarray(s->v, cap, sizeof(*v));

		if (!v) {
			s->failed = true;
			return;
		}
		s->v = v;
		s->cap = cap;
	}
	s->v[s->n++] = *site;
}

static void add_part(struct soft_sites *s, const struct mapping *m, const struct soft_filter *f)
{
	uint64_t from = f->at, to = f->at + (f->size ? f->size : 1);
	const uint64_t end = m->offset + (m->end - m->begin);

	if (from < m->offset)
		from = m->offset;
	if (to > end)
		to = end;
	if (from >= to)
		return;
	add(s, &(struct soft_site){ .begin = m->begin + (from - m->offset),
				    .end = m->begin + (to - m->offset), .kind = f->kind,
				    .fixed = m->perm[1] != 'w' && m->perm[3] == 'p' });
}

struct look {
	struct soft_sites *sites;
	const struct soft_filters *filters;
};

static void take_line(void *arg, char *line)
{
	const struct look *l = arg;
	struct mapping m;

	if (!parse(&m, line))
		return;
	for (size_t i = 0; i < l->filters->n; i++)
		if (is_of(&m, &l->filters->v[i]))
			add_part(l->sites, &m, &l->filters->v[i]);
}

const struct soft_sites *soft_sites_of(struct soft_mem *m, const struct soft_filters *f)
{
	struct soft_sites *s = &m->sites;
	struct look l = { s, f };

	if (s->gen == m->code_gen)
		return s;
	s->gen = m->code_gen;
	s->n = 0;
	s->failed = !soft_maps_each(m->maps_fd, take_line, &l);
	return s;
}

/* ---- what they make of an instruction ---- */

void soft_filtered_init(struct soft_filtered *ret, const struct soft_filters *f,
			const struct soft_filtered *parent)
{
	*ret = parent ? *parent : (struct soft_filtered){ .started = !f->starts };
}

static bool meets(const struct soft_sites *s, uint64_t ip, enum soft_filter_kind kind)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].kind == kind && ip - s->v[i].begin < s->v[i].end - s->v[i].begin)
			return true;
	return false;
}

static bool evaluate(struct soft_filtered *t, const struct soft_filters *f,
		     const struct soft_sites *s, uint64_t ip)
{
	if (meets(s, ip, SOFT_FILTER_TRACESTOP))
		t->stopped = true;
	if (meets(s, ip, SOFT_FILTER_STOP))
		t->started = false;
	if (meets(s, ip, SOFT_FILTER_START))
		t->started = true;
	return t->started && !t->stopped && (!f->ranges || meets(s, ip, SOFT_FILTER_RANGE));
}

bool soft_filter_would(const struct soft_thread *t, uint64_t ip)
{
	const struct soft_filters *f = &t->gate->filters;
	struct soft_filtered now = t->filtered;

	return !f->n || evaluate(&now, f, soft_sites_of(t->mem, f), ip);
}

bool soft_filter_admits(struct soft_thread *t, uint64_t ip)
{
	const struct soft_filters *f = &t->gate->filters;
	bool stopped = t->filtered.stopped, yes;

	if (!f->n)
		return true;
	yes = evaluate(&t->filtered, f, soft_sites_of(t->mem, f), ip);
	if (t->filtered.stopped && !stopped)
		soft_thread_stopped(t);
	return yes;
}

/* Without ranges and starts, whoever is not traced never will be. */
bool soft_site_counts(const struct soft_site *s, const struct soft_filters *f)
{
	return f->ranges || f->starts || s->kind == SOFT_FILTER_RANGE ||
	       s->kind == SOFT_FILTER_START;
}

bool soft_filter_concerns(const struct soft_thread *t)
{
	const struct soft_filters *f = &t->gate->filters;
	const struct soft_sites *s = soft_sites_of(t->mem, f);
	const uint64_t ip = t->insn.ip;

	for (size_t i = 0; i < s->n; i++)
		if (soft_site_counts(&s->v[i], f) && ip >= s->v[i].begin && ip < s->v[i].end)
			return true;
	return soft_filter_would(t, ip);
}
