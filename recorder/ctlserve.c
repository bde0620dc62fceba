/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/ctlserve.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/fetch.h"
#include "recorder/log.h"
#include "recorder/session.h"
#include "recorder/threadjoin.h"

static json_t *done(void)
{
	return json_pack("{s:b}", "ok", 1);
}

static json_t *refused(const struct session *s)
{
	return ctlsock_refuse("%s", s->control.words);
}

/* ---- fields of a request ---- */

/* A whole number >= 0 of at most `max`, or, when it is not there, what *ret was. */
static int take_number(struct session *s, const json_t *q, const char *key, uint64_t max,
		       uint64_t *ret)
{
	const json_t *v = json_object_get(q, key);

	if (!v || json_is_null(v))
		return 0;
	if (!json_is_integer(v) || json_integer_value(v) < 0 ||
	    (uint64_t)json_integer_value(v) > max)
		return control_refuse(s, -EINVAL, "\"%s\" is a number from 0 to %llu", key,
				      (unsigned long long)max);
	*ret = (uint64_t)json_integer_value(v);
	return 0;
}

static int take_int(struct session *s, const json_t *q, const char *key, int *ret)
{
	uint64_t v = UINT64_MAX;
	int err = take_number(s, q, key, INT_MAX, &v);

	if (!err && v != UINT64_MAX)
		*ret = (int)v;
	return err;
}

/* NULL when it is not there. */
static int take_text(struct session *s, const json_t *q, const char *key, const char **ret)
{
	const json_t *v = json_object_get(q, key);

	if (!v || json_is_null(v))
		return 0;
	if (!json_is_string(v))
		return control_refuse(s, -EINVAL, "\"%s\" is a text", key);
	*ret = json_string_value(v);
	return 0;
}

/* ---- commands ---- */

static json_t *do_ping(struct session *s, const json_t *q, int *fd)
{
	(void)s;
	(void)q;
	(void)fd;
	return done();
}

static json_t *do_status(struct session *s, const json_t *q, int *fd)
{
	(void)q;
	(void)fd;
	return ctlstatus_make(s);
}

static json_t *paused(const struct session *s, int err)
{
	if (err)
		return refused(s);
	return json_pack("{s:b, s:b}", "ok", 1, "paused", s->control.paused != 0);
}

static json_t *do_pause(struct session *s, const json_t *q, int *fd)
{
	(void)q;
	(void)fd;
	return paused(s, control_pause(s, CONTROL_ASKED));
}

static json_t *do_resume(struct session *s, const json_t *q, int *fd)
{
	(void)q;
	(void)fd;
	return paused(s, control_resume(s, CONTROL_ASKED));
}

static json_t *switched(struct session *s, const json_t *q,
			int (*how)(struct session *s, const char *event))
{
	const char *event = NULL;

	if (take_text(s, q, "event", &event) || how(s, event))
		return refused(s);
	return done();
}

static json_t *do_enable(struct session *s, const json_t *q, int *fd)
{
	(void)fd;
	return switched(s, q, control_enable);
}

static json_t *do_disable(struct session *s, const json_t *q, int *fd)
{
	(void)fd;
	return switched(s, q, control_disable);
}

static json_t *do_snapshot(struct session *s, const json_t *q, int *fd)
{
	const char *path = NULL;
	json_t *o;
	int err = 0;

	(void)fd;
	if (take_text(s, q, "output", &path))
		return refused(s);
	if (path && *path != '/')
		return ctlsock_refuse("\"output\" is a path that begins with /");
	if (control_snapshot(s, path, "control socket"))
		return refused(s);
	o = done();
	jtree_set(o, "snapshots", json_integer(s->flight.taken), &err);
	jtree_set(o, "pauseNs", jtree_number(s->flight.pause_ns), &err);
	if (path)
		jtree_set(o, "output", jtree_text(path), &err);
	return o;
}

static json_t *do_rotate(struct session *s, const json_t *q, int *fd)
{
	(void)q;
	(void)fd;
	return control_rotate(s) ? refused(s) : done();
}

static json_t *do_stop(struct session *s, const json_t *q, int *fd)
{
	(void)q;
	(void)fd;
	control_stop(s);
	return done();
}

static int take_kind(struct session *s, const json_t *q, enum fetch_kind *ret)
{
	const char *kind = "";
	int err = take_text(s, q, "kind", &kind);

	if (err)
		return err;
	if (!strcmp(kind, "iptTrace")) /* LLDB's name */
		kind = fetch_kind_names[FETCH_TRACE];
	for (int i = 0; i < FETCH_KINDS; i++)
		if (!strcmp(kind, fetch_kind_names[i])) {
			*ret = (enum fetch_kind)i;
			return 0;
		}
	return control_refuse(s, -EINVAL, "\"kind\" is traceBuffer, perfContextSwitchTrace or "
					  "procfsCpuInfo");
}

static int take_fetch(struct session *s, const json_t *q, struct fetch *ret)
{
	struct fetch f = { .cpu = -1, .tid = -1, .size = UINT64_MAX };
	int err = take_kind(s, q, &f.kind), tid = -1;

	if (!err)
		err = take_int(s, q, json_object_get(q, "cpuId") ? "cpuId" : "cpu", &f.cpu);
	if (!err)
		err = take_int(s, q, "tid", &tid);
	if (!err)
		err = take_number(s, q, "offset", INT64_MAX, &f.offset);
	if (!err)
		err = take_number(s, q, "size", INT64_MAX, &f.size);
	f.tid = tid;
	*ret = f;
	return err;
}

static json_t *do_fetch(struct session *s, const json_t *q, int *fd)
{
	struct fetched got;
	struct fetch f;
	json_t *o;
	int err = 0;

	if (take_fetch(s, q, &f) || fetch_bytes(s, &f, &got))
		return refused(s);
	*fd = got.fd;
	o = done();
	jtree_set(o, "kind", json_string(fetch_kind_names[f.kind]), &err);
	jtree_set(o, "offset", jtree_number(f.offset), &err);
	jtree_set(o, "size", jtree_number(got.size), &err);
	jtree_set(o, "total", jtree_number(got.total), &err);
	if (f.kind == FETCH_TRACE)
		jtree_set(o, "position", jtree_number(got.position), &err);
	jtree_set(o, "pauseNs", jtree_number(got.pause_ns), &err);
	return o;
}

static json_t *on_thread(struct session *s, const json_t *q,
			 int (*how)(struct session *s, pid_t tid))
{
	int tid = 0;

	if (take_int(s, q, "tid", &tid))
		return refused(s);
	if (!tid)
		return ctlsock_refuse("\"tid\" is missing");
	return how(s, tid) ? refused(s) : done();
}

static json_t *do_thread_start(struct session *s, const json_t *q, int *fd)
{
	(void)fd;
	return on_thread(s, q, threadjoin_start);
}

static json_t *do_thread_stop(struct session *s, const json_t *q, int *fd)
{
	(void)fd;
	return on_thread(s, q, threadjoin_stop);
}

static const struct {
	const char *name;
	json_t *(*run)(struct session *s, const json_t *q, int *fd);
} commands[] = {
	{ "status", do_status },     { "pause", do_pause },
	{ "resume", do_resume },     { "enable", do_enable },
	{ "disable", do_disable },   { "snapshot", do_snapshot },
	{ "fetch", do_fetch },	     { "rotate", do_rotate },
	{ "stop", do_stop },	     { "thread-start", do_thread_start },
	{ "thread-stop", do_thread_stop }, { "ping", do_ping },
};

static json_t *answer(void *ctx, const json_t *q, int *fd)
{
	const char *cmd = json_string_value(json_object_get(q, "cmd"));

	if (!cmd)
		return ctlsock_refuse("a request has a \"cmd\", which is a text");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(cmd, commands[i].name))
			return commands[i].run(ctx, q, fd);
	return ctlsock_refuse("unknown command '%.200s'", cmd);
}

/* ---- the socket ---- */

int ctlserve_open(struct session *s)
{
	const char *path = s->cfg->socket;
	int err = path ? ctlsock_open(&s->serve.sock, path) : 0;

	if (!err)
		return 0;
	log_err(err, "cannot make the socket '%s'", path);
	if (err == -EADDRINUSE)
		log_hint("another recording listens there: choose a path with --socket");
	return err;
}

static void ready(void *ctx, int fd, uint32_t events)
{
	struct session *s = ctx;

	(void)fd;
	(void)events;
	ctlsock_work(s->serve.sock, answer, s);
}

int ctlserve_watch(struct session *s)
{
	return s->serve.sock ? watch_add(&s->watch, ctlsock_fd(s->serve.sock), ready, s) : 0;
}

void ctlserve_done(struct session *s)
{
	if (s->serve.sock)
		watch_remove(&s->watch, ctlsock_fd(s->serve.sock));
	ctlsock_close(s->serve.sock);
	s->serve.sock = NULL;
	ctlstatus_done(&s->serve.status);
}
