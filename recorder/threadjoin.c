/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/threadjoin.h"

#include <errno.h>
#include <string.h>

#include "perfio/proc.h"
#include "recorder/log.h"
#include "recorder/session.h"

static int possible(struct session *s)
{
	if (s->source.soft)
		return control_refuse(s, -EOPNOTSUPP, "the software source steps all threads of "
						      "its program");
	if (s->plan.cpus.n)
		return control_refuse(s, -EOPNOTSUPP, "threads cannot be started and stopped one "
						      "by one in a recording by cpu: only with "
						      "--per-thread");
	if (s->write_err)
		return control_refuse(s, s->write_err, "the output has failed");
	return 0;
}

/* The place it has, or had. */
static int place_of(const struct session *s, pid_t tid)
{
	for (size_t i = 0; i < s->set.nr_place; i++)
		if (s->set.place[i].tid == tid)
			return (int)i;
	return -ENOENT;
}

/* ---- stop ---- */

static void switch_off(struct session *s, size_t place)
{
	for (size_t i = 0; i < s->set.nr_ev; i++)
		if (pio_evset_disable_place(&s->set, i, place))
			log_debug("cannot disable '%s' of a thread", s->set.ev[i].name);
}

int threadjoin_stop(struct session *s, pid_t tid)
{
	int err = possible(s), place = place_of(s, tid);

	if (err)
		return err;
	if (place < 0)
		return control_refuse(s, -ENOENT, "thread %d is not recorded", (int)tid);
	if (!s->set.place[place].ring.meta)
		return 0;
	switch_off(s, (size_t)place);
	err = joining_write_last(s, (size_t)place);
	if (err)
		return control_refuse(s, err, "cannot write what thread %d had recorded: %s",
				      (int)tid, strerror(-err));
	polling_remove_ring(s, (size_t)place);
	pio_evset_retire(&s->set, (size_t)place);
	log_info("thread %d is no longer recorded", (int)tid);
	return 0;
}

/* ---- start ---- */

static bool fits(const struct session *s)
{
	const struct plan *p = &s->plan;
	uint64_t each = plan_bytes(p) / plan_rings(p), n = 1;

	for (size_t i = 0; i < s->set.nr_place; i++)
		n += s->set.place[i].ring.meta != NULL;
	return !s->cfg->max_total || n * each <= s->cfg->max_total;
}

static int open_it(struct session *s, pid_t tid)
{
	struct pio_fault why = { .call = "malloc" };
	struct pio_task task;
	int err = pio_proc_task(s->sys, tid, &task);

	if (err)
		return control_refuse(s, -ESRCH, "there is no thread %d", (int)tid);
	if (!fits(s))
		return control_refuse(s, -ENOSPC, "the rings of another thread go beyond "
						  "--max-total-buffer");
	err = joining_make_room(s);
	if (!err)
		err = pio_evset_add_thread(&s->set, tid, &why);
	if (err < 0)
		return control_refuse(s, err, "cannot record thread %d: %s: %s", (int)tid,
				      why.call, strerror(-err));
	return err;
}

static int flush(void *ctx, struct fmt_buf *records)
{
	struct session *s = ctx;
	int err = 0;

	if (s->flight.table)
		return tasktable_add_all(s->flight.table, records);
	if (s->rotation.table)
		err = tasktable_add_all(s->rotation.table, records);
	return err ? err : fmt_writer_put(&s->writer, records);
}

/* Its task, and the mappings of its process, as when the recording began. */
static int tell(struct session *s, pid_t tid)
{
	struct sideband_result found = { 0 };
	const struct sideband_want want = {
		.tids = &tid,
		.nr_tids = 1,
		.flush = flush,
		.ctx = s,
		.fileids = s->fileids,
		.dsos = s->flight.table ? NULL : s->dsos,
	};

	return sideband_synth(s->sys, &want, &found);
}

static int join(struct session *s, pid_t tid, size_t place)
{
	int err = joining_announce(s, place);

	if (!err)
		err = tell(s, tid);
	if (!err)
		err = joining_switch_on(s, place);
	if (!err)
		err = polling_add_ring(s, place);
	if (!err)
		return 0;
	pio_evset_retire(&s->set, place);
	if (err == -ENOSPC && !s->writer.failed)
		return control_refuse(s, err, "the file has no room for the ids of more threads");
	if (s->writer.failed)
		(void)drain_failed(s, err);
	return control_refuse(s, err, "cannot record thread %d: %s", (int)tid, strerror(-err));
}

int threadjoin_start(struct session *s, pid_t tid)
{
	int err = possible(s), place = place_of(s, tid);

	if (err)
		return err;
	if (place >= 0 && s->set.place[place].ring.meta)
		return 0;
	place = open_it(s, tid);
	if (place < 0)
		return place;
	err = join(s, tid, (size_t)place);
	if (!err)
		log_info("thread %d is recorded, too", (int)tid);
	return err;
}
