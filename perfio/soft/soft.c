/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread is waited for next. waitpid(-1) is not used: it would reap children that
 * are none of ours, and it starves threads late in the kernel's list.
 */
#include "perfio/soft/soft.h"
#include "perfio/soft/attach.h"
#include "perfio/soft/away.h"
#include "perfio/soft/fence.h"
#include "perfio/soft/part.h"
#include "perfio/soft/tracer.h"
#include "perfio/soft/wait.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

enum { PSB_MIN = 2048, PSB_MAX = 1 << 20 };
/* Of cyc_thresh and mtc_period. */
enum { RATE_MAX = 15 };
/* Stops and instructions of one thread before others get a turn, and ns: where a stop takes long,
 * for the machine is busy, or the thread is on another cpu than we are. */
enum { TURN_STOPS = 5000, TURN_INSTRUCTIONS = 40000, TURN_NS = 25000000 };
/* How long a system call may take before we call the program idle, in ns. */
enum { PATIENCE = 50000 };
/* Stops of one thread before the others are looked at. */
enum { LOOK_EVERY = 16 };
/* Stops between two looks at the clock. */
enum { CLOCK_EVERY = 32 };

uint64_t soft_ticks_of(const struct soft_config *c)
{
#ifdef __x86_64__
	if (c->use_rdtsc)
		return __rdtsc();
#endif
	(void)c;
	return soft_now(CLOCK_MONOTONIC_RAW);
}

uint64_t soft_ticks(const struct soft *s)
{
	return soft_ticks_of(&s->cfg);
}

static int check_config(const struct soft_config *c)
{
#ifndef __x86_64__
	return -ENOTSUP;
#endif
	if (c->pt.psb_bytes < PSB_MIN || c->pt.psb_bytes > PSB_MAX)
		return -EINVAL;
	return c->pt.cyc_thresh > RATE_MAX || c->pt.mtc_period > RATE_MAX ? -EINVAL : 0;
}

int soft_new(struct soft **ret, const struct soft_config *c)
{
	struct soft *s;
	int err = check_config(c);

	if (err)
		return err;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->cfg = *c;
	err = -ENOMEM;
	if (c->ip_log) {
		s->ip_log = strdup(c->ip_log);
		if (!s->ip_log)
			goto out;
	}
	s->cfg.ip_log = s->ip_log;
	soft_gate_init(&s->gate, c);
	err = soft_ptenc_init(&s->enc, &c->pt);
	if (!err && c->per_cpu)
		err = soft_cpus_init(s);
	if (err)
		goto out;
	*ret = s;
	return 0;
out:
	soft_free(s);
	return err;
}

void soft_free(struct soft *s)
{
	if (!s)
		return;
	if (s->lane)
		(void)soft_detach(s);
	soft_kill_rest(s);
	soft_unpin_all(s);
	for (size_t i = 0; i < s->nr; i++) {
		if (s->all[i] == &s->nobody)
			continue;
		soft_pt_done(&s->all[i]->pt);
		free(s->all[i]);
	}
	free(s->all);
	free(s->dead);
	free(s->live);
	if (s->enc.enc)
		soft_ptenc_done(&s->enc);
	soft_notes_done(&s->notes);
	soft_cpus_done(s);
	soft_view_free(s->view);
	soft_stubs_free(s->stubs);
	free(s->ip_log);
	free(s);
}

int soft_start(struct soft *s, pid_t child)
{
	return s->root || s->lane ? -EBUSY : soft_tracer_seize(s, child);
}

/* A call that is made in the lane. */
struct call {
	struct soft *s;
	pid_t pid;
	unsigned max_stops;
	uint64_t max_ns;
};

static int attach(void *arg)
{
	const struct call *c = arg;

	return soft_attach_process(c->s, c->pid);
}

static int begin(void *arg)
{
	soft_lifeline_hold(arg);
	return 0;
}

static int start_lane(struct soft *s)
{
	int err = soft_lane_start(&s->lane);

	return err ? err : soft_lane_call(s->lane, begin, s->cfg.lifeline);
}

int soft_attach(struct soft *s, pid_t pid)
{
	struct call c = { .s = s, .pid = pid };
	int err = s->root ? -EBUSY : s->lane ? 0 : start_lane(s);

	return err ? err : soft_lane_call(s->lane, attach, &c);
}

/* Each thread once, beginning after the one whose turn it was. */
static struct soft_thread *sweep(struct soft *s, int *status)
{
	for (size_t k = 1, n = s->nr_live; k <= n && s->nr_live; k++) {
		size_t i = (s->turn + k) % s->nr_live;
		struct soft_thread *t = s->live[i];

		if (!soft_take(s, t, false, status))
			continue;
		s->turn = i;
		return t;
	}
	return NULL;
}

static struct soft_thread *wait_for_user(struct soft *s, int *status)
{
	for (size_t k = 1; k <= s->nr_live; k++) {
		size_t i = (s->turn + k) % s->nr_live;
		struct soft_thread *t = s->live[i];

		if (!soft_runs_user(t))
			continue;
		s->turn = i;
		return soft_take(s, t, true, status) ? t : NULL;
	}
	return NULL;
}

static bool any_user(const struct soft *s)
{
	for (size_t i = 0; i < s->nr_live; i++)
		if (soft_runs_user(s->live[i]))
			return true;
	return false;
}

/* Everything known was asked; a stop that is left is that of a thread unknown to us. */
static int adopt_strays(struct soft *s)
{
	siginfo_t si = { 0 };

	if (waitid(P_ALL, 0, &si, WSTOPPED | WNOHANG | WNOWAIT | __WALL) || !si.si_pid)
		return 0;
	return soft_table_adopt(s, si.si_pid);
}

static void begin_turn(struct soft *s)
{
	s->turn_stops = 0;
	s->turn_began = s->stats.instructions;
	s->turn_since = soft_now(CLOCK_MONOTONIC);
}

static bool turn_goes_on(struct soft *s)
{
	return s->turn_stops++ < TURN_STOPS &&
	       s->stats.instructions - s->turn_began < TURN_INSTRUCTIONS &&
	       (s->turn_stops % CLOCK_EVERY ||
		soft_now(CLOCK_MONOTONIC) - s->turn_since < TURN_NS);
}

/* The kernel does not let the trap of a stop that we have heard of kill a thread when we die. */
static void look_at_all(struct soft *s)
{
	for (size_t i = 0; i < s->nr_live; i++)
		if (s->live[i] != s->owner && soft_runs_user(s->live[i]) && !s->live[i]->stashed)
			(void)soft_look(s, s->live[i]);
}

/* The thread to handle next. 1, 0 if all sleep, or -errno. */
static int next_stop(struct soft *s, struct soft_thread **ret, int *status)
{
	struct soft_thread *t = s->owner;
	uint64_t since = 0;
	int n;

	if (t && soft_runs_user(t) && turn_goes_on(s) && soft_take(s, t, true, status)) {
		if (s->cfg.lifeline && !(s->turn_stops % LOOK_EVERY))
			look_at_all(s);
		*ret = t;
		return 1;
	}
	begin_turn(s);
	while (s->nr_live) {
		t = sweep(s, status);
		if (!t && any_user(s))
			t = wait_for_user(s, status);
		if (t) {
			s->owner = *ret = t;
			return 1;
		}
		/* With all on one cpu, a system call gets on only while we do not. */
		sched_yield();
		if (!since) {
			since = soft_now(CLOCK_MONOTONIC);
			soft_pace_halt(&s->pace, s->stats.instructions);
			soft_lifeline_idle(s->cfg.lifeline, true);
		} else if (soft_now(CLOCK_MONOTONIC) - since > PATIENCE) {
			n = adopt_strays(s);
			if (n <= 0)
				return n;
		}
	}
	return 0;
}

/* Where each thread was when the last of all instructions ran. */
static void end_traces(struct soft *s)
{
	for (size_t i = 0; i < s->nr_live; i++)
		soft_thread_cut(s->live[i]);
}

static int run(struct soft *s, unsigned max_stops, uint64_t max_ns)
{
	uint64_t begin = soft_now(CLOCK_MONOTONIC);

	for (unsigned n = 0; n < max_stops; n++) {
		struct soft_thread *t;
		int status, err = next_stop(s, &t, &status);

		if (err > 0) {
			soft_pace_go(&s->pace, s->stats.instructions);
			soft_lifeline_idle(s->cfg.lifeline, false);
			err = soft_tracer_stop(s, t, status);
		} else if (!err)
			return s->nr_live ? SOFT_IDLE : SOFT_DONE;
		if (!err && (s->gate.filters.n || s->gate.paused))
			err = soft_fence_release(s);
		if (err < 0)
			return err;
		if (!s->gate.left) {
			end_traces(s);
			return s->nr_live ? SOFT_FULL : SOFT_DONE;
		}
		if (n % CLOCK_EVERY == 0 && soft_now(CLOCK_MONOTONIC) - begin > max_ns)
			break;
	}
	return s->nr_live ? SOFT_BUSY : SOFT_DONE;
}

static int run_here(void *arg)
{
	const struct call *c = arg;
	int state = run(c->s, c->max_stops, c->max_ns);

	soft_cpus_collect(c->s); /* a window is one of what a cpu ran */
	return state;
}

int soft_run(struct soft *s, unsigned max_stops, uint64_t max_ns)
{
	struct call c = { .s = s, .max_stops = max_stops, .max_ns = max_ns };

	return s->lane ? soft_lane_call(s->lane, run_here, &c) : run_here(&c);
}

static int leave(void *arg)
{
	struct soft *s = arg;
	int err = soft_part(s);

	soft_lifeline_drop(s->cfg.lifeline);
	return err;
}

int soft_detach(struct soft *s)
{
	int err;

	if (!s->lane)
		return soft_part(s);
	err = soft_lane_call(s->lane, leave, s);
	soft_lane_end(s->lane);
	s->lane = NULL;
	while (s->nr_live)
		soft_table_remove(s, s->live[0]);
	return err;
}

static int pause_here(void *arg)
{
	soft_away_all(arg);
	soft_cpus_leave(arg);
	return 0;
}

void soft_pause(struct soft *s)
{
	if (s->lane)
		(void)soft_lane_call(s->lane, pause_here, s);
	else
		(void)pause_here(s);
}

static int go_on(void *arg)
{
	return soft_away_back(arg);
}

int soft_go_on(struct soft *s)
{
	return s->lane ? soft_lane_call(s->lane, go_on, s) : soft_away_back(s);
}

int soft_kill(struct soft *s, int sig)
{
	if (!s->root || s->root_ended)
		return -ESRCH;
	return kill(s->root, sig) ? -errno : 0;
}

bool soft_exit_status(const struct soft *s, int *ret)
{
	if (s->root_ended)
		*ret = s->root_status;
	return s->root_ended;
}

size_t soft_memory(const struct soft *s, pid_t pid, uint64_t addr, void *to, size_t n)
{
	for (size_t i = 0; i < s->nr_live; i++)
		if (s->live[i]->pid == pid && s->live[i]->mem)
			return soft_mem_read(s->live[i]->mem, addr, to, n);
	return 0;
}

size_t soft_notes_peek(const struct soft *s, const struct soft_note **ret)
{
	*ret = s->notes.v;
	return s->notes.n;
}

void soft_notes_release(struct soft *s)
{
	s->notes.n = 0;
}

bool soft_stands(struct soft *s, pid_t tid)
{
	struct soft_thread *t = soft_table_find(s, tid);
	siginfo_t si = { 0 };

	if (t)
		return soft_look(s, t);
	/* A child that nobody has announced yet. */
	return !waitid(P_PID, (id_t)tid, &si, WSTOPPED | WNOHANG | WNOWAIT | __WALL) && si.si_pid;
}

/* Each thread's next packet is a TSC, so that what it finds in code later can count from here. */
void soft_round(struct soft *s)
{
	s->rounds.before = s->rounds.last;
	s->rounds.last = soft_ticks(s);
	for (size_t i = 0; s->cfg.code && i < s->nr_live; i++)
		if (s->live[i]->mem) {
			s->live[i]->mem->gen++;
			s->live[i]->mem->gen_time = s->rounds.last;
		}
}

void soft_stats(const struct soft *s, struct soft_stats *ret)
{
	struct soft_stats st = s->stats;

	st.live = s->nr_live;
	st.traced_ticks = soft_pace_ticks(&s->pace, st.instructions);
	for (size_t i = 0; i < s->nr; i++) {
		st.trace_bytes += s->all[i]->pt.bytes;
		st.dropped += s->all[i]->pt.dropped;
	}
	for (size_t i = 0; i < s->nr_cpus; i++)
		st.dropped += s->cpus[i].dropped;
	*ret = st;
}
