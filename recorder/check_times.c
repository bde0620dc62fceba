/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order by time. A reader holds records back until a round mark: at mark k it hands out
 * what is not newer than the newest record before mark k - 1. What comes later and is
 * older than that has missed its place.
 *
 * Without marks a reader must hold everything back, and what matters is how far apart the
 * records are that stand in the wrong order.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format/abi.h"
#include "format/event.h"
#include "recorder/check_priv.h"
#include "recorder/eventterm.h"

enum { PEAKS = 4096 };

/* A record that was newer than all before it. */
struct check_peak {
	uint64_t time, n;
};

static void older(struct check_times *t, uint64_t time)
{
	size_t have = t->nr_peaks < PEAKS ? t->nr_peaks : PEAKS;
	size_t lo = t->nr_peaks - have, hi = t->nr_peaks, mid;

	t->late++;
	if (t->newest - time > t->worst_ns)
		t->worst_ns = t->newest - time;
	/* The first that is newer; the ring keeps the last of them, in order. */
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->peaks[mid % PEAKS].time <= time)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (t->n - t->peaks[lo % PEAKS].n > t->worst_apart)
		t->worst_apart = t->n - t->peaks[lo % PEAKS].n;
}

static void before_rounds(struct check *c, uint64_t time)
{
	struct check_times *t = &c->times;

	if (!t->peaks) {
		t->peaks = malloc(PEAKS * sizeof(*t->peaks));
		if (!t->peaks) {
			c->err = -ENOMEM;
			return;
		}
	}
	t->n++;
	if (time >= t->newest)
		t->peaks[t->nr_peaks++ % PEAKS] = (struct check_peak){ time, t->n };
	else
		older(t, time);
}

/* In rings per thread a cpu's records come thread by thread. */
static bool per_thread(struct check *c, uint64_t id)
{
	const struct check_id *i = check_map_find(&c->ids, id);

	return i && i->cpu == UINT64_MAX;
}

/* What a software source tells stands before or behind the records of all rings of its round. */
static bool by_software(const struct check *c, uint32_t type)
{
	const uint64_t types = UINT64_C(1) << FMT_REC_SWITCH |
			       UINT64_C(1) << FMT_REC_SWITCH_CPU_WIDE |
			       UINT64_C(1) << FMT_REC_AUX | UINT64_C(1) << FMT_REC_ITRACE_START;

	if (type >= 64 || !(types >> type & 1))
		return false;
	for (size_t i = 0; i < c->r->nr_events; i++)
		if (c->r->events[i].name && eventterm_in(c->r->events[i].name, "soft"))
			return true;
	return false;
}

static void of_cpu(struct check *c, const struct check_rec *cr)
{
	struct check_times *t = &c->times;
	struct check_cpu *cpu;

	if (!cr->w.has_cpu || per_thread(c, cr->w.id) || by_software(c, cr->rec->type))
		return;
	cpu = check_row(c, &c->cpus, cr->w.cpu);
	if (!cpu)
		return;
	if (cr->w.time < cpu->last_time) {
		if (!t->back++) {
			t->back_at = cr->rec->at;
			t->back_cpu = cr->w.cpu;
		}
		if (cpu->last_time - cr->w.time > t->worst_back)
			t->worst_back = cpu->last_time - cr->w.time;
	} else {
		cpu->last_time = cr->w.time;
	}
}

static void of_samples(struct check_times *t, uint64_t time)
{
	if (!t->first_sample || time < t->first_sample)
		t->first_sample = time;
	if (time > t->last_sample)
		t->last_sample = time;
}

void check_time(struct check *c, const struct check_rec *cr)
{
	struct check_times *t = &c->times;
	uint64_t time = cr->w.time;
	char type[24];

	/* 0 is "made by the recorder": handed out at once. */
	if (!cr->has_when || !cr->w.has_time || !time)
		return;
	if (cr->rec->type == FMT_REC_SAMPLE)
		of_samples(t, time);
	of_cpu(c, cr);
	if (c->part)
		return; /* no marks there: all parts are merged by time */
	if (!t->rounds)
		before_rounds(c, time);
	else if (time < t->limit)
		check_find(c, CHECK_LATE, cr->rec->at,
			   "nothing older than what was before the last round but one",
			   "a record %s %" PRIu64 " ns too late",
			   check_type(cr->rec->type, type), t->limit - time);
	if (time > t->newest)
		t->newest = time;
}

void check_round(struct check *c)
{
	struct check_times *t = &c->times;

	t->rounds++;
	t->limit = t->round_newest;
	t->round_newest = t->newest;
}

/* A ring that is written backwards has its newest record first. */
static bool backward(const struct fmt_reader *r)
{
	for (size_t i = 0; i < r->nr_events; i++)
		if (fmt_attr_flags(r->events[i].attr, r->events[i].attr_size) &
		    FMT_ATTR_F_WRITE_BACKWARD)
			return true;
	return false;
}

void check_times_end(struct check *c)
{
	const struct check_times *t = &c->times;

	if (!t->rounds && t->late)
		check_find(c, CHECK_UNSORTED, CHECK_NOWHERE,
			   "FINISHED_ROUND records, or readers keep all in memory",
			   "%" PRIu64 " records out of order, up to %" PRIu64
			   " ns and %" PRIu64 " records apart",
			   t->late, t->worst_ns, t->worst_apart);
	if (t->rounds && t->back && !backward(c->r)) {
		check_find(c, CHECK_BACKWARDS, t->back_at, "times that rise on each cpu",
			   "records of cpu %" PRIu64
			   " that are older than the one before, by "
			   "up to %" PRIu64 " ns",
			   t->back_cpu, t->worst_back);
		c->rep->found[CHECK_BACKWARDS].n = t->back;
	}
}

void check_times_done(struct check_times *t)
{
	free(t->peaks);
	t->peaks = NULL;
}
