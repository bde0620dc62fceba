/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --to=libipt: files for ptdump and ptxed, the tools that come with libipt, under the names
 * that libipt's own scripts give them (script/perf-read-aux.bash, perf-read-sideband.bash).
 *
 * A queue is one file. Where its pieces stand for themselves (snapshots, AUX samples) the
 * tools must be shown one piece at a time, for pieces overlap: a text file says where each
 * one lies, in the form that the tools take behind a file name.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/event.h"
#include "recorder/eventterm.h"
#include "recorder/export/libipt_priv.h"
#include "recorder/log.h"

enum { SUFFIX = 64 }; /* room for the longest */

static void queue_suffix(char ret[SUFFIX], const struct export_queue *q, const char *end)
{
	snprintf(ret, SUFFIX, "-aux-idx%u.%s", q->idx, end);
}

static void stream_suffix(char ret[SUFFIX], const struct export_stream *s)
{
	static const char *const words[] = {
		[EXPORT_CPU] = "-cpu",	 [EXPORT_THREAD] = "-tid", [EXPORT_HEAD] = "",
		[EXPORT_REST] = "-rest", [EXPORT_OTHERS] = "-others",
	};

	if (s->key != EXPORT_NONE)
		snprintf(ret, SUFFIX, "-sideband%s%u.pevent", words[s->kind], s->key);
	else
		snprintf(ret, SUFFIX, "-sideband%s.pevent", words[s->kind]);
}

/* ---- what is in the way ---- */

static int taken(const struct export *x, const char *suffix)
{
	if (!outset_taken(&x->out, suffix))
		return 0;
	log_err(0, "'%s%s' is in the way", x->o->base, suffix);
	log_hint("--force replaces what is there");
	return -EEXIST;
}

static int look_for_room(const struct libipt *l)
{
	static const char *const fixed[] = {
		LIBIPT_CMDS, LIBIPT_JSON, LIBIPT_IMAGES, LIBIPT_VDSO, LIBIPT_KCORE,
	};
	const struct export *x = l->x;
	char name[SUFFIX];
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(fixed) / sizeof(*fixed); i++)
		err = taken(x, fixed[i]);
	for (size_t i = 0; !err && i < x->queues.nr; i++) {
		queue_suffix(name, export_queue_at(x, i), "bin");
		err = taken(x, name);
	}
	for (size_t i = 0; !err && i < l->nr_streams; i++) {
		stream_suffix(name, l->streams[i].of);
		err = taken(x, name);
	}
	return err;
}

/* ---- trace and records ---- */

static int note_piece(struct libipt_queue *out, const struct export_piece *p, uint64_t at)
{
	char name[SUFFIX];
	int err = 0;

	if (!out->pieces) {
		queue_suffix(name, p->q, "pieces");
		err = outset_add(out->bin->set, &out->pieces, name);
	}
	if (!err)
		err = outfile_print(out->pieces, "0x%" PRIx64 "-0x%" PRIx64, at, at + p->len);
	if (!err && p->has_time)
		err = outfile_print(out->pieces, " time=%" PRIu64, p->time);
	if (!err && p->has_tsc)
		err = outfile_print(out->pieces, " tsc=0x%" PRIx64 "-0x%" PRIx64,
				    p->first_tsc, p->last_tsc);
	return err ? err : outfile_write(out->pieces, "\n", 1);
}

static int put_trace(void *ctx, const struct export_piece *p)
{
	struct libipt *l = ctx;
	struct libipt_queue *out = &l->queues[p->q - export_queue_at(l->x, 0)];
	char name[SUFFIX];
	int err = 0;

	if (!out->bin) {
		queue_suffix(name, p->q, "bin");
		err = outset_add(&l->x->out, &out->bin, name);
	}
	if (!err && p->q->loose)
		err = note_piece(out, p, out->bin->size);
	if (err)
		return err;
	out->nr++;
	return outfile_write(out->bin, p->p, p->len);
}

static struct libipt_stream *out_of(struct libipt *l, const struct export_stream *s)
{
	const struct export *x = l->x;

	if (s == &x->head)
		return l->head;
	if (s == &x->rest)
		return l->rest;
	if (s == &x->others)
		return l->others;
	return &l->streams[s - export_stream_at(x, 0)];
}

/* Notes what the records of a stream end with. */
static void note_layout(const struct export *x, struct libipt_stream *out,
			const struct fmt_when *w)
{
	const uint64_t in_trailer = FMT_SAMPLE_TID | FMT_SAMPLE_TIME | FMT_SAMPLE_ID |
				    FMT_SAMPLE_STREAM_ID | FMT_SAMPLE_CPU |
				    FMT_SAMPLE_IDENTIFIER;
	const struct fmt_reader *r = &x->in->r;
	const struct fmt_reader_event *e = r->events + (w->event < 0 ? 0 : w->event);
	uint64_t type = 0;

	/* An unknown event matters only where events differ, and the reader does not tell the
	 * time then. */
	if (r->nr_events && (fmt_attr_flags(e->attr, e->attr_size) & FMT_ATTR_F_SAMPLE_ID_ALL))
		type = fmt_attr_sample_type(e->attr, e->attr_size);
	if (w->event < 0 && type & FMT_SAMPLE_TIME && !w->has_time)
		out->mixed = true;
	if (!out->records)
		out->sample_type = type;
	else if ((type ^ out->sample_type) & in_trailer)
		out->mixed = true;
}

static int put_record(void *ctx, const struct fmt_rec *rec, const struct fmt_when *w,
		      struct export_stream *s)
{
	struct libipt *l = ctx;
	struct libipt_stream *out = out_of(l, s);
	char name[SUFFIX];
	int err = 0;

	if (!out->f) {
		stream_suffix(name, s);
		err = outset_add(&l->x->out, &out->f, name);
	}
	if (!err && s->kind != EXPORT_HEAD)
		err = recsort_note(&out->sort, out->f->size, w);
	if (err)
		return err;
	note_layout(l->x, out, w);
	out->records++;
	return outfile_write(out->f, rec->p, rec->size);
}

static int put_all(struct libipt *l)
{
	const struct export_sink sink = { put_trace, put_record, l };
	int err = export_walk(l->x, &sink);

	for (size_t i = 0; !err && i < l->nr_streams; i++)
		if (l->streams[i].f)
			err = recsort_finish(&l->streams[i].sort, l->streams[i].f,
					     &l->x->in->r);
	return err;
}

/* ---- facts for the command lines ---- */

const struct libipt_stream *libipt_own(const struct libipt *l, const struct export_queue *q)
{
	uint32_t key = l->x->by_thread ? q->tid : q->cpu;

	for (size_t i = 0; i < l->nr_streams; i++)
		if (key != EXPORT_NONE && l->streams[i].of->key == key)
			return &l->streams[i];
	return NULL;
}

int libipt_mtc(const struct libipt *l)
{
	const struct fmt_reader_event *e = l->x->pt_event;
	uint64_t bits = l->x->pt.mtc_freq_bits, config;

	if (!e || !bits)
		return -1;
	config = fmt_attr_config(e->attr, e->attr_size);
	if (!(config & l->x->pt.mtc_bit))
		return -1;
	return (int)((config & bits) >> __builtin_ctzll(bits)) & 0xff;
}

/* ---- all of it ---- */

static int set_up(struct libipt *l)
{
	struct export *x = l->x;
	const char *slash = strrchr(x->o->base, '/');
	size_t n = export_streams(x)->nr;

	l->name = slash ? slash + 1 : x->o->base;
	l->soft = x->pt_event && x->pt_event->name && eventterm_in(x->pt_event->name, "soft");
	l->queues = calloc(x->queues.nr + 1, sizeof(*l->queues));
	l->streams = calloc(n + 3, sizeof(*l->streams));
	if (!l->queues || !l->streams)
		return -ENOMEM;
	l->nr_streams = n + 3;
	for (size_t i = 0; i < n; i++)
		l->streams[i].of = export_stream_at(x, i);
	l->head = &l->streams[n];
	l->rest = &l->streams[n + 1];
	l->others = &l->streams[n + 2];
	l->head->of = &x->head;
	l->rest->of = &x->rest;
	l->others->of = &x->others;
	return 0;
}

static void done(struct libipt *l)
{
	for (size_t i = 0; i < l->nr_streams; i++)
		recsort_done(&l->streams[i].sort);
	free(l->queues);
	free(l->streams);
	free(l->images);
}

bool libipt_has_trace(const struct libipt *l)
{
	for (size_t i = 0; i < l->x->queues.nr; i++)
		if (l->queues[i].nr)
			return true;
	return false;
}

static void say_no_trace(const struct export *x)
{
	if (x->queues.nr || x->homeless)
		log_warn("no trace of '%s' is of the cpus and times that were asked for",
			 x->o->path);
	else
		log_warn("'%s' has no trace: there is nothing for a decoder", x->o->path);
	log_hint("only its records are written, and no copies of images");
}

int export_libipt(struct export *x)
{
	struct libipt l = { .x = x };
	int err = set_up(&l);

	if (!err)
		err = look_for_room(&l);
	if (!err)
		err = put_all(&l);
	if (!err && !libipt_has_trace(&l))
		say_no_trace(x);
	else if (!err)
		err = libipt_put_images(&l);
	if (!err)
		err = libipt_put_cmds(&l);
	if (!err)
		err = libipt_put_json(&l);
	done(&l);
	return err;
}
