/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/stopped.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "perfio/tracefs.h"
#include "recorder/log.h"
#include "recorder/ringwalk.h"
#include "recorder/session.h"

enum {
	LISTED_TASKS = 64,	/* in a filter; of more, only the range */
	LISTED_BYTES = 24,	/* " || pid == 2147483647" */
	HALTS_LEN = 64 << 10,	/* forks and exits between two looks: some 700 */
};

/* As the tracepoint has it: TASK_STOPPED 4, TASK_TRACED 8 (include/linux/sched.h); the same in
 * all of Linux 4.14 to 6.18. */
#define HALTED "prev_state == 4 || prev_state == 8"

/* ---- the tasks ---- */

int stopped_add_task(struct stopped *st, pid_t tid)
{
	pid_t *grown;

	for (size_t i = 0; i < st->nr_tid; i++)
		if (st->tid[i] == tid)
			return 0;
	if (st->nr_tid == st->cap_tid) {
		grown = realloc(st->tid, (st->cap_tid * 2 + 16) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		st->tid = grown;
		st->cap_tid = st->cap_tid * 2 + 16;
	}
	st->tid[st->nr_tid++] = tid;
	st->changed = true;
	return 0;
}

void stopped_remove_task(struct stopped *st, pid_t tid)
{
	for (size_t i = 0; i < st->nr_tid; i++)
		if (st->tid[i] == tid) {
			st->tid[i] = st->tid[--st->nr_tid];
			return;
		}
}

static char *range(const struct stopped *st)
{
	pid_t low = st->tid[0], high = low;
	char *s;

	for (size_t i = 1; i < st->nr_tid; i++) {
		low = st->tid[i] < low ? st->tid[i] : low;
		high = st->tid[i] > high ? st->tid[i] : high;
	}
	return asprintf(&s, "pid >= %d && pid <= %d", (int)low, (int)high) < 0 ? NULL : s;
}

char *stopped_filter(const struct stopped *st)
{
	size_t size = st->nr_tid * LISTED_BYTES + 1, n = 0;
	char *s;

	if (st->nr_tid > LISTED_TASKS)
		return range(st);
	s = malloc(size);
	if (!s)
		return NULL;
	s[0] = '\0';
	for (size_t i = 0; i < st->nr_tid; i++)
		n += (size_t)snprintf(s + n, size - n, "%spid == %d", i ? " || " : "",
				      (int)st->tid[i]);
	return s;
}

/* ---- opening ---- */

static int tracepoint(const struct session *s, const char *name, uint64_t *ret)
{
	struct pio_tracepoint p;
	int err = pio_tracepoint_load(&p, s->sys, "sched", name);

	if (err)
		return err;
	*ret = p.id;
	pio_tracepoint_done(&p);
	return 0;
}

/* From now on, with the children to come. A hit wakes us; tasks do when there are many. */
static int open_halts(struct session *s)
{
	struct stopped *st = &s->stopped;
	const struct pio_attr_common c = { .clockid = -1, .inherit = true,
					   .watermark = HALTS_LEN / 2 };
	struct pio_target t = { .cpus = st->cpus, .tids = st->tid, .nr_tids = st->nr_tid,
				.data_len = HALTS_LEN };
	struct perf_event_attr *task = &st->halt_ev[STOPPED_TASKS].attr,
			       *halt = &st->halt_ev[STOPPED_SWITCH].attr;
	struct pio_fault why;

	*task = pio_attr_switch(&c);
	task->context_switch = 0;
	task->task = 1;
	*halt = pio_attr_tracepoint(&c, st->switch_id);
	halt->watermark = 0;
	halt->wakeup_events = 1;
	task->disabled = halt->disabled = 0;
	st->halt_ev[STOPPED_TASKS].name = "tasks";
	st->halt_ev[STOPPED_SWITCH].name = "sched:sched_switch";
	st->halt_ev[STOPPED_SWITCH].filter = HALTED;
	return pio_evset_open(&st->halts, s->sys, st->halt_ev, STOPPED_HALTS, &t, &why);
}

/* A filter cannot be changed, only given: others need other events. */
static int open_wakes(struct session *s)
{
	struct stopped *st = &s->stopped;
	const struct pio_attr_common c = { .clockid = -1 };
	struct pio_target t = { .cpus = st->cpus, .data_len = s->plan.limits.page };
	struct pio_fault why;
	int err;

	free(st->filter);
	st->filter = stopped_filter(st);
	if (!st->filter)
		return -ENOMEM;
	st->wake_ev[0] = (struct pio_event){
		.attr = pio_attr_tracepoint(&c, st->waking_id),
		.name = "sched:sched_waking",
		.filter = st->filter,
	};
	st->wake_ev[0].attr.watermark = 0;
	st->wake_ev[0].attr.wakeup_events = 1;
	err = pio_evset_open(&st->wakes, s->sys, st->wake_ev, 1, &t, &why);
	st->changed = err != 0;
	return err;
}

int stopped_open(struct session *s)
{
	struct stopped *st = &s->stopped;
	int err = pio_cpus_online(&st->cpus, s->sys);

	if (!err)
		err = tracepoint(s, "sched_switch", &st->switch_id);
	if (!err)
		err = tracepoint(s, "sched_waking", &st->waking_id);
	if (!err)
		err = open_wakes(s);
	return err ? err : open_halts(s);
}

void stopped_close(struct session *s)
{
	struct stopped *st = &s->stopped;

	pio_evset_done(&st->halts);
	pio_evset_done(&st->wakes);
	pio_cpus_done(&st->cpus);
	free(st->filter);
	st->filter = NULL;
}

/* ---- records ---- */

static void see(struct stopped *st, const uint8_t *rec, size_t size, bool *hit)
{
	switch (le_get32(rec)) {
	case FMT_REC_SAMPLE:
		*hit = true;
		break;
	case FMT_REC_LOST:
		st->lost = true;
		break;
	case FMT_REC_FORK:
		if (size >= FMT_TASK_AT_PTID &&
		    stopped_add_task(st, (pid_t)le_get32(rec + FMT_TASK_AT_TID)))
			st->lost = true;
		break;
	case FMT_REC_EXIT:
		if (size >= FMT_TASK_AT_PTID)
			stopped_remove_task(st, (pid_t)le_get32(rec + FMT_TASK_AT_TID));
		break;
	}
}

static bool read_set(struct stopped *st, struct pio_evset *set)
{
	static struct ringwalk w;
	bool hit = false;

	for (size_t i = 0; i < set->nr_place; i++) {
		struct pio_ring *r = &set->place[i].ring;
		struct iovec v[2];
		size_t size;

		ringwalk_begin(&w, v, pio_ring_peek(r, v));
		for (size_t pos = 0; pos < w.total; pos += size) {
			size = ringwalk_size(&w, pos);
			if (!size)
				break;
			see(st, ringwalk_whole(&w, pos, size), size, &hit);
		}
		if (pio_ring_pending(r))
			pio_ring_release(r);
	}
	return hit;
}

bool stopped_read_halts(struct session *s)
{
	return read_set(&s->stopped, &s->stopped.halts);
}

/* One that is lost was one. */
bool stopped_read_wakes(struct session *s)
{
	bool was = s->stopped.lost, hit = read_set(&s->stopped, &s->stopped.wakes);

	hit |= s->stopped.lost != was;
	s->stopped.lost = was;
	return hit;
}

static void woken(void *ctx, int fd, uint32_t events)
{
	struct session *s = ctx;

	s->stopped.ready |= !polling_hung_up(s, fd, events);
}

int stopped_wakes_on(struct session *s)
{
	struct stopped *st = &s->stopped;
	int err = 0;

	if (st->waking && !st->changed)
		return 0;
	if (st->changed) {
		polling_remove_set(s, &st->wakes, POLLING_EVERYWHERE);
		pio_evset_done(&st->wakes);
		err = open_wakes(s);
		if (!err)
			err = polling_add_set(s, &st->wakes, POLLING_EVERYWHERE, woken);
	}
	(void)stopped_read_wakes(s);
	if (!err)
		err = pio_evset_enable(&st->wakes, 0);
	st->waking = !err;
	return err;
}

void stopped_wakes_off(struct session *s)
{
	if (s->stopped.waking && pio_evset_disable(&s->stopped.wakes, 0))
		log_debug("cannot stop 'sched:sched_waking'");
	s->stopped.waking = false;
}

int stopped_watch(struct session *s)
{
	struct stopped *st = &s->stopped;
	int err = 0;

	if (st->how == STOPPED_UNWATCHED)
		return 0;
	st->ready = true; /* it may be stopped already */
	if (st->how == STOPPED_EVENTS)
		err = polling_add_set(s, &st->halts, POLLING_EVERYWHERE, woken);
	if (!err && st->how == STOPPED_EVENTS)
		err = polling_add_set(s, &st->wakes, POLLING_EVERYWHERE, woken);
	return err;
}
