/* SPDX-License-Identifier: Apache-2.0 */
/* Times: the order of records, what each cpu covers, and TSC against ns. */
#include <errno.h>
#include <stdlib.h>

#include "format/abi.h"
#include "format/le.h"
#include "recorder/info_priv.h"

/* The kept marks: their times and places grow from the oldest to the newest. */
static const struct info_mark *mark(const struct info_order *o, uint64_t i)
{
	return &o->marks[i % INFO_LATE_MAX];
}

/* How many records back the first one stands that is newer than `time`. */
static void measure(struct info_order *o, uint64_t time)
{
	uint64_t lo = o->nr_marks > INFO_LATE_MAX ? o->nr_marks - INFO_LATE_MAX : 0;
	uint64_t oldest = lo, hi = o->nr_marks, mid, back;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (mark(o, mid)->time > time)
			hi = mid;
		else
			lo = mid + 1;
	}
	back = o->nr - mark(o, lo)->nr;
	if (back < o->worst_records)
		return;
	o->worst_records = back;
	o->worst_is_more = lo == oldest && oldest;
}

static int fold_order(struct info_order *o, uint64_t time)
{
	const struct info_mark *newest;
	uint64_t late;

	if (!o->marks)
		o->marks = calloc(INFO_LATE_MAX, sizeof(*o->marks));
	if (!o->marks)
		return -ENOMEM;
	newest = o->nr_marks ? mark(o, o->nr_marks - 1) : NULL;
	if (!newest || time > newest->time) {
		o->marks[o->nr_marks++ % INFO_LATE_MAX] =
			(struct info_mark){ .time = time, .nr = o->nr };
	} else if (time < newest->time) {
		o->late++;
		late = newest->time - time;
		if (late > o->worst_ns)
			o->worst_ns = late;
		measure(o, time);
	}
	o->nr++;
	return 0;
}

int info_time_fold(struct info *i, const struct info_kernel *k)
{
	uint64_t ns = k->when.time;

	if (!k->when.has_time || !k->real)
		return 0;
	if (k->cpu->time.known && ns < k->cpu->time.last_ns)
		k->cpu->late++;
	info_span_add(&k->cpu->time, ns);
	info_span_add(&i->time, ns);
	return fold_order(&i->order, ns);
}

/* perf_event_open(2), time_shift and time_mult: how they are to be used. */
static void set_conv(struct info_conv *c, const char *from)
{
	c->from = from;
	c->problem = NULL;
	if (!c->mult)
		c->problem = "mult is 0";
	else if (c->shift >= 64)
		c->problem = "shift is 64 or more";
}

void info_conv_from_pt(struct info *i, const struct fmt_pt_info *pt)
{
	i->conv = (struct info_conv){ .shift = pt->time_shift, .mult = pt->time_mult,
				      .zero = pt->time_zero };
	set_conv(&i->conv, "AUXTRACE_INFO");
	if (!pt->cap_user_time_zero)
		i->conv.problem = "the kernel gave none";
}

void info_conv_take(struct info *i, const struct fmt_rec *rec)
{
	if (rec->size < FMT_TIME_CONV_AT_ZERO + 8) {
		info_fault(i, rec->at, "a TIME_CONV record of %u bytes or more",
			   FMT_TIME_CONV_AT_ZERO + 8);
		return;
	}
	if (i->conv.from && !i->conv.problem)
		return;
	i->conv = (struct info_conv){
		.shift = le_get64(rec->p + FMT_TIME_CONV_AT_SHIFT),
		.mult = le_get64(rec->p + FMT_TIME_CONV_AT_MULT),
		.zero = le_get64(rec->p + FMT_TIME_CONV_AT_ZERO),
	};
	set_conv(&i->conv, "TIME_CONV");
}

bool info_conv_ns(const struct info_conv *c, uint64_t tsc, uint64_t *ret)
{
	uint64_t low;

	if (!c->from || c->problem)
		return false;
	low = tsc & ((UINT64_C(1) << c->shift) - 1);
	*ret = c->zero + (tsc >> c->shift) * c->mult + ((low * c->mult) >> c->shift);
	return true;
}

struct info_window info_window(const struct info *i, bool trace)
{
	struct info_window w = { 0 };

	for (size_t n = 0; n < i->cpus.nr; n++) {
		const struct info_cpu *c = rows_at(&i->cpus, n);
		const struct info_span *s = trace ? &c->trace : &c->time;

		if (c->key == INFO_NONE || !s->known)
			continue;
		if (!w.nr++)
			w.span = *s;
		if (s->first_ns > w.span.first_ns)
			w.span.first_ns = s->first_ns;
		if (s->last_ns < w.span.last_ns)
			w.span.last_ns = s->last_ns;
	}
	w.empty = w.nr && w.span.first_ns > w.span.last_ns;
	return w;
}
