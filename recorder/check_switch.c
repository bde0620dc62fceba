/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switch records of one event on one cpu: in and out take turns, and who goes out is who
 * came in. Where that fails, records are missing, and the trace up to the next switch is
 * given to the wrong thread.
 *
 * Who comes in should be who was named as the next; but there are machines where some
 * threads never have records of their own, so that is a remark.
 *
 * A record of -1 is of a task that is already gone (perf_event_pid_type(),
 * kernel/events/core.c), and a thread that executes a program takes its leader's number:
 * so the same process is enough.
 *
 * Where trace is one stream per thread, so are the switches: a software source may have left out
 * those of a thread while it stood still for its tracer, and others ran on the cpu.
 */
#include <inttypes.h>
#include <stdio.h>

#include "format/abi.h"
#include "format/le.h"
#include "recorder/check_priv.h"

enum { GONE = -1 };

static bool same(uint32_t pid, uint32_t tid, uint32_t other_pid, uint32_t other_tid)
{
	return tid == other_tid || pid == other_pid || tid == (uint32_t)GONE ||
	       other_tid == (uint32_t)GONE;
}

enum { OF_THREAD = 1u << 31 }; /* cpus have smaller numbers */

static bool by_thread(const struct check *c, const struct check_rec *cr)
{
	return c->aux.per_thread && cr->rec->type == FMT_REC_SWITCH;
}

static uint64_t breaks_of(struct check *c, uint32_t cpu)
{
	const struct check_cpu *row = check_map_find(&c->cpus, cpu);

	return row ? row->breaks : 0;
}

void check_switch_break(struct check *c, const struct check_rec *cr)
{
	struct check_cpu *row;

	c->breaks++;
	if (!cr->has_when || !cr->w.has_cpu)
		return;
	/* An EXIT ends a thread that is traced alone, and no switch tells of it. */
	if (cr->rec->type == FMT_REC_EXIT && c->aux.plain_at == CHECK_NOWHERE)
		return;
	row = check_row(c, &c->cpus, cr->w.cpu);
	if (row)
		row->breaks++;
}

static struct check_switch *source(struct check *c, const struct check_rec *cr)
{
	uint64_t key = by_thread(c, cr) ? cr->w.tid | (uint64_t)OF_THREAD << 32 :
					  cr->w.id ^ (uint64_t)cr->w.cpu << 40;
	uint64_t breaks = by_thread(c, cr) ? c->breaks : breaks_of(c, cr->w.cpu);
	struct check_switch *s = check_row(c, &c->switches, key);

	if (s && s->breaks != breaks) {
		s->breaks = breaks;
		s->known = false;
	}
	return s;
}

static void missing(struct check *c, enum check_kind k, const struct check_rec *cr,
		    const char *expected)
{
	bool out = cr->rec->misc & FMT_MISC_SWITCH_OUT;

	check_find(c, k, cr->rec->at, expected,
		   "thread %" PRIu32 " that comes %s cpu %" PRIu32, cr->w.tid,
		   out ? "off" : "onto", cr->w.cpu);
}

static void compare(struct check *c, const struct check_rec *cr,
		    const struct check_switch *s)
{
	bool out = cr->rec->misc & FMT_MISC_SWITCH_OUT;
	bool wide = cr->rec->type == FMT_REC_SWITCH_CPU_WIDE;
	char expected[CHECK_EXPECTED_MAX];

	if (out != s->in) {
		snprintf(expected, sizeof(expected),
			 s->in ? "thread %" PRIu32 " to leave first" :
				 "a thread to come first: %" PRIu32 " has left", s->tid);
		missing(c, CHECK_SWITCH_LOST, cr, expected);
	} else if (out && !same(cr->w.pid, cr->w.tid, s->pid, s->tid)) {
		snprintf(expected, sizeof(expected),
			 "thread %" PRIu32 ", which came last", s->tid);
		missing(c, CHECK_SWITCH_LOST, cr, expected);
	} else if (!out && wide &&
		   !same(cr->w.pid, cr->w.tid, s->next_pid, s->next_tid)) {
		snprintf(expected, sizeof(expected),
			 "thread %" PRIu32 ", named as the next", s->next_tid);
		missing(c, CHECK_SWITCH_GAP, cr, expected);
	}
}

void check_switch(struct check *c, const struct check_rec *cr)
{
	const struct fmt_rec *rec = cr->rec;
	bool wide = rec->type == FMT_REC_SWITCH_CPU_WIDE;
	struct check_switch *s;

	if (!wide && c->aux.plain_at == CHECK_NOWHERE)
		c->aux.plain_at = rec->at;
	if (wide && cr->has_when && !cr->w.has_cpu && c->aux.nowhere_at == CHECK_NOWHERE)
		c->aux.nowhere_at = rec->at;
	if (!cr->has_when || !cr->w.has_cpu || !cr->w.has_tid)
		return;
	s = source(c, cr);
	if (!s)
		return;
	if (s->known)
		compare(c, cr, s);
	s->known = true;
	s->in = !(rec->misc & FMT_MISC_SWITCH_OUT);
	s->pid = cr->w.pid;
	s->tid = cr->w.tid;
	if (wide) {
		s->next_pid = le_get32(rec->p + 8);
		s->next_tid = le_get32(rec->p + 12);
	}
}
