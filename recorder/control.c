/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/control.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "recorder/log.h"
#include "recorder/session.h"

int control_refuse(struct session *s, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->control.words, sizeof(s->control.words), fmt, ap);
	va_end(ap);
	return err;
}

static int refuse_soft(struct session *s)
{
	return control_refuse(s, -EOPNOTSUPP, "the software source cannot be paused: it runs "
					      "with its program");
}

static int failed(struct session *s, int err, const char *what)
{
	if (err)
		(void)control_refuse(s, err, "cannot %s: %s", what, strerror(-err));
	return err;
}

/* What we switch; the rest is on from the start, for good. */
static bool ours(const struct session *s, size_t i)
{
	return s->plan.start_late[i] && !s->set.ev[i].missing;
}

/* Before they are enabled for the first time (--delay) there is nothing to do. */
static int enable_all(struct session *s)
{
	int err, first = 0;

	for (size_t i = 0; i < s->set.nr_ev && s->enabled; i++) {
		err = ours(s, i) ? pio_evset_enable(&s->set, i) : 0;
		if (err && !first)
			first = err;
	}
	return failed(s, first, "enable the events");
}

static int disable_all(struct session *s)
{
	int err, first = 0;

	for (size_t i = 0; i < s->set.nr_ev; i++) {
		err = ours(s, i) ? pio_evset_disable(&s->set, i) : 0;
		if (err && !first)
			first = err;
	}
	return failed(s, first, "disable the events");
}

void control_setup(struct session *s)
{
	if (!s->cfg->start_paused || s->source.soft)
		return;
	s->control.paused = CONTROL_ASKED;
	s->control.paused_ns = session_now();
	s->set.held = true;
}

/* ---- pause ---- */

int control_pause(struct session *s, enum control_pause why)
{
	struct control *c = &s->control;
	bool ran = !c->paused;

	if (s->source.soft)
		return refuse_soft(s);
	c->paused |= why;
	if (!ran)
		return 0;
	s->set.held = true;
	c->pauses++;
	c->paused_ns = session_now();
	log_debug("paused");
	return disable_all(s);
}

int control_resume(struct session *s, enum control_pause why)
{
	struct control *c = &s->control;

	if (s->source.soft)
		return refuse_soft(s);
	if (!(c->paused & why))
		return 0;
	c->paused &= ~(unsigned)why;
	if (c->paused)
		return 0;
	s->set.held = false;
	log_debug("going on");
	return enable_all(s);
}

/* ---- events by name ---- */

/* The whole name, or as it was typed, or of a PMU's event what stands before the slash. */
static bool is_called(const struct session *s, size_t i, const char *name)
{
	const char *full = s->set.ev[i].name;
	size_t n = strlen(name);

	if (!strcmp(full, name) || (!strncmp(full, name, n) && full[n] == '/'))
		return true;
	return s->plan.arg[i] && !strcmp(s->plan.arg[i]->text, name);
}

static int find(struct session *s, const char *name, size_t *ret)
{
	for (size_t i = 0; i < s->set.nr_ev; i++) {
		if (s->set.ev[i].missing || !is_called(s, i, name))
			continue;
		if (!ours(s, i))
			return control_refuse(s, -EPERM, "'%s' stays on: without it the trace "
							 "cannot be read", name);
		*ret = i;
		return 0;
	}
	if (s->source.soft)
		return refuse_soft(s);
	return control_refuse(s, -ENOENT, "no event '%s'", name);
}

static void take_in_all(struct session *s)
{
	for (size_t i = 0; i < s->set.nr_ev; i++)
		pio_evset_take_in(&s->set, i);
}

static int leave_out_all(struct session *s, size_t but)
{
	int err, first = 0;

	for (size_t i = 0; i < s->set.nr_ev; i++) {
		err = ours(s, i) && i != but ? pio_evset_leave_out(&s->set, i) : 0;
		if (err && !first)
			first = err;
	}
	return failed(s, first, "disable the events");
}

/* A member begins with its leader, which is stopped for that: see enable_members() in
 * perfio/evset_run.c. */
static int enable_one(struct session *s, size_t i)
{
	size_t leader = s->set.ev[i].leader ? s->set.ev[i].leader - 1 : i;
	int err = 0;

	pio_evset_take_in(&s->set, i);
	if (s->control.paused & CONTROL_ASKED) {
		err = leave_out_all(s, i);
		return err ? err : control_resume(s, CONTROL_ASKED);
	}
	if (leader != i && !s->set.ev[leader].off)
		err = pio_evset_disable(&s->set, leader);
	if (!err && s->enabled)
		err = pio_evset_enable(&s->set, leader);
	return failed(s, err, "enable the event");
}

int control_enable(struct session *s, const char *event)
{
	size_t i = 0;
	int err = event ? find(s, event, &i) : 0;

	if (err)
		return err;
	if (event)
		return s->set.ev[i].off || s->control.paused ? enable_one(s, i) : 0;
	if (s->source.soft)
		return refuse_soft(s);
	take_in_all(s);
	if (s->control.paused & CONTROL_ASKED)
		return control_resume(s, CONTROL_ASKED);
	return enable_all(s);
}

int control_disable(struct session *s, const char *event)
{
	size_t i = 0;
	int err = event ? find(s, event, &i) : 0;

	if (err)
		return err;
	if (event)
		return failed(s, pio_evset_leave_out(&s->set, i), "disable the event");
	if (s->source.soft)
		return refuse_soft(s);
	return leave_out_all(s, SIZE_MAX);
}

bool control_counts(const struct session *s, size_t i)
{
	const struct pio_event *e = &s->set.ev[i];

	if (e->missing)
		return false;
	if (!ours(s, i))
		return true;
	return s->enabled && !s->control.paused && !e->off &&
	       !(e->leader && s->set.ev[e->leader - 1].off);
}

/* ---- the rest ---- */

/* The last part of a path, and in *ret where that lies. NULL: nowhere. */
static const char *look_up(const char *path, struct stat *ret)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	bool found = dir && !stat(dir, ret);

	free(dir);
	return !found ? NULL : slash ? slash + 1 : path;
}

/* The file that snapshots without a path go into, whether it is there already or not. */
static bool is_output(const struct session *s, const char *path)
{
	const char *ours, *theirs;
	struct stat a, b;

	if (s->out.stream || s->cfg->max_snapshots)
		return false;
	ours = look_up(s->cfg->output, &a);
	theirs = look_up(path, &b);
	return ours && theirs && !strcmp(ours, theirs) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

int control_snapshot(struct session *s, const char *path, const char *why)
{
	struct stat st;
	int err;

	if (!s->flight.table)
		return control_refuse(s, -EOPNOTSUPP, "no flight recording: everything is "
						      "written anyway");
	if (!s->on_ns)
		return control_refuse(s, -EAGAIN, "nothing has been recorded yet");
	if (s->write_err)
		return failed(s, s->write_err, "write the recording");
	if (path && !lstat(path, &st) && !S_ISREG(st.st_mode))
		return control_refuse(s, -EINVAL, "'%s' is not a regular file", path);
	if (path && is_output(s, path))
		return control_refuse(s, -EEXIST, "'%s' is the recording's own file: a snapshot "
				      "goes into it when no file is named", path);
	err = path ? flight_take_own(s, path, why) : flight_take(s, true, why);
	return failed(s, err, "write the snapshot");
}

int control_rotate(struct session *s)
{
	if (s->out.stream)
		return control_refuse(s, -EOPNOTSUPP, "the output is a stream");
	if (s->flight.table)
		return control_refuse(s, -EOPNOTSUPP, "a flight recording is written by snapshots");
	if (!s->rotation.table)
		return control_refuse(s, -EOPNOTSUPP, "the recording was begun without "
						      "--switch-output: it has one file");
	s->control.rotate_wanted = true;
	return 0;
}

void control_stop(struct session *s)
{
	if (!s->signal)
		s->signal = SIGTERM;
}
