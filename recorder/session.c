/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "recorder/attachable.h"
#include "recorder/cmd.h"
#include "recorder/explain.h"
#include "recorder/log.h"
#include "recorder/units.h"

enum {
	ROUND_MS = 250,		   /* a round at least so often: the file lags no further */
	SOFT_STOPS = 100000,	   /* the tracer's turn, in stops */
	SOFT_NS = 20 * 1000000,	   /* and in time */
	SOFT_ROUND_BYTES = 1 << 20, /* a round when so much trace has gathered */
	WAIT_MS = 2000,		   /* how long a command may take to obey SIGTERM */
};

uint64_t session_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return units_ns(&t);
}

uint64_t session_time(const struct session *s, uint64_t ticks)
{
	const struct fmt_time_conv *c = &s->conv;
	uint64_t low = ticks & ((UINT64_C(1) << c->shift) - 1);

	/* perf_event_open(2), under cap_usr_time_zero. */
	return c->zero + (ticks >> c->shift) * c->mult + ((low * c->mult) >> c->shift);
}

bool session_ticks(const struct session *s, uint64_t ns, uint64_t *ret)
{
	const struct fmt_time_conv *c = &s->conv;
	uint64_t ticks = source_ticks(&s->source), ago;

	if (!c->cap_time_zero || !c->mult || c->shift > 32)
		return false;
	ago = session_time(s, ticks);
	ago = ago > ns ? ago - ns : 0;
	*ret = ticks - (((ago / c->mult) << c->shift) + ((ago % c->mult) << c->shift) / c->mult);
	return true;
}

double session_slowdown(const struct soft_stats *st)
{
	return st->instructions ? (double)st->traced_ticks / (double)st->instructions : 0;
}

struct fmt_features session_features(struct session *s)
{
	struct fmt_features f = s->host.f;
	struct timespec res;

	f.events = s->events;
	f.nr_events = s->nr_events;
	f.tracing_data = s->tracing.data;
	f.tracing_data_len = s->tracing.len;
	if (s->plan.source == SOURCE_KERNEL) {
		s->group = (struct fmt_group){ NULL, 0, 1 };
		for (size_t i = 1; i < s->plan.nr_ev; i++)
			s->group.nr += s->plan.ev[i].leader == 1;
		f.groups = &s->group;
		f.nr_groups = 1;
	}
	f.have_aux = s->plan.source != SOURCE_NONE;
	f.zip_level = (uint32_t)s->cfg->zip_level;
	f.zip_ratio = fmt_writer_zip_ratio(&s->writer);
	f.zip_inflated_max = FMT_ZIP_INFLATED_MAX;
	f.have_sample_time = s->ledger.first_ns != 0;
	f.first_ns = s->ledger.first_ns;
	f.last_ns = s->ledger.last_ns;
	if (s->plan.clockid >= 0 && !clock_getres(s->plan.clockid, &res)) {
		f.have_clock = true;
		f.clockid = (uint32_t)s->plan.clockid;
		f.clock_res_ns = units_ns(&res);
		f.wall_ns = s->wall_ns;
		f.clock_ns = s->clock_ns;
	}
	return f;
}

/* ---- signals: read in the loop, so there are no handlers and no shared flags ---- */

static bool signal_ignored(int sig)
{
	struct sigaction a;

	return !sigaction(sig, NULL, &a) && a.sa_handler == SIG_IGN;
}

static int take_signals(struct session *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (!signal_ignored(SIGHUP)) /* as nohup(1) sets it */
		sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	if (s->cfg->snapshot || s->cfg->rotate)
		sigaddset(&set, SIGUSR2);
	(void)signal(SIGPIPE, SIG_IGN); /* a reader that went away is EPIPE, */
	(void)signal(SIGXFSZ, SIG_IGN); /* a file size limit is EFBIG */
	if (sigprocmask(SIG_BLOCK, &set, &s->old_mask))
		return log_err(-errno, "sigprocmask failed");
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signal_fd < 0)
		return log_err(-errno, "signalfd failed");
	return 0;
}

void session_read_signals(struct session *s)
{
	struct signalfd_siginfo si;

	while (read(s->signal_fd, &si, sizeof(si)) == sizeof(si))
		if (si.ssi_signo == SIGUSR2)
			*(s->cfg->rotate ? &s->control.rotate_wanted : &s->snapshot_wanted) = true;
		else if (si.ssi_signo != SIGCHLD)
			s->signal = (int)si.ssi_signo;
}

/* An event per cpu, thread and kind wants many descriptors: take what the hard limit gives.
 * The command gets its old limit back. */
static void raise_nofile(struct session *s)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &s->old_nofile))
		s->old_nofile = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
	l = s->old_nofile;
	l.rlim_cur = l.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &l);
}

/* ---- the loop ---- */

static int enable(struct session *s)
{
	int err = 0;

	for (size_t i = 0; i < s->set.nr_ev && !err; i++)
		if (s->plan.start_late[i] && !s->set.ev[i].missing &&
		    !s->set.ev[i].attr.enable_on_exec)
			err = pio_evset_enable(&s->set, i);
	if (!err)
		err = trigger_enable(s);
	s->enabled = true;
	s->on_ns = session_now();
	if (!err)
		err = control_follow(s);
	if (err)
		log_err(err, "cannot enable the events");
	else
		log_debug("events enabled after %.1f ms",
			  (double)(s->on_ns - s->t0_ns) / 1e6);
	return err;
}

static int min_int(int a, uint64_t b)
{
	return b < (uint64_t)a ? (int)b : a;
}

/* The tracer's turn. Returns an enum soft_state. */
static int run_soft(struct session *s)
{
	int state = soft_run(s->source.soft, SOFT_STOPS, SOFT_NS);

	if (state < 0) {
		log_err(state, "tracing failed");
		s->run_err = state;
		return SOFT_DONE;
	}
	if (soft_exit_status(s->source.soft, &s->work.status)) {
		s->work.reaped = true;
		return SOFT_DONE;
	}
	if (state == SOFT_FULL) {
		log_info("the recording ends: %llu instructions are traced (--max-instructions)",
			 (unsigned long long)s->cfg->max_instructions);
		s->full = true;
	}
	return state;
}

static bool much_trace(const struct session *s, uint64_t *seen)
{
	struct soft_stats st;

	soft_stats(s->source.soft, &st);
	if (st.trace_bytes - *seen < SOFT_ROUND_BYTES)
		return false;
	*seen = st.trace_bytes;
	return true;
}

static bool over(struct session *s, bool tick)
{
	if (s->signal || s->write_err || s->run_err || s->full || rotation_over(s))
		return true;
	if (trigger_waits(s))
		return false;
	if (s->source.soft && s->cfg->follow)
		return s->work.reaped;
	if (s->work.pid > 0 && workload_ended(&s->work))
		return true;
	return polling_processes_gone(s) || (tick && polling_threads_gone(s));
}

/* How long nothing is due, in ms from now; -1: until something happens. In flight nothing is
 * due by itself, but for what cannot be waited for otherwise. */
static int nothing_due(const struct session *s, uint64_t now, uint64_t start, uint64_t next)
{
	int wait = next > now ? (int)(next - now) : 0;

	if (!s->enabled)
		return min_int(wait, s->cfg->delay_ms > now - start
					     ? s->cfg->delay_ms - (now - start) : 0);
	if (s->flight.table && !s->hotplug.again &&
	    !(s->plan.system_wide && s->hotplug.fd < 0) &&
	    !(s->cfg->nr_tids && !s->cfg->nr_pids))
		return trigger_wait(s, -1);
	return trigger_wait(s, wait);
}

/* What is in the rings, at the end of each wait. */
static void take_rings(struct session *s, bool tick, uint64_t *seen)
{
	bool ready = s->polling.rings_ready;
	int err;

	s->polling.rings_ready = false;
	if (!s->flight.table) {
		if (ready || tick || (s->source.soft && much_trace(s, seen)))
			(void)drain_round(s, true, false);
		rotation_turn(s);
		return;
	}
	err = ready || tick ? flight_drain(s) : 0;
	if (err)
		s->run_err = log_err(err, "cannot keep track of the tasks");
	if (!err)
		(void)trigger_act(s);
}

static void loop(struct session *s)
{
	uint64_t start = session_now() / 1000000, next = start + ROUND_MS, now, seen = 0;
	int state = s->source.soft ? SOFT_BUSY : SOFT_IDLE, wait, err;
	bool tick;

	do {
		now = session_now() / 1000000;
		wait = rotation_wait(s, nothing_due(s, now, start, next));
		wait = stopped_wait(s, wait);
		err = watch_wait(&s->watch, state == SOFT_BUSY ? 0 : wait);
		if (err)
			s->run_err = log_err(err, "epoll_wait failed");
		stopped_look(s);
		if (s->source.soft)
			state = run_soft(s);
		now = session_now() / 1000000;
		if (!s->enabled && !s->run_err && now - start >= s->cfg->delay_ms)
			s->run_err = enable(s);
		tick = now >= next;
		take_rings(s, tick, &seen);
		if (tick || s->polling.cpus_changed)
			(void)joining_look(s);
		s->polling.cpus_changed = false;
		if (tick) {
			next = now + ROUND_MS;
			report_status(s);
		}
	} while (!over(s, tick));
}

/* ---- the command ---- */

/* Let the command go, and learn whether it could be executed at all. */
static int go(struct session *s)
{
	int err;

	if (s->work.pid < 0)
		return 0;
	err = workload_go(&s->work);
	if (!err)
		err = workload_exec_error(&s->work);
	if (!err)
		return 0;
	log_err(err, "cannot execute '%s'", s->cfg->command[0]);
	if (err == -ENOENT)
		log_hint("neither the path nor $PATH has it");
	return err == -ENOENT ? 127 : 126;
}

/* A recording that was told to stop takes its command along; one that failed does not. */
static void end_command(struct session *s)
{
	if (s->source.soft) /* also children that outlive the command run on */
		(void)soft_detach(s->source.soft);
	if (s->work.pid <= 0 || workload_ended(&s->work))
		return;
	if (!s->signal && !s->rotation.ended) {
		log_info("the recording ended before the command; waiting for it");
		(void)sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
		while (waitpid(s->work.pid, &s->work.status, 0) < 0 && errno == EINTR)
			;
		s->work.reaped = true;
		return;
	}
	(void)kill(s->work.pid, SIGTERM);
	for (int ms = 0; ms < WAIT_MS && !workload_ended(&s->work); ms += 10)
		usleep(10000);
	if (!s->work.reaped)
		log_warn("command %d did not end on SIGTERM and is left running",
			 (int)s->work.pid);
}

static int exit_status(const struct session *s)
{
	if (s->write_err || s->run_err || s->flight.failed || s->flight.unnamed)
		return EXIT_FAILED;
	if (s->cfg->strict && ledger_lossy(&s->ledger))
		return EXIT_WITH_LOSSES;
	if (s->rotation.ended && (!s->work.reaped || workload_killed_by(&s->work, SIGTERM)))
		return EXIT_OK;
	if (s->work.pid > 0)
		return s->work.reaped ? workload_exit_status(&s->work) : 128 + s->signal;
	return EXIT_OK;
}

static int refuse_fork(const struct session *s, int err)
{
	log_err(err, "cannot start '%s'", s->cfg->command[0]);
	explain_nofile(&s->plan.limits, err);
	return EXIT_CANNOT;
}

/* What it is controlled through, before anything else: it may be misspelt. */
static int open_channels(struct session *s)
{
	const char *what;
	int err = 0;

	if (s->cfg->control)
		err = ctlwords_open(&s->words, s->cfg->control, &what);
	if (!err)
		return 0;
	log_err(err, "cannot take control words from '%s'", s->cfg->control);
	if (what != s->cfg->control)
		log_hint("this is about '%s'", what);
	return EXIT_FAILED;
}

static int start(struct session *s)
{
	struct workload_setup setup;
	int err = open_channels(s);

	if (!err)
		err = plan_make(&s->plan, s->sys, s->cfg);
	if (!err)
		err = attachable_check(s->cfg, &s->plan.limits);
	if (!err && s->plan.source == SOURCE_SOFT)
		err = setid_check(s->cfg);
	if (err)
		return err;
	snprintf(s->version, sizeof(s->version), "auxrec %s (source: %s)", AUXREC_VERSION,
		 source_names[s->plan.source]);
	if (rotation_setup(s))
		return explain_no_memory();
	err = recfile_open(s);
	if (err)
		return err;
	/* Only now: until here, and while a FIFO waits for its reader, signals just end us. */
	err = take_signals(s);
	if (!err)
		err = ctlserve_open(s);
	if (err)
		return EXIT_FAILED;
	if (s->cfg->command) {
		setup = (struct workload_setup){
			.argv = s->cfg->command,
			.mask = &s->old_mask,
			.nofile = &s->old_nofile,
			.stdout_taken = s->out.fd == STDOUT_FILENO,
		};
		err = workload_fork(&s->work, &setup);
		if (err)
			return refuse_fork(s, err);
	}
	err = opening_events(s);
	control_setup(s);
	if (!err)
		err = trigger_setup(s);
	if (!err)
		err = stopped_setup(s);
	if (!err && s->cfg->kcore)
		err = opening_kcore(s);
	return err ? err : opening_head(s);
}

/* What ran before is disturbed only now, when all is ready. */
static int attach(struct session *s)
{
	for (size_t i = 0; s->cfg->attach && i < s->cfg->nr_pids; i++) {
		int err = soft_attach(s->source.soft, s->cfg->pids[i]);

		if (err)
			return attachable_explain(&s->plan.limits, s->cfg->pids[i], err);
	}
	return 0;
}

static int record(struct session *s)
{
	int err;

	report_start(s);
	if (s->plan.system_wide && !s->cfg->delay_ms && enable(s))
		return EXIT_CANNOT;
	err = go(s);
	if (err)
		return err;
	err = s->flight.table ? 0 : recfile_publish(s);
	if (err && s->work.pid > 0)
		(void)kill(s->work.pid, SIGKILL);
	if (err)
		return EXIT_FAILED;
	if (!s->enabled && !s->cfg->delay_ms && enable(s))
		return EXIT_CANNOT;
	err = polling_setup(s, session_read_signals);
	if (!err)
		err = ctlwords_watch(s);
	if (!err)
		err = ctlserve_watch(s);
	if (!err)
		err = trigger_watch(s);
	if (!err)
		err = stopped_watch(s);
	if (err) {
		log_err(err, "cannot wait for what is recorded");
		return EXIT_CANNOT;
	}
	err = attach(s);
	if (err)
		return err;
	loop(s);
	if (s->cfg->attach) /* what is written yet shall not keep them waiting */
		(void)soft_detach(s->source.soft);
	closing_file(s);
	ctlserve_done(s); /* who has asked to stop sees that it is done */
	end_command(s);
	report_end(s);
	return exit_status(s);
}

static void session_done(struct session *s)
{
	ctlserve_done(s);
	polling_done(s);
	ctlwords_done(&s->words);
	trigger_done(s);
	stopped_done(s);
	source_done(&s->source);
	workload_done(&s->work);
	hotplug_done(&s->hotplug);
	pio_evset_done(&s->set);
	fmt_writer_done(&s->writer);
	output_done(&s->out);
	ledger_done(&s->ledger);
	dsos_free(s->dsos);
	fileids_free(s->fileids);
	host_done(&s->host);
	fmt_buf_done(&s->tracing);
	fmt_buf_done(&s->buf);
	spans_done(&s->spans);
	softswitch_done(s);
	softcode_done(s);
	free(s->events);
	free(s->ids);
	free(s->stalled);
	free(s->name);
	rotation_done(s);
	flight_done(s);
	plan_done(&s->plan);
	if (s->signal_fd >= 0)
		(void)close(s->signal_fd);
}

int session_run(const struct pio_sys *sys, const struct rec_config *cfg)
{
	struct session s = {
		.sys = sys,
		.cfg = cfg,
		.set = PIO_EVSET_INIT,
		.work = WORKLOAD_INIT,
		.out = OUTPUT_INIT,
		.hotplug = HOTPLUG_INIT,
		.watch = WATCH_INIT,
		.words = CTLWORDS_INIT,
		.trigger = TRIGGER_INIT,
		.signal_fd = -1,
		.t0_ns = session_now(),
	};
	int status;

	raise_nofile(&s);
	status = start(&s);
	if (!status)
		status = record(&s);
	session_done(&s);
	return status;
}
