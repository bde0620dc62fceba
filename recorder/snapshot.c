/* SPDX-License-Identifier: Apache-2.0 */
/* An AUX area that is overwritten, written away as it is: the oldest byte first. */
#include "recorder/session.h"

#include <errno.h>

int snapshot_look(struct session *s, size_t i, struct fmt_auxtrace *ret, struct iovec v[2])
{
	struct pio_place *p = &s->set.place[i];
	int n;

	*ret = (struct fmt_auxtrace){
		.reference = source_ticks(&s->source),
		.idx = (uint32_t)i,
		.tid = (uint32_t)p->tid,
		.cpu = (uint32_t)p->cpu,
	};
	n = pio_ring_snapshot(&p->ring, v, &ret->offset);
	ret->offset += p->aux_base;
	return n;
}

int snapshot_put(struct session *s, const struct fmt_auxtrace *a, const struct iovec *v, int n)
{
	struct ledger_row *row = ledger_row(&s->ledger, a->idx, (int)a->cpu, (int)a->tid);
	int err = row ? 0 : -ENOMEM;

	if (!err && n)
		err = fmt_writer_aux(&s->writer, a, v, n);
	for (int k = 0; k < n && !err; k++)
		row->aux_bytes += v[k].iov_len;
	if (!err)
		row->aux_chunks += n != 0;
	return err;
}

int snapshot_area(struct session *s, size_t i)
{
	struct fmt_auxtrace a;
	struct iovec v[2];
	int n = snapshot_look(s, i, &a, v);

	return snapshot_put(s, &a, v, n);
}
