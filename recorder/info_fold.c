/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/info_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/abi.h"

void info_fault(struct info *i, uint64_t at, const char *fmt, ...)
{
	struct info_fault *f;
	va_list ap;

	if (i->nr_faults < INFO_FAULTS_MAX) {
		f = &i->faults[i->nr_faults];
		f->r = i->from;
		f->at = at;
		va_start(ap, fmt);
		vsnprintf(f->expected, sizeof(f->expected), fmt, ap);
		va_end(ap);
	}
	i->nr_faults++;
}

static int fold_kernel(struct info *i, const struct fmt_reader *r,
		       const struct fmt_rec *rec)
{
	struct info_kernel k = { .r = r, .rec = rec, .when = { .event = -1 } };
	int err = fmt_reader_when(r, rec, &k.when);

	if (err == -EBADMSG)
		info_fault(i, rec->at, "a record with room for its sample_id fields");
	else if (err && k.when.event < 0 && !r->same_layout)
		i->untold++;
	/* Time 0 marks what perf made up itself: its cpu says nothing. */
	k.real = !k.when.has_time || k.when.time;
	k.cpu = rows_get(&i->cpus, k.when.has_cpu && k.real ? k.when.cpu : INFO_NONE);
	if (!k.cpu)
		return -ENOMEM;
	k.cpu->n++;
	err = info_loss_fold(i, &k);
	if (!err)
		err = info_tasks_fold(i, &k);
	if (!err)
		err = info_shots_fold(i, &k);
	return err ? err : info_time_fold(i, &k);
}

static int count_type(struct info *i, const struct fmt_rec *rec)
{
	struct info_type *t;

	if (rec->type < INFO_TYPES) {
		*(rec->inflated ? &i->inflated[rec->type] : &i->types[rec->type]) += 1;
		return 0;
	}
	t = rows_get(&i->others, rec->type);
	if (!t)
		return -ENOMEM;
	*(rec->inflated ? &t->inflated : &t->n) += 1;
	return 0;
}

static int take_trace(struct info *i, const struct fmt_rec *rec)
{
	int err = info_aux_take_trace(i, rec);

	return err ? err : info_shots_take_trace(i, rec);
}

static int fold_record(struct info *i, const struct input *in, const struct fmt_reader *r,
		       const struct fmt_rec *rec)
{
	int err = count_type(i, rec);

	if (!err)
		err = info_images_take(i, in, rec);
	if (err)
		return err;
	if (rec->type == FMT_REC_SAMPLE)
		err = info_aux_take_sample(i, r, rec);
	if (err)
		return err;
	if (rec->type < FMT_REC_USER_START)
		return fold_kernel(i, r, rec);
	if (rec->type == FMT_REC_ID_INDEX)
		return auxsample_take_ids(&i->aux.ids, rec);
	if (rec->type == FMT_REC_AUXTRACE)
		return rec->inflated ? 0 : take_trace(i, rec);
	if (rec->type == FMT_REC_AUXTRACE_INFO)
		return info_aux_take_info(i, rec);
	if (rec->type == FMT_REC_TIME_CONV)
		info_conv_take(i, rec);
	else if (rec->type == FMT_REC_HEADER_FEATURE)
		info_take_feature(i, rec);
	return 0;
}

/* What a reader has to say when its walk is over. */
static int ended(struct info *i, const struct input *in, const struct fmt_reader *r)
{
	i->from = r;
	if (r->odd_what)
		info_fault(i, r->odd_at, "%s", r->odd_what);
	/* The part of a payload that is there is trace all the same. */
	return r->cut.p ? fold_record(i, in, r, &r->cut) : 0;
}

static int walk(struct info *i, struct input *in)
{
	struct fmt_reader *r = &in->r;
	struct fmt_rec rec;
	int got, err = 0;

	do {
		got = input_next(in, &rec, &r);
		i->from = r;
		if (got < 0 && !r->bad_what)
			return got;
		if (got > 0)
			err = fold_record(i, in, r, &rec);
		else if (got < 0)
			info_fault(i, r->bad_at, "%s", r->bad_what);
	} while (got && !err);
	i->whole_to = in->r.at;
	if (!err)
		err = ended(i, in, &in->r);
	for (size_t k = 0; k < in->nr_parts && !err; k++)
		err = ended(i, in, &in->parts[k].r);
	i->from = &in->r;
	return err;
}

static struct info start(const struct input *in)
{
	return (struct info){
		.whole_to = in->r.data_offset,
		.others = ROWS_INIT(struct info_type, INFO_ROWS_MAX),
		.cpus = ROWS_INIT(struct info_cpu, INFO_ROWS_MAX),
		.shots.rows = ROWS_INIT(struct info_shot, INFO_ROWS_MAX),
		.tasks = {
			.tasks = ROWS_INIT(struct info_task, INFO_TASKS_MAX),
			.slots = ROWS_INIT(struct info_slot, INFO_TASKS_MAX),
		},
		.aux = {
			.queues = ROWS_INIT(struct info_queue, INFO_ROWS_MAX),
			.flags = ROWS_INIT(struct info_flags, INFO_FLAGS_MAX),
			.by_cpu = ROWS_INIT(struct info_flagged, INFO_ROWS_MAX),
			.by_tid = ROWS_INIT(struct info_flagged, INFO_ROWS_MAX),
			.mapped = in->bytes.mapped,
			.ids = AUXSAMPLE_IDS_INIT,
		},
	};
}

static int fold_raw(struct info *i, const struct input *in)
{
	int err = info_aux_raw(i, in->bytes.p, in->bytes.len);

	i->whole_to = in->bytes.len;
	if (err)
		return err;
	info_aux_end(i);
	info_aux_judge_raw(i);
	return 0;
}

static int fold_file(struct info *i, struct input *in)
{
	uint64_t end = in->r.data_end; /* of an interrupted recording: moves back */
	int err = walk(i, in);

	if (err)
		return err;
	if (end < in->r.data_end)
		end = in->r.data_end; /* of a stream: has come since */
	i->not_walked = end - i->whole_to;
	info_take_features(i, &in->r);
	info_aux_end(i);
	info_tasks_end(i);
	rows_sort(&i->cpus);
	rows_sort(&i->others);
	return info_images_end(i, in);
}

int info_fold(struct info *ret, struct input *in)
{
	struct info i = start(in);
	int err = in->as.kind == INPUT_PT ? fold_raw(&i, in) : fold_file(&i, in);

	if (err)
		info_done(&i);
	else
		*ret = i;
	return err;
}

void info_done(struct info *i)
{
	info_aux_done(&i->aux);
	info_images_done(&i->images);
	rows_done(&i->others);
	rows_done(&i->cpus);
	rows_done(&i->shots.rows);
	rows_done(&i->tasks.tasks);
	rows_done(&i->tasks.slots);
	free(i->order.marks);
	*i = (struct info){ 0 };
}
