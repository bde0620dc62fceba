/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/ctlstatus.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "recorder/fetch.h"
#include "recorder/newestring.h"
#include "recorder/session.h"

enum { MOST_THREADS = 2048 }; /* an answer has a greatest length */

void ctlstatus_done(struct ctlstatus *c)
{
	free(c->place);
	*c = (struct ctlstatus){ 0 };
}

static void set_number(json_t *o, const char *key, uint64_t v, int *err)
{
	jtree_set(o, key, jtree_number(v), err);
}

static void set_bool(json_t *o, const char *key, bool v, int *err)
{
	jtree_set(o, key, json_boolean(v), err);
}

/* ---- rates ---- */

struct pace {
	double seconds; /* since the last status, or since events were enabled; 0: unknown */
	struct ctlstatus *last;
	bool first;
};

static double rate(const struct pace *p, uint64_t now, uint64_t then)
{
	return p->seconds > 0 && now > then ? (double)(now - then) / p->seconds : 0;
}

static struct pace pace_of(struct session *s, uint64_t now)
{
	struct ctlstatus *last = &s->serve.status;
	uint64_t since = last->at_ns ? last->at_ns : s->on_ns;
	struct pace p = { .last = last, .first = !last->at_ns };

	if (since && now > since)
		p.seconds = (double)(now - since) / 1e9;
	return p;
}

/* What was seen of a place the last time. NULL: no memory. */
static struct ctlstatus_seen *seen_of(struct ctlstatus *c, size_t place)
{
	struct ctlstatus_seen *p;

	if (place < c->nr_place)
		return &c->place[place];
	p = reallocarray(c->place, place + 1, sizeof(*p));
	if (!p)
		return NULL;
	memset(p + c->nr_place, 0, (place + 1 - c->nr_place) * sizeof(*p));
	c->place = p;
	c->nr_place = place + 1;
	return &p[place];
}

/* ---- rings ---- */

static json_t *ring(enum fetch_kind kind, uint64_t size, uint64_t capacity, int *err)
{
	json_t *o = json_object();

	jtree_set(o, "kind", json_string(fetch_kind_names[kind]), err);
	set_number(o, "size", size, err);
	set_number(o, "capacity", capacity, err);
	return o;
}

static json_t *trace_ring(const struct session *s, size_t i, const struct pace *p,
			  struct ctlstatus_seen *seen, int *err)
{
	const struct pio_ring *r = &s->set.place[i].ring;
	struct pio_ring look = *r;
	struct iovec v[2];
	uint64_t now = i < s->ledger.n ? s->ledger.row[i].aux_bytes : 0, fill = 0;
	json_t *o;

	if (r->overwrite)
		return ring(FETCH_TRACE, pio_ring_fill(r), r->aux_len, err);
	for (int k = pio_ring_peek_aux(&look, v); k--;)
		fill += v[k].iov_len;
	o = ring(FETCH_TRACE, fill, r->aux_len, err);
	jtree_set(o, "rate", json_real(rate(p, now + fill, seen->trace)), err);
	seen->trace = now + fill;
	return o;
}

static json_t *switch_ring(const struct session *s, size_t i, const struct pace *p,
			   struct ctlstatus_seen *seen, int *err)
{
	struct pio_newest all = s->set.place[i].newest;
	struct newestring n;
	uint64_t now = -pio_newest_head(&all); /* it counts down from 0 */
	json_t *o;

	all.seen = 0;
	newestring_look(&all, s->control.paused, &n);
	o = ring(FETCH_SWITCHES, n.bytes, all.data_len, err);
	set_number(o, "records", n.records, err);
	set_number(o, "spanNs", n.last_ns - n.first_ns, err);
	jtree_set(o, "rate", json_real(rate(p, now, seen->switches)), err);
	seen->switches = now;
	return o;
}

/* The software source's trace of the cpu, where it has such. */
static void add_soft(const struct session *s, int cpu, json_t *a, int *err)
{
	size_t n = s->source.soft ? soft_nr_queues(s->source.soft) : 0, bytes;
	struct soft_queue q;

	for (size_t i = 0; i < n; i++) {
		bytes = soft_queue_kept(s->source.soft, i, &q);
		if (!q.of_cpu)
			return;
		if (q.cpu == cpu)
			jtree_append(a, ring(FETCH_TRACE, bytes, plan_flight_len(&s->plan), err),
				     err);
	}
}

static json_t *rings(const struct session *s, size_t i, const struct pace *p, int *err)
{
	struct ctlstatus_seen none = { 0 }, *seen = seen_of(p->last, i);
	json_t *a = json_array();

	if (!seen) {
		seen = &none;
		*err = -ENOMEM;
	}
	add_soft(s, s->set.place[i].cpu, a, err);
	if (s->set.place[i].ring.aux)
		jtree_append(a, trace_ring(s, i, p, seen, err), err);
	if (s->set.place[i].newest.meta)
		jtree_append(a, switch_ring(s, i, p, seen, err), err);
	return a;
}

static json_t *cpus(const struct session *s, const struct pace *p, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < s->set.nr_place; i++) {
		json_t *o;

		if (s->set.place[i].cpu < 0 || !s->set.place[i].ring.meta)
			continue;
		o = json_object();
		set_number(o, "id", (uint64_t)s->set.place[i].cpu, err);
		jtree_set(o, "binaryData", rings(s, i, p, err), err);
		set_number(o, "lost", i < s->ledger.n ? s->ledger.row[i].lost : 0, err);
		jtree_append(a, o, err);
	}
	return a;
}

/* ---- threads ---- */

static void add_thread(json_t *a, pid_t tid, json_t *data, int *err)
{
	json_t *o = json_object();

	set_number(o, "tid", (uint64_t)tid, err);
	jtree_set(o, "binaryData", data, err);
	jtree_append(a, o, err);
}

static json_t *soft_data(const struct session *s, size_t i, pid_t *ret_tid, int *err)
{
	struct soft_queue q;
	size_t n = soft_queue_kept(s->source.soft, i, &q);
	json_t *a = json_array();

	*ret_tid = q.tid;
	jtree_append(a, ring(FETCH_TRACE, n, plan_flight_len(&s->plan), err), err);
	return a;
}

static size_t soft_threads(const struct session *s)
{
	return s->cfg->per_cpu ? 0 : soft_nr_queues(s->source.soft);
}

/* Threads that have rings of their own; else those that were asked for, without. */
static json_t *threads(const struct session *s, const struct pace *p, size_t *ret_more, int *err)
{
	bool per_thread = !s->plan.cpus.n;
	size_t n = s->source.soft ? soft_threads(s)
				  : per_thread ? s->set.nr_place : s->cfg->nr_tids;
	json_t *a = json_array(), *data;
	pid_t tid;

	for (size_t i = 0; i < n && i < MOST_THREADS; i++) {
		if (s->source.soft) {
			data = soft_data(s, i, &tid, err);
			add_thread(a, tid, data, err);
		} else if (!per_thread) {
			add_thread(a, s->cfg->tids[i], json_array(), err);
		} else if (s->set.place[i].ring.meta) {
			add_thread(a, s->set.place[i].tid, rings(s, i, p, err), err);
		}
	}
	if (!n && s->cfg->follow)
		add_thread(a, s->work.pid, json_array(), err);
	*ret_more = n > MOST_THREADS ? n - MOST_THREADS : 0;
	return a;
}

/* ---- the rest ---- */

static json_t *time_conv(const struct session *s, int *err)
{
	json_t *o;
	char zero[24];

	if (!s->conv.cap_time_zero)
		return json_null();
	o = json_object();
	set_number(o, "timeMult", s->conv.mult, err);
	set_number(o, "timeShift", s->conv.shift, err);
	snprintf(zero, sizeof(zero), "%llu", (unsigned long long)s->conv.zero);
	jtree_set(o, "timeZero", json_string(zero), err); /* may need all 64 bits */
	return o;
}

static json_t *process_data(const struct session *s, int *err)
{
	json_t *a = json_array();
	char *text;
	size_t n;

	if (pio_read_file(&text, &n, 16 << 20, "%s/cpuinfo", s->sys->proc))
		return a;
	free(text);
	jtree_append(a, ring(FETCH_CPUINFO, n, n, err), err);
	return a;
}

static json_t *paused_by(const struct session *s, int *err)
{
	json_t *a = json_array();

	if (s->control.paused & CONTROL_ASKED)
		jtree_append(a, json_string("asked"), err);
	if (s->control.paused & CONTROL_STOPPED)
		jtree_append(a, json_string("stopped"), err);
	return a;
}

static json_t *events(const struct session *s, int *err)
{
	json_t *a = json_array(), *o;

	if (s->source.soft) {
		o = json_object();
		jtree_set(o, "name", jtree_text(s->plan.pt_name), err);
		set_bool(o, "counts", control_traces(s), err);
		jtree_append(a, o, err);
	}
	for (size_t i = 0; i < s->set.nr_ev; i++) {
		if (s->set.ev[i].missing)
			continue;
		o = json_object();
		jtree_set(o, "name", jtree_text(s->set.ev[i].name), err);
		set_bool(o, "counts", control_counts(s, i), err);
		jtree_append(a, o, err);
	}
	return a;
}

static json_t *losses(const struct session *s, int *err)
{
	struct ledger_losses l = ledger_sum(&s->ledger);
	struct soft_stats st = { 0 };
	json_t *o = json_object();

	if (s->source.soft)
		soft_stats(s->source.soft, &st);
	set_number(o, "records", l.lost, err);
	set_number(o, "samples", l.lost_samples, err);
	set_number(o, "truncated", l.truncated, err);
	set_number(o, "partial", l.partial, err);
	set_number(o, "collisions", l.collision, err);
	set_number(o, "traceBytes", st.dropped, err);
	return o;
}

static json_t *tasks(const struct session *s, int *err)
{
	struct tasktable_stats st;
	json_t *o = json_object();

	tasktable_stats(s->flight.table, &st);
	set_number(o, "processes", st.processes, err);
	set_number(o, "threads", st.threads, err);
	set_number(o, "maps", st.maps, err);
	set_number(o, "waiting", st.waiting, err);
	set_number(o, "bytes", st.bytes, err);
	set_number(o, "mostBytes", st.most_bytes, err);
	set_number(o, "horizonNs", st.horizon, err);
	set_number(o, "forced", st.forced, err);
	set_number(o, "dropped", st.dropped, err);
	return o;
}

static void set_flight(json_t *o, const struct session *s, int *err)
{
	set_number(o, "snapshots", s->flight.taken, err);
	set_number(o, "longestPauseNs", s->flight.max_pause_ns, err);
	jtree_set(o, "tasks", tasks(s, err), err);
}

/* How long the disk lasts as fast as it fills now. A flight that nobody asks anything of never
 * fills it. */
static void set_disk(json_t *o, const struct session *s, double pace, int *err)
{
	struct statvfs v;
	uint64_t left;

	if (s->out.stream || s->out.fd < 0 || fstatvfs(s->out.fd, &v)) {
		jtree_set(o, "diskLeft", json_null(), err);
		jtree_set(o, "secondsUntilFull", json_null(), err);
		return;
	}
	left = (uint64_t)v.f_bavail * v.f_frsize;
	set_number(o, "diskLeft", left, err);
	jtree_set(o, "secondsUntilFull", pace > 0 ? json_real((double)left / pace) : json_null(),
		  err);
}

static json_t *output_name(const struct session *s)
{
	char path[PATH_MAX];
	const char *name = s->out.name ? s->out.name : s->cfg->output;
	size_t n;

	if (s->out.stream || *name == '/' || !getcwd(path, sizeof(path)))
		return jtree_text(name);
	n = strlen(path);
	snprintf(path + n, sizeof(path) - n, "/%s", name);
	return jtree_text(path);
}

static void set_output(json_t *o, struct session *s, const struct pace *p, int *err)
{
	double pace = rate(p, s->writer.pos, p->last->written);

	jtree_set(o, "output", output_name(s), err);
	set_number(o, "written", s->writer.pos, err);
	jtree_set(o, "rate", json_real(pace), err);
	set_disk(o, s, pace, err);
	p->last->written = s->writer.pos;
}

static void set_state(json_t *o, const struct session *s, uint64_t now, int *err)
{
	double seconds = s->on_ns ? (double)(now - s->on_ns) / 1e9 : 0;

	set_bool(o, "ok", true, err);
	set_number(o, "version", CTLSTATUS_VERSION, err);
	jtree_set(o, "auxrec", json_string(AUXREC_VERSION), err);
	set_number(o, "pid", (uint64_t)(s->cfg->front ? s->cfg->front : getpid()), err);
	jtree_set(o, "source", json_string(source_names[s->plan.source]), err);
	jtree_set(o, "mode", json_string(s->flight.table ? "flight" : "full"), err);
	set_bool(o, "perThread", !s->plan.cpus.n || (s->source.soft && !s->cfg->per_cpu), err);
	set_bool(o, "usingCgroupFiltering", s->plan.nr_cgroup, err);
	set_bool(o, "enabled", s->enabled, err);
	set_bool(o, "paused", s->control.paused, err);
	jtree_set(o, "pausedBy", paused_by(s, err), err);
	set_number(o, "pauses", s->control.pauses, err);
	jtree_set(o, "seconds", json_real(seconds), err);
	set_number(o, "wakeups", s->watch.wakeups, err);
}

static json_t *software(const struct session *s, uint64_t now, int *err)
{
	const double seconds = s->on_ns ? (double)(now - s->on_ns) / 1e9 : 0;
	json_t *o = json_object();
	struct soft_stats st;

	soft_stats(s->source.soft, &st);
	set_number(o, "instructions", st.instructions, err);
	jtree_set(o, "rate", json_real(seconds > 0 ? (double)st.instructions / seconds : 0), err);
	jtree_set(o, "slowdown",
		  st.instructions ? json_real(session_slowdown(&st)) : json_null(), err);
	set_number(o, "stops", st.stops, err);
	set_number(o, "threads", st.live, err);
	set_number(o, "threadsSoFar", st.threads, err);
	set_number(o, "processesSoFar", st.processes, err);
	set_number(o, "rightsWithheld", st.withheld, err);
	return o;
}

static void set_warnings(json_t *o, size_t more, int *err)
{
	json_t *a = json_array();
	char text[64];

	snprintf(text, sizeof(text), "%zu threads are left out", more);
	if (more)
		jtree_append(a, json_string(text), err);
	jtree_set(o, "warnings", a, err);
}

json_t *ctlstatus_make(struct session *s)
{
	uint64_t now = session_now();
	struct pace p = pace_of(s, now);
	json_t *o = json_object();
	size_t more = 0;
	int err = 0;

	set_state(o, s, now, &err);
	set_output(o, s, &p, &err);
	jtree_set(o, "events", events(s, &err), &err);
	jtree_set(o, "losses", losses(s, &err), &err);
	jtree_set(o, "tracedThreads", threads(s, &p, &more, &err), &err);
	jtree_set(o, "cpus", cpus(s, &p, &err), &err);
	jtree_set(o, "processBinaryData", process_data(s, &err), &err);
	jtree_set(o, "tscPerfZeroConversion", time_conv(s, &err), &err);
	set_warnings(o, more, &err);
	if (s->source.soft)
		jtree_set(o, "software", software(s, now, &err), &err);
	if (s->flight.table)
		set_flight(o, s, &err);
	s->serve.status.at_ns = now;
	if (!err)
		return o;
	json_decref(o);
	return NULL;
}
