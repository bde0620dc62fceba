/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/trigger.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "recorder/cmd.h"
#include "recorder/log.h"
#include "recorder/session.h"
#include "recorder/units.h"

enum { NS_PER_MS = 1000000 };

static bool conv_known(const struct session *s)
{
	return s->conv.cap_time_zero && s->conv.mult;
}

/* Only --pre and --window compare with the times of records. */
static int setup_clock(struct session *s)
{
	int err;

	if ((!s->cfg->pre_ns && !s->cfg->window_ns) || s->plan.clockid >= 0 || conv_known(s))
		return 0;
	err = pio_evclock_open(&s->trigger.clock, s->sys);
	if (!err)
		return 0;
	log_err(err, "--pre, --window: cannot read the events' clock");
	log_hint("a clock that can be read is chosen with -k");
	return EXIT_CANNOT;
}

int trigger_setup(struct session *s)
{
	int err = setup_clock(s);

	if (!err)
		err = trigger_end_setup(s);
	return err ? err : trigger_hit_setup(s);
}

int trigger_enable(struct session *s)
{
	struct trigger *t = &s->trigger;
	int err = 0;

	for (size_t i = 0; i < t->nr_ev && !err; i++)
		if (!t->ev[i].missing && !t->ev[i].attr.enable_on_exec)
			err = pio_evset_enable(&t->set, i);
	return err;
}

int trigger_watch(struct session *s)
{
	int err = trigger_end_watch(s);

	return err ? err : trigger_hit_watch(s);
}

void trigger_done(struct session *s)
{
	struct trigger *t = &s->trigger;

	trigger_end_done(s);
	pio_evclock_done(&t->clock);
	pio_evset_done(&t->set);
	for (size_t i = 0; i < t->nr_ev; i++)
		free(t->name[i]);
	free(t->name);
	free(t->ev);
	*t = TRIGGER_INIT;
}

uint64_t trigger_now(struct session *s)
{
	struct timespec t;

	if (s->plan.clockid >= 0)
		return clock_gettime(s->plan.clockid, &t) ? 0 : units_ns(&t);
	if (conv_known(s))
		return session_time(s, source_ticks(&s->source));
	return pio_evclock_now(&s->trigger.clock);
}

/* ---- from a trigger to its snapshot ---- */

bool trigger_waits(const struct session *s)
{
	return s->trigger.why[0];
}

void trigger_pull(struct session *s, uint64_t at_ns, const char *fmt, ...)
{
	struct trigger *t = &s->trigger;
	char why[sizeof(t->why)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (!s->on_ns) {
		log_info("no snapshot (%s): nothing has been recorded yet", why);
		return;
	}
	if (trigger_waits(s)) {
		t->merged++;
		log_debug("trigger (%s): merged with the one that waits (%s)", why, t->why);
		return;
	}
	memcpy(t->why, why, sizeof(why));
	t->at_ns = at_ns;
	t->due_ns = session_now() + s->cfg->post_ns;
	t->merged = 0;
}

int trigger_wait(const struct session *s, int wait_ms)
{
	uint64_t now = session_now(), due = s->trigger.due_ns, ms;

	if (s->trigger.ready)
		return 0;
	if (!trigger_waits(s))
		return wait_ms;
	ms = due > now ? (due - now + NS_PER_MS - 1) / NS_PER_MS : 0;
	return wait_ms < 0 || ms < (uint64_t)wait_ms ? (int)(ms < INT32_MAX ? ms : INT32_MAX)
						     : wait_ms;
}

static uint64_t from_ns(const struct session *s)
{
	const struct trigger *t = &s->trigger;

	return s->cfg->pre_ns && t->at_ns > s->cfg->pre_ns ? t->at_ns - s->cfg->pre_ns : 0;
}

static int take(struct session *s, bool go_on)
{
	struct trigger *t = &s->trigger;
	char why[sizeof(t->why)];
	int err;

	memcpy(why, t->why, sizeof(why));
	t->why[0] = '\0';
	s->flight.from_ns = from_ns(s);
	err = flight_take(s, go_on, why);
	s->flight.from_ns = 0;
	if (t->merged && !err)
		log_info("  %llu more trigger%s came before it was taken: merged",
			 (unsigned long long)t->merged, t->merged == 1 ? "" : "s");
	t->merged = 0;
	return err;
}

int trigger_act(struct session *s)
{
	trigger_end_look(s);
	trigger_hit_look(s);
	if (s->snapshot_wanted)
		trigger_pull(s, trigger_now(s), "SIGUSR2");
	s->snapshot_wanted = false;
	return trigger_waits(s) && session_now() >= s->trigger.due_ns ? take(s, true) : 0;
}

void trigger_last(struct session *s, bool at_exit)
{
	struct trigger *t = &s->trigger;

	session_read_signals(s);
	if (s->snapshot_wanted)
		trigger_pull(s, trigger_now(s), "SIGUSR2");
	s->snapshot_wanted = false;
	if (trigger_waits(s)) {
		if (session_now() < t->due_ns)
			log_info("the recording ends before --post is over");
		t->merged += at_exit;
		(void)take(s, false);
	} else if (at_exit && t->ended) {
		log_info("no snapshot (at the end): the last one was of the end");
	} else if (at_exit) {
		(void)flight_take(s, false, "at the end");
	}
}
