/* SPDX-License-Identifier: Apache-2.0 */
/* BASE.json: what was exported and what is missing, for programs. Its members are in
 * auxrec-export(1). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/event.h"
#include "recorder/export/libipt_priv.h"
#include "recorder/jtree.h"

static json_t *hex(const uint8_t *p, size_t n)
{
	char text[2 * IMAGE_ID_MAX + 1] = "";

	for (size_t i = 0; i < n && i < IMAGE_ID_MAX; i++)
		snprintf(text + 2 * i, 3, "%02x", p[i]);
	return json_string(text);
}

static json_t *who(uint32_t v)
{
	return v == EXPORT_NONE ? json_null() : json_integer(v);
}

/* The name of a file of ours, without the directory. */
static json_t *name_of(const struct libipt *l, const struct outfile *f)
{
	char buf[4096];

	if (!f)
		return json_null();
	snprintf(buf, sizeof(buf), "%s%s", l->name, f->name + strlen(l->x->o->base));
	return jtree_text(buf);
}

static json_t *tsc(const struct export_queue *q, int *err)
{
	json_t *o;

	if (!q->has_tsc)
		return json_null();
	o = json_object();
	jtree_set(o, "first", jtree_number(q->first_tsc), err);
	jtree_set(o, "last", jtree_number(q->last_tsc), err);
	return o;
}

static json_t *queue(const struct libipt *l, size_t i, int *err)
{
	const struct export_queue *q = export_queue_at(l->x, i);
	const struct libipt_queue *out = &l->queues[i];
	const struct libipt_stream *own = libipt_own(l, q);
	json_t *o = json_object();

	jtree_set(o, "idx", json_integer(q->idx), err);
	jtree_set(o, "cpu", who(q->cpu), err);
	jtree_set(o, "tid", who(q->tid), err);
	jtree_set(o, "file", name_of(l, out->bin), err);
	jtree_set(o, "pieces", name_of(l, out->pieces), err);
	jtree_set(o, "sideband", name_of(l, own ? own->f : NULL), err);
	jtree_set(o, "bytes", jtree_number(out->bin ? out->bin->size : 0), err);
	jtree_set(o, "offset", jtree_number(out->bin && !q->loose ? q->from : 0), err);
	jtree_set(o, "recorded", jtree_number(q->bytes), err);
	jtree_set(o, "chunks", jtree_number(q->pieces), err);
	jtree_set(o, "gaps", jtree_number(q->gaps), err);
	jtree_set(o, "psbs", jtree_number(q->nr_psb), err);
	jtree_set(o, "tsc", tsc(q, err), err);
	return o;
}

static json_t *losses(const struct export_stream *s, int *err)
{
	json_t *o = json_object();

	jtree_set(o, "records", jtree_number(s->lost), err);
	jtree_set(o, "samples", jtree_number(s->lost_samples), err);
	jtree_set(o, "aux_truncated", jtree_number(s->truncated), err);
	jtree_set(o, "aux_partial", jtree_number(s->partial), err);
	jtree_set(o, "aux_collision", jtree_number(s->collision), err);
	return o;
}

static json_t *stream(const struct libipt *l, const struct libipt_stream *out, int *err)
{
	static const char *const kinds[] = {
		[EXPORT_CPU] = "cpu",	[EXPORT_THREAD] = "thread",
		[EXPORT_HEAD] = "head", [EXPORT_REST] = "rest",
		[EXPORT_OTHERS] = "others",
	};
	const struct export_stream *s = out->of;
	json_t *o = json_object();

	jtree_set(o, "kind", json_string(kinds[s->kind]), err);
	jtree_set(o, "cpu", s->kind == EXPORT_CPU ? who(s->key) : json_null(), err);
	jtree_set(o, "tid", s->kind == EXPORT_THREAD ? who(s->key) : json_null(), err);
	jtree_set(o, "file", name_of(l, out->f), err);
	jtree_set(o, "records", jtree_number(out->records), err);
	jtree_set(o, "bytes", jtree_number(out->f ? out->f->size : 0), err);
	jtree_set(o, "first_ns", s->has_time ? jtree_number(s->first) : json_null(), err);
	jtree_set(o, "last_ns", s->has_time ? jtree_number(s->last) : json_null(), err);
	jtree_set(o, "lost", losses(s, err), err);
	return o;
}

static json_t *image(const struct libipt *l, const struct libipt_image *i, int *err)
{
	const struct image *m = i->image;
	json_t *o = json_object();

	jtree_set(o, "name", jtree_text(m->name), err);
	jtree_set(o, "build_id", m->id_size ? hex(m->id, m->id_size) : json_null(), err);
	jtree_set(o, "file", name_of(l, i->copy), err);
	jtree_set(o, "checked", json_boolean(i->copy && m->checked), err);
	jtree_set(o, "why", jtree_text(i->why), err);
	return o;
}

static json_t *intel_pt(const struct libipt *l, int *err)
{
	const struct export *x = l->x;
	const struct fmt_reader_event *e = x->pt_event;
	json_t *o;

	if (!x->has_pt)
		return json_null();
	o = json_object();
	jtree_set(o, "soft", json_boolean(l->soft), err);
	jtree_set(o, "config", e ? jtree_number(fmt_attr_config(e->attr, e->attr_size)) :
				   json_null(), err);
	jtree_set(o, "timed", json_boolean(export_timed(x)), err);
	jtree_set(o, "time_shift", jtree_number(x->pt.time_shift), err);
	jtree_set(o, "time_mult", jtree_number(x->pt.time_mult), err);
	jtree_set(o, "time_zero", jtree_number(x->pt.time_zero), err);
	jtree_set(o, "mtc_freq", libipt_mtc(l) < 0 ? json_null() :
					     json_integer(libipt_mtc(l)), err);
	jtree_set(o, "nom_freq", jtree_number(x->pt.max_nonturbo_ratio), err);
	jtree_set(o, "cpuid_15_eax", jtree_number(x->pt.tsc_ctc_d), err);
	jtree_set(o, "cpuid_15_ebx", jtree_number(x->pt.tsc_ctc_n), err);
	jtree_set(o, "snapshots", json_boolean(x->pt.snapshot_mode), err);
	return o;
}

static json_t *window(const struct export_opts *opts, int *err)
{
	json_t *o;

	if (!opts->windowed)
		return json_null();
	o = json_object();
	jtree_set(o, "from_ns", jtree_number(opts->from), err);
	jtree_set(o, "to_ns", jtree_number(opts->to), err);
	return o;
}

static json_t *lists(const struct libipt *l, json_t *o, int *err)
{
	json_t *queues = json_array(), *streams = json_array(), *images = json_array();

	for (size_t i = 0; i < l->x->queues.nr; i++)
		if (export_queue_at(l->x, i)->chosen)
			jtree_append(queues, queue(l, i, err), err);
	for (size_t i = 0; i < l->nr_streams; i++)
		if (l->streams[i].f || l->streams[i].of->chosen)
			jtree_append(streams, stream(l, &l->streams[i], err), err);
	for (size_t i = 0; i < l->nr_images; i++)
		jtree_append(images, image(l, &l->images[i], err), err);
	jtree_set(o, "queues", queues, err);
	jtree_set(o, "sidebands", streams, err);
	jtree_set(o, "images", images, err);
	return o;
}

static int put(const char *p, size_t n, void *ctx)
{
	return outfile_write(ctx, p, n) ? -1 : 0;
}

int libipt_put_json(struct libipt *l)
{
	struct export *x = l->x;
	const char *cpuid = fmt_reader_feature_str(&x->in->r, FMT_FEAT_CPUID);
	struct outfile *f;
	json_t *o = json_object();
	int err = 0;

	jtree_set(o, "recording", jtree_text(x->o->path), &err);
	jtree_set(o, "cpuid", jtree_text(cpuid), &err);
	jtree_set(o, "intel_pt", intel_pt(l, &err), &err);
	jtree_set(o, "window", window(x->o, &err), &err);
	jtree_set(o, "faults", jtree_number(x->faults), &err);
	jtree_set(o, "samples_left_out", jtree_number(x->homeless), &err);
	lists(l, o, &err);
	jtree_set(o, "vdso", name_of(l, l->vdso), &err);
	jtree_set(o, "kcore", name_of(l, l->kcore), &err);
	if (!err)
		err = outset_add(&x->out, &f, LIBIPT_JSON);
	if (!err && json_dump_callback(o, put, f, JSON_INDENT(2)))
		err = errno ? -errno : -EIO;
	if (!err)
		err = outfile_write(f, "\n", 1);
	json_decref(o);
	return err;
}
