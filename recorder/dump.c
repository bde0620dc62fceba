/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/dump.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/abi.h"
#include "format/event.h"
#include "format/fields.h"
#include "recorder/line.h"
#include "recorder/log.h"
#include "recorder/tepfields.h"

enum {
	PAYLOAD_LINE = 32,   /* bytes of AUX trace on a line */
	EVENTS_TOLD = 32,    /* names, when there is none like the one that is wanted */
	TRACING_DATA_AT = 12 /* in a TRACING_DATA record that holds them */
};

/* "COMM", or "type90" for a type without a name; buf is used then. */
static const char *kind_of(uint32_t type, char buf[16])
{
	const char *name = fmt_record_name(type);

	if (name)
		return name;
	snprintf(buf, 16, "type%" PRIu32, type);
	return buf;
}

/* The formats of tracepoints; what cannot be understood leaves their bytes as they are. */
static void load_formats(struct dump *d, const uint8_t *p, uint64_t len)
{
	if (!d->tep_known)
		tepfields_new(&d->tep, p, len);
	d->tep_known = true;
}

/* They follow the record; simpleperf's are inside. */
static void take_formats(struct dump *d, const struct fmt_rec *rec)
{
	if (rec->payload)
		load_formats(d, rec->payload, rec->payload_len);
	else if (rec->size > TRACING_DATA_AT)
		load_formats(d, rec->p + TRACING_DATA_AT, rec->size - TRACING_DATA_AT);
}

struct tracepoint {
	struct dump *d;
	uint64_t id;
};

/* fmt_field_fn: the raw bytes of a tracepoint become its fields. */
static void tracepoint_field(void *ctx, const struct fmt_field *f)
{
	struct tracepoint *t = ctx;
	struct dline *l = &t->d->line;

	if (f->kind != FMT_AS_BYTES || !f->name || strcmp(f->name, "raw") ||
	    !tepfields_visit(t->d->tep, t->id, f->p, f->len, dline_field, l))
		dline_field(l, f);
}

static struct fmt_fit show_fields(struct dump *d, const struct fmt_reader *from,
				  const struct fmt_rec *rec, int event)
{
	const struct fmt_reader_event *e;
	struct tracepoint t = { .d = d };
	const uint8_t *p;
	uint64_t len;

	if (rec->type != FMT_REC_SAMPLE || event < 0 || (size_t)event >= from->nr_events)
		return fmt_fields(from, rec, event, dline_field, &d->line);
	e = &from->events[event];
	if (e->name)
		dline_text(&d->line, "event", e->name);
	if (fmt_attr_type(e->attr, e->attr_size) != FMT_TYPE_TRACEPOINT)
		return fmt_fields(from, rec, event, dline_field, &d->line);
	if (!d->tep_known && !fmt_reader_feature(&d->in->r, FMT_FEAT_TRACING_DATA, &p, &len))
		load_formats(d, p, len);
	t.id = fmt_attr_config(e->attr, e->attr_size);
	return fmt_fields(from, rec, event, tracepoint_field, &t);
}

void dump_show_part(struct dump *d, const struct fmt_reader *from)
{
	const char *path, *slash;

	if (!from || from == &d->in->r)
		return;
	path = input_path_of(d->in, from);
	slash = strrchr(path, '/');
	dline_text(&d->line, "part", slash ? slash + 1 : path);
}

/* Where a record came from, when that is not plainly the file. */
static void show_origin(struct dump *d, const struct fmt_reader *from,
			const struct fmt_rec *rec)
{
	if (rec->inflated)
		dline_num(&d->line, "inner", FMT_AS_DEC, rec->inner_at);
	dump_show_part(d, from);
}

static void note_odd(struct dump *d, const struct fmt_reader *from,
		     const struct fmt_rec *rec, const char *field)
{
	if (!d->nr_odd++) {
		d->odd_at = rec->at;
		d->odd_path = input_path_of(d->in, from);
		d->odd_field = field;
	}
}

/* What the fields did not account for. */
static void show_fit(struct dump *d, const struct fmt_rec *rec, const struct fmt_fit *fit)
{
	if (!fit->known && fit->left)
		dline_field(&d->line, &(struct fmt_field){
					      .name = "data", .kind = FMT_AS_BYTES,
					      .p = rec->p + FMT_REC_HEADER_SIZE,
					      .len = fit->left });
	if (fit->missing)
		dline_field(&d->line, &(struct fmt_field){ .name = "short",
							   .kind = FMT_AS_WORD,
							   .word = fit->missing });
	if (fit->known && fit->left)
		dline_num(&d->line, "left", FMT_AS_DEC, fit->left);
}

/* AUX trace, or the formats of tracepoints, behind a record. */
static void show_payload(struct dump *d, const struct fmt_rec *rec)
{
	uint64_t n;

	for (uint64_t at = 0; at < rec->payload_len && !d->out.err; at += n) {
		n = rec->payload_len - at < PAYLOAD_LINE ? rec->payload_len - at :
							   PAYLOAD_LINE;
		dline_begin(&d->line, rec->at + rec->size + at, n, "payload");
		dline_field(&d->line, &(struct fmt_field){ .name = "data",
							   .kind = FMT_AS_BYTES,
							   .p = rec->payload + at,
							   .len = (size_t)n });
		dline_end(&d->line);
	}
}

/* there: bytes of a payload that was cut short, else UINT64_MAX. */
static void show(struct dump *d, const struct fmt_reader *from, const struct fmt_rec *rec,
		 uint64_t there)
{
	struct fmt_fit fit;
	char buf[16];
	int event;

	if (rec->type == FMT_REC_HEADER_TRACING_DATA)
		take_formats(d, rec);
	if (!dump_filter_pass(&d->filter, from, rec, &event))
		return;
	dline_begin(&d->line, rec->at, rec->size, kind_of(rec->type, buf));
	if (rec->inflated || from != &d->in->r)
		show_origin(d, from, rec);
	fit = show_fields(d, from, rec, event);
	if (!fit.known || fit.missing || fit.left)
		show_fit(d, rec, &fit);
	if (fit.missing)
		note_odd(d, from, rec, fit.missing);
	if (there != UINT64_MAX)
		dline_num(&d->line, "there", FMT_AS_DEC, there);
	dline_end(&d->line);
	if (d->hex && rec->payload)
		show_payload(d, rec);
}

void dump_say_damage(struct dump *d, const struct fmt_reader *r, int err)
{
	d->nr_damaged++;
	out_flush(&d->out);
	if (r->bad_what)
		log_err(0, "'%s' at byte %" PRIu64 " (0x%" PRIx64 "): expected %s",
			input_path_of(d->in, r), r->bad_at, r->bad_at, r->bad_what);
	else
		input_cannot(d->in, err);
}

static void say_odd(struct dump *d, const struct fmt_reader *r)
{
	if (!r->odd_what)
		return;
	d->nr_damaged++;
	log_err(0, "'%s' at byte %" PRIu64 " (0x%" PRIx64 "): expected %s",
		input_path_of(d->in, r), r->odd_at, r->odd_at, r->odd_what);
	if (r->nr_odd > 1)
		log_err(0, "'%s' has %" PRIu64 " more such faults", input_path_of(d->in, r),
			r->nr_odd - 1);
}

int dump_finish(struct dump *d)
{
	out_flush(&d->out);
	if (d->out.err)
		return d->out.err;
	say_odd(d, &d->in->r);
	for (size_t i = 0; i < d->in->nr_parts; i++)
		say_odd(d, &d->in->parts[i].r);
	if (d->nr_odd)
		log_err(0, "'%s' at byte %" PRIu64 " (0x%" PRIx64
			"): the record ends before its '%s' does",
			d->odd_path, d->odd_at, d->odd_at, d->odd_field);
	if (d->nr_odd > 1)
		log_err(0, "'%s' has %" PRIu64 " more such records", d->in->path,
			d->nr_odd - 1);
	return d->nr_damaged || d->nr_odd ? -EBADMSG : 0;
}

static bool has_event(const struct fmt_reader *r, const char *name)
{
	for (size_t i = 0; i < r->nr_events; i++)
		if (r->events[i].name && !strcmp(r->events[i].name, name))
			return true;
	return false;
}

static void list_event(const char *name)
{
	struct line l = { 0 };

	line_add(&l, "%s", name);
	line_make_safe(&l);
	log_hint("  '%s'", l.s);
}

static void list_events(const struct fmt_reader *r)
{
	size_t n = 0;

	log_hint("events that have names:");
	for (size_t i = 0; i < r->nr_events; i++)
		if (r->events[i].name && n++ < EVENTS_TOLD)
			list_event(r->events[i].name);
	if (n > EVENTS_TOLD)
		log_hint("  and %zu more", n - EVENTS_TOLD);
	if (!n)
		log_hint("  none");
}

/* Which events there are is known when all records have passed. */
static int judge_event(struct dump *d)
{
	const char *name = d->filter.event;

	if (!name || d->out.err || has_event(&d->in->r, name))
		return 0;
	log_err(0, "'%s' has no event '%s'", d->in->path, name);
	list_events(&d->in->r);
	return -ENOENT;
}

int dump_records(struct dump *d)
{
	struct fmt_reader *from = NULL;
	struct fmt_rec rec;
	int got, err, unknown;

	while (!d->out.err && (got = input_next(d->in, &rec, &from))) {
		if (got > 0) {
			show(d, from, &rec, UINT64_MAX);
			continue;
		}
		if (got == -ENOMEM)
			return got;
		if (from->cut.p)
			show(d, from, &from->cut, from->cut.payload_len);
		dump_say_damage(d, from, got);
	}
	err = dump_finish(d);
	unknown = judge_event(d);
	return err ? err : unknown;
}
