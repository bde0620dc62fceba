/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AUX areas that are overwritten and kept only when somebody asks: on SIGUSR2, or at the end.
 *
 * All cpus are frozen first, so that the snapshot shows one moment; then each area is written,
 * the oldest byte first, and its group goes on. The data rings are drained as ever: threads
 * and mappings of a snapshot may be hours old.
 */
#include "recorder/session.h"

#include <errno.h>

#include "recorder/log.h"

static void freeze(struct session *s)
{
	for (size_t i = 0; i < s->set.nr_place; i++)
		if (pio_evset_disable_place(&s->set, 0, i))
			log_debug("cannot stop the trace of place %zu", i);
}

static int thaw(struct session *s, size_t i)
{
	const struct pio_place *p = &s->set.place[i];
	int err = pio_evset_enable_place(&s->set, 0, i);

	if (!err)
		return 0;
	if (p->cpu < 0)
		return log_err(err, "cannot go on tracing thread %d", (int)p->tid);
	return log_err(err, "cannot go on tracing on cpu %d", p->cpu);
}

int snapshot_area(struct session *s, size_t i)
{
	struct pio_place *p = &s->set.place[i];
	struct ledger_row *row = ledger_row(&s->ledger, i, p->cpu, p->tid);
	struct fmt_auxtrace a = {
		.reference = source_ticks(&s->source),
		.idx = (uint32_t)i,
		.tid = (uint32_t)p->tid,
		.cpu = (uint32_t)p->cpu,
	};
	struct iovec v[2];
	int err, n = pio_ring_snapshot(&p->ring, v, &a.offset);

	a.offset += p->aux_base;
	if (!row)
		return -ENOMEM;
	err = n ? fmt_writer_aux(&s->writer, &a, v, n) : 0;
	for (int k = 0; k < n && !err; k++)
		row->aux_bytes += v[k].iov_len;
	row->aux_chunks += n && !err;
	return err;
}

int snapshot_take(struct session *s, bool go_on)
{
	uint64_t began = session_now();
	int err = 0, thawed;

	if (s->write_err || !s->enabled)
		return s->write_err;
	if (go_on)
		freeze(s);
	for (size_t i = 0; i < s->set.nr_place; i++) {
		if (!err)
			err = snapshot_area(s, i);
		thawed = go_on ? thaw(s, i) : 0;
		if (!s->run_err)
			s->run_err = thawed;
	}
	if (err)
		return drain_failed(s, err);
	s->snapshots++;
	log_info("snapshot %u: taken in %.1f ms", s->snapshots,
		 (double)(session_now() - began) / 1e6);
	return drain_round(s, true, false);
}
