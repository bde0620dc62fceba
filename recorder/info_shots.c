/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots: of each cpu (thread), since when there is trace up to the moment when it was
 * frozen, and since when there are switches with it.
 *
 * A snapshot are the AUXTRACE records that follow each other without a switch between them. The
 * switches behind them, up to the next ones, are theirs (auxrec); or all that are in the
 * file, where there are some before the first AUXTRACE record (perf).
 */
#include <errno.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/ptcut.h"
#include "recorder/info_priv.h"

enum { ALL = 0 }; /* in place of a snapshot's number: rows of the whole file */

static uint64_t key(uint32_t nr, uint32_t cpu, uint32_t tid)
{
	uint64_t who = cpu != INFO_NONE ? cpu : UINT64_C(1) << 32 | tid;

	return (uint64_t)nr << 33 | who;
}

int info_shots_take_trace(struct info *i, const struct fmt_rec *rec)
{
	struct info_shots *t = &i->shots;
	uint32_t cpu = le_get32(rec->p + FMT_AUXTRACE_AT_CPU);
	uint32_t tid = le_get32(rec->p + FMT_AUXTRACE_AT_TID);
	struct iovec v = { (uint8_t *)(uintptr_t)rec->payload, rec->payload_len };
	struct info_shot *s;

	if (!i->aux.snapshot)
		return 0;
	if (!t->nr || t->switched || rows_find(&t->rows, key(t->nr, cpu, tid)))
		t->nr++;
	t->switched = false;
	s = rows_get(&t->rows, key(t->nr, cpu, tid));
	if (!s)
		return -ENOMEM;
	if (s->key == ROWS_REST)
		return 0;
	s->nr = t->nr;
	s->cpu = cpu;
	s->tid = tid;
	s->bytes = rec->payload_len;
	s->frozen_tsc = le_get64(rec->p + FMT_AUXTRACE_AT_REFERENCE);
	s->pause_ns = le_get32(rec->p + FMT_AUXTRACE_AT_PAUSE);
	s->has_tsc = i->aux.has_info && i->aux.type == FMT_AUXTRACE_INTEL_PT &&
		     fmt_pt_begin(&v, 1, &s->begin_tsc);
	return 0;
}

static bool is_switch(uint32_t type)
{
	return type == FMT_REC_SWITCH || type == FMT_REC_SWITCH_CPU_WIDE;
}

/* Of the snapshot at hand only those rows that have trace. */
static int add(struct info_shots *t, uint32_t cpu, uint32_t tid, uint64_t ns)
{
	struct info_shot *s = t->throughout ? rows_get(&t->rows, key(ALL, cpu, tid)) :
					      rows_find(&t->rows, key(t->nr, cpu, tid));

	if (s && s->key != ROWS_REST)
		info_span_add(&s->switches, ns);
	return s || !t->throughout ? 0 : -ENOMEM;
}

int info_shots_fold(struct info *i, const struct info_kernel *k)
{
	struct info_shots *t = &i->shots;
	const struct fmt_when *w = &k->when;
	int err = 0;

	if (!i->aux.snapshot || !k->real || !w->has_time || !is_switch(k->rec->type))
		return 0;
	t->switched = true;
	t->throughout = t->throughout || !t->nr;
	if (w->has_cpu)
		err = add(t, w->cpu, 0, w->time);
	if (!err && w->has_tid)
		err = add(t, INFO_NONE, w->tid, w->time);
	return err;
}

struct info_shot_spans info_shot_spans(const struct info *i, const struct info_shot *s)
{
	const struct info_shot *all = rows_find(&i->shots.rows, key(ALL, s->cpu, s->tid));
	struct info_shot_spans r = { .switches = all ? all->switches : s->switches };
	uint64_t frozen, begin;

	if (!s->frozen_tsc || !info_conv_ns(&i->conv, s->frozen_tsc, &frozen))
		return r;
	info_span_add(&r.frozen, frozen);
	begin = s->frozen_tsc - fmt_pt_ago(s->frozen_tsc, s->begin_tsc);
	if (!s->has_tsc || !info_conv_ns(&i->conv, begin, &begin))
		return r;
	r.trace = (struct info_span){ true, begin, frozen };
	if (!r.switches.known || r.switches.first_ns > frozen)
		return r;
	if (r.switches.first_ns > begin)
		begin = r.switches.first_ns;
	r.both = (struct info_span){ true, begin, frozen };
	return r;
}
