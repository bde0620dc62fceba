/* SPDX-License-Identifier: Apache-2.0 */
#include "format/abi.h"
#include "format/event.h"
#include "format/le.h"
#include "recorder/info.h"
#include "recorder/jtree.h"

static json_t *id(uint32_t v)
{
	return v == INFO_NONE ? json_integer(-1) : jtree_number(v);
}

static json_t *times(const struct info *i, int *err)
{
	json_t *o = json_object();

	jtree_set(o, "first_ns", i->has_time ? jtree_number(i->first_ns) : json_null(), err);
	jtree_set(o, "last_ns", i->has_time ? jtree_number(i->last_ns) : json_null(), err);
	return o;
}

static json_t *event(const struct fmt_reader_event *e, int *err)
{
	json_t *o = json_object(), *ids = json_array();

	for (size_t k = 0; k < e->nr_ids; k++)
		jtree_append(ids, jtree_number(le_get(e->ids + 8 * k, 8)), err);
	jtree_set(o, "name", jtree_text(e->name), err);
	jtree_set(o, "type", jtree_number(fmt_attr_type(e->attr, e->attr_size)), err);
	jtree_set(o, "config", jtree_number(fmt_attr_config(e->attr, e->attr_size)), err);
	jtree_set(o, "attr_size", jtree_number(le_get32(e->attr + FMT_ATTR_AT_SIZE)), err);
	jtree_set(o, "ids", ids, err);
	return o;
}

static json_t *events(const struct fmt_reader *r, int *err)
{
	json_t *a = json_array();

	for (size_t k = 0; k < r->nr_events; k++)
		jtree_append(a, event(&r->events[k], err), err);
	return a;
}

static json_t *records(const struct info *i, int *err)
{
	json_t *o = json_object();
	char buf[20];

	for (uint32_t k = 0; k < INFO_TYPES; k++)
		if (i->types[k])
			jtree_set(o, info_type_name(k, buf), jtree_number(i->types[k]), err);
	for (size_t k = 0; k < i->others.nr; k++)
		jtree_set(o, info_type_name(i->others.rows[k].key, buf),
			  jtree_number(i->others.rows[k].n), err);
	if (i->others.rest.n)
		jtree_set(o, "other", jtree_number(i->others.rest.n), err);
	return o;
}

static json_t *inflated(const struct info *i, int *err)
{
	json_t *o = json_object();
	char buf[20];

	for (uint32_t k = 0; k < INFO_TYPES; k++)
		if (i->inflated[k])
			jtree_set(o, info_type_name(k, buf), jtree_number(i->inflated[k]), err);
	if (i->inflated_others)
		jtree_set(o, "other", jtree_number(i->inflated_others), err);
	return o;
}

static json_t *queue(const struct info_row *q, int *err)
{
	json_t *o = json_object();

	jtree_set(o, "idx", id(q->key), err);
	jtree_set(o, "cpu", id(q->cpu), err);
	jtree_set(o, "tid", id(q->tid), err);
	jtree_set(o, "bytes", jtree_number(q->bytes), err);
	jtree_set(o, "chunks", jtree_number(q->n), err);
	jtree_set(o, "truncated", jtree_number(q->gaps.truncated), err);
	jtree_set(o, "partial", jtree_number(q->gaps.partial), err);
	jtree_set(o, "collision", jtree_number(q->gaps.collision), err);
	return o;
}

static json_t *queues(const struct info_table *t, int *err)
{
	json_t *a = json_array();

	for (size_t k = 0; k < t->nr; k++)
		jtree_append(a, queue(&t->rows[k], err), err);
	if (t->rest.n)
		jtree_append(a, queue(&t->rest, err), err);
	return a;
}

static json_t *loss(uint64_t lost_records, uint64_t samples, const struct info_gaps *g,
		    int *err)
{
	json_t *o = json_object();

	jtree_set(o, "records", jtree_number(lost_records), err);
	jtree_set(o, "samples", jtree_number(samples), err);
	jtree_set(o, "aux_truncated", jtree_number(g->truncated), err);
	jtree_set(o, "aux_partial", jtree_number(g->partial), err);
	jtree_set(o, "aux_collision", jtree_number(g->collision), err);
	return o;
}

static void cpu_loss(json_t *a, const struct info_row *c, int *err)
{
	json_t *o;

	if (!info_row_lost(c))
		return;
	o = loss(c->records, c->samples, &c->gaps, err);
	jtree_set(o, "cpu", id(c->key), err);
	jtree_append(a, o, err);
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
		jtree_append(a, jtree_number(t->rows[k].key), err);
	return a;
}

static json_t *host(const struct fmt_reader *r, int *err)
{
	json_t *o = json_object();

	jtree_set(o, "name", jtree_text(fmt_reader_feature_str(r, FMT_FEAT_HOSTNAME)), err);
	jtree_set(o, "release",
		  jtree_text(fmt_reader_feature_str(r, FMT_FEAT_OSRELEASE)), err);
	jtree_set(o, "arch", jtree_text(fmt_reader_feature_str(r, FMT_FEAT_ARCH)), err);
	jtree_set(o, "cpu", jtree_text(fmt_reader_feature_str(r, FMT_FEAT_CPUDESC)), err);
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
		jtree_append(a, jtree_text(s), err);
	}
	return a;
}

static json_t *faults(const struct info *i, int *err)
{
	json_t *a = json_array(), *o;

	for (size_t k = 0; k < i->nr_faults && k < INFO_FAULTS_MAX; k++) {
		o = json_object();
		jtree_set(o, "at", jtree_number(i->faults[k].at), err);
		jtree_set(o, "expected", jtree_text(i->faults[k].expected), err);
		jtree_append(a, o, err);
	}
	return a;
}

static void set_all(json_t *o, const struct info_file *f, int *err)
{
	const struct info *i = f->i;

	jtree_set(o, "file", jtree_text(f->path), err);
	jtree_set(o, "bytes", jtree_number(f->bytes), err);
	jtree_set(o, "format_version", jtree_number(f->r->version), err);
	jtree_set(o, "form", json_string(f->r->pipe ? "pipe" : "file"), err);
	jtree_set(o, "finished", json_boolean(f->r->finished), err);
	jtree_set(o, "whole_to", jtree_number(i->whole_to), err);
	jtree_set(o, "not_walked", jtree_number(i->not_walked), err);
	jtree_set(o, "source", jtree_text(info_source(i, f->r)), err);
	jtree_set(o, "aux_type", jtree_text(info_aux_name(i)), err);
	jtree_set(o, "version",
		  jtree_text(fmt_reader_feature_str(f->r, FMT_FEAT_VERSION)), err);
	jtree_set(o, "host", host(f->r, err), err);
	jtree_set(o, "command", command(f->r, err), err);
	jtree_set(o, "clock", jtree_text(info_clock(f->r)), err);
	jtree_set(o, "time", times(i, err), err);
	jtree_set(o, "cpus", cpus(&i->cpus, err), err);
	jtree_set(o, "events", events(f->r, err), err);
	jtree_set(o, "records", records(i, err), err);
	jtree_set(o, "records_inflated", inflated(i, err), err);
	jtree_set(o, "aux", queues(&i->queues, err), err);
	jtree_set(o, "lost", loss(i->lost_records, i->lost_samples, &i->gaps, err), err);
	jtree_set(o, "lost_by_cpu", losses_by_cpu(&i->cpus, err), err);
	jtree_set(o, "faults", faults(i, err), err);
}

int info_print_json(const struct info_file *f)
{
	json_t *o = json_object();
	int err = 0;

	set_all(o, f, &err);
	return jtree_print(o, err);
}
