/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/rotation.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "format/record.h"
#include "recorder/log.h"
#include "recorder/session.h"
#include "recorder/units.h"

int rotation_setup(struct session *s)
{
	int err = 0;

	if (s->cfg->rotate || s->cfg->max_snapshots)
		err = fileset_init(&s->files, s->cfg->output,
				   (size_t)(s->cfg->rotate ? s->cfg->max_files
							   : s->cfg->max_snapshots));
	if (!err && s->cfg->rotate)
		err = tasktable_new(&s->rotation.table, FLIGHT_TABLE_LIMIT);
	return err;
}

void rotation_done(struct session *s)
{
	tasktable_free(s->rotation.table);
	fileset_done(&s->files);
	s->rotation = (struct rotation){ 0 };
}

void rotation_begun(struct session *s)
{
	s->rotation.began_ns = session_now();
	s->rotation.head = s->writer.pos;
}

void rotation_finished(struct session *s)
{
	struct rotation *r = &s->rotation;
	uint64_t aux = ledger_sum(&s->ledger).aux_bytes;
	char bytes[16], trace[16];

	if (!r->table)
		return;
	log_debug("'%s': %s, %llu records, %s AUX", s->out.name,
		  units_bytes(s->writer.pos, bytes),
		  (unsigned long long)(s->ledger.records - r->records),
		  units_bytes(aux - r->aux_bytes, trace));
	r->records = s->ledger.records;
	r->aux_bytes = aux;
}

/* ---- when ---- */

/* A file whose head alone is as large as asked for still takes as much of the recording. */
static bool is_full(const struct session *s)
{
	uint64_t pos = s->writer.pos, head = s->rotation.head;

	return s->cfg->rotate_size && pos >= s->cfg->rotate_size && pos - head >= head;
}

static bool is_old(const struct session *s)
{
	return s->cfg->rotate_ns && session_now() - s->rotation.began_ns >= s->cfg->rotate_ns;
}

/* What has been written and is there. */
static uint64_t bytes_there(const struct session *s)
{
	return recfile_bytes(s) - s->files.removed_bytes;
}

static bool too_long(const struct session *s)
{
	return s->cfg->max_time_ns && s->on_ns &&
	       session_now() - s->on_ns >= s->cfg->max_time_ns;
}

bool rotation_over(struct session *s)
{
	struct rotation *r = &s->rotation;
	char buf[16];

	if (r->ended)
		return true;
	if (s->cfg->max_size && bytes_there(s) >= s->cfg->max_size) {
		log_info("the recording ends: %s are written (--max-size)",
			 units_bytes(bytes_there(s), buf));
		r->ended = true;
	} else if (too_long(s)) {
		log_info("the recording ends: %s are over (--max-time)",
			 units_time(session_now() - s->on_ns, buf));
		r->ended = true;
	}
	return r->ended;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int rotation_wait(const struct session *s, int ms)
{
	uint64_t now = session_now(), at = UINT64_MAX, left;

	if (s->cfg->max_time_ns && s->on_ns)
		at = s->on_ns + s->cfg->max_time_ns;
	if (s->rotation.table && s->cfg->rotate_ns)
		at = min_u64(at, s->rotation.began_ns + s->cfg->rotate_ns);
	if (at == UINT64_MAX)
		return ms;
	left = at > now ? min_u64((at - now + 999999) / 1000000, INT_MAX) : 0;
	return ms < 0 || left < (uint64_t)ms ? (int)left : ms;
}

/* ---- how ---- */

/* Of what counts only: neither a pause nor --delay ends with a file. */
static bool is_divided(const struct session *s, size_t i)
{
	const struct pio_ring *r = &s->set.place[i].ring;

	return s->rotation.dividing && s->source.set && s->enabled && !s->set.held &&
	       !s->set.ev[0].off && r->aux && !r->overwrite;
}

void rotation_halt(struct session *s, size_t i)
{
	if (!is_divided(s, i))
		return;
	s->rotation.halted_ns = session_now();
	if (pio_evset_halt(&s->set, 0, i))
		log_debug("cannot halt the trace of place %zu", i);
}

void rotation_go_on(struct session *s, size_t i)
{
	uint64_t pause;
	int err;

	if (!is_divided(s, i))
		return;
	err = pio_evset_go_on(&s->set, 0, i);
	if (err)
		s->run_err = report_stuck(s, i, err, " in the next file");
	pause = session_now() - s->rotation.halted_ns;
	if (pause > s->rotation.pause_ns)
		s->rotation.pause_ns = pause;
}

/* What has run so far is all in the old file. */
static int finish_soft(struct session *s)
{
	int err = 0;

	if (s->source.soft)
		soft_divide(s->source.soft);
	for (size_t i = 0; s->source.soft && i < source_nr_queues(&s->source) && !err; i++)
		err = drain_queue_whole(s, i);
	return err ? drain_failed(s, err) : 0;
}

/* The table is told as of the newest record of the first round: what the second one finds in
 * the rings, and all that comes, is younger (recorder/drain.c moves the table on). */
static int drain_all(struct session *s)
{
	int err = drain_round(s, true, false);

	if (!err)
		err = finish_soft(s);
	if (err)
		return err;
	s->rotation.dividing = true;
	err = drain_round(s, true, false);
	s->rotation.dividing = false;
	if (s->source.soft)
		soft_begin_anew(s->source.soft);
	if (!err)
		err = softswitch_put_counts(s);
	return err;
}

static int tell_tasks(struct session *s)
{
	int err = tasktable_emit(s->rotation.table, NULL, recfile_put_task, s);

	return err ? err : drain_put(s);
}

static uint64_t aux_id_of(const struct session *s, size_t place)
{
	const struct pio_event *e = &s->set.ev[0];

	for (size_t k = 0; k < e->nr_fd; k++)
		if (e->fd[k].place == place)
			return e->fd[k].id;
	return 0;
}

/* As the kernel tells it when a trace begins, and no later than what comes. */
static void tell_running_on(struct session *s, size_t place, const struct oncpu *on)
{
	struct tasktable_stats st;
	struct fmt_trailer t = {
		.pid = on->pid,
		.tid = on->tid,
		.cpu = (uint32_t)s->set.place[place].cpu,
		.id = aux_id_of(s, place),
	};

	tasktable_stats(s->rotation.table, &st);
	t.time = on->since > st.horizon ? on->since : st.horizon;
	fmt_put_itrace_start(&s->buf, t.pid, t.tid, &t);
}

static int tell_running(struct session *s)
{
	for (size_t i = 0; s->source.set && i < s->set.nr_place; i++) {
		const struct pio_place *p = &s->set.place[i];
		const struct ledger_row *row = ledger_row(&s->ledger, i, p->cpu, p->tid);

		if (!row)
			return -ENOMEM;
		if (p->ring.meta && row->on.known && row->on.tid != UINT32_MAX)
			tell_running_on(s, i, &row->on);
	}
	return drain_put(s);
}

static int begin_next(struct session *s)
{
	int err = recfile_next(s);

	if (!err) /* without ids that are closed, and with room for others again */
		err = opening_describe(s);
	if (!err)
		err = recfile_begin(s);
	if (!err)
		err = tell_tasks(s);
	if (!err)
		err = tell_running(s);
	if (!err)
		err = recfile_head_done(s);
	return err ? err : recfile_name(s);
}

/* The file that could not be begun has no name yet, and gets none. */
static void give_up(struct session *s, int err)
{
	if (!s->write_err)
		s->write_err = err;
	log_err(err, "cannot begin '%s'", s->name);
	log_hint("the files before it are complete");
	fmt_writer_done(&s->writer);
	output_done(&s->out);
}

/* Files by age begin at even distances, however long each took to begin. */
static void keep_pace(struct session *s, uint64_t due_ns)
{
	struct rotation *r = &s->rotation;

	if (r->began_ns - due_ns < s->cfg->rotate_ns)
		r->began_ns = due_ns;
}

static void turn(struct session *s, bool aged)
{
	uint64_t from, due = s->rotation.began_ns + s->cfg->rotate_ns;
	int err = drain_all(s);

	if (err)
		return;
	from = session_now();
	recfile_end(s);
	if (s->write_err)
		return;
	err = begin_next(s);
	if (err) {
		give_up(s, err);
		return;
	}
	if (aged)
		keep_pace(s, due);
	if (session_now() - from > s->rotation.longest_ns)
		s->rotation.longest_ns = session_now() - from;
}

void rotation_turn(struct session *s)
{
	bool wanted = s->control.rotate_wanted, aged;

	if (!s->rotation.table || s->write_err)
		return;
	s->control.rotate_wanted = false;
	aged = is_old(s);
	if (wanted || aged || is_full(s))
		turn(s, aged);
}
