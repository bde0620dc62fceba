/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/recopts.h"

#include <assert.h>
#include <string.h>

#include "recorder/recarg.h"

static size_t add(struct opt *to, const struct opt *opt, size_t n)
{
	memcpy(to, opt, n * sizeof(*opt));
	return n;
}

/* What is recorded. */
static size_t add_what(struct opt *to, struct rec_config *c)
{
	const struct opt opt[] = {
		{ 'a', "all-cpus", NULL, OPT_FLAG, &c->all, NULL, "all tasks on all cpus" },
		{ 'C', "cpu", "LIST", OPT_CALL, c, recarg_cpus,
		  "only these cpus, as 0-3,8" },
		{ 'p', "pid", "PID[,PID]", OPT_CALL, c, recarg_pids,
		  "running processes, with threads and children to come" },
		{ 't', "tid", "TID[,TID]", OPT_CALL, c, recarg_tids, "running threads" },
		{ 'e', "event", "EVENT", OPT_CALL, c, recarg_events,
		  "intel_pt/tsc/u, a tracepoint (sched:sched_switch), or cpu-clock and its like" },
		{ 'c', "count", "N", OPT_U64, &c->period, NULL,
		  "take a sample each N counts of an event" },
		{ 'F', "freq", "HZ", OPT_U64, &c->freq, NULL,
		  "take so many samples a second (default 4000)" },
		{ 0, "aux-sample", "[SIZE]", OPT_CALL, c, recarg_aux_sample,
		  "no full trace: each sample takes SIZE bytes of it along" },
		{ 0, "filter", "FILTER", OPT_CALL, c, recarg_filter,
		  "addresses to trace, or an expression of the tracepoint before it" },
		{ 'G', "cgroup", "NAME[,NAME]", OPT_CALL, c, recarg_cgroups,
		  "with -a or -C: only tasks of these cgroups" },
		{ 0, "per-thread", NULL, OPT_FLAG, &c->per_thread, NULL,
		  "one ring per thread instead of one per cpu" },
		{ 0, "per-cpu", NULL, OPT_FLAG, &c->per_cpu, NULL,
		  "software source: trace and switches by cpu, as the kernel's, not by thread" },
		{ 0, "source", "SOURCE", OPT_CALL, c, recarg_source,
		  "where trace comes from: auto, kernel, soft, none" },
		{ 0, "soft-ips", "DIR", OPT_STR, &c->ip_log, NULL,
		  "software source: also log every executed address" },
		{ 0, "no-switch-events", NULL, OPT_FLAG, &c->no_switches, NULL,
		  "software source: leave out context switches, which takes less time" },
		{ 0, "soft-overflow", "SIZE", OPT_SIZE, &c->soft_overflow, NULL,
		  "software source: lose packets after each SIZE bytes, as a full buffer does" },
		{ 0, "soft-ptwrite", NULL, OPT_FLAG, &c->soft_ptwrite, NULL,
		  "software source: carry out ptwrite where the CPU does not know it" },
		{ 0, "soft-step", NULL, OPT_FLAG, &c->soft_step, NULL,
		  "software source: stop at every instruction, not at branches only" },
	};

	return add(to, opt, sizeof(opt) / sizeof(*opt));
}

/* How it is kept, and when. */
static size_t add_how(struct opt *to, struct rec_config *c)
{
	const struct opt opt[] = {
		{ 'm', "mmap-pages", "N[,AUX]", OPT_CALL, c, recarg_mmap,
		  "size of each data ring and AUX area: pages, or bytes with a unit" },
		{ 0, "max-total-buffer", "SIZE", OPT_SIZE_LIMIT, &c->max_total, NULL,
		  "refuse to start when all rings together need more" },
		{ 'S', "snapshot", "[e,SIZE]", OPT_CALL, c, recarg_snapshot,
		  "flight: keep the newest SIZE per cpu, write it on SIGUSR2 (e: and at the end)" },
		{ 0, "flight", "[e,SIZE]", OPT_CALL, c, recarg_snapshot, "the same" },
		{ 0, "window", "TIME", OPT_CALL, c, recarg_window,
		  "flight: rings for so much time, as 200ms, by the rate that is measured" },
		{ 0, "trigger", "WHAT", OPT_CALL, c, recarg_trigger,
		  "flight: a snapshot at exit, crash, stop of the process, or a tracepoint's hit" },
		{ 0, "watch", "PID[,PID]", OPT_CALL, c, recarg_watch,
		  "the processes whose exit, crash and stop count (default: -p, or the command)" },
		{ 0, "pre", "TIME", OPT_CALL, c, recarg_pre,
		  "leave out of a snapshot what is older than that before its trigger, as 50ms" },
		{ 0, "post", "TIME", OPT_CALL, c, recarg_post,
		  "take the snapshot so long after its trigger" },
		{ 0, "max-snapshots", "N", OPT_LIMIT, &c->max_snapshots, NULL,
		  "flight: a file of its own for each snapshot; keep the newest N" },
		{ 'k', "clockid", "CLOCK", OPT_CALL, c, recarg_clock,
		  "clock of the timestamps, as monotonic (not with AUX)" },
		{ 'D', "delay", "MS", OPT_U64, &c->delay_ms, NULL,
		  "begin so many milliseconds after the start" },
		{ 0, "start-paused", NULL, OPT_FLAG, &c->start_paused, NULL,
		  "record nothing before a control word asks for it" },
		{ 0, "pause-when-stopped", NULL, OPT_FLAG, &c->pause_when_stopped, NULL,
		  "with -a, -C: pause while all of the process (see --watch) is stopped" },
		{ 0, "control", "CHANNEL", OPT_CALL, c, recarg_control,
		  "take perf's control words: fifo:CTL[,ACK] or fd:N[,M]" },
		{ 0, "socket", "[PATH]", OPT_CALL, c, recarg_socket,
		  "listen there for auxrec ctl (default $XDG_RUNTIME_DIR/auxrec.sock)" },
	};

	return add(to, opt, sizeof(opt) / sizeof(*opt));
}

/* What becomes of it. */
static size_t add_file(struct opt *to, struct rec_config *c)
{
	const struct opt opt[] = {
		{ 'o', "output", "FILE", OPT_STR, &c->output, NULL,
		  "file to write, - for stdout (default perf.data)" },
		{ 'z', "compression-level", "[LEVEL]", OPT_CALL, c, recarg_level,
		  "compress the kernel's records: 1, fast and the default, to 22" },
		{ 0, "kcore", NULL, OPT_FLAG, &c->kcore, NULL,
		  "make FILE a directory that holds the kernel's code, too" },
		{ 0, "switch-output", "[signal,SIZE,TIME]", OPT_CALL, c, recarg_switch_output,
		  "go on in a new file on SIGUSR2, and at a size (100M) or age (30s)" },
		{ 0, "switch-max-files", "N", OPT_LIMIT, &c->max_files, NULL,
		  "of these files, keep the newest N" },
		{ 0, "max-size", "SIZE", OPT_SIZE_LIMIT, &c->max_size, NULL,
		  "end when the recording's files are so large together" },
		{ 0, "max-time", "TIME", OPT_CALL, c, recarg_max_time,
		  "end after so long, as 30s or 5m" },
		{ 0, "max-instructions", "N", OPT_LIMIT, &c->max_instructions, NULL,
		  "software source: trace so many, and let the command run on untraced" },
		{ 0, "sync", NULL, OPT_FLAG, &c->sync, NULL,
		  "make each round durable before the file claims it" },
		{ 0, "strict", NULL, OPT_FLAG, &c->strict, NULL,
		  "exit with status 4 when anything was lost" },
	};

	return add(to, opt, sizeof(opt) / sizeof(*opt));
}

size_t recopts_list(struct opt ret[RECOPTS_MAX], struct rec_config *c)
{
	size_t n = add_what(ret, c);

	n += add_how(ret + n, c);
	n += add_file(ret + n, c);
	assert(n <= RECOPTS_MAX);
	return n;
}
