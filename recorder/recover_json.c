/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/input.h"
#include "recorder/jtree.h"
#include "recorder/recover.h"

static json_t *data(const struct recover *c, int *err)
{
	const struct fmt_salvage *s = &c->s;
	json_t *o = json_object();

	jtree_set(o, "offset", jtree_number(c->r.data_offset), err);
	jtree_set(o, "end", jtree_number(s->end), err);
	jtree_set(o, "declared_end", s->declared ? jtree_number(s->declared) : json_null(), err);
	jtree_set(o, "impossible", json_boolean(s->impossible), err);
	jtree_set(o, "missing", jtree_number(s->missing), err);
	return o;
}

static json_t *records(const struct recover *c, int *err)
{
	json_t *o = json_object();

	jtree_set(o, "whole", jtree_number(c->whole), err);
	jtree_set(o, "compressed", jtree_number(c->inflated), err);
	jtree_set(o, "written", jtree_number(c->nr_data), err);
	return o;
}

static json_t *trace(const struct recover *c, int *err)
{
	json_t *o = json_object();

	jtree_set(o, "records", jtree_number(c->trace_records), err);
	jtree_set(o, "bytes", jtree_number(c->trace_bytes), err);
	jtree_set(o, "cut", jtree_number(c->nr_torn), err);
	jtree_set(o, "missing", jtree_number(c->gap_missing), err);
	return o;
}

static json_t *named(const struct recover *c, enum recover_fate fate, int *err)
{
	json_t *a = json_array();
	char buf[20];

	for (unsigned i = 0; i < RECOVER_FEATURES; i++)
		if (c->features[i].fate == fate)
			jtree_append(a, jtree_text(recover_feature_name(i, buf)), err);
	return a;
}

static json_t *dropped_features(const struct recover *c, int *err)
{
	json_t *a = json_array(), *o;
	char buf[20];

	for (unsigned i = 0; i < RECOVER_FEATURES; i++) {
		if (c->features[i].fate != RECOVER_DROPPED)
			continue;
		o = json_object();
		jtree_set(o, "name", jtree_text(recover_feature_name(i, buf)), err);
		jtree_set(o, "at", jtree_number(c->features[i].at), err);
		jtree_set(o, "expected", jtree_text(c->features[i].expected), err);
		jtree_append(a, o, err);
	}
	return a;
}

/* Nothing is rebuilt where nothing is written. */
static json_t *features(const struct recover *c, bool written, int *err)
{
	json_t *o = json_object();

	jtree_set(o, "kept", named(c, RECOVER_KEPT, err), err);
	jtree_set(o, "rebuilt", written ? named(c, RECOVER_REBUILT, err) : json_array(), err);
	jtree_set(o, "dropped", dropped_features(c, err), err);
	jtree_set(o, "table_lost", json_boolean(c->table_lost), err);
	return o;
}

static json_t *dropped(const struct recover *c, int *err)
{
	json_t *a = json_array(), *o;

	for (size_t i = 0; i < c->nr_gaps && i < RECOVER_GAPS_MAX; i++) {
		o = json_object();
		jtree_set(o, "at", jtree_number(c->gaps[i].at), err);
		jtree_set(o, "bytes", jtree_number(c->gaps[i].len), err);
		jtree_set(o, "expected", jtree_text(c->gaps[i].expected), err);
		jtree_append(a, o, err);
	}
	return a;
}

/* What is said of each file: of the one, or of `data` and its parts. */
static void set_found(json_t *o, const struct recover *c, int *err)
{
	jtree_set(o, "bytes", jtree_number(c->len), err);
	jtree_set(o, "state", jtree_text(recover_state(c)), err);
	jtree_set(o, "records", records(c, err), err);
	jtree_set(o, "trace", trace(c, err), err);
	jtree_set(o, "dropped", dropped(c, err), err);
	jtree_set(o, "dropped_places", jtree_number(c->nr_gaps), err);
	jtree_set(o, "dropped_bytes", jtree_number(c->gap_bytes), err);
}

static json_t *parts(const struct recover_report *r, int *err)
{
	json_t *a = json_array(), *o;

	for (size_t i = 0; i < r->nr_parts; i++) {
		o = json_object();
		jtree_set(o, "file", jtree_text(r->in->parts[i].path), err);
		set_found(o, &r->parts[i], err);
		jtree_append(a, o, err);
	}
	return a;
}

int recover_print_json(const struct recover *c, const struct recover_report *r)
{
	json_t *o = json_object();
	int err = 0;

	jtree_set(o, "file", jtree_text(r->path), &err);
	jtree_set(o, "form", jtree_text(c->r.pipe ? "pipe" : "file"), &err);
	set_found(o, c, &err);
	jtree_set(o, "killed", json_boolean(c->s.killed), &err);
	jtree_set(o, "data", data(c, &err), &err);
	jtree_set(o, "features", features(c, r->out, &err), &err);
	jtree_set(o, "directory", jtree_text(r->in->dir), &err);
	jtree_set(o, "parts", parts(r, &err), &err);
	jtree_set(o, "output", jtree_text(r->out), &err);
	jtree_set(o, "patched", json_boolean(r->patched), &err);
	return jtree_print(o, err);
}
