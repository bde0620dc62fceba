/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot in a file of its own, complete in itself: all that the rings hold, whether other
 * snapshots had it or not. For the file of the recording it is as if nothing had happened.
 */
#include "recorder/flight.h"

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
	int err = output_open(&out, path);

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

int flight_take_own(struct session *s, const char *path, const char *why)
{
	struct aside a;
	int err = lay_aside(s, &a, path);

	if (err)
		return err;
	err = flight_take(s, true, why);
	if (!err) {
		recfile_end(s);
		err = s->write_err;
	}
	take_up_again(s, &a);
	s->write_err = 0;
	return err;
}
