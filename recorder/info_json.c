/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jansson's way: a "_new" call takes over the value it is given, also when it fails, and
 * takes NULL for a failure; so a chain of calls is looked at once, at its end.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/event.h"
#include "format/le.h"
#include "recorder/info.h"

/* The first failure sticks. */
static void set(json_t *o, const char *key, json_t *v, int *err)
{
	if (json_object_set_new(o, key, v))
		*err = -ENOMEM;
}

static void append(json_t *a, json_t *v, int *err)
{
	if (json_array_append_new(a, v))
		*err = -ENOMEM;
}

/* JSON's integers are signed here: what does not fit is given as decimal text. */
static json_t *number(uint64_t v)
{
	char buf[24];

	if (v <= INT64_MAX)
		return json_integer((json_int_t)v);
	snprintf(buf, sizeof(buf), "%" PRIu64, v);
	return json_string(buf);
}

static json_t *id(uint32_t v)
{
	return v == INFO_NONE ? json_integer(-1) : number(v);
}

/* Text from a file need not be UTF-8, which JSON demands. */
static json_t *text(const char *s)
{
	json_t *v;
	char *copy;

	if (!s)
		return json_null();
	v = json_string(s);
	if (v)
		return v;
	copy = strdup(s);
	if (!copy)
		return NULL;
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	v = json_string(copy);
	free(copy);
	return v;
}

static json_t *times(const struct info *i, int *err)
{
	json_t *o = json_object();

	set(o, "first_ns", i->has_time ? number(i->first_ns) : json_null(), err);
	set(o, "last_ns", i->has_time ? number(i->last_ns) : json_null(), err);
	return o;
}

static json_t *event(const struct fmt_reader_event *e, int *err)
{
	json_t *o = json_object(), *ids = json_array();

	for (size_t k = 0; k < e->nr_ids; k++)
		append(ids, number(le_get(e->ids + 8 * k, 8)), err);
	set(o, "name", text(e->name), err);
	set(o, "type", number(fmt_attr_type(e->attr, e->attr_size)), err);
	set(o, "config", number(fmt_attr_config(e->attr, e->attr_size)), err);
	set(o, "ids", ids, err);
	return o;
}

static json_t *events(const struct fmt_reader *r, int *err)
{
	json_t *a = json_array();

	for (size_t k = 0; k < r->nr_events; k++)
		append(a, event(&r->events[k], err), err);
	return a;
}

static json_t *records(const struct info *i, int *err)
{
	json_t *o = json_object();
	char buf[20];

	for (uint32_t k = 0; k < INFO_TYPES; k++)
		if (i->types[k])
			set(o, info_type_name(k, buf), number(i->types[k]), err);
	for (size_t k = 0; k < i->others.nr; k++)
		set(o, info_type_name(i->others.rows[k].key, buf),
		    number(i->others.rows[k].n), err);
	if (i->others.rest.n)
		set(o, "other", number(i->others.rest.n), err);
	return o;
}

static json_t *queue(const struct info_row *q, int *err)
{
	json_t *o = json_object();

	set(o, "idx", id(q->key), err);
	set(o, "cpu", id(q->cpu), err);
	set(o, "tid", id(q->tid), err);
	set(o, "bytes", number(q->bytes), err);
	set(o, "chunks", number(q->n), err);
	set(o, "truncated", number(q->gaps.truncated), err);
	set(o, "partial", number(q->gaps.partial), err);
	set(o, "collision", number(q->gaps.collision), err);
	return o;
}

static json_t *queues(const struct info_table *t, int *err)
{
	json_t *a = json_array();

	for (size_t k = 0; k < t->nr; k++)
		append(a, queue(&t->rows[k], err), err);
	if (t->rest.n)
		append(a, queue(&t->rest, err), err);
	return a;
}

static json_t *loss(uint64_t lost_records, uint64_t samples, const struct info_gaps *g,
		    int *err)
{
	json_t *o = json_object();

	set(o, "records", number(lost_records), err);
	set(o, "samples", number(samples), err);
	set(o, "aux_truncated", number(g->truncated), err);
	set(o, "aux_partial", number(g->partial), err);
	set(o, "aux_collision", number(g->collision), err);
	return o;
}

static void cpu_loss(json_t *a, const struct info_row *c, int *err)
{
	json_t *o;

	if (!info_row_lost(c))
		return;
	o = loss(c->records, c->samples, &c->gaps, err);
	set(o, "cpu", id(c->key), err);
	append(a, o, err);
}

static json_t *losses_by_cpu(const struct info_table *t, int *err)
{
	json_t *a = json_array();

	for (size_t k = 0; k < t->nr; k++)
		cpu_loss(a, &t->rows[k], err);
	cpu_loss(a, &t->rest, err);
	return a;
}

static json_t *cpus(const struct info_table *t, int *err)
{
	json_t *a = json_array();

	for (size_t k = 0; k < t->nr; k++)
		append(a, number(t->rows[k].key), err);
	return a;
}

static json_t *host(const struct fmt_reader *r, int *err)
{
	json_t *o = json_object();

	set(o, "name", text(fmt_reader_feature_str(r, FMT_FEAT_HOSTNAME)), err);
	set(o, "release", text(fmt_reader_feature_str(r, FMT_FEAT_OSRELEASE)), err);
	set(o, "arch", text(fmt_reader_feature_str(r, FMT_FEAT_ARCH)), err);
	set(o, "cpu", text(fmt_reader_feature_str(r, FMT_FEAT_CPUDESC)), err);
	return o;
}

static json_t *command(const struct fmt_reader *r, int *err)
{
	json_t *a = json_array();
	const char *s;

	for (uint32_t k = 0; k < INFO_ARGS_MAX; k++) {
		s = fmt_reader_feature_list(r, FMT_FEAT_CMDLINE, k);
		if (!s)
			break;
		append(a, text(s), err);
	}
	return a;
}

static json_t *faults(const struct info *i, int *err)
{
	json_t *a = json_array(), *o;

	for (size_t k = 0; k < i->nr_faults && k < INFO_FAULTS_MAX; k++) {
		o = json_object();
		set(o, "at", number(i->faults[k].at), err);
		set(o, "expected", text(i->faults[k].expected), err);
		append(a, o, err);
	}
	return a;
}

static void set_all(json_t *o, const struct info_file *f, int *err)
{
	const struct info *i = f->i;

	set(o, "file", text(f->path), err);
	set(o, "bytes", number(f->bytes), err);
	set(o, "form", json_string(f->r->pipe ? "pipe" : "file"), err);
	set(o, "finished", json_boolean(f->r->finished), err);
	set(o, "whole_to", number(i->whole_to), err);
	set(o, "source", text(info_source(i, f->r)), err);
	set(o, "aux_type", text(info_aux_name(i)), err);
	set(o, "version", text(fmt_reader_feature_str(f->r, FMT_FEAT_VERSION)), err);
	set(o, "host", host(f->r, err), err);
	set(o, "command", command(f->r, err), err);
	set(o, "clock", text(info_clock(f->r)), err);
	set(o, "time", times(i, err), err);
	set(o, "cpus", cpus(&i->cpus, err), err);
	set(o, "events", events(f->r, err), err);
	set(o, "records", records(i, err), err);
	set(o, "aux", queues(&i->queues, err), err);
	set(o, "lost", loss(i->lost_records, i->lost_samples, &i->gaps, err), err);
	set(o, "lost_by_cpu", losses_by_cpu(&i->cpus, err), err);
	set(o, "faults", faults(i, err), err);
}

int info_print_json(const struct info_file *f)
{
	json_t *o = json_object();
	int err = 0;

	set_all(o, f, &err);
	/* A failing stdout is seen by whoever closes it. */
	if (!err && !json_dumpf(o, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER))
		putchar('\n');
	json_decref(o);
	return err;
}
