/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracepoints and probes that trigger: events on what is recorded, each hit of which wakes us
 * (wakeup_events 1). Their rings are small; what finds no room is a hit among many.
 */
#include "recorder/trigger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/abi.h"
#include "format/le.h"
#include "perfio/tracefs.h"
#include "recorder/cmd.h"
#include "recorder/explain.h"
#include "recorder/log.h"
#include "recorder/ringwalk.h"
#include "recorder/session.h"

enum {
	/* A sample of PIO_SAMPLE_TYPE and RAW: id, ip, pid and tid, time, cpu, size, data. */
	SAMPLE_AT_ID = 8,
	SAMPLE_AT_PID = 24,
	SAMPLE_AT_TIME = 32,
	SAMPLE_AT_RAW = 52,
	RAW_SIG_AT = 8,	 /* of signal:signal_deliver, behind the fields that all have */
	SAMPLE_MIN = SAMPLE_AT_RAW + RAW_SIG_AT + 4,
};

/* Signals whose default is to end the process; SIGKILL has no handler either. */
#define FATAL_SIGNALS                                                                            \
	"sa_handler == 0 && sig != 17 && sig != 18 && sig != 19 && sig != 20 && sig != 21 && "  \
	"sig != 22 && sig != 23 && sig != 28"

static int add(struct session *s, const char *system, const char *name, const char *filter)
{
	struct trigger *t = &s->trigger;
	struct pio_attr_common c = plan_attr_common(&s->plan, true);
	struct pio_event *e = &t->ev[t->nr_ev];
	struct pio_tracepoint p;
	int err = pio_tracepoint_load(&p, s->sys, system, name);

	if (err)
		return err;
	*e = (struct pio_event){ .attr = pio_attr_tracepoint(&c, p.id), .filter = filter };
	e->attr.watermark = 0;
	e->attr.wakeup_events = 1;
	pio_tracepoint_done(&p);
	if (asprintf(&t->name[t->nr_ev], "%s:%s", system, name) < 0)
		return -ENOMEM;
	e->name = t->name[t->nr_ev++];
	return 0;
}

static int add_asked(struct session *s)
{
	int err;

	for (size_t i = 0; i < s->cfg->nr_trigger_events; i++) {
		const struct event_arg *a = &s->cfg->trigger_events[i];

		err = add(s, a->head, a->body, a->filter);
		if (err == -ENOMEM)
			return explain_no_memory();
		if (err)
			return explain_tracepoint(a, err);
	}
	return 0;
}

/* A crash is known by the process's status, but for a process that is not our child, whose
 * parent may have taken it: then by the signal. Where the tracepoint is not to be had, the
 * status must do. */
static int add_fatal(struct session *s)
{
	struct trigger *t = &s->trigger;

	if (!(s->cfg->triggers & TRIGGER_CRASH) || !t->nr_process || t->process[0].pidfd < 0)
		return 0;
	if (add(s, "signal", "signal_deliver", FATAL_SIGNALS))
		return 0;
	t->fatal = t->nr_ev;
	t->ev[t->fatal - 1].optional = true;
	return 0;
}

int trigger_hit_setup(struct session *s)
{
	struct trigger *t = &s->trigger;
	struct pio_target target = opening_target(s);
	struct pio_fault why = { .call = "malloc" };
	size_t most = s->cfg->nr_trigger_events + 1;
	int err;

	t->ev = calloc(most, sizeof(*t->ev));
	t->name = calloc(most, sizeof(*t->name));
	if (!t->ev || !t->name)
		return explain_no_memory();
	err = add_asked(s);
	if (!err)
		err = add_fatal(s);
	if (err || !t->nr_ev)
		return err;
	target.data_len = s->plan.limits.page;
	target.aux_len = target.newest_len = 0;
	err = pio_evset_open(&t->set, s->sys, t->ev, t->nr_ev, &target, &why);
	if (!err)
		return 0;
	if (t->nr_ev == 1 && t->fatal) {
		t->fatal = 0; /* it was only wanted in addition */
		return 0;
	}
	log_err(0, "--trigger:");
	return explain_fault(&s->plan, &why, err);
}

/* ---- waiting ---- */

static void ready(void *ctx, int fd, uint32_t events)
{
	struct session *s = ctx;

	s->trigger.ready |= !polling_hung_up(s, fd, events);
}

/* What was there before we waited wakes nobody: adding takes the ring's one word of it. */
int trigger_hit_watch(struct session *s)
{
	s->trigger.ready = s->trigger.set.nr_place;
	return polling_add_set(s, &s->trigger.set, POLLING_EVERYWHERE, ready);
}

/* ---- hits ---- */

static const struct pio_event *event_of(const struct trigger *t, uint64_t id)
{
	for (size_t i = 0; i < t->nr_ev; i++)
		for (size_t k = 0; k < t->ev[i].nr_fd; k++)
			if (t->ev[i].fd[k].id == id)
				return &t->ev[i];
	return NULL;
}

static void hit(struct session *s, const uint8_t *rec)
{
	struct trigger *t = &s->trigger;
	const struct pio_event *e = event_of(t, le_get(rec + SAMPLE_AT_ID, 8));
	pid_t pid = (pid_t)le_get32(rec + SAMPLE_AT_PID);

	if (!e)
		return;
	if (t->fatal && e == &t->ev[t->fatal - 1])
		trigger_end_fatal(s, pid, (int)le_get32(rec + SAMPLE_AT_RAW + RAW_SIG_AT));
	else
		trigger_pull(s, le_get(rec + SAMPLE_AT_TIME, 8), "%s in process %d", e->name,
			     (int)pid);
}

static void look_at(struct session *s, struct pio_ring *r)
{
	static struct ringwalk w;
	struct iovec v[2];
	const uint8_t *rec;
	size_t size;

	ringwalk_begin(&w, v, pio_ring_peek(r, v));
	for (size_t pos = 0; pos < w.total; pos += size) {
		size = ringwalk_size(&w, pos);
		if (!size)
			break;
		rec = ringwalk_whole(&w, pos, size);
		if (le_get32(rec) == FMT_REC_SAMPLE && size >= SAMPLE_MIN)
			hit(s, rec);
		else if (le_get32(rec) == FMT_REC_LOST && size >= FMT_LOST_AT_LOST + 8)
			s->trigger.merged += le_get(rec + FMT_LOST_AT_LOST, 8);
	}
	if (pio_ring_pending(r))
		pio_ring_release(r);
}

void trigger_hit_look(struct session *s)
{
	struct trigger *t = &s->trigger;

	if (!t->ready)
		return;
	t->ready = false;
	for (size_t i = 0; i < t->set.nr_place; i++)
		look_at(s, &t->set.place[i].ring);
}

/* ---- cpus ---- */

void trigger_join(struct session *s, int cpu)
{
	struct trigger *t = &s->trigger;
	struct pio_fault why;
	int err = 0, place = t->set.nr_place ? pio_evset_add_cpu(&t->set, cpu, &why) : 0;

	if (!t->set.nr_place)
		return;
	for (size_t i = 0; i < t->nr_ev && place >= 0 && !err; i++)
		if (!t->ev[i].missing)
			err = pio_evset_enable_place(&t->set, i, (size_t)place);
	if (place >= 0 && !err)
		err = polling_add_set(s, &t->set, (size_t)place, ready);
	if (place < 0 || err)
		log_err(place < 0 ? place : err, "nothing on cpu %d will trigger", cpu);
}

void trigger_leave(struct session *s, int cpu)
{
	struct trigger *t = &s->trigger;
	int place = t->set.nr_place ? pio_evset_place_of(&t->set, cpu) : -ENOENT;

	if (place < 0)
		return;
	look_at(s, &t->set.place[place].ring);
	polling_remove_set(s, &t->set, (size_t)place);
	pio_evset_retire(&t->set, (size_t)place);
}
