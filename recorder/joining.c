/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cpus that leave and join while all tasks of them are recorded.
 *
 * One that went offline has its last bytes in its rings: they are written, then its place is
 * retired. One that came is opened like the others. Its ids must be in the file before any
 * record that has them: in the places that the attrs section left free, or, in a stream, in
 * HEADER_ATTR records that repeat the attrs. A cpu that returns keeps its queue.
 */
#include "recorder/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/explain.h"
#include "recorder/log.h"

enum {
	RETURNS = 2,	   /* how often each cpu may come back, on average */
	MOST_ROOM = 2048,  /* ids per event: 16 KiB of the file */
	THREADS_ROOM = 256, /* that may be started by command */
	TRIES = 40,	   /* rounds (10 s) until a cpu that is online must be ready */
};

static bool wanted(const struct session *s, int cpu)
{
	return !s->cfg->cpus.n || pio_cpus_has(&s->cfg->cpus, cpu);
}

size_t joining_room(const struct session *s)
{
	struct pio_cpus possible = { 0 };
	size_t n = s->plan.cpus.n, all = s->cfg->cpus.n, room;

	if (s->out.stream && !s->cfg->snapshot)
		return 0; /* there, each is told when it comes; a flight gathers them */
	if (!s->plan.cpus.n)
		return s->cfg->socket ? THREADS_ROOM : 0;
	if (!s->plan.system_wide)
		return 0;
	if (!all && !pio_cpus_possible(&possible, s->sys))
		all = possible.n;
	pio_cpus_done(&possible);
	if (all < n)
		all = n;
	room = all - n + RETURNS * all;
	return room < MOST_ROOM ? room : MOST_ROOM;
}

/* ---- a cpu leaves ---- */

int joining_write_last(struct session *s, size_t place)
{
	int err;

	if (s->flight.table) {
		err = flight_drain(s);
		return err ? err : flight_keep(s, place);
	}
	err = drain_round(s, true, false);
	if (err)
		return err;
	if (s->set.place[place].ring.overwrite)
		err = snapshot_area(s, place);
	closing_place_losses(s, place);
	if (!err)
		err = drain_put(s);
	return err ? drain_failed(s, err) : 0;
}

static bool leave(struct session *s)
{
	bool any = false;

	for (size_t i = 0; i < s->set.nr_place; i++) {
		struct pio_place *p = &s->set.place[i];

		if (!p->ring.meta || (pio_cpus_has(&s->hotplug.online, p->cpu) &&
				      !hotplug_went(&s->hotplug, p->cpu)))
			continue;
		if (joining_write_last(s, i))
			break;
		polling_remove_ring(s, i);
		trigger_leave(s, p->cpu);
		pio_evset_retire(&s->set, i);
		log_info("cpu %d went offline: what it had recorded is %s", p->cpu,
			 s->flight.table ? "kept" : "written");
		any = true;
	}
	return any;
}

/* ---- a cpu joins ---- */

static uint64_t id_on(const struct pio_event *e, size_t place)
{
	for (size_t k = 0; k < e->nr_fd; k++)
		if (e->fd[k].place == place)
			return e->fd[k].id;
	return 0;
}

/* A stream gets the attr again with the new id; a file has a place for it, which the copy of
 * the ids that becomes EVENT_DESC has, too. */
static int announce_id(struct session *s, size_t i, uint64_t id)
{
	struct fmt_event *e = &s->events[i], again = *e;
	int err;

	if (s->flight.table && !s->flight.begun) {
		if (!e->room)
			return -ENOSPC;
		((uint64_t *)(uintptr_t)e->ids)[e->nr_ids++] = id;
		e->room--;
		return 0;
	}
	if (s->out.stream) {
		again.ids = &id;
		again.nr_ids = 1;
		fmt_put_header_attr(&s->buf, &again);
		return fmt_put_event_name(&s->buf, id, e->name);
	}
	err = fmt_writer_add_id(&s->writer, i, id);
	if (err)
		return err;
	((uint64_t *)(uintptr_t)e->ids)[e->nr_ids++] = id;
	e->room--;
	return 0;
}

int joining_announce(struct session *s, size_t place)
{
	struct fmt_id ids[PLAN_MAX_EVENTS];
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < s->set.nr_ev && !err; i++) {
		if (s->set.ev[i].missing)
			continue;
		ids[n] = (struct fmt_id){ id_on(&s->set.ev[i], place), place,
					  s->set.place[place].cpu, s->set.place[place].tid };
		err = announce_id(s, n, ids[n].id);
		n++;
	}
	if (err || (s->flight.table && !s->flight.begun))
		return err;
	err = fmt_put_id_index(&s->buf, ids, n);
	return err ? err : drain_put(s);
}

int joining_switch_on(struct session *s, size_t place)
{
	int err = 0;

	for (size_t i = 0; i < s->set.nr_ev && s->enabled && !err; i++)
		if (s->plan.start_late[i] && !s->set.ev[i].missing)
			err = pio_evset_enable_place(&s->set, i, place);
	return err;
}

static void refuse(struct session *s, int cpu, int err, const char *what)
{
	s->ledger.unjoined++;
	log_err(err, "cpu %d came online and is not recorded: %s", cpu, what);
}

int joining_make_room(struct session *s)
{
	bool *p = realloc(s->stalled, (s->set.nr_place + 2) * sizeof(*p));
	struct flight_place *t;

	if (!p)
		return -ENOMEM;
	s->stalled = p;
	t = realloc(s->flight.place, (s->set.nr_place + 2) * sizeof(*t));
	if (!t)
		return -ENOMEM;
	s->flight.place = t;
	p[s->set.nr_place] = p[s->set.nr_place + 1] = false;
	return 0;
}

/* Was it opened, and is its place one of the set's now? */
static int open_cpu(struct session *s, int cpu)
{
	struct pio_fault why = { .call = "malloc", .cpu = cpu, .tid = -1 };
	int err = joining_make_room(s), place = err ? err : pio_evset_add_cpu(&s->set, cpu, &why);

	if (place == -ENODEV && s->join_tries++ < TRIES) {
		s->hotplug.again = true; /* online, and perf not yet ready for it */
	} else if (place < 0) {
		(void)explain_fault(&s->plan, &why, place);
		refuse(s, cpu, 0, "its events cannot be opened");
	}
	return place;
}

static bool join_cpu(struct session *s, int cpu)
{
	int err, place = open_cpu(s, cpu);

	if (place < 0)
		return false;
	s->join_tries = 0;
	err = joining_announce(s, (size_t)place);
	if (!err) {
		err = joining_switch_on(s, (size_t)place);
		if (!err)
			err = polling_add_ring(s, (size_t)place);
		if (!err) {
			trigger_join(s, cpu);
			log_info("cpu %d came online: it is recorded, too", cpu);
			return true;
		}
		refuse(s, cpu, err, "its events cannot be enabled");
	} else if (err == -ENOSPC && !s->writer.failed) {
		refuse(s, cpu, 0, "cpus have come back more often than the file has room for "
				  "their ids");
	} else {
		(void)drain_failed(s, err);
	}
	pio_evset_retire(&s->set, (size_t)place);
	return false;
}

static bool join(struct session *s)
{
	const struct pio_cpus *online = &s->hotplug.online;
	bool any = false;

	for (size_t i = 0; i < online->n && !s->write_err; i++)
		if (wanted(s, online->cpu[i]) &&
		    pio_evset_place_of(&s->set, online->cpu[i]) < 0)
			any |= join_cpu(s, online->cpu[i]);
	return any;
}

bool joining_look(struct session *s)
{
	bool any;

	if (!s->plan.system_wide || s->write_err || hotplug_look(&s->hotplug) <= 0)
		return false;
	any = leave(s);
	return join(s) || any;
}
