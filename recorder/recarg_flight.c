/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments that say when a flight recording takes its snapshots. */
#include "recorder/recarg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/config.h"
#include "recorder/eventarg.h"
#include "recorder/log.h"
#include "recorder/trigger.h"
#include "recorder/units.h"

static const struct {
	const char *word;
	enum trigger_kind kind;
} kinds[] = { { "exit", TRIGGER_EXIT }, { "crash", TRIGGER_CRASH }, { "stop", TRIGGER_STOP } };

static unsigned kind_of(const char *text)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(text, kinds[i].word))
			return kinds[i].kind;
	return 0;
}

static int bad_trigger(const char *arg, const char *at)
{
	log_err(0, "bad trigger '%s' at '%s': exit, crash, stop, or a tracepoint as "
		   "sched:sched_process_exec", arg, at);
	return -EINVAL;
}

/* One word, or a list of tracepoints; each option adds to what there is. */
int recarg_trigger(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;
	const char *what = "no memory", *at = arg;
	size_t had = c->nr_trigger_events;
	unsigned kind = kind_of(arg);

	c->triggers |= kind;
	c->filter_trigger = !kind;
	if (kind)
		return 0;
	if (eventarg_parse(&c->trigger_events, &c->nr_trigger_events, arg, &what, &at)) {
		c->filter_trigger = false;
		return bad_trigger(arg, at);
	}
	for (size_t i = had; i < c->nr_trigger_events; i++)
		if (!c->trigger_events[i].tracepoint || c->trigger_events[i].aux_action)
			return bad_trigger(arg, c->trigger_events[i].text);
	return 0;
}

static int take_time(uint64_t *ret, const char *arg, const char *option)
{
	if (!units_duration(arg, ret))
		return 0;
	log_err(0, "bad time '%s' of --%s: a number and its unit, as 50ms or 2s", arg, option);
	return -EINVAL;
}

int recarg_pre(void *ctx, const char *arg)
{
	return take_time(&((struct rec_config *)ctx)->pre_ns, arg, "pre");
}

int recarg_post(void *ctx, const char *arg)
{
	return take_time(&((struct rec_config *)ctx)->post_ns, arg, "post");
}

int recarg_window(void *ctx, const char *arg)
{
	return take_time(&((struct rec_config *)ctx)->window_ns, arg, "window");
}

int recarg_watch(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;

	return recarg_ids(&c->watch, &c->nr_watch, arg, "process");
}

/* The processes of -p are those whose end counts, unless others were named. */
static const char *watch_pids(struct rec_config *c)
{
	c->watch = malloc(c->nr_pids * sizeof(*c->watch));
	if (!c->watch)
		return "no memory";
	memcpy(c->watch, c->pids, c->nr_pids * sizeof(*c->watch));
	c->nr_watch = c->nr_pids;
	return NULL;
}

const char *recarg_check_flight(struct rec_config *c)
{
	bool around = c->pre_ns || c->post_ns, triggers = c->triggers || c->nr_trigger_events;
	bool watches = c->triggers || c->pause_when_stopped;

	if (!c->snapshot && (around || triggers))
		return "--trigger, --pre and --post need --flight: otherwise everything is "
		       "written anyway";
	if (c->window_ns && !c->snapshot)
		return "--window needs --flight";
	if (c->window_ns && (c->flight_len || c->aux_len))
		return "--window chooses the size of rings: no SIZE of --flight, no -m ,AUX";
	if (c->nr_watch && !watches)
		return "--watch goes with --trigger=exit, crash or stop, and "
		       "--pause-when-stopped";
	if (watches && !c->nr_watch && !c->nr_pids && !c->command)
		return "--trigger=exit, crash and stop, and --pause-when-stopped need a process: "
		       "a command, -p or --watch";
	return watches && !c->nr_watch && c->nr_pids ? watch_pids(c) : NULL;
}
