/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/stopped.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "perfio/proc.h"
#include "recorder/cmd.h"
#include "recorder/explain.h"
#include "recorder/log.h"
#include "recorder/session.h"

enum {
	NS_PER_MS = 1000000,
	/* Who is woken looks stopped for a moment still, and may stop again at once. */
	DOUBT_MS = 1,
	FIRST_LOOK_MS = 10,   /* a wake-up was under way when we began to wait for one */
	LATER_LOOK_MS = 1000, /* a cpu came online, and nobody tells what is woken there */
};

static bool wanted(const struct session *s)
{
	return s->cfg->pause_when_stopped || s->cfg->triggers & TRIGGER_STOP;
}

static int add_task(void *ctx, const struct pio_task *t)
{
	return stopped_add_task(ctx, t->tid);
}

static int find_tasks(struct session *s)
{
	int err = 0;

	for (size_t i = 0; i < s->cfg->nr_watch && !err; i++)
		err = pio_proc_tasks(s->sys, s->cfg->watch[i], add_task, &s->stopped, NULL);
	return err || s->cfg->nr_watch ? err : stopped_add_task(&s->stopped, s->work.pid);
}

static int fall_back(struct session *s, int err)
{
	if (s->cfg->nr_watch) {
		log_err(err, "cannot tell when a process that is not the command is stopped");
		log_hint("this needs tracepoints, sched:sched_switch and sched:sched_waking of "
			 "tracefs, on all cpus: run as root");
		return EXIT_CANNOT;
	}
	log_info("no tracepoints for this user (%s): only job-control stops of the command itself "
		 "are seen, and its children count as stopped with it", strerror(-err));
	s->stopped.how = STOPPED_CHILD;
	return 0;
}

int stopped_setup(struct session *s)
{
	int err;

	if (!wanted(s))
		return 0;
	if (s->source.soft && s->cfg->triggers & TRIGGER_STOP) {
		log_err(0, "--trigger=stop: the software source stops the command all the time");
		return EXIT_CANNOT;
	}
	if (s->source.soft || (!s->plan.system_wide && !(s->cfg->triggers & TRIGGER_STOP))) {
		log_info("nothing to pause: what is recorded are tasks, and a stopped one records "
			 "nothing");
		return 0;
	}
	err = find_tasks(s);
	if (err == -ENOMEM)
		return explain_no_memory();
	if (err) {
		log_err(err, "cannot find a process of --watch");
		return EXIT_CANNOT;
	}
	s->stopped.how = STOPPED_EVENTS;
	err = stopped_open(s);
	if (err)
		stopped_close(s);
	return err ? fall_back(s, err) : 0;
}

void stopped_done(struct session *s)
{
	stopped_close(s);
	free(s->stopped.tid);
	s->stopped = (struct stopped){ .halts = PIO_EVSET_INIT, .wakes = PIO_EVSET_INIT };
}

/* ---- what /proc says ---- */

static char state_of(const struct session *s, pid_t tid)
{
	char line[256], *p;

	if (pio_read_line(line, sizeof(line), "%s/%d/stat", s->sys->proc, (int)tid) < 0)
		return 'X';
	p = strrchr(line, ')');
	return p && p[1] == ' ' ? p[2] : 'X';
}

static bool halted(char state)
{
	return state == 'T' || state == 't';
}

static bool over(char state)
{
	return state == 'X' || state == 'x' || state == 'Z';
}

/* Begins with the one that was running the last time: usually that is enough. */
static bool all_stopped(struct session *s)
{
	struct stopped *st = &s->stopped;
	size_t stopped = 0;

	for (size_t k = 0; k < st->nr_tid; k++) {
		size_t i = (st->running + k) % st->nr_tid;
		char state = state_of(s, st->tid[i]);

		if (!halted(state) && !over(state)) {
			st->running = i;
			return false;
		}
		stopped += halted(state);
	}
	return stopped;
}

/* ---- stop and go on ---- */

static int first_pid(const struct session *s)
{
	return (int)(s->cfg->nr_watch ? s->cfg->watch[0] : s->work.pid);
}

static void look_in(struct session *s, uint64_t ms)
{
	s->stopped.look_ns = session_now() + ms * NS_PER_MS;
}

static void say(struct session *s, int err)
{
	if (err)
		log_warn("%s", s->control.words);
}

static void go_on(struct session *s)
{
	struct stopped *st = &s->stopped;

	say(s, control_resume(s, CONTROL_STOPPED));
	log_debug("process %d goes on", first_pid(s));
	st->is = false;
	if (st->how == STOPPED_EVENTS)
		st->doubt_ns = session_now() + DOUBT_MS * NS_PER_MS;
}

/* Pause first, then see to it that we are told when it goes on, then look whether it already
 * has. */
static void stop(struct session *s, bool tell)
{
	struct stopped *st = &s->stopped;
	int err = 0;

	st->is = true;
	st->times++;
	if (s->cfg->pause_when_stopped && s->plan.system_wide)
		say(s, control_pause(s, CONTROL_STOPPED));
	log_debug("process %d is stopped", first_pid(s));
	if (st->how == STOPPED_EVENTS) {
		err = stopped_wakes_on(s);
		look_in(s, FIRST_LOOK_MS);
		if (err)
			log_warn("cannot wait for process %d to go on (%s): looking every %d ms",
				 first_pid(s), strerror(-err), FIRST_LOOK_MS);
		if (!all_stopped(s))
			go_on(s);
	}
	if (tell && s->cfg->triggers & TRIGGER_STOP)
		trigger_pull(s, trigger_now(s), "process %d was stopped", first_pid(s));
}

/* ---- who tells ---- */

static void give_up(struct session *s)
{
	log_warn("more tasks came and went than could be followed: stops are no longer seen");
	if (s->stopped.is)
		go_on(s);
	polling_remove_set(s, &s->stopped.halts, POLLING_EVERYWHERE);
	polling_remove_set(s, &s->stopped.wakes, POLLING_EVERYWHERE);
	stopped_close(s);
	s->stopped.how = STOPPED_UNWATCHED;
}

/* After a task was woken, whether it stops again is not for now to say; the events of waking stay
 * on until then. */
static void look_events(struct session *s)
{
	struct stopped *st = &s->stopped;
	bool wakes = stopped_read_wakes(s), halts = stopped_read_halts(s);

	if (st->lost) {
		give_up(s);
		return;
	}
	if (wakes && st->is)
		go_on(s);
	else if (wakes && st->doubt_ns)
		st->doubt_ns = session_now() + DOUBT_MS * NS_PER_MS;
	else if (!st->is && !st->doubt_ns && (halts || !st->looked) && all_stopped(s))
		stop(s, halts);
	st->looked = true;
}

static void look_again(struct session *s)
{
	s->stopped.doubt_ns = 0;
	if (all_stopped(s))
		stop(s, true);
	else
		stopped_wakes_off(s);
}

static void look_child(struct session *s)
{
	siginfo_t si;

	for (;;) {
		si.si_pid = 0;
		if (waitid(P_PID, (id_t)s->work.pid, &si, WSTOPPED | WCONTINUED | WNOHANG) ||
		    !si.si_pid)
			return;
		if (!s->stopped.is) /* or it was, and we are late */
			stop(s, true);
		if (si.si_code == CLD_CONTINUED)
			go_on(s);
	}
}

static void look_anyway(struct session *s)
{
	if (!all_stopped(s))
		go_on(s);
	else
		look_in(s, LATER_LOOK_MS);
}

void stopped_look(struct session *s)
{
	struct stopped *st = &s->stopped;

	if (st->how == STOPPED_CHILD) {
		look_child(s);
		return;
	}
	if (st->how == STOPPED_EVENTS && st->ready) {
		st->ready = false;
		look_events(s);
	}
	if (st->how != STOPPED_EVENTS)
		return;
	if (st->doubt_ns && session_now() >= st->doubt_ns)
		look_again(s);
	if (st->is && session_now() >= st->look_ns)
		look_anyway(s);
}

int stopped_wait(const struct session *s, int wait_ms)
{
	const struct stopped *st = &s->stopped;
	uint64_t now = session_now(), due = st->is ? st->look_ns : st->doubt_ns, ms;

	if (st->ready)
		return 0;
	if (!due || st->how != STOPPED_EVENTS)
		return wait_ms;
	ms = due > now ? (due - now) / NS_PER_MS + 1 : 0;
	return wait_ms < 0 || ms < (uint64_t)wait_ms ? (int)ms : wait_ms;
}
