/* SPDX-License-Identifier: Apache-2.0 */
#include "format/abi.h"
#include "format/event.h"
#include "format/le.h"
#include "recorder/info_priv.h"

json_t *info_json_id(uint32_t v)
{
	return v == INFO_NONE ? json_integer(-1) : jtree_number(v);
}

json_t *info_json_span(const struct info_span *s, int *err)
{
	json_t *o = json_object();

	jtree_set(o, "first_ns", s->known ? jtree_number(s->first_ns) : json_null(), err);
	jtree_set(o, "last_ns", s->known ? jtree_number(s->last_ns) : json_null(), err);
	return o;
}

static json_t *aux_action(const struct fmt_reader_event *e, int *err)
{
	json_t *a = json_array();
	unsigned at = 0;
	uint32_t rest;

	for (const char *s; (s = info_aux_action(e, &at, &rest));)
		jtree_append(a, json_string(s), err);
	if (rest)
		jtree_append(a, jtree_number(rest), err);
	return a;
}

static json_t *event(const struct fmt_reader_event *e, int *err)
{
	json_t *o = json_object(), *ids = json_array();

	for (size_t k = 0; k < e->nr_ids; k++)
		jtree_append(ids, jtree_number(le_get(e->ids + 8 * k, 8)), err);
	jtree_set(o, "name", jtree_text(e->name), err);
	jtree_set(o, "type", jtree_number(fmt_attr_type(e->attr, e->attr_size)), err);
	jtree_set(o, "config", jtree_number(fmt_attr_config(e->attr, e->attr_size)), err);
	jtree_set(o, "attr_size", jtree_number(le_get32(e->attr + FMT_ATTR_AT_SIZE)),
		  err);
	jtree_set(o, "aux_action", aux_action(e, err), err);
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

static json_t *records(const struct info *i, bool inflated, int *err)
{
	const uint64_t *types = inflated ? i->inflated : i->types;
	const struct info_type *t;
	json_t *o = json_object();
	char buf[20];

	for (uint32_t k = 0; k < INFO_TYPES; k++)
		if (types[k])
			jtree_set(o, info_type_name(k, buf), jtree_number(types[k]), err);
	for (size_t k = 0; k < i->others.nr; k++) {
		t = rows_at(&i->others, k);
		if (inflated ? t->inflated : t->n)
			jtree_set(o, info_type_name((uint32_t)t->key, buf),
				  jtree_number(inflated ? t->inflated : t->n), err);
	}
	t = rows_rest(&i->others);
	if (t && (inflated ? t->inflated : t->n))
		jtree_set(o, "other", jtree_number(inflated ? t->inflated : t->n), err);
	return o;
}

static json_t *cpus(const struct rows *t, int *err)
{
	json_t *a = json_array();

	for (size_t k = 0; k < t->nr; k++) {
		const struct info_cpu *c = rows_at(t, k);

		if (c->key != INFO_NONE)
			jtree_append(a, jtree_number(c->key), err);
	}
	return a;
}

static json_t *cpu(const struct info_cpu *c, int *err)
{
	json_t *o = json_object();

	jtree_set(o, "cpu", info_json_id((uint32_t)c->key), err);
	jtree_set(o, "records", jtree_number(c->n), err);
	jtree_set(o, "time", info_json_span(&c->time, err), err);
	jtree_set(o, "trace", info_json_span(&c->trace, err), err);
	jtree_set(o, "late", jtree_number(c->late), err);
	return o;
}

static json_t *by_cpu(const struct rows *t, int *err)
{
	json_t *a = json_array();

	for (size_t k = 0; k < t->nr; k++)
		jtree_append(a, cpu(rows_at(t, k), err), err);
	if (rows_rest(t))
		jtree_append(a, cpu(rows_rest(t), err), err);
	return a;
}

static json_t *window(const struct info *i, bool trace, int *err)
{
	struct info_window w = info_window(i, trace);
	json_t *o;

	if (!w.nr)
		return json_null();
	o = info_json_span(&w.span, err);
	jtree_set(o, "cpus", jtree_number(w.nr), err);
	jtree_set(o, "empty", json_boolean(w.empty), err);
	return o;
}

static json_t *windows(const struct info *i, int *err)
{
	json_t *o = json_object();

	jtree_set(o, "records", window(i, false, err), err);
	jtree_set(o, "trace", window(i, true, err), err);
	return o;
}

static json_t *order(const struct info_order *r, int *err)
{
	json_t *o = json_object();

	jtree_set(o, "records", jtree_number(r->nr), err);
	jtree_set(o, "late", jtree_number(r->late), err);
	jtree_set(o, "worst_records", jtree_number(r->worst_records), err);
	jtree_set(o, "worst_is_more", json_boolean(r->worst_is_more), err);
	jtree_set(o, "worst_ns", jtree_number(r->worst_ns), err);
	return o;
}

static json_t *conv(const struct info_conv *c, int *err)
{
	json_t *o;

	if (!c->from)
		return json_null();
	o = json_object();
	jtree_set(o, "from", json_string(c->from), err);
	jtree_set(o, "shift", jtree_number(c->shift), err);
	jtree_set(o, "mult", jtree_number(c->mult), err);
	jtree_set(o, "zero", jtree_number(c->zero), err);
	jtree_set(o, "problem", jtree_text(c->problem), err);
	return o;
}

static json_t *clock_data(const struct fmt_reader *r, int *err)
{
	struct info_clock_data d;
	int got = info_clock_data(r, &d);
	json_t *o;

	if (!d.version)
		return json_null();
	o = json_object();
	jtree_set(o, "version", jtree_number(d.version), err);
	if (got)
		return o;
	jtree_set(o, "clockid", jtree_number(d.clockid), err);
	jtree_set(o, "wall_ns", jtree_number(d.wall_ns), err);
	jtree_set(o, "clock_ns", jtree_number(d.clock_ns), err);
	return o;
}

static json_t *host(const struct fmt_reader *r, int *err)
{
	json_t *o = json_object();

	jtree_set(o, "name", jtree_text(fmt_reader_feature_str(r, FMT_FEAT_HOSTNAME)),
		  err);
	jtree_set(o, "release", jtree_text(fmt_reader_feature_str(r, FMT_FEAT_OSRELEASE)),
		  err);
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

static json_t *features(const struct info *i, int *err)
{
	json_t *a = json_array();
	const char *name;

	for (unsigned k = 0; k < 64 * FMT_HDR_FEATURE_WORDS; k++) {
		if (!(i->features[k / 64] >> k % 64 & 1))
			continue;
		name = info_feature_name(k);
		jtree_append(a, name ? json_string(name) : jtree_number(k), err);
	}
	return a;
}

static json_t *parts(const struct input *in, int *err)
{
	json_t *a = json_array(), *o;

	for (size_t k = 0; k < in->nr_parts; k++) {
		o = json_object();
		jtree_set(o, "file", jtree_text(in->parts[k].path), err);
		jtree_set(o, "bytes", jtree_number(in->parts[k].bytes.len), err);
		jtree_append(a, o, err);
	}
	return a;
}

static json_t *faults(const struct info_file *f, int *err)
{
	const struct info *i = f->i;
	json_t *a = json_array(), *o;

	for (size_t k = 0; k < i->nr_faults && k < INFO_FAULTS_MAX; k++) {
		o = json_object();
		jtree_set(o, "file", jtree_text(input_path_of(f->in, i->faults[k].r)), err);
		jtree_set(o, "at", jtree_number(i->faults[k].at), err);
		jtree_set(o, "expected", jtree_text(i->faults[k].expected), err);
		jtree_append(a, o, err);
	}
	return a;
}

static void set_file(json_t *o, const struct info_file *f, int *err)
{
	const struct info *i = f->i;

	jtree_set(o, "file", jtree_text(f->path), err);
	jtree_set(o, "bytes", jtree_number(f->bytes), err);
	jtree_set(o, "format_version", jtree_number(f->r->version), err);
	jtree_set(o, "form", json_string(info_form(f)), err);
	jtree_set(o, "directory", jtree_text(f->in->dir), err);
	jtree_set(o, "parts", parts(f->in, err), err);
	jtree_set(o, "finished", json_boolean(f->r->finished), err);
	jtree_set(o, "whole_to", jtree_number(i->whole_to), err);
	jtree_set(o, "not_walked", jtree_number(i->not_walked), err);
	jtree_set(o, "source", jtree_text(info_source(i, f->r)), err);
	jtree_set(o, "aux_type", jtree_text(info_aux_name(i)), err);
	jtree_set(o, "version",
		  jtree_text(fmt_reader_feature_str(f->r, FMT_FEAT_VERSION)), err);
	jtree_set(o, "host", host(f->r, err), err);
	jtree_set(o, "command", command(f->r, err), err);
	jtree_set(o, "features", features(i, err), err);
}

static void set_times(json_t *o, const struct info_file *f, int *err)
{
	const struct info *i = f->i;

	jtree_set(o, "clock", jtree_text(info_clock(f->r)), err);
	jtree_set(o, "clock_data", clock_data(f->r, err), err);
	jtree_set(o, "time_conv", conv(&i->conv, err), err);
	jtree_set(o, "time", info_json_span(&i->time, err), err);
	jtree_set(o, "window", windows(i, err), err);
	jtree_set(o, "order", order(&i->order, err), err);
	jtree_set(o, "cpus", cpus(&i->cpus, err), err);
	jtree_set(o, "by_cpu", by_cpu(&i->cpus, err), err);
}

int info_print_json(const struct info_file *f)
{
	const struct info *i = f->i;
	json_t *o = json_object();
	int err = 0;

	set_file(o, f, &err);
	set_times(o, f, &err);
	jtree_set(o, "events", events(f->r, &err), &err);
	jtree_set(o, "records", records(i, false, &err), &err);
	jtree_set(o, "records_inflated", records(i, true, &err), &err);
	jtree_set(o, "records_untold", jtree_number(i->untold), &err);
	info_json_aux(o, f, &err);
	info_json_shots(o, f, &err);
	info_json_losses(o, f, &err);
	info_json_tasks(o, f, &err);
	info_json_images(o, f, &err);
	jtree_set(o, "faults", faults(f, &err), &err);
	return jtree_print(o, err);
}
