/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the command line to a struct rec_config; session.c does the rest.
 */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "format/zip.h"
#include "perfio/proc.h"
#include "recorder/cmd.h"
#include "recorder/config.h"
#include "recorder/eventarg.h"
#include "recorder/log.h"
#include "recorder/opts.h"
#include "recorder/plan.h"
#include "recorder/sampling.h"
#include "recorder/session.h"

static int take_source(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;

	for (int kind = 0; kind < SOURCE_KINDS; kind++)
		if (!strcmp(arg, source_names[kind])) {
			c->source = (enum source_kind)kind;
			return 0;
		}
	log_err(0, "unknown source '%s': auto, kernel, soft or none", arg);
	return -EINVAL;
}

static int take_events(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;
	const char *what = "no memory", *at = arg;
	size_t pmus = 0;

	if (eventarg_parse(&c->events, &c->nr_events, arg, &what, &at)) {
		log_err(0, "bad event list '%s': %s, at '%s'", arg, what, at);
		return -EINVAL;
	}
	for (size_t i = 0; i < c->nr_events; i++)
		pmus += eventarg_is_aux(&c->events[i]);
	if (pmus > 1) {
		log_err(0, "one AUX event at a time: '%s' is one too many", arg);
		return -EINVAL;
	}
	if (c->nr_events > PLAN_MAX_EVENTS - PLAN_OWN_EVENTS) {
		log_err(0, "more than %d events", PLAN_MAX_EVENTS - PLAN_OWN_EVENTS);
		return -EINVAL;
	}
	return 0;
}

/* Of the event before it: addresses for an AUX event, or where there is none yet;
 * expressions for a tracepoint, all of which must hold, as perf has it. */
static int take_filter(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;
	struct event_arg *last = c->nr_events ? &c->events[c->nr_events - 1] : NULL;
	bool expression = last && last->tracepoint;
	char **to = expression ? &last->filter : &c->filter, *joined;

	if (asprintf(&joined, !*to ? "%s%s" : expression ? "(%s) && (%s)" : "%s ,%s",
		     *to ? *to : "", arg) < 0)
		return log_err(-ENOMEM, "record");
	free(*to);
	*to = joined;
	return 0;
}

static int take_cgroups(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;
	char *joined;

	if (asprintf(&joined, "%s%s%s", c->cgroups ? c->cgroups : "", c->cgroups ? "," : "",
		     arg) < 0)
		return log_err(-ENOMEM, "record");
	free(c->cgroups);
	c->cgroups = joined;
	return 0;
}

static int take_cpus(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;
	const char *bad = arg;
	int err;

	pio_cpus_done(&c->cpus);
	err = pio_cpus_parse(&c->cpus, arg, &bad);
	if (!err)
		return 0;
	if (err == -EINVAL)
		log_err(0, "bad cpu list '%s' at '%s': write it as 0-3,8", arg, bad);
	else
		log_err(err, "bad cpu list '%s'", arg);
	return -EINVAL;
}

static int take_ids(pid_t **list, size_t *n, const char *arg, const char *what)
{
	char *end;

	for (const char *s = arg;; s = end + 1) {
		long v = strtol(s, &end, 10);
		pid_t *grown;

		if (end == s || v <= 0 || v > INT32_MAX || (*end && *end != ',')) {
			log_err(0, "bad %s list '%s' at '%s': write it as 12,34", what, arg, s);
			return -EINVAL;
		}
		grown = realloc(*list, (*n + 1) * sizeof(**list));
		if (!grown)
			return log_err(-ENOMEM, "record");
		*list = grown;
		grown[(*n)++] = (pid_t)v;
		if (!*end)
			return 0;
	}
}

static int take_pids(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;

	return take_ids(&c->pids, &c->nr_pids, arg, "process");
}

static int take_tids(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;

	return take_ids(&c->tids, &c->nr_tids, arg, "thread");
}

/* perf's rule: a plain number is pages, with a unit it is bytes; rounded up to 2^n pages. */
static int ring_size(uint64_t *ret, const char *s)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), v, len = page;
	size_t n = strlen(s);

	if (opts_size(&v, s) || !v)
		return -EINVAL;
	if (isdigit((unsigned char)s[n - 1]) && __builtin_mul_overflow(v, page, &v))
		return -EINVAL;
	while (len < v) {
		if (len > UINT64_C(1) << 40)
			return -EINVAL;
		len *= 2;
	}
	*ret = len;
	return 0;
}

static int take_mmap(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;
	char buf[64];
	char *comma;
	int err;

	if (strlen(arg) >= sizeof(buf))
		goto bad;
	strcpy(buf, arg);
	comma = strchr(buf, ',');
	if (comma)
		*comma = '\0';
	err = *buf || !comma ? ring_size(&c->data_len, buf) : 0;
	if (!err && comma)
		err = ring_size(&c->aux_len, comma + 1);
	if (!err)
		return 0;
bad:
	log_err(0, "bad ring size '%s': data[,aux] as pages (64) or bytes (512K,4M)", arg);
	return -EINVAL;
}

static int take_aux_sample(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;
	uint64_t size = SAMPLING_AUX_DEFAULT;

	if (arg && (opts_size(&size, arg) || !size || size % 8 || size > SAMPLING_AUX_MAX)) {
		log_err(0, "bad --aux-sample size '%s': a multiple of 8 bytes up to %dK", arg,
			SAMPLING_AUX_MAX >> 10);
		return -EINVAL;
	}
	c->aux_sample = (uint32_t)size;
	return 0;
}

/* perf's letters: e, a snapshot at the end too. */
static int take_snapshot(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;

	c->snapshot = true;
	if (arg && !strcmp(arg, "e"))
		c->snapshot_at_exit = true;
	else if (arg) {
		log_err(0, "bad --snapshot option '%s': e takes one at the end too; the size is "
			   "that of the AUX area, see -m", arg);
		return -EINVAL;
	}
	return 0;
}

/* perf's -z, whose level may be left out. */
static int take_level(void *ctx, const char *arg)
{
	struct rec_config *c = ctx;
	int max = fmt_zip_level_max();
	char *end;
	long v;

	c->zip_level = 1;
	if (!arg)
		return 0;
	arg += *arg == '='; /* -z=9 */
	v = strtol(arg, &end, 10);
	if (!isdigit((unsigned char)*arg) || *end || v < 1 || v > max) {
		log_err(0, "bad compression level '%s': 1 (fast) to %d (small)", arg, max);
		return -EINVAL;
	}
	c->zip_level = (int)v;
	return 0;
}

static int take_clock(void *ctx, const char *arg)
{
	static const struct {
		const char *name;
		int id;
	} clocks[] = {
		{ "monotonic", CLOCK_MONOTONIC }, { "monotonic_raw", CLOCK_MONOTONIC_RAW },
		{ "realtime", CLOCK_REALTIME },   { "boottime", CLOCK_BOOTTIME },
		{ "tai", CLOCK_TAI },		  { "mono", CLOCK_MONOTONIC },
		{ "raw", CLOCK_MONOTONIC_RAW },   { "real", CLOCK_REALTIME },
		{ "boot", CLOCK_BOOTTIME },
	};
	struct rec_config *c = ctx;

	if (!strncasecmp(arg, "CLOCK_", 6))
		arg += 6;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		if (!strcasecmp(arg, clocks[i].name)) {
			c->clockid = clocks[i].id;
			return 0;
		}
	log_err(0, "unknown clock '%s': monotonic, monotonic_raw, realtime, boottime or tai", arg);
	return -EINVAL;
}

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
		{ 'C', "cpu", "LIST", OPT_CALL, &c, take_cpus,
		  "only these cpus, as 0-3,8" },
		{ 'p', "pid", "PID[,PID]", OPT_CALL, &c, take_pids,
		  "running processes, with threads and children to come" },
		{ 't', "tid", "TID[,TID]", OPT_CALL, &c, take_tids, "running threads" },
		{ 'e', "event", "EVENT", OPT_CALL, &c, take_events,
		  "intel_pt/tsc/u, a tracepoint (sched:sched_switch), or cpu-clock and its like" },
		{ 'c', "count", "N", OPT_U64, &c.period, NULL,
		  "take a sample each N counts of an event" },
		{ 'F', "freq", "HZ", OPT_U64, &c.freq, NULL,
		  "take so many samples a second (default 4000)" },
		{ 0, "aux-sample", "[SIZE]", OPT_CALL, &c, take_aux_sample,
		  "no full trace: each sample takes SIZE bytes of it along" },
		{ 0, "filter", "FILTER", OPT_CALL, &c, take_filter,
		  "addresses to trace, or an expression of the tracepoint before it" },
		{ 'G', "cgroup", "NAME[,NAME]", OPT_CALL, &c, take_cgroups,
		  "with -a or -C: only tasks of these cgroups" },
		{ 'o', "output", "FILE", OPT_STR, &c.output, NULL,
		  "file to write, - for stdout (default perf.data)" },
		{ 'm', "mmap-pages", "N[,AUX]", OPT_CALL, &c, take_mmap,
		  "size of each data ring and AUX area: pages, or bytes with a unit" },
		{ 'z', "compression-level", "[LEVEL]", OPT_CALL, &c, take_level,
		  "compress the kernel's records: 1, fast and the default, to 22" },
		{ 0, "per-thread", NULL, OPT_FLAG, &c.per_thread, NULL,
		  "one ring per thread instead of one per cpu" },
		{ 'S', "snapshot", "[e]", OPT_CALL, &c, take_snapshot,
		  "overwrite AUX areas, write them on SIGUSR2 (e: and at the end)" },
		{ 'k', "clockid", "CLOCK", OPT_CALL, &c, take_clock,
		  "clock of the timestamps, as monotonic (not with AUX)" },
		{ 'D', "delay", "MS", OPT_U64, &c.delay_ms, NULL,
		  "begin so many milliseconds after the start" },
		{ 0, "source", "SOURCE", OPT_CALL, &c, take_source,
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
