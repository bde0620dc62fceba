/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/dump_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "format/abi.h"
#include "format/le.h"

enum { WORD_MAX = 32 };

void dump_filter_done(struct dump_filter *f)
{
	free(f->types.range);
	free(f->cpus.range);
	free(f->pids.range);
	free(f->tids.range);
	*f = (struct dump_filter){ 0 };
}

static int add(struct number_set *s, int64_t from, int64_t to)
{
	struct number_range *r = reallocarray(s->range, s->n + 1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	s->range = r;
	r[s->n++] = (struct number_range){ .from = from, .to = to };
	return 0;
}

static int number(const char **s, int64_t *ret)
{
	char *end;

	if (**s != '-' && (**s < '0' || **s > '9'))
		return -EINVAL;
	errno = 0;
	*ret = strtoll(*s, &end, 10);
	if (errno || end == *s)
		return -EINVAL;
	*s = end;
	return 0;
}

int number_set_parse(struct number_set *ret, const char *list)
{
	int64_t from, to;
	int err;

	do {
		err = number(&list, &from);
		to = from;
		if (!err && *list == '-') {
			list++;
			err = number(&list, &to);
		}
		if (!err && (to < from || (*list && *list != ',')))
			err = -EINVAL;
		if (!err)
			err = add(ret, from, to);
	} while (!err && *list && *++list);
	return err ? err : list[-1] == ',' ? -EINVAL : 0;
}

bool number_set_has(const struct number_set *s, int64_t v)
{
	for (size_t i = 0; i < s->n; i++)
		if (v >= s->range[i].from && v <= s->range[i].to)
			return true;
	return false;
}

static int64_t type_of(const char *word)
{
	const char *digits = strncasecmp(word, "type", 4) ? word : word + 4, *name;
	char *end;
	unsigned long v;

	for (uint32_t t = 0; t < DUMP_TYPES_NAMED; t++) {
		name = fmt_record_name(t);
		if (name && !strcasecmp(name, word))
			return t;
	}
	if (*digits < '0' || *digits > '9')
		return -EINVAL;
	errno = 0;
	v = strtoul(digits, &end, 10);
	return errno || *end || v > UINT32_MAX ? -EINVAL : (int64_t)v;
}

int dump_types_parse(struct number_set *ret, const char *list, const char **bad)
{
	char word[WORD_MAX];
	size_t n;
	int64_t t;

	for (;; list += n + 1) {
		n = strcspn(list, ",");
		*bad = list;
		if (n >= sizeof(word))
			return -EINVAL;
		memcpy(word, list, n);
		word[n] = 0;
		t = type_of(word);
		if (t < 0)
			return -EINVAL;
		if (add(ret, t, t))
			return -ENOMEM;
		if (!list[n])
			return 0;
	}
}

/* Who a record is about, beside who caused it: up to two processes or threads. */
struct subject {
	bool has_pid, has_tid, has_cpu;
	uint32_t pid, tid, cpu;
};

static void subject_at(struct subject *s, const struct fmt_rec *rec, size_t pid, size_t tid)
{
	if (pid + 4 <= rec->size) {
		s->has_pid = true;
		s->pid = le_get32(rec->p + pid);
	}
	if (tid + 4 <= rec->size) {
		s->has_tid = true;
		s->tid = le_get32(rec->p + tid);
	}
}

static void find_subject(struct subject *s, const struct fmt_rec *rec)
{
	*s = (struct subject){ 0 };
	switch (rec->type) {
	case FMT_REC_MMAP:
	case FMT_REC_MMAP2:
	case FMT_REC_COMM:
	case FMT_REC_READ:
	case FMT_REC_ITRACE_START:
	case FMT_REC_NAMESPACES:
	case FMT_REC_SWITCH_CPU_WIDE:
		subject_at(s, rec, 8, 12);
		break;
	case FMT_REC_FORK:
	case FMT_REC_EXIT:
		subject_at(s, rec, 8, 16);
		break;
	case FMT_REC_AUXTRACE:
		if (rec->size < FMT_AUXTRACE_RECORD_SIZE)
			break;
		s->has_tid = s->has_cpu = true;
		s->tid = le_get32(rec->p + FMT_AUXTRACE_AT_TID);
		s->cpu = le_get32(rec->p + FMT_AUXTRACE_AT_CPU);
		break;
	}
}

/* -1 is a number like others in a list. */
static bool has(const struct number_set *s, uint32_t v)
{
	return number_set_has(s, (int32_t)v);
}

static bool pass_who(const struct dump_filter *f, const struct fmt_rec *rec,
		     const struct fmt_when *w)
{
	struct subject s;

	find_subject(&s, rec);
	if (f->cpus.n && !(w->has_cpu && has(&f->cpus, w->cpu)) &&
	    !(s.has_cpu && has(&f->cpus, s.cpu)))
		return false;
	if (f->pids.n && !(w->has_tid && has(&f->pids, w->pid)) &&
	    !(s.has_pid && has(&f->pids, s.pid)))
		return false;
	if (f->tids.n && !(w->has_tid && has(&f->tids, w->tid)) &&
	    !(s.has_tid && has(&f->tids, s.tid)))
		return false;
	return true;
}

static bool pass_event(const struct dump_filter *f, const struct fmt_reader *r, int event)
{
	const char *name;

	if (!f->event)
		return true;
	name = event >= 0 && (size_t)event < r->nr_events ? r->events[event].name : NULL;
	return name && !strcmp(name, f->event);
}

bool dump_filter_pass(const struct dump_filter *f, const struct fmt_reader *r,
		      const struct fmt_rec *rec, int *event)
{
	struct fmt_when w = { .event = -1 };
	int err;

	if (f->types.n && !number_set_has(&f->types, rec->type))
		return false;
	if (!f->cpus.n && !f->pids.n && !f->tids.n && !f->has_time) {
		*event = fmt_reader_event_of(r, rec);
		return pass_event(f, r, *event);
	}
	err = fmt_reader_when(r, rec, &w);
	if (err)
		w = (struct fmt_when){ .event = fmt_reader_event_of(r, rec) };
	*event = w.event;
	if (f->has_time && (!w.has_time || w.time < f->from || w.time > f->to))
		return false;
	return pass_event(f, r, w.event) && pass_who(f, rec, &w);
}

bool dump_filter_queue(const struct dump_filter *f, uint32_t cpu, uint32_t tid)
{
	return (!f->cpus.n || has(&f->cpus, cpu)) && (!f->tids.n || has(&f->tids, tid));
}
