/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/decode/decode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/event.h"
#include "format/le.h"
#include "recorder/decode/decode_priv.h"

/* What the walk over the records gathers. */
struct gather {
	struct images *images;
	struct tasks *tasks;
	struct queues queues;
	bool has_info, is_pt;
	uint32_t aux_type;
	struct fmt_pt_info pt;
	uint64_t config; /* of the PT event */
};

static void take_info(struct gather *g, const struct fmt_reader *r, const struct fmt_rec *rec)
{
	const struct fmt_reader_event *e = NULL;

	if (g->has_info || rec->size < 16)
		return;
	g->has_info = true;
	g->aux_type = le_get32(rec->p + FMT_AUXTRACE_INFO_AT_TYPE);
	g->is_pt = !fmt_get_pt_info(&g->pt, rec->p, rec->size);
	g->pt.filter = NULL; /* points into a record that may have been inflated */
	if (!g->is_pt)
		return;
	for (size_t i = 0; !e && i < r->nr_events; i++)
		if (fmt_attr_type(r->events[i].attr, r->events[i].attr_size) ==
		    g->pt.pmu_type)
			e = &r->events[i];
	if (e)
		g->config = fmt_attr_config(e->attr, e->attr_size);
}

/* Trace and records share a clock: perf asks for the same. */
static bool is_timed(const struct gather *g, const struct fmt_reader *r)
{
	for (size_t i = 0; i < r->nr_events; i++)
		if (!(fmt_attr_sample_type(r->events[i].attr, r->events[i].attr_size) &
		      FMT_SAMPLE_TIME))
			return false;
	return g->is_pt && g->pt.cap_user_time_zero && g->pt.time_mult &&
	       g->pt.time_shift < 64 && (g->config & g->pt.tsc_bit);
}

static int take(struct gather *g, const struct fmt_reader *r, const struct fmt_rec *rec)
{
	struct image *image = NULL;
	int err;

	if (rec->type == FMT_REC_AUXTRACE_INFO) {
		take_info(g, r, rec);
		queues_mode(&g->queues, g->pt.snapshot_mode, is_timed(g, r));
	}
	err = images_take(g->images, rec, &image);
	if (!err)
		err = tasks_take(g->tasks, r, rec, image);
	return err ? err : queues_take(&g->queues, r, rec);
}

/* Damage is for others to judge: what stands before it counts, also of a payload that is
 * not whole. */
static int gather(struct gather *g, struct input *in)
{
	struct fmt_reader *r = &in->r;
	struct fmt_rec rec;
	int got, err = 0;

	while (!err && (got = input_next(in, &rec, &r))) {
		if (got > 0)
			err = take(g, r, &rec);
		else if (got == -ENOMEM)
			err = got;
		else if (r->cut.p)
			err = queues_take(&g->queues, r, &r->cut);
	}
	if (!err)
		err = images_take_feature(g->images, &in->r);
	if (!err)
		err = images_find(g->images);
	tasks_sort(g->tasks);
	return err;
}

/* CPUID feature: "GenuineIntel,family,model,stepping". */
static void set_cpu(struct pt_config *c, const struct fmt_reader *r)
{
	const char *id = fmt_reader_feature_str(r, FMT_FEAT_CPUID);
	unsigned family, model, stepping;

	if (!id || sscanf(id, "GenuineIntel,%u,%u,%u", &family, &model, &stepping) != 3 ||
	    family > UINT16_MAX || model > UINT8_MAX || stepping > UINT8_MAX)
		return;
	c->cpu = (struct pt_cpu){ .vendor = pcv_intel, .family = (uint16_t)family,
				  .model = (uint8_t)model, .stepping = (uint8_t)stepping };
	if (pt_cpu_errata(&c->errata, &c->cpu) < 0)
		memset(&c->errata, 0, sizeof(c->errata));
}

static struct flow_setup setup(const struct gather *g, const struct fmt_reader *r)
{
	struct flow_setup s = { .tasks = g->tasks, .images = g->images };
	uint64_t bits = g->pt.mtc_freq_bits;

	pt_config_init(&s.config);
	set_cpu(&s.config, r);
	s.config.cpuid_0x15_eax = (uint32_t)g->pt.tsc_ctc_d;
	s.config.cpuid_0x15_ebx = (uint32_t)g->pt.tsc_ctc_n;
	if (bits)
		s.config.mtc_freq = (uint8_t)((g->config & bits) / (bits & -bits));
	s.config.nom_freq = (uint8_t)g->pt.max_nonturbo_ratio;
	s.timed = is_timed(g, r);
	s.config.flags.variant.block.enable_tick_events = s.timed;
	/* libipt 2.0 calls itself for each direct branch within a block, which has up to
	 * 65535 of them: too deep for a stack where the code is "jmp ." */
	s.config.flags.variant.block.end_on_jump = 1;
	s.config.flags.variant.block.end_on_call = 1;
	s.shift = g->pt.time_shift & 63;
	s.mult = g->pt.time_mult;
	s.zero = g->pt.time_zero;
	return s;
}

static int by_thread(const void *a, const void *b)
{
	const struct decode_thread *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int by_code(const void *a, const void *b)
{
	return ((const struct decode_error *)a)->code -
	       ((const struct decode_error *)b)->code;
}

static int by_errors(const void *a, const void *b)
{
	const struct decode_missing *x = a, *y = b;

	if (x->errors != y->errors)
		return x->errors > y->errors ? -1 : 1;
	return x->first_ip < y->first_ip ? -1 : x->first_ip > y->first_ip;
}

static void sort(void *v, size_t n, size_t each, int (*compare)(const void *, const void *))
{
	if (n)
		qsort(v, n, each, compare);
}

static int take_threads(struct decode_report *ret, const struct flow *f,
			const struct tasks *tasks)
{
	ret->threads = calloc(f->nr_threads + 1, sizeof(*ret->threads));
	if (!ret->threads)
		return -ENOMEM;
	for (size_t i = 0; i < f->nr_slots; i++) {
		const struct flow_thread *t = &f->thread[i];
		struct decode_thread *out = &ret->threads[ret->nr_threads];

		if (!t->insns)
			continue;
		*out = (struct decode_thread){ .pid = t->pid, .tid = t->tid,
					       .insns = t->insns };
		tasks_comm(tasks, t->pid, t->tid, out->comm);
		ret->nr_threads++;
	}
	sort(ret->threads, ret->nr_threads, sizeof(*ret->threads), by_thread);
	return 0;
}

/* Takes what f found over. */
static int report(struct decode_report *ret, struct flow *f, const struct tasks *tasks)
{
	int err = take_threads(ret, f, tasks);

	ret->errors = f->error;
	ret->nr_kinds = f->nr_errors;
	ret->missing = f->missing;
	ret->nr_missing = f->nr_missing;
	f->error = NULL;
	f->missing = NULL;
	for (size_t i = 0; i < ret->nr_kinds; i++)
		ret->errors[i].words = decode_words(ret->errors[i].code);
	sort(ret->errors, ret->nr_kinds, sizeof(*ret->errors), by_code);
	sort(ret->missing, ret->nr_missing, sizeof(*ret->missing), by_errors);
	for (size_t i = 0; i < ret->nr_queues; i++) {
		ret->insns += ret->queues[i].insns;
		ret->bytes += ret->queues[i].bytes;
		ret->skipped += ret->queues[i].skipped;
		ret->nr_errors += ret->queues[i].errors;
	}
	return err;
}

static int decode(struct decode_report *ret, const struct gather *g,
		  const struct fmt_reader *r, const struct decode_opts *o)
{
	struct flow_setup s = setup(g, r);
	struct flow f;
	int err = flow_new(&f, &s);

	if (err)
		return err;
	ret->timed = s.timed;
	ret->bytes = ret->skipped = g->queues.left_out;
	err = crew_run(ret, &g->queues, &f, o);
	if (!err)
		err = report(ret, &f, g->tasks);
	flow_done(&f);
	return err;
}

int decode_file(struct decode_report *ret, struct input *in, const struct decode_opts *o)
{
	struct gather g = { .queues = QUEUES_INIT };
	struct decode_report r = { 0 };
	int err = images_new(&g.images, in->dir, o->images);

	if (!err)
		images_beside(g.images, in->path);
	if (!err)
		err = tasks_new(&g.tasks);
	if (!err)
		err = gather(&g, in);
	r.has_aux = g.has_info;
	r.aux_type = g.aux_type;
	r.images = g.images;
	if (!err && g.is_pt)
		err = decode(&r, &g, &in->r, o);
	tasks_free(g.tasks);
	queues_done(&g.queues);
	if (err)
		decode_report_done(&r);
	else
		*ret = r;
	return err;
}

void decode_report_done(struct decode_report *r)
{
	free(r->queues);
	free(r->threads);
	free(r->errors);
	free(r->missing);
	images_free(r->images);
	*r = (struct decode_report){ 0 };
}

unsigned decode_share(const struct decode_report *r)
{
	double good = (double)(r->bytes - r->skipped);

	if (!r->skipped)
		return 10000;
	return r->skipped < r->bytes ? (unsigned)(good / (double)r->bytes * 10000) : 0;
}

bool decode_misfits(const struct decode_report *r)
{
	for (size_t i = 0; i < r->nr_kinds; i++)
		if (r->errors[i].code != pte_nomap)
			return true;
	return false;
}
