/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AUXTRACE_INFO: what a decoder is told of the trace, against the events and the records.
 *
 * The rules of Intel PT are those of tools/perf/util/intel-pt.c (Linux 6.1): what that
 * file refuses, or divides by 0 for, is damage; what it takes without time stamps is a
 * remark.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/abi.h"
#include "format/auxtrace.h"
#include "format/event.h"
#include "format/le.h"
#include "recorder/check_priv.h"

enum { BODY = 16 };				/* priv words begin here */
enum { BY_TRACEPOINT = 1, BY_SWITCH = 2, BY_CPU_WIDE = 3 }; /* have_sched_switch */

/* Words that a decoder of this kind of trace cannot do without. */
static unsigned least_words(uint32_t kind)
{
	switch (kind) {
	case FMT_AUXTRACE_INTEL_PT:
		return 10;
	case FMT_AUXTRACE_INTEL_BTS:
		return 6;
	case FMT_AUXTRACE_CS_ETM:
		return 3;
	case FMT_AUXTRACE_ARM_SPE:
		return 2;
	case FMT_AUXTRACE_S390_CPUMSF:
	case FMT_AUXTRACE_HISI_PTT:
		return 1;
	default:
		return 0;
	}
}

static bool is_snapshot(uint32_t kind, const uint8_t *words, size_t n)
{
	if (kind == FMT_AUXTRACE_INTEL_PT && n > 8)
		return le_get64(words + 8 * 8);
	if (kind == FMT_AUXTRACE_INTEL_BTS && n > 5)
		return le_get64(words + 5 * 8);
	return kind == FMT_AUXTRACE_CS_ETM && n > 2 && le_get64(words + 2 * 8);
}

void check_auxinfo(struct check *c, const struct check_rec *cr)
{
	const struct fmt_rec *rec = cr->rec;
	struct check_aux *a = &c->aux;
	char expected[CHECK_EXPECTED_MAX];
	size_t n;

	if (a->nr_info++) {
		check_find(c, CHECK_AUX_INFO, rec->at, "one of them in a file",
			   "another AUXTRACE_INFO record");
		return;
	}
	a->info_at = rec->at;
	a->kind = le_get32(rec->p + FMT_AUXTRACE_INFO_AT_TYPE);
	n = (rec->size - BODY) / 8u;
	if (n < least_words(a->kind)) {
		snprintf(expected, sizeof(expected), "%u or more", least_words(a->kind));
		check_find(c, CHECK_AUX_INFO, rec->at, expected,
			   "an AUXTRACE_INFO record with %zu words", n);
	}
	a->snapshot = is_snapshot(a->kind, rec->p + BODY, n);
	a->per_thread = a->kind == FMT_AUXTRACE_INTEL_PT && n > 9 &&
			!le_get64(rec->p + BODY + 9 * 8);
	a->info_size = rec->size < sizeof(a->info) ? rec->size : sizeof(a->info);
	memcpy(a->info, rec->p, a->info_size);
}

static uint64_t flags(const struct fmt_reader_event *e)
{
	return fmt_attr_flags(e->attr, e->attr_size);
}

static const struct fmt_reader_event *event_of_pmu(const struct fmt_reader *r,
						   uint64_t type)
{
	for (size_t i = 0; i < r->nr_events; i++)
		if (fmt_attr_type(r->events[i].attr, r->events[i].attr_size) == type)
			return &r->events[i];
	return NULL;
}

/* The first event without this bit of sample_type, or -1. */
static int lacks(const struct fmt_reader *r, uint64_t bit)
{
	for (size_t i = 0; i < r->nr_events; i++)
		if (!(fmt_attr_sample_type(r->events[i].attr, r->events[i].attr_size) &
		      bit))
			return (int)i;
	return -1;
}

static bool has_tracepoint(const struct fmt_reader *r)
{
	for (size_t i = 0; i < r->nr_events; i++)
		if (r->events[i].name && !strcmp(r->events[i].name, "sched:sched_switch"))
			return true;
	return false;
}

static bool has_context_switch(const struct fmt_reader *r)
{
	for (size_t i = 0; i < r->nr_events; i++)
		if (flags(&r->events[i]) & FMT_ATTR_F_CONTEXT_SWITCH)
			return true;
	return false;
}

/* Does the file have the switches that word 7 promises, and none of the other kind? */
static void switches(struct check *c, const struct fmt_pt_info *i)
{
	const struct check_aux *a = &c->aux;

	/* Names come last: without them the tracepoint cannot be told. */
	if (i->have_sched_switch == BY_TRACEPOINT && c->r->finished &&
	    !has_tracepoint(c->r))
		check_find(c, CHECK_AUX_INFO, a->info_at, "an event sched:sched_switch",
			   "have_sched_switch 1, switches by tracepoint");
	if (i->have_sched_switch == BY_SWITCH && !has_context_switch(c->r))
		check_find(c, CHECK_AUX_INFO, a->info_at, "an event with context_switch",
			   "have_sched_switch 2, SWITCH records");
	if (i->have_sched_switch == BY_CPU_WIDE && a->plain_at != CHECK_NOWHERE)
		check_find(c, CHECK_SWITCH_KIND, a->plain_at,
			   "SWITCH_CPU_WIDE, as AUXTRACE_INFO says", "a SWITCH record");
	if (i->have_sched_switch == BY_CPU_WIDE && a->nowhere_at != CHECK_NOWHERE)
		check_find(c, CHECK_SWITCH_KIND, a->nowhere_at,
			   "the cpu in it, as trace is by cpu",
			   "a SWITCH_CPU_WIDE record without one");
}

/* A TSC slower than 50 MHz and no ratio is a division by 0 in perf; so is mult 0 with a
 * conversion. */
static void conversion(struct check *c, const struct fmt_pt_info *i)
{
	uint64_t at = c->aux.info_at;

	if (i->time_shift > 63) {
		check_find(c, CHECK_AUX_INFO, at, "a time_shift below 64",
			   "time_shift %" PRIu64, i->time_shift);
		return;
	}
	if (i->time_mult && !i->max_nonturbo_ratio && i->time_shift < 32 &&
	    ((uint64_t)1 << i->time_shift) * UINT64_C(1000000000) / i->time_mult <
		    50000000)
		check_find(c, CHECK_AUX_INFO, at,
			   "a TSC of 50 MHz or more, or a max_nonturbo_ratio",
			   "time_mult %" PRIu64 ", time_shift %" PRIu64, i->time_mult,
			   i->time_shift);
	if (i->cap_user_time_zero && !i->time_mult)
		check_find(c, CHECK_AUX_INFO, at, "a time_mult, or no conversion",
			   "cap_user_time_zero with time_mult 0");
}

static void times(struct check *c, const struct fmt_pt_info *i,
		  const struct fmt_reader_event *pt)
{
	int event = lacks(c->r, FMT_SAMPLE_TIME);
	const char *why = NULL;

	if (!i->cap_user_time_zero)
		why = "no conversion of the TSC in AUXTRACE_INFO";
	else if (!i->tsc_bit || !(fmt_attr_config(pt->attr, pt->attr_size) & i->tsc_bit))
		why = "no TSC packets: the event's config lacks the bit";
	else if (event >= 0)
		why = "an event without TIME in its sample_type";
	if (why)
		check_find(c, CHECK_TIMELESS, c->aux.info_at,
			   "what ties trace to the records' time", "%s", why);
}

static void intel_pt(struct check *c)
{
	const struct check_aux *a = &c->aux;
	const struct fmt_reader_event *pt;
	struct fmt_pt_info i;

	if (fmt_get_pt_info(&i, a->info, a->info_size))
		return; /* too few words, and told so */
	pt = event_of_pmu(c->r, i.pmu_type);
	if (!pt) {
		check_find(c, CHECK_AUX_INFO, a->info_at, "an event of that type",
			   "trace of PMU type %" PRIu64, i.pmu_type);
		return;
	}
	if (!(flags(pt) & FMT_ATTR_F_SAMPLE_ID_ALL))
		check_find(c, CHECK_AUX_INFO, a->info_at, "sample_id_all, or no order",
			   "Intel PT trace with events without it");
	switches(c, &i);
	conversion(c, &i);
	times(c, &i, pt);
}

void check_auxinfo_end(struct check *c)
{
	const struct check_aux *a = &c->aux;

	if (!a->nr_info || a->info_size < BODY)
		return;
	if (!least_words(a->kind))
		check_find(c, CHECK_UNKNOWN_TYPE, a->info_at,
			   "a kind of trace that is known",
			   "AUXTRACE_INFO of kind %" PRIu32, a->kind);
	/* Recordings that were decoded keep the record, and nothing of the trace. */
	if (a->kind == FMT_AUXTRACE_INTEL_PT)
		intel_pt(c);
}
