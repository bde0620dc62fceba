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

bool control_traces(const struct session *s)
{
	return s->enabled && !s->control.paused && !s->control.soft_off;
}

int control_follow(struct session *s)
{
	struct soft *soft = s->source.soft;

	if (!soft)
		return 0;
	if (control_traces(s))
		return soft_go_on(soft);
	soft_pause(soft);
	return 0;
}

/* Before they are enabled for the first time (--delay) there is nothing to do. */
static int enable_all(struct session *s)
{
	int err, first = control_follow(s);

	for (size_t i = 0; i < s->set.nr_ev && s->enabled; i++) {
		err = ours(s, i) ? pio_evset_enable(&s->set, i) : 0;
		if (err && !first)
			first = err;
	}
	return failed(s, first, "enable the events");
}

static int disable_all(struct session *s)
{
	int err, first = control_follow(s);

	for (size_t i = 0; i < s->set.nr_ev; i++) {
		err = ours(s, i) ? pio_evset_disable(&s->set, i) : 0;
		if (err && !first)
			first = err;
	}
	return failed(s, first, "disable the events");
}

void control_setup(struct session *s)
{
	if (!s->cfg->start_paused)
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

/* In place of the index of an event: that of the software source, and none. */
#define SOFT_EVENT SIZE_MAX
#define NO_EVENT (SIZE_MAX - 1)

/* The whole name, or as it was typed, or of a PMU's event what stands before the slash. */
static bool is_called(const char *full, const struct event_arg *arg, const char *name)
{
	size_t n = strlen(name);

	if (!strcmp(full, name) || (!strncmp(full, name, n) && full[n] == '/'))
		return true;
	return arg && !strcmp(arg->text, name);
}

static int find(struct session *s, const char *name, size_t *ret)
{
	*ret = SOFT_EVENT;
	if (s->source.soft && is_called(s->plan.pt_name, plan_aux_arg(&s->plan), name))
		return 0;
	for (size_t i = 0; i < s->set.nr_ev; i++) {
		if (s->set.ev[i].missing ||
		    !is_called(s->set.ev[i].name, s->plan.arg[i], name))
			continue;
		if (!ours(s, i))
			return control_refuse(s, -EPERM, "'%s' stays on: without it the trace "
							 "cannot be read", name);
		*ret = i;
		return 0;
	}
	return control_refuse(s, -ENOENT, "no event '%s'", name);
}

static void take_in_all(struct session *s)
{
	s->control.soft_off = false;
	for (size_t i = 0; i < s->set.nr_ev; i++)
		pio_evset_take_in(&s->set, i);
}

static int leave_out_all(struct session *s, size_t but)
{
	int err, first;

	s->control.soft_off = but != SOFT_EVENT;
	first = control_follow(s);
	for (size_t i = 0; i < s->set.nr_ev; i++) {
		err = ours(s, i) && i != but ? pio_evset_leave_out(&s->set, i) : 0;
		if (err && !first)
			first = err;
	}
	return failed(s, first, "disable the events");
}

/* Of a recording that was asked to pause this one alone counts from now on. */
static int enable_alone(struct session *s, size_t i)
{
	int err = leave_out_all(s, i);

	return err ? err : control_resume(s, CONTROL_ASKED);
}

/* A member begins with its leader, which is stopped for that: see enable_members() in
 * perfio/evset_run.c. */
static int enable_one(struct session *s, size_t i)
{
	size_t leader = s->set.ev[i].leader ? s->set.ev[i].leader - 1 : i;
	int err = 0;

	pio_evset_take_in(&s->set, i);
	if (s->control.paused & CONTROL_ASKED)
		return enable_alone(s, i);
	if (leader != i && !s->set.ev[leader].off)
		err = pio_evset_disable(&s->set, leader);
	if (!err && s->enabled)
		err = pio_evset_enable(&s->set, leader);
	return failed(s, err, "enable the event");
}

static int switch_soft(struct session *s, bool on)
{
	s->control.soft_off = !on;
	if (on && s->control.paused & CONTROL_ASKED)
		return enable_alone(s, SOFT_EVENT);
	return failed(s, control_follow(s), "enable the event");
}

int control_enable(struct session *s, const char *event)
{
	size_t i = 0;
	int err = event ? find(s, event, &i) : 0;

	if (err)
		return err;
	if (event && i == SOFT_EVENT)
		return switch_soft(s, true);
	if (event)
		return s->set.ev[i].off || s->control.paused ? enable_one(s, i) : 0;
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
	if (event && i == SOFT_EVENT)
		return switch_soft(s, false);
	if (event)
		return failed(s, pio_evset_leave_out(&s->set, i), "disable the event");
	return leave_out_all(s, NO_EVENT);
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
