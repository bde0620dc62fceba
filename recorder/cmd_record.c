/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the command line to a struct rec_config; session.c does the rest.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfio/proc.h"
#include "recorder/cmd.h"
#include "recorder/config.h"
#include "recorder/eventarg.h"
#include "recorder/log.h"
#include "recorder/opts.h"
#include "recorder/recarg.h"
#include "recorder/sampling.h"
#include "recorder/session.h"

static int add_thread(void *ctx, const struct pio_task *t)
{
	struct rec_config *c = ctx;
	pid_t *grown = realloc(c->tids, (c->nr_tids + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	c->tids = grown;
	grown[c->nr_tids++] = t->tid;
	return 0;
}

/* -p: all threads there are; those to come are inherited. */
static int find_threads(struct rec_config *c)
{
	struct pio_task t;
	int err;

	for (size_t i = 0; i < c->nr_pids; i++) {
		err = pio_proc_tasks(&pio_kernel, c->pids[i], add_thread, c, NULL);
		if (err) {
			log_err(err, "cannot find process %d of -p", (int)c->pids[i]);
			return EXIT_CANNOT;
		}
	}
	for (size_t i = 0; i < c->nr_tids && !c->nr_pids; i++) {
		err = pio_proc_task(&pio_kernel, c->tids[i], &t);
		if (err) {
			log_err(err, "cannot find thread %d of -t", (int)c->tids[i]);
			return EXIT_CANNOT;
		}
	}
	return 0;
}

static int usage(const char *what)
{
	log_err(0, "record: %s", what);
	return EXIT_USAGE;
}

static bool wants_aux(const struct rec_config *c)
{
	for (size_t i = 0; i < c->nr_events; i++)
		if (eventarg_is_aux(&c->events[i]))
			return true;
	return c->source == SOURCE_KERNEL || c->source == SOURCE_SOFT;
}

/* Options that do not go together, before anything is opened. */
static int check(struct rec_config *c)
{
	bool task = c->nr_pids || c->nr_tids;

	if (c->nr_pids && c->nr_tids)
		return usage("-p and -t exclude each other");
	if (task && c->all)
		return usage("-a and -p/-t exclude each other");
	if (c->per_thread && (c->all || c->cpus.n))
		return usage("--per-thread and -a/-C exclude each other");
	if (c->clockid >= 0 && wants_aux(c))
		return usage("-k cannot be used with an AUX event: its trace is tied to the TSC");
	if (c->zip_level && c->aux_sample)
		return usage("-z and --aux-sample exclude each other: readers do not look for "
			     "trace in compressed samples");
	if (c->kcore && !strcmp(c->output, "-"))
		return usage("--kcore makes a directory: -o - cannot be one");
	c->follow = c->command && !task && !c->all && (!c->cpus.n || c->per_thread);
	if (c->ip_log && !c->follow)
		return usage("--soft-ips needs a command that is recorded");
	if (c->ip_log && access(c->ip_log, W_OK)) {
		log_err(-errno, "cannot write into '%s' of --soft-ips", c->ip_log);
		return EXIT_USAGE;
	}
	if (c->delay_ms && c->source == SOURCE_SOFT)
		return usage("-D cannot be used with --source=soft: stepping starts with the "
			     "first instruction");
	/* As perf does: nobody named means everybody. */
	if (!task && (!c->command || c->cpus.n) && !c->per_thread)
		c->all = true;
	if (c->cgroups && !c->all)
		return usage("-G needs -a or -C: a cgroup is recorded on whole cpus");
	if (!task && !c->command && c->per_thread)
		return usage("--per-thread needs a command, -p or -t");
	return 0;
}

static void config_done(struct rec_config *c)
{
	eventarg_free(c->events, c->nr_events);
	pio_cpus_done(&c->cpus);
	free(c->filter);
	free(c->cgroups);
	free(c->pids);
	free(c->tids);
}

static int run(struct rec_config *c, char **command)
{
	int status;

	if (*command)
		c->command = command;
	status = check(c);
	if (!status)
		status = find_threads(c);
	return status ? status : session_run(&pio_kernel, c);
}

int cmd_record(int argc, char **argv)
{
	struct rec_config c = {
		.argc = argc + 1, /* argv[-1] is the program */
		.argv = argv - 1,
		.output = "perf.data",
		.clockid = -1,
		.freq = SAMPLING_FREQ_DEFAULT,
	};
	int verbose = 0, at, status;
	bool quiet = false;
	const struct opt opt[] = {
		{ 'a', "all-cpus", NULL, OPT_FLAG, &c.all, NULL, "all tasks on all cpus" },
		{ 'C', "cpu", "LIST", OPT_CALL, &c, recarg_cpus,
		  "only these cpus, as 0-3,8" },
		{ 'p', "pid", "PID[,PID]", OPT_CALL, &c, recarg_pids,
		  "running processes, with threads and children to come" },
		{ 't', "tid", "TID[,TID]", OPT_CALL, &c, recarg_tids, "running threads" },
		{ 'e', "event", "EVENT", OPT_CALL, &c, recarg_events,
		  "intel_pt/tsc/u, a tracepoint (sched:sched_switch), or cpu-clock and its like" },
		{ 'c', "count", "N", OPT_U64, &c.period, NULL,
		  "take a sample each N counts of an event" },
		{ 'F', "freq", "HZ", OPT_U64, &c.freq, NULL,
		  "take so many samples a second (default 4000)" },
		{ 0, "aux-sample", "[SIZE]", OPT_CALL, &c, recarg_aux_sample,
		  "no full trace: each sample takes SIZE bytes of it along" },
		{ 0, "filter", "FILTER", OPT_CALL, &c, recarg_filter,
		  "addresses to trace, or an expression of the tracepoint before it" },
		{ 'G', "cgroup", "NAME[,NAME]", OPT_CALL, &c, recarg_cgroups,
		  "with -a or -C: only tasks of these cgroups" },
		{ 'o', "output", "FILE", OPT_STR, &c.output, NULL,
		  "file to write, - for stdout (default perf.data)" },
		{ 'm', "mmap-pages", "N[,AUX]", OPT_CALL, &c, recarg_mmap,
		  "size of each data ring and AUX area: pages, or bytes with a unit" },
		{ 'z', "compression-level", "[LEVEL]", OPT_CALL, &c, recarg_level,
		  "compress the kernel's records: 1, fast and the default, to 22" },
		{ 0, "per-thread", NULL, OPT_FLAG, &c.per_thread, NULL,
		  "one ring per thread instead of one per cpu" },
		{ 'S', "snapshot", "[e,SIZE]", OPT_CALL, &c, recarg_snapshot,
		  "flight: keep the newest SIZE per cpu, write it on SIGUSR2 (e: and at the end)" },
		{ 0, "flight", "[e,SIZE]", OPT_CALL, &c, recarg_snapshot, "the same" },
		{ 'k', "clockid", "CLOCK", OPT_CALL, &c, recarg_clock,
		  "clock of the timestamps, as monotonic (not with AUX)" },
		{ 'D', "delay", "MS", OPT_U64, &c.delay_ms, NULL,
		  "begin so many milliseconds after the start" },
		{ 0, "control", "CHANNEL", OPT_CALL, &c, recarg_control,
		  "take perf's control words: fifo:CTL[,ACK] or fd:N[,M]" },
		{ 0, "source", "SOURCE", OPT_CALL, &c, recarg_source,
		  "where trace comes from: auto, kernel, soft, none" },
		{ 0, "max-total-buffer", "SIZE", OPT_SIZE, &c.max_total, NULL,
		  "refuse to start when all rings together need more" },
		{ 0, "kcore", NULL, OPT_FLAG, &c.kcore, NULL,
		  "make FILE a directory that holds the kernel's code, too" },
		{ 0, "strict", NULL, OPT_FLAG, &c.strict, NULL,
		  "exit with status 4 when anything was lost" },
		{ 0, "sync", NULL, OPT_FLAG, &c.sync, NULL,
		  "make each round durable before the file claims it" },
		{ 0, "soft-ips", "DIR", OPT_STR, &c.ip_log, NULL,
		  "software source: also log every executed address" },
		{ 'v', "verbose", NULL, OPT_COUNT, &verbose, NULL, "say more" },
		{ 'q', "quiet", NULL, OPT_FLAG, &quiet, NULL, "say only errors and losses" },
	};
	const struct opts o = {
		.cmd = "record",
		.synopsis = "[options] [--] [command [argument ...]]",
		.about = "Record AUX trace and context switches into a perf.data file.",
		.opt = opt,
		.n = sizeof(opt) / sizeof(opt[0]),
	};

	at = opts_parse(&o, argc, argv);
	log_level = quiet ? -1 : verbose;
	if (at >= 0)
		status = run(&c, argv + at);
	else
		status = at == OPTS_HELP ? EXIT_OK : EXIT_USAGE;
	config_done(&c);
	return status;
}
