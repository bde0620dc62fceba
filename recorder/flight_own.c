/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot in a file of its own, complete in itself: all that the rings hold, whether other
 * snapshots had it or not. For the file of the recording it is as if nothing had happened.
 */
#include "recorder/flight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/log.h"
#include "recorder/session.h"

struct aside {
	struct output out;
	struct fmt_writer writer;
	struct dsos *dsos;
	uint64_t first_ns, last_ns;
	bool begun;
};

static int lay_aside(struct session *s, struct aside *a, const char *path)
{
	struct output out = OUTPUT_INIT;
	struct dsos *dsos;
	int err = recfile_create(s, &out, path);

	if (!err && s->cfg->kcore)
		err = recfile_share_kcore(s, &out, &s->out);
	if (!err)
		err = dsos_new(&dsos);
	if (err) {
		output_done(&out);
		return err;
	}
	*a = (struct aside){ s->out, s->writer, s->dsos, s->ledger.first_ns, s->ledger.last_ns,
			     s->flight.begun };
	s->out = out;
	s->writer = (struct fmt_writer){ 0 };
	s->dsos = dsos;
	s->ledger.first_ns = s->ledger.last_ns = 0;
	s->flight.begun = false;
	s->flight.own = true;
	return 0;
}

static void take_up_again(struct session *s, const struct aside *a)
{
	output_done(&s->out);
	fmt_writer_done(&s->writer);
	dsos_free(s->dsos);
	s->out = a->out;
	s->writer = a->writer;
	s->dsos = a->dsos;
	s->ledger.first_ns = a->first_ns;
	s->ledger.last_ns = a->last_ns;
	s->flight.begun = a->begun;
	s->flight.own = false;
}

/* fresh: path is the next name of several. */
static int take_into(struct session *s, const char *path, bool fresh, bool go_on,
		     const char *why)
{
	struct aside a;
	int err = lay_aside(s, &a, path);

	if (err)
		return err;
	s->out.fresh = fresh;
	err = flight_take(s, go_on, why);
	if (!err) {
		recfile_end(s);
		err = s->write_err;
	}
	take_up_again(s, &a);
	s->write_err = 0;
	return err;
}

/* What went into that file is not in the recording's; what got lost is lost to both. */
static void uncount(struct session *s, const struct ledger *before,
		    const struct ledger_row *row)
{
	struct ledger *l = &s->ledger;

	l->records = before->records;
	memcpy(l->by_type, before->by_type, sizeof(l->by_type));
	for (size_t i = 0; i < l->n; i++) {
		l->row[i].aux_bytes = i < before->n ? row[i].aux_bytes : 0;
		l->row[i].aux_chunks = i < before->n ? row[i].aux_chunks : 0;
	}
}

int flight_take_own(struct session *s, const char *path, const char *why)
{
	const struct ledger before = s->ledger;
	struct ledger_row *row = calloc(before.n + 1, sizeof(*row));
	int err = row ? 0 : -ENOMEM;

	if (err)
		return err;
	if (before.n)
		memcpy(row, before.row, before.n * sizeof(*row));
	err = take_into(s, path, false, true, why);
	uncount(s, &before, row);
	free(row);
	return err;
}

int flight_take_next(struct session *s, bool go_on, const char *why)
{
	int err;

	free(s->name);
	s->name = fileset_name(&s->files);
	err = s->name ? take_into(s, s->name, true, go_on, why) : -ENOMEM;
	if (!err)
		return 0;
	s->flight.failed++;
	return log_err(err, "there is no snapshot '%s'", s->name ? s->name : "");
}
