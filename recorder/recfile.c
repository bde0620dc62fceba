/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file of a recording, or its stream, from its header to its features. A recording may
 * have several, one after the other: each is complete.
 */
#include "recorder/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "recorder/cmd.h"
#include "recorder/explain.h"
#include "recorder/kcoredir.h"
#include "recorder/log.h"

/* Asked by an output that is waiting for its reader. */
static bool told_to_stop(void *ctx)
{
	struct session *s = ctx;

	session_read_signals(s);
	return s->signal;
}

int recfile_create(struct session *s, struct output *ret, const char *name)
{
	int err = s->cfg->kcore ? output_open_dir(ret, name, true) : output_open(ret, name);

	if (err)
		return err;
	ret->stop = told_to_stop;
	ret->stop_ctx = s;
	return 0;
}

/* Hard links; a copy as of now where somebody has taken the other one away. What was changed
 * between the two, records tell. */
int recfile_share_kcore(const struct session *s, const struct output *to,
			const struct output *from)
{
	const char *what;
	uint64_t bytes;

	if (!kcoredir_link(to->temp, from->published ? from->name : from->temp))
		return 0;
	return kcoredir_fill(to->temp, s->sys, &bytes, &what);
}

int recfile_next(struct session *s)
{
	struct output out = OUTPUT_INIT;
	struct dsos *dsos;
	char *name = fileset_name(&s->files);
	int err = name ? recfile_create(s, &out, name) : -ENOMEM;

	if (!err && s->cfg->kcore)
		err = recfile_share_kcore(s, &out, &s->out);
	if (!err)
		err = dsos_new(&dsos);
	free(s->name);
	s->name = name;
	if (err) {
		output_done(&out);
		return err;
	}
	dsos_free(s->dsos);
	s->dsos = dsos;
	output_done(&s->out);
	s->out = out;
	s->out.fresh = true;
	return 0;
}

int recfile_open(struct session *s)
{
	const char *name = s->cfg->output;
	int err;

	if (s->cfg->rotate) {
		s->name = fileset_name(&s->files);
		if (!s->name)
			return explain_no_memory();
		name = s->name;
	}
	err = recfile_create(s, &s->out, name);
	if (err == -ENOTTY) {
		log_err(0, "standard output is a terminal: will not write a trace to it");
		return EXIT_USAGE;
	}
	if (err) {
		log_err(err, "cannot create '%s'", name);
		return EXIT_FAILED;
	}
	s->out.fresh = s->cfg->rotate;
	return 0;
}

/* One of several never takes a name from another file, whoever made that meanwhile. */
static int give_free_name(struct session *s)
{
	int err = output_publish(&s->out);

	while (err == -EEXIST) {
		free(s->name);
		s->out.name = s->name = fileset_name(&s->files);
		if (!s->name)
			return -ENOMEM;
		err = output_publish(&s->out);
	}
	if (!err)
		err = fileset_add(&s->files, s->out.name);
	if (!err)
		fileset_trim(&s->files);
	return err;
}

int recfile_name(struct session *s)
{
	int err;

	if (s->out.published)
		return 0;
	err = s->out.fresh ? give_free_name(s) : output_publish(&s->out);
	if (!err)
		rotation_begun(s);
	return err;
}

int recfile_publish(struct session *s)
{
	int err = recfile_name(s);

	if (!err)
		return 0;
	log_err(err, "cannot create '%s'", s->out.name);
	if (!s->out.fresh)
		log_hint("an earlier file is first moved to '%s.old'", s->out.name);
	return err;
}

int recfile_refuse(const struct session *s, int err)
{
	log_err(err, "cannot write '%s'", s->out.name);
	return EXIT_FAILED;
}

/* ---- the head ---- */

static int put_id_index(struct session *s)
{
	size_t n = 0, all = opening_count_ids(s);
	struct fmt_id *ids = calloc(all, sizeof(*ids));
	struct soft_queue q;

	if (!ids)
		return -ENOMEM;
	if (s->source.soft && !s->cfg->per_cpu)
		ids[n++] = (struct fmt_id){ s->pt_id, 0, -1,
					    s->cfg->follow ? s->work.pid : s->cfg->tids[0] };
	for (; n < opening_soft_ids(s) && s->cfg->per_cpu; n++) {
		(void)soft_queue_kept(s->source.soft, n, &q);
		ids[n] = (struct fmt_id){ s->pt_id + n, n, q.cpu, -1 };
	}
	for (size_t i = 0; i < s->set.nr_ev; i++)
		for (size_t j = 0; j < s->set.ev[i].nr_fd; j++) {
			const struct pio_fd *f = &s->set.ev[i].fd[j];

			ids[n++] = (struct fmt_id){ f->id, f->place, f->cpu, f->tid };
		}
	fmt_put_id_index(&s->buf, ids, n);
	free(ids);
	return s->buf.err;
}

/* For people who look at a dump; more threads than fit into one record are left out. */
static void put_thread_list(struct session *s)
{
	enum { MOST = 2000 };
	size_t n = s->cfg->nr_tids < MOST ? s->cfg->nr_tids : MOST;
	struct fmt_thread *list = calloc(n, sizeof(*list));

	for (size_t i = 0; list && i < n; i++)
		list[i] = (struct fmt_thread){ s->cfg->tids[i], "" };
	if (list)
		fmt_put_thread_map(&s->buf, list, n);
	free(list);
}

static void put_maps(struct session *s)
{
	struct fmt_thread everybody = { .tid = -1, .comm = "" };
	struct fmt_thread child = { .tid = s->work.pid, .comm = "" };
	int any = -1;

	if (s->plan.system_wide) {
		fmt_put_thread_map(&s->buf, &everybody, 1);
	} else if (s->cfg->follow) {
		fmt_put_thread_map(&s->buf, &child, 1);
	} else {
		put_thread_list(s);
	}
	if (s->plan.cpus.n)
		fmt_put_cpu_map(&s->buf, s->plan.cpus.cpu, s->plan.cpus.n);
	else
		fmt_put_cpu_map(&s->buf, &any, 1);
}

/* Names go along as records too: a file whose recorder was killed has no EVENT_DESC. */
static void put_names(struct session *s)
{
	for (size_t i = 0; i < s->nr_events; i++)
		fmt_put_event_name(&s->buf, s->events[i].ids[0], s->events[i].name);
}

/* perf reads no COMPRESSED record before it knows this, and a file whose recorder was killed
 * has no features: the record stands in for the section. A stream has it already. */
static void put_zip_feature(struct session *s)
{
	struct fmt_features f = session_features(s);

	if (!s->out.stream)
		fmt_put_header_feature(&s->buf, FMT_FEAT_COMPRESSED, &f);
}

static int put_head(struct session *s)
{
	struct fmt_pt_info info;
	int err;

	put_zip_feature(s);
	fmt_put_time_conv(&s->buf, &s->conv);
	err = put_id_index(s);
	if (err)
		return err;
	put_names(s);
	if (s->plan.source != SOURCE_NONE) {
		info = plan_pt_info(&s->plan, &s->conv);
		fmt_put_pt_info(&s->buf, &info);
	}
	put_maps(s);
	return drain_put(s);
}

int recfile_begin(struct session *s)
{
	struct fmt_sink sink;
	struct fmt_features f;
	int err;

	s->out.wake_fd = s->signal_fd;
	s->ledger.first_ns = 0;
	sink = output_sink(&s->out, s->cfg->sync);
	fmt_writer_done(&s->writer);
	fmt_writer_init(&s->writer, &sink, s->out.stream);
	if (s->cfg->zip_level && fmt_writer_zip(&s->writer, s->cfg->zip_level))
		return -ENOMEM;
	f = session_features(s);
	err = fmt_writer_begin(&s->writer, s->events, s->nr_events, &f);
	return err ? err : put_head(s);
}

int recfile_head_done(struct session *s)
{
	int err = fmt_put_finished_init(&s->buf);

	if (!err)
		err = drain_put(s);
	return err ? err : drain_round(s, true, false);
}

int recfile_put_task(void *ctx, const uint8_t *rec, size_t n)
{
	enum { PUT_AT = 64 << 10, TIME_FROM_END = 24 }; /* in a trailer, format/record.h */
	struct session *s = ctx;
	int err = dsos_add_record(s->dsos, rec, n);

	if (err)
		return err;
	if (n >= FMT_REC_HEADER_SIZE + TIME_FROM_END)
		ledger_time(&s->ledger, le_get(rec + n - TIME_FROM_END, 8));
	fmt_put(&s->buf, rec, n);
	return s->buf.len < PUT_AT ? s->buf.err : drain_put(s);
}

/* ---- the end ---- */

static int put_dsos(struct session *s, struct fmt_features *f)
{
	return dsos_rows(s->dsos, s->sys, &f->build_ids, &f->nr_build_ids);
}

void recfile_explain(const struct session *s)
{
	log_err(s->write_err, "writing '%s' failed", s->out.name);
	if (s->out.stream)
		log_hint("the stream ends in the middle of a round");
	else if (!s->out.published)
		log_hint("no snapshot had been written whole: there is no file");
	else
		log_hint("the file holds everything up to the last completed round "
			 "(%llu bytes) and can be read; %llu bytes were taken back out",
			 (unsigned long long)s->writer.valid,
			 (unsigned long long)s->ledger.rolled_back);
}

static void add_up(struct session *s)
{
	struct written *w = &s->written;

	if (s->flight.own && !s->out.fresh) {
		w->named++;
		w->named_bytes += s->writer.pos;
	} else {
		w->files++;
		w->bytes += s->writer.pos;
	}
	w->zipped.in += s->writer.zipped.in;
	w->zipped.out += s->writer.zipped.out;
	if (s->out.fresh)
		fileset_grown(&s->files, s->writer.pos);
	rotation_finished(s);
}

uint64_t recfile_bytes(const struct session *s)
{
	const struct written *w = &s->written;

	return w->bytes + w->named_bytes + (s->out.fd >= 0 ? s->writer.pos : 0);
}

void recfile_end(struct session *s)
{
	struct fmt_features f = session_features(s);
	uint64_t dropped;
	int err;

	if (s->out.fd < 0) /* a new one could not be begun */
		return;
	err = put_dsos(s, &f);
	if (err)
		log_err(err, "the build ids are left out");
	/* After a full disk the features may still fit where the last round was taken out. */
	err = fmt_writer_finish(&s->writer, &f);
	if (err && !s->out.stream)
		(void)fmt_writer_rollback(&s->writer, &dropped);
	if (!s->write_err)
		s->write_err = err;
	err = output_close(&s->out);
	if (!s->write_err)
		s->write_err = err;
	if (s->write_err)
		recfile_explain(s);
	add_up(s);
}
