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
#include "recorder/front.h"
#include "recorder/log.h"
#include "recorder/opts.h"
#include "recorder/recarg.h"
#include "recorder/recopts.h"
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
	const char *wrong;

	if (c->nr_pids && c->nr_tids)
		return usage("-p and -t exclude each other");
	if (task && c->all)
		return usage("-a and -p/-t exclude each other");
	if (c->per_thread && (c->all || c->cpus.n))
		return usage("--per-thread and -a/-C exclude each other");
	if (c->per_thread && c->per_cpu)
		return usage("--per-thread and --per-cpu exclude each other");
	if (c->per_cpu && c->no_switches)
		return usage("--per-cpu needs the switches: without them nobody knows whose the "
			     "trace is");
	if (c->clockid >= 0 && wants_aux(c))
		return usage("-k cannot be used with an AUX event: its trace is tied to the TSC");
	if (c->zip_level && c->aux_sample)
		return usage("-z and --aux-sample exclude each other: readers do not look for "
			     "trace in compressed samples");
	if (c->kcore && !strcmp(c->output, "-"))
		return usage("--kcore makes a directory: -o - cannot be one");
	if (c->rotate && c->snapshot)
		return usage("--switch-output and --flight exclude each other: --max-snapshots "
			     "gives each snapshot a file");
	if ((c->rotate || c->max_snapshots) && !strcmp(c->output, "-"))
		return usage("-o - is one stream: it cannot become several files");
	if (c->max_files && !c->rotate)
		return usage("--switch-max-files needs --switch-output");
	if (c->max_snapshots && !c->snapshot)
		return usage("--max-snapshots needs --flight");
	c->follow = c->command && !task && !c->all && (!c->cpus.n || c->per_thread);
	c->attach = c->source == SOURCE_SOFT && c->nr_pids && !c->cpus.n;
	if (c->ip_log && !c->follow && !c->attach)
		return usage("--soft-ips needs a command that is recorded, or --source=soft -p");
	if (c->soft_step && !c->follow && !c->attach)
		return usage("--soft-step needs a command that is recorded, or --source=soft -p");
	if (c->no_switches && c->source != SOURCE_SOFT && c->source != SOURCE_AUTO)
		return usage("--no-switch-events needs the software source: the others have them "
			     "to tell whose the trace is");
	if (c->ip_log && access(c->ip_log, W_OK)) {
		log_err(-errno, "cannot write into '%s' of --soft-ips", c->ip_log);
		return EXIT_USAGE;
	}
	/* As perf does: nobody named means everybody. */
	if (!task && (!c->command || c->cpus.n) && !c->per_thread)
		c->all = true;
	wrong = recarg_check_flight(c);
	if (wrong)
		return usage(wrong);
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
	eventarg_free(c->trigger_events, c->nr_trigger_events);
	free(c->watch);
	free(c->filter);
	free(c->cgroups);
	free(c->pids);
	free(c->tids);
}

static int record(struct rec_config *c)
{
	return session_run(&pio_kernel, c);
}

static int run(struct rec_config *c, char **command)
{
	int status;

	if (*command)
		c->command = command;
	status = check(c);
	if (!status)
		status = find_threads(c);
	if (status)
		return status;
	/* Who kills the process that was started kills no tracer of other people's programs. */
	return c->attach ? front_run(c, record) : record(c);
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
	struct opt opt[RECOPTS_MAX + 2];
	const struct opt ours[] = {
		{ 'v', "verbose", NULL, OPT_COUNT, &verbose, NULL, "say more" },
		{ 'q', "quiet", NULL, OPT_FLAG, &quiet, NULL, "say only errors and losses" },
	};
	struct opts o = {
		.cmd = "record",
		.synopsis = "[options] [--] [command [argument ...]]",
		.about = "Record AUX trace and context switches into a perf.data file.",
		.opt = opt,
		.n = recopts_list(opt, &c),
	};

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		opt[o.n++] = ours[i];
	at = opts_parse(&o, argc, argv);
	log_level = quiet ? -1 : verbose;
	if (at >= 0)
		status = run(&c, argv + at);
	else
		status = at == OPTS_HELP ? EXIT_OK : EXIT_USAGE;
	config_done(&c);
	return status;
}
