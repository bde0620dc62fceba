/* SPDX-License-Identifier: Apache-2.0 */
/* AUX trace, losses, threads and images as JSON. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/fields.h"
#include "recorder/info_priv.h"

/* Fields of AUXTRACE_INFO as members, those that open a list or group inside of it. */
struct fields {
	json_t *open[8];
	size_t depth;
	int *err;
};

static json_t *value(const struct fmt_field *f)
{
	char *s;
	json_t *v;

	switch (f->kind) {
	case FMT_AS_INT:
		return json_integer((json_int_t)(int64_t)f->v);
	case FMT_AS_WORD:
		return f->word ? json_string(f->word) : jtree_number(f->v);
	case FMT_AS_TEXT:
		s = strndup((const char *)f->p, f->len);
		v = s ? jtree_text(s) : NULL;
		free(s);
		return v;
	case FMT_AS_BYTES:
		return jtree_number(f->len);
	default:
		return jtree_number(f->v);
	}
}

static void on_field(void *ctx, const struct fmt_field *f)
{
	struct fields *s = ctx;
	json_t *at = s->open[s->depth], *v;
	bool opens = f->kind == FMT_AS_LIST || f->kind == FMT_AS_GROUP;

	if (*s->err)
		return; /* what could not be added is gone */
	if (f->kind == FMT_AS_END) {
		s->depth -= s->depth > 0;
		return;
	}
	v = f->kind == FMT_AS_LIST  ? json_array() :
	    f->kind == FMT_AS_GROUP ? json_object() :
				      value(f);
	if (json_is_array(at))
		jtree_append(at, v, s->err);
	else
		jtree_set(at, f->name, v, s->err);
	if (opens && s->depth + 1 < sizeof(s->open) / sizeof(*s->open))
		s->open[++s->depth] = v;
}

static json_t *aux_info(const struct info_file *f, int *err)
{
	const struct info_aux *a = &f->i->aux;
	struct fmt_rec rec = { .at = a->info_at, .type = FMT_REC_AUXTRACE_INFO,
			       .size = a->info_size, .p = a->info };
	struct fields s = { .open = { json_object() }, .err = err };
	struct info_words w;
	json_t *o;

	if (!a->info) {
		json_decref(s.open[0]);
		return json_null();
	}
	o = json_object();
	w = info_aux_words(f);
	fmt_fields(f->r, &rec, -1, on_field, &s);
	jtree_set(o, "kind", jtree_number(a->type), err);
	jtree_set(o, "words", jtree_number(w.nr), err);
	jtree_set(o, "fields", s.open[0], err);
	jtree_set(o, "missing", jtree_text(w.missing), err);
	jtree_set(o, "not_understood", jtree_number(w.unknown), err);
	return o;
}

static json_t *flags_of(uint64_t v, int *err)
{
	json_t *a = json_array();

	for (unsigned b = 0; info_flag_name(b); v &= ~(UINT64_C(1) << b++))
		if (v >> b & 1)
			jtree_append(a, json_string(info_flag_name(b)), err);
	return a;
}

static json_t *aux_flags(const struct rows *t, int *err)
{
	json_t *a = json_array(), *o;
	uint64_t known = FMT_AUX_TRUNCATED | FMT_AUX_OVERWRITE | FMT_AUX_PARTIAL |
			 FMT_AUX_COLLISION | FMT_AUX_PMU_FORMAT_TYPE_MASK;

	for (size_t k = 0; k < t->nr; k++) {
		const struct info_flags *f = rows_at(t, k);

		o = json_object();
		jtree_set(o, "flags", jtree_number(f->key), err);
		jtree_set(o, "n", jtree_number(f->n), err);
		jtree_set(o, "names", flags_of(f->key, err), err);
		jtree_set(o, "format",
			  jtree_number((f->key & FMT_AUX_PMU_FORMAT_TYPE_MASK) >> 8),
			  err);
		jtree_set(o, "unknown", jtree_number(f->key & ~known), err);
		jtree_append(a, o, err);
	}
	return a;
}

static json_t *packets(const struct fmt_ptwalk *w, int *err)
{
	json_t *o = json_object();

	for (unsigned k = 1; k < FMT_PT_KINDS; k++)
		if (w->n[k])
			jtree_set(o, fmt_pt_name((enum fmt_pt_kind)k),
				  jtree_number(w->n[k]), err);
	return o;
}

static json_t *distance(const struct fmt_ptwalk *w, int *err)
{
	json_t *o;

	if (!w->nr_dist)
		return json_null();
	o = json_object();
	jtree_set(o, "min", jtree_number(w->min_dist), err);
	jtree_set(o, "mean", jtree_number(w->sum_dist / w->nr_dist), err);
	jtree_set(o, "max", jtree_number(w->max_dist), err);
	return o;
}

static json_t *pt(const struct info_pt *v, int *err)
{
	const struct fmt_ptwalk *w;
	json_t *o;

	if (!v)
		return json_null();
	w = &v->walk;
	o = json_object();
	jtree_set(o, "psb", jtree_number(w->n[FMT_PT_PSB]), err);
	jtree_set(o, "ovf", jtree_number(w->n[FMT_PT_OVF]), err);
	jtree_set(o, "before_psb", jtree_number(w->first_psb), err);
	jtree_set(o, "psb_distance", distance(w, err), err);
	jtree_set(o, "skipped", jtree_number(w->skipped), err);
	jtree_set(o, "bad", jtree_number(w->nr_bad), err);
	jtree_set(o, "first_bad", w->nr_bad ? jtree_number(w->first_bad) : json_null(),
		  err);
	jtree_set(o, "tail", jtree_number(w->tail), err);
	jtree_set(o, "first_tsc", w->has_tsc ? jtree_number(w->first_tsc) : json_null(),
		  err);
	jtree_set(o, "last_tsc", w->has_tsc ? jtree_number(w->last_tsc) : json_null(),
		  err);
	jtree_set(o, "time", info_json_span(&v->time, err), err);
	jtree_set(o, "packets", packets(w, err), err);
	return o;
}

static json_t *queue(const struct info_queue *q, int *err)
{
	json_t *o = json_object();

	jtree_set(o, "idx", q->key == ROWS_REST ? json_integer(-1) :
						  info_json_id((uint32_t)q->key), err);
	jtree_set(o, "cpu", info_json_id(q->cpu), err);
	jtree_set(o, "tid", info_json_id(q->tid), err);
	jtree_set(o, "bytes", jtree_number(q->bytes), err);
	jtree_set(o, "chunks", jtree_number(q->n), err);
	jtree_set(o, "samples", jtree_number(q->samples), err);
	jtree_set(o, "truncated", jtree_number(q->flagged.truncated), err);
	jtree_set(o, "partial", jtree_number(q->flagged.partial), err);
	jtree_set(o, "collision", jtree_number(q->flagged.collision), err);
	jtree_set(o, "overwrite", jtree_number(q->flagged.overwrite), err);
	jtree_set(o, "gaps", jtree_number(q->gaps), err);
	jtree_set(o, "gap_bytes", jtree_number(q->gap_bytes), err);
	jtree_set(o, "doubled_bytes", jtree_number(q->doubled), err);
	jtree_set(o, "pt", pt(q->pt, err), err);
	return o;
}

void info_json_aux(json_t *o, const struct info_file *f, int *err)
{
	const struct info_aux *x = &f->i->aux;
	json_t *a = json_array();

	for (size_t k = 0; k < x->queues.nr; k++)
		jtree_append(a, queue(rows_at(&x->queues, k), err), err);
	if (rows_rest(&x->queues))
		jtree_append(a, queue(rows_rest(&x->queues), err), err);
	jtree_set(o, "aux", a, err);
	jtree_set(o, "aux_info", aux_info(f, err), err);
	jtree_set(o, "aux_flags", aux_flags(&x->flags, err), err);
	jtree_set(o, "snapshot", json_boolean(x->snapshot), err);
}

static json_t *shot(const struct info *i, const struct info_shot *s, int *err)
{
	struct info_shot_spans at = info_shot_spans(i, s);
	json_t *o = json_object();

	jtree_set(o, "snapshot", jtree_number(s->nr), err);
	jtree_set(o, "cpu", info_json_id(s->cpu), err);
	jtree_set(o, "tid", info_json_id(s->tid), err);
	jtree_set(o, "bytes", jtree_number(s->bytes), err);
	jtree_set(o, "frozen_ns", at.frozen.known ? jtree_number(at.frozen.first_ns) : json_null(),
		  err);
	jtree_set(o, "pause_ns", s->pause_ns ? jtree_number(s->pause_ns) : json_null(), err);
	jtree_set(o, "trace", info_json_span(&at.trace, err), err);
	jtree_set(o, "switches", info_json_span(&at.switches, err), err);
	jtree_set(o, "both", info_json_span(&at.both, err), err);
	return o;
}

void info_json_shots(json_t *o, const struct info_file *f, int *err)
{
	const struct rows *t = &f->i->shots.rows;
	json_t *a = json_array();

	for (size_t k = 0; k < t->nr; k++) {
		const struct info_shot *s = rows_at(t, k);

		if (s->nr)
			jtree_append(a, shot(f->i, s, err), err);
	}
	jtree_set(o, "snapshots", a, err);
}

static json_t *sums(const struct info_loss *l, int *err)
{
	json_t *o = json_object();

	jtree_set(o, "records", jtree_number(l[INFO_LOST].amount), err);
	jtree_set(o, "samples", jtree_number(l[INFO_LOST_SAMPLES].amount), err);
	jtree_set(o, "read_samples", jtree_number(l[INFO_READ_LOST].amount), err);
	jtree_set(o, "aux_truncated", jtree_number(l[INFO_AUX_TRUNCATED].n), err);
	jtree_set(o, "aux_partial", jtree_number(l[INFO_AUX_PARTIAL].n), err);
	jtree_set(o, "aux_collision", jtree_number(l[INFO_AUX_COLLISION].n), err);
	jtree_set(o, "trace_bytes", jtree_number(l[INFO_TRACE_GAP].amount), err);
	return o;
}

static void ledger(json_t *a, const struct info_cpu *c, int *err)
{
	json_t *o;

	for (unsigned k = 0; k < INFO_CAUSES; k++) {
		const struct info_loss *l = &c->loss[k];
		const struct info_span s = { l->has_time, l->first_ns, l->last_ns };
		const char *unit = info_cause_unit(k);

		if (!l->n)
			continue;
		o = info_json_span(&s, err);
		jtree_set(o, "cpu", info_json_id((uint32_t)c->key), err);
		jtree_set(o, "cause", json_string(info_cause_key(k)), err);
		jtree_set(o, "told", jtree_number(l->n), err);
		jtree_set(o, "lost", unit ? jtree_number(l->amount) : json_null(), err);
		jtree_set(o, "unit", jtree_text(unit), err);
		jtree_append(a, o, err);
	}
}

static void add_cpu(json_t *by_cpu, json_t *all, const struct info_cpu *c, int *err)
{
	json_t *o;

	if (!c || !info_lost(c->loss))
		return;
	o = sums(c->loss, err);
	jtree_set(o, "cpu", info_json_id((uint32_t)c->key), err);
	jtree_append(by_cpu, o, err);
	ledger(all, c, err);
}

void info_json_losses(json_t *o, const struct info_file *f, int *err)
{
	json_t *by_cpu = json_array(), *all = json_array();

	for (size_t k = 0; k < f->i->cpus.nr; k++)
		add_cpu(by_cpu, all, rows_at(&f->i->cpus, k), err);
	add_cpu(by_cpu, all, rows_rest(&f->i->cpus), err);
	jtree_set(o, "lost", sums(f->i->loss, err), err);
	jtree_set(o, "lost_by_cpu", by_cpu, err);
	jtree_set(o, "losses", all, err);
}

static json_t *task(const struct info_task *t, bool switches, bool folded, int *err)
{
	json_t *o = json_object();

	jtree_set(o, "tid", jtree_number(t->key), err);
	jtree_set(o, "pid", t->has_pid ? jtree_number(t->pid) : json_integer(-1), err);
	jtree_set(o, "comm", *t->comm ? jtree_text(t->comm) : json_null(), err);
	jtree_set(o, "on_cpu_ns", switches ? jtree_number(t->on_ns) : json_null(), err);
	jtree_set(o, "runs", switches ? jtree_number(t->runs) : json_null(), err);
	if (folded)
		jtree_set(o, "switches_left_out", jtree_number(t->folded), err);
	return o;
}

void info_json_tasks(json_t *o, const struct info_file *f, int *err)
{
	const struct info_tasks *t = &f->i->tasks;
	const struct info_task **all;
	json_t *v = json_object(), *a = json_array();
	size_t nr;

	all = info_tasks_sorted(f->i, &nr);
	if (!all && t->tasks.nr)
		*err = -ENOMEM;
	for (size_t k = 0; k < nr && k < INFO_TASKS_JSON; k++)
		jtree_append(a, task(all[k], t->switches, t->folded, err), err);
	free(all);
	jtree_set(v, "processes", jtree_number(t->processes), err);
	jtree_set(v, "threads", jtree_number(t->tasks.nr), err);
	jtree_set(v, "switches_left_out", jtree_number(t->folded), err);
	jtree_set(v, "more_than_counted", json_boolean(rows_rest(&t->tasks)), err);
	jtree_set(v, "cut", json_boolean(nr > INFO_TASKS_JSON), err);
	jtree_set(v, "by_time", a, err);
	jtree_set(o, "tasks", v, err);
}

static json_t *missing(const struct info_image *m, int *err)
{
	char hex[2 * 20 + 1] = "";
	json_t *o = json_object();

	for (unsigned k = 0; k < m->id_size && k < 20; k++)
		snprintf(hex + 2 * k, 3, "%02x", m->id[k]);
	jtree_set(o, "path", jtree_text(m->name), err);
	jtree_set(o, "build_id", *hex ? json_string(hex) : json_null(), err);
	jtree_set(o, "why", jtree_text(m->why), err);
	jtree_set(o, "instead", jtree_text(m->found), err);
	return o;
}

void info_json_images(json_t *o, const struct info_file *f, int *err)
{
	const struct info_images *m = &f->i->images;
	json_t *v = json_object(), *a = json_array();

	for (size_t k = 0; k < m->nr_missing && k < INFO_IMAGES_MAX; k++)
		jtree_append(a, missing(&m->missing[k], err), err);
	jtree_set(v, "looked_for", jtree_number(m->nr), err);
	jtree_set(v, "nr_missing", jtree_number(m->nr_missing), err);
	jtree_set(v, "missing", a, err);
	if (m->looked) {
		jtree_set(o, "images", v, err);
		return;
	}
	json_decref(v);
	jtree_set(o, "images", json_null(), err);
}
