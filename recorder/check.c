/* SPDX-License-Identifier: Apache-2.0 */
/* The walk: every record is handed to the judges whom it concerns. */
#include "recorder/check.h"

#include <errno.h>
#include <string.h>

#include "format/abi.h"
#include "format/event.h"
#include "format/le.h"
#include "recorder/check_priv.h"

static void lost(struct check *c, const struct check_rec *cr)
{
	const struct fmt_rec *rec = cr->rec;
	uint64_t n;

	if (rec->type == FMT_REC_LOST) {
		n = le_get64(rec->p + FMT_LOST_AT_LOST);
		check_find(c, CHECK_LOST, rec->at, "none lost",
			   "a LOST record: the ring of cpu %d was full",
			   cr->has_when && cr->w.has_cpu ? (int)cr->w.cpu : -1);
		check_sum(c, CHECK_LOST, n);
		check_switch_break(c, cr);
	} else {
		n = le_get64(rec->p + FMT_LOST_SAMPLES_AT_LOST);
		if (!n)
			return;
		check_find(c, CHECK_LOST_SAMPLES, rec->at, "none lost",
			   "a LOST_SAMPLES record");
		check_sum(c, CHECK_LOST_SAMPLES, n);
	}
}

/* A READ whose event counts what it lost: the last of its values, before the trailer. */
static void take_read(struct check *c, const struct check_rec *cr)
{
	const struct fmt_reader_event *e;
	uint64_t format, n;

	if (cr->event < 0)
		return;
	e = &c->r->events[cr->event];
	format = fmt_attr_read_format(e->attr, e->attr_size);
	if (!(format & FMT_FORMAT_LOST) || format & FMT_FORMAT_GROUP)
		return;
	n = le_get64(cr->rec->p + cr->rec->size - (e->id_all ? e->trailer_size : 0) - 8);
	if (!n)
		return;
	check_find(c, CHECK_LOST_SAMPLES, cr->rec->at, "none lost",
		   "a READ record that counts them");
	check_sum(c, CHECK_LOST_SAMPLES, n);
}

/* A cpu that is frozen for a snapshot has no switches until it goes on, and between two
 * snapshots what is in neither was overwritten. */
static void break_at_snapshot(struct check *c, const struct check_rec *cr)
{
	if (le_get64(cr->rec->p + FMT_AUX_AT_FLAGS) & FMT_AUX_OVERWRITE)
		check_switch_break(c, cr);
}

static void take_kernel(struct check *c, const struct check_rec *cr)
{
	check_time(c, cr);
	switch (cr->rec->type) {
	case FMT_REC_SWITCH:
	case FMT_REC_SWITCH_CPU_WIDE:
		check_switch(c, cr);
		break;
	case FMT_REC_EXIT:
		check_switch_break(c, cr);
		break;
	case FMT_REC_AUX:
		check_aux(c, cr);
		break_at_snapshot(c, cr);
		break;
	case FMT_REC_MMAP2:
		check_mmap2(c, cr);
		break;
	case FMT_REC_LOST:
	case FMT_REC_LOST_SAMPLES:
		lost(c, cr);
		break;
	case FMT_REC_READ:
		take_read(c, cr);
		break;
	}
}

static void take_feature(struct check *c, const struct fmt_rec *rec)
{
	uint64_t feat = le_get64(rec->p + 8);

	/* LAST is the end mark of a pipe. */
	if (feat != FMT_FEAT_LAST && feat < 256)
		check_feature(c, (unsigned)feat, rec->p + 16, rec->size - 16u,
			      rec->at + 16);
}

static void take_time_conv(struct check *c, const struct fmt_rec *rec)
{
	uint64_t shift = le_get64(rec->p + 8);

	if (shift > 63)
		check_find(c, CHECK_ODD, rec->at, "a time_shift below 64",
			   "a TIME_CONV record with time_shift %llu",
			   (unsigned long long)shift);
}

static void take_user(struct check *c, const struct check_rec *cr)
{
	switch (cr->rec->type) {
	case FMT_REC_FINISHED_ROUND:
		check_round(c);
		break;
	case FMT_REC_ID_INDEX:
		check_id_index(c, cr);
		break;
	case FMT_REC_AUXTRACE_INFO:
		check_auxinfo(c, cr);
		break;
	case FMT_REC_AUXTRACE:
		check_auxtrace(c, cr);
		check_index_take(c, cr);
		break;
	case FMT_REC_AUXTRACE_ERROR:
		check_find(c, CHECK_AUX_ERROR, cr->rec->at, "none",
			   "an AUXTRACE_ERROR record");
		break;
	case FMT_REC_HEADER_FEATURE:
		take_feature(c, cr->rec);
		break;
	case FMT_REC_HEADER_TRACING_DATA:
		c->tracing_data = true;
		break;
	case FMT_REC_TIME_CONV:
		take_time_conv(c, cr->rec);
		break;
	}
}

static void take(struct check *c, const struct fmt_rec *rec)
{
	struct check_rec cr = { .rec = rec, .event = -1 };

	c->rep->records++;
	if (rec->type < FMT_REC_USER_START) {
		cr.has_when = !fmt_reader_when(c->r, rec, &cr.w);
		cr.event = cr.has_when ? cr.w.event : fmt_reader_event_of(c->r, rec);
	}
	check_zip(c, &cr);
	if (!check_body(c, &cr))
		return;
	if (rec->type < FMT_REC_USER_START)
		take_kernel(c, &cr);
	else
		take_user(c, &cr);
}

static unsigned part_of(const struct check *c, const struct fmt_reader *r)
{
	for (size_t i = 0; i < c->in->nr_parts; i++)
		if (r == &c->in->parts[i].r)
			return (unsigned)i + 1;
	return 0;
}

/* Trace that is there in part, at the end of a file; those at hand are then the records of
 * that file. */
static void take_cut(struct check *c, const struct fmt_reader *r)
{
	const struct check_rec torn = { .rec = &r->cut, .event = -1 };

	c->r = r;
	c->part = part_of(c, r);
	if (r->cut.p && r->cut.type == FMT_REC_AUXTRACE)
		check_auxtrace(c, &torn);
}

static int walk(struct check *c)
{
	struct fmt_reader *r = &c->in->r;
	struct fmt_rec rec;
	int got;

	do {
		got = input_next(c->in, &rec, &r);
		if (r != c->r) {
			check_zip_end(c);
			c->r = r;
			c->part = part_of(c, r);
		}
		if (got > 0)
			take(c, &rec);
		else if (got < 0 && !r->bad_what)
			return got;
		else if (got < 0)
			check_end_of_walk(c, got, r);
	} while (got && !c->err);
	check_zip_end(c);
	for (size_t i = 0; i < c->in->nr_parts; i++)
		take_cut(c, &c->in->parts[i].r);
	take_cut(c, &c->in->r);
	return c->err;
}

static void judge_whole(struct check *c)
{
	check_events(c);
	check_ids_end(c);
	check_times_end(c);
	check_auxinfo_end(c);
	check_aux_end(c);
	check_index_end(c);
	check_descriptions(c);
	check_dir(c);
	check_finished(c);
}

/* What stands where the header was not as it should be, as far as it is there. */
static void header(struct check *c)
{
	const uint8_t *p = c->in->bytes.p;
	uint64_t at = c->in->r.bad_at, len = c->in->bytes.len;
	uint64_t left = at < len ? len - at : 0;

	if (left >= 8)
		check_find(c, CHECK_HEADER, at, c->in->r.bad_what, "%#llx",
			   (unsigned long long)le_get64(p + at));
	else
		check_find(c, CHECK_HEADER, at, c->in->r.bad_what,
			   "the end of a file of %llu bytes", (unsigned long long)len);
}

static void done(struct check *c)
{
	check_map_done(&c->cpus);
	check_map_done(&c->ids);
	check_map_done(&c->switches);
	check_map_done(&c->names);
	check_times_done(&c->times);
	check_aux_done(&c->aux);
	check_index_done(&c->index);
}

int check_file(struct check_report *ret, struct input *in, int err)
{
	struct check c = {
		.rep = ret, .in = in, .r = &in->r,
		.cpus.size = sizeof(struct check_cpu),
		.ids.size = sizeof(struct check_id),
		.switches.size = sizeof(struct check_switch),
		.names.size = sizeof(struct check_name),
		.aux.queues.size = sizeof(struct check_queue),
		.aux.plain_at = CHECK_NOWHERE, .aux.nowhere_at = CHECK_NOWHERE,
		.zip.at = CHECK_NOWHERE,
	};

	*ret = (struct check_report){ 0 };
	if (err && !in->r.bad_what)
		return err;
	if (err) {
		header(&c);
		err = 0;
	} else {
		check_sections(&c);
		check_index_begin(&c);
		check_build_ids_begin(&c);
		err = c.err ? c.err : walk(&c);
		if (!err)
			judge_whole(&c);
		if (!err)
			err = c.err;
		done(&c);
	}
	ret->bytes = input_size(in);
	return err;
}
