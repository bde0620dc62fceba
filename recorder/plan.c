/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "recorder/cmd.h"
#include "recorder/eventarg.h"
#include "recorder/explain.h"
#include "recorder/log.h"
#include "recorder/narrow.h"
#include "recorder/sampling.h"
#include "recorder/softpmu.h"

static const char *const aux_pmus[] = { "intel_pt" };

static const struct event_arg *aux_arg(const struct rec_config *cfg)
{
	for (size_t i = 0; i < cfg->nr_events; i++)
		if (eventarg_is_aux(&cfg->events[i]))
			return &cfg->events[i];
	return NULL;
}

const struct event_arg *plan_aux_arg(const struct plan *p)
{
	return aux_arg(p->cfg);
}

static bool is_pt(const struct event_arg *arg)
{
	return !arg || !strcmp(arg->head, aux_pmus[0]);
}

/* Is there a PMU for the kernel source, and why not? */
static int find_pmu(struct plan *p, const struct pio_sys *sys, const struct event_arg *arg)
{
	const char *name = arg ? arg->head : aux_pmus[0];
	int err = pio_pmu_load(&p->pmu, sys, name);

	if (err)
		return err;
	if (!p->pmu.has_aux)
		return -EOPNOTSUPP;
	/* The file describes Intel PT: another AUX area would be taken for one. */
	return is_pt(arg) ? 0 : -EPROTONOSUPPORT;
}

static int refuse_pmu(const struct pio_sys *sys, const char *name, int err)
{
	if (err == -EOPNOTSUPP)
		log_err(0, "PMU '%s' has no AUX area", name);
	else if (err == -EPROTONOSUPPORT)
		log_err(0, "the AUX area of PMU '%s' is of a kind that auxrec does not record: "
			   "only intel_pt so far", name);
	else if (err == -ENOENT)
		log_err(0, "no PMU '%s' on this machine", name);
	else
		log_err(err, "cannot read PMU '%s' from sysfs", name);
	explain_aux_pmus(sys);
	return EXIT_CANNOT;
}

static int soft_possible(const struct rec_config *cfg)
{
	return (cfg->follow || cfg->attach) && !cfg->per_thread ? 0 : -EINVAL;
}

static int choose_auto(struct plan *p, const struct pio_sys *sys, const struct event_arg *arg)
{
	int err;

	if (!arg && (p->cfg->nr_events || p->cfg->clockid >= 0)) {
		p->source = SOURCE_NONE;
		p->why = p->cfg->nr_events ? "no AUX event was asked for"
					   : "-k chose a clock that an AUX trace cannot follow";
		return 0;
	}
	err = find_pmu(p, sys, arg);
	if (!err) {
		p->source = SOURCE_KERNEL;
		p->why = "this machine has a PMU with an AUX area";
		return 0;
	}
	if (!is_pt(arg))
		return refuse_pmu(sys, arg->head, err);
	if (!soft_possible(p->cfg)) {
		p->source = SOURCE_SOFT;
		p->why = "no PMU with an AUX area on this machine";
		return 0;
	}
	if (arg)
		return refuse_pmu(sys, arg->head, err);
	p->source = SOURCE_NONE;
	p->why = "no PMU with an AUX area on this machine";
	return 0;
}

static int refuse_soft(const struct rec_config *cfg)
{
	if (cfg->nr_tids && !cfg->nr_pids)
		log_err(0, "-t cannot be used with the software source: its breakpoints are met by "
			   "all threads of a process; -p traces them all");
	else
		log_err(0, "the software source traces a command that it starts itself, given "
			   "after --, or the processes of -p: without -a, -C or --per-thread");
	return EXIT_USAGE;
}

static int choose_source(struct plan *p, const struct pio_sys *sys)
{
	const struct event_arg *arg = aux_arg(p->cfg);
	int err;

	p->why = "as asked";
	p->source = p->cfg->source;
	switch (p->cfg->source) {
	case SOURCE_AUTO:
		return choose_auto(p, sys, arg);
	case SOURCE_KERNEL:
		err = find_pmu(p, sys, arg);
		return err ? refuse_pmu(sys, arg ? arg->head : aux_pmus[0], err) : 0;
	case SOURCE_SOFT:
		if (!is_pt(arg))
			return refuse_pmu(sys, arg->head, -ENOENT);
		if (!soft_possible(p->cfg))
			return 0;
		return refuse_soft(p->cfg);
	case SOURCE_NONE:
		if (!arg)
			return 0;
		log_err(0, "--source=none records no AUX area, but -e %s asks for one",
			arg->text);
		return EXIT_USAGE;
	}
	return EXIT_FAILED;
}

/* Cpus that rings are opened on; n = 0 means one ring per thread. */
static int choose_cpus(struct plan *p, const struct pio_sys *sys)
{
	struct pio_cpus online;
	char list[256];
	int err;

	if (p->cfg->per_thread)
		return 0;
	err = pio_cpus_online(&online, sys);
	if (err) {
		log_err(err, "cannot read the list of online cpus");
		return EXIT_CANNOT;
	}
	for (size_t i = 0; i < p->cfg->cpus.n; i++) {
		if (pio_cpus_has(&online, p->cfg->cpus.cpu[i]))
			continue;
		if (pio_cpus_format(&online, list, sizeof(list)) < 0)
			strcpy(list, "?");
		log_err(0, "cpu %d of -C is not online", p->cfg->cpus.cpu[i]);
		log_hint("online: %s", list);
		pio_cpus_done(&online);
		return EXIT_CANNOT;
	}
	if (!p->cfg->cpus.n) {
		p->cpus = online;
		return 0;
	}
	pio_cpus_done(&online);
	p->cpus.cpu = malloc(p->cfg->cpus.n * sizeof(int));
	if (!p->cpus.cpu)
		return explain_no_memory();
	p->cpus.n = p->cfg->cpus.n;
	memcpy(p->cpus.cpu, p->cfg->cpus.cpu, p->cpus.n * sizeof(int));
	return 0;
}

struct pio_attr_common plan_attr_common(const struct plan *p, bool late)
{
	return (struct pio_attr_common){
		.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST,
		.watermark = (uint32_t)(p->data_len / PLAN_WATERMARK_PARTS),
		.aux_watermark = (uint32_t)(p->aux_len / PLAN_AUX_WATERMARK_PARTS),
		.inherit = !p->system_wide && p->cpus.n && (p->cfg->follow || p->cfg->nr_pids),
		.enable_on_exec = late && p->cfg->follow && !p->cfg->delay_ms &&
				  !p->cfg->start_paused,
		.clockid = p->clockid,
	};
}

/* 0, or an exit status after a message. */
int plan_add_event(struct plan *p, struct perf_event_attr attr, char *name, bool late)
{
	size_t i = p->nr_ev;

	if (!name)
		return explain_no_memory();
	attr.disabled = late;
	p->name[i] = name;
	p->ev[i] = (struct pio_event){ .attr = attr, .name = name };
	p->start_late[i] = late;
	p->nr_ev++;
	return 0;
}

/* The AUX event's name as the file gives it: "intel_pt/tsc,noretcomp/u". */
static char *aux_name(const struct plan *p, const struct event_arg *arg, bool soft)
{
	const char *body = arg ? arg->body : "";
	const char *mod = p->pt.exclude_kernel ? "u" : arg ? arg->modifiers : "";
	char *s;

	if (asprintf(&s, "%s/%s%s%s/%s", aux_pmus[0], body, soft && *body ? "," : "",
		     soft ? "soft" : "", mod) < 0)
		return NULL;
	return s;
}

static int refuse_spec(const struct plan *p, const struct event_arg *arg,
		       const struct pio_spec_error *why)
{
	log_err(0, "event '%s': %s: '%s'", arg->text, why->what, why->word);
	explain_terms(&p->pmu);
	return EXIT_USAGE;
}

static int parse_aux(struct plan *p, const struct event_arg *arg)
{
	struct pio_spec_error why = { .what = "bad event" };

	if (arg && pio_pmu_parse(&p->pt, &p->pmu, arg->body, arg->modifiers, &why))
		return refuse_spec(p, arg, &why);
	return 0;
}

static int add_kernel_aux(struct plan *p)
{
	const struct event_arg *arg = aux_arg(p->cfg);
	struct pio_attr_common c = plan_attr_common(p, true);
	int err;

	pio_pmu_pt_defaults(&p->pt, &p->pmu);
	err = parse_aux(p, arg);
	if (err)
		return err;
	if (!p->pt.exclude_kernel && !pio_limits_kernel(&p->limits)) {
		p->pt.exclude_kernel = p->pt.exclude_hv = true;
		log_info("kernel.perf_event_paranoid is %d: tracing user space only",
			 p->limits.paranoid);
	}
	p->pt_name = aux_name(p, arg, false);
	err = plan_add_event(p, pio_attr_aux(&c, &p->pmu, &p->pt),
			p->pt_name ? strdup(p->pt_name) : NULL, true);
	if (err)
		return err;
	p->arg[0] = arg;
	return narrow_aux(p);
}

static int add_soft_aux(struct plan *p, const struct pio_sys *sys)
{
	const struct event_arg *arg = aux_arg(p->cfg);
	struct pio_attr_common c = plan_attr_common(p, true);
	int err;

	pio_pmu_done(&p->pmu);
	err = softpmu_make(&p->pmu, sys);
	if (err)
		return log_err(err, "cannot set up the software source"), EXIT_FAILED;
	softpmu_defaults(&p->pt);
	err = parse_aux(p, arg);
	if (err)
		return err;
	if (p->pt.aux_action) {
		log_err(0, "event '%s': the software source is paused by commands, not by events",
			arg->text);
		return EXIT_CANNOT;
	}
	if (p->pt.exclude_user) {
		log_err(0, "event '%s': the software source sees user space only", arg->text);
		return EXIT_USAGE;
	}
	p->pt.exclude_kernel = p->pt.exclude_hv = true; /* ptrace sees user space only */
	p->soft_attr = pio_attr_aux(&c, &p->pmu, &p->pt);
	p->pt_name = aux_name(p, arg, true);
	return p->pt_name ? 0 : explain_no_memory();
}

static int add_tracepoint(struct plan *p, const struct event_arg *a)
{
	struct pio_attr_common c = plan_attr_common(p, true);
	struct pio_tracepoint *t = &p->tracepoint[p->nr_tracepoint];
	struct perf_event_attr attr;
	char *name;
	int err = pio_tracepoint_load(t, p->sys, a->head, a->body);

	if (err)
		return explain_tracepoint(a, err);
	p->nr_tracepoint++;
	attr = pio_attr_tracepoint(&c, t->id);
	pio_attr_set_aux_action(&attr, a->aux_action);
	if (asprintf(&name, "%s:%s", a->head, a->body) < 0)
		name = NULL;
	err = plan_add_event(p, attr, name, true);
	if (err)
		return err;
	p->arg[p->nr_ev - 1] = a;
	p->ev[p->nr_ev - 1].filter = a->filter;
	p->ev[p->nr_ev - 1].leader = a->aux_action ? 1 : 0;
	return 0;
}

/* Those that act on the AUX event are members of its group, the others are not. */
static int add_tracepoints(struct plan *p, bool members)
{
	int err = 0;

	if (!p->tracepoint)
		p->tracepoint = calloc(p->cfg->nr_events + 1, sizeof(*p->tracepoint));
	if (!p->tracepoint)
		return explain_no_memory();
	for (size_t i = 0; i < p->cfg->nr_events && !err; i++) {
		const struct event_arg *a = &p->cfg->events[i];

		if (a->tracepoint && members == (a->aux_action != 0))
			err = add_tracepoint(p, a);
	}
	return err;
}

/* Beside a copy of the kernel's code: what changed in it later. The kernel refuses that to those
 * who may not trace it, and older kernels do not know it. Per-thread rings cannot take what
 * happens on a cpu. */
static int add_text_poke(struct plan *p, const struct pio_attr_common *c)
{
	int err;

	if (!p->cfg->kcore || p->source != SOURCE_KERNEL || p->pt.exclude_kernel || !p->cpus.n)
		return 0;
	err = plan_add_event(p, pio_attr_text_poke(c), strdup("text-poke"), false);
	if (err)
		return err;
	p->ev[p->nr_ev - 1].all_tasks = true;
	p->ev[p->nr_ev - 1].optional = true;
	return 0;
}

/* In flight all that is not needed to tell the tasks is overwritten. The AUX event has its
 * area for that, and its few records go where those of the tasks go. */
static void mark_newest(struct plan *p)
{
	for (size_t i = p->source == SOURCE_KERNEL; i < p->nr_ev; i++)
		p->ev[i].newest = p->cfg->snapshot && p->start_late[i] && p->newest_len;
}

static int add_events(struct plan *p, const struct pio_sys *sys)
{
	struct pio_attr_common late = plan_attr_common(p, true), early = plan_attr_common(p, false);
	int err = 0;

	if (p->source == SOURCE_KERNEL)
		err = add_kernel_aux(p);
	else if (p->source == SOURCE_SOFT)
		err = add_soft_aux(p, sys);
	if (err)
		return err;
	p->switches = p->nr_ev;
	p->has_switches = p->source != SOURCE_SOFT || !p->cfg->no_switches;
	if (p->source == SOURCE_KERNEL)
		err = plan_add_event(p, pio_attr_switch_member(&late, &p->ev[0].attr),
				strdup("context-switches"), true);
	else if (p->has_switches)
		err = plan_add_event(p, pio_attr_switch(&late), strdup("context-switches"), true);
	if (err)
		return err;
	if (p->source == SOURCE_KERNEL)
		p->ev[1].leader = 1; /* one call starts and stops trace and switches */
	err = add_tracepoints(p, true);
	if (!err)
		err = sampling_add(p, true);
	if (err)
		return err;
	p->tracking = p->nr_ev;
	err = plan_add_event(p, pio_attr_tracking(&early), strdup("tracking"), false);
	if (!err)
		err = add_text_poke(p, &early);
	if (!err)
		err = sampling_add(p, false);
	if (!err)
		err = add_tracepoints(p, false);
	mark_newest(p);
	return err;
}

int plan_make(struct plan *ret, const struct pio_sys *sys, const struct rec_config *cfg)
{
	struct plan p = { .sys = sys, .cfg = cfg, .system_wide = cfg->all };
	int err;

	pio_limits_get(&p.limits, sys);
	err = narrow_parse(&p);
	if (!err)
		err = choose_source(&p, sys);
	if (!err)
		err = narrow_source(&p);
	if (!err)
		err = sampling_check(&p);
	if (!err)
		err = choose_cpus(&p, sys);
	if (err)
		goto out;
	p.clockid = cfg->clockid;
	if (p.source == SOURCE_SOFT && !softpmu_tsc_usable(sys))
		p.clockid = CLOCK_MONOTONIC_RAW;
	err = plan_choose_sizes(&p);
	if (!err)
		err = add_events(&p, sys);
	if (!err)
		err = narrow_cgroups(&p);
	if (err)
		goto out;
	*ret = p;
	return 0;
out:
	plan_done(&p);
	return err;
}

void plan_done(struct plan *p)
{
	for (size_t i = 0; i < p->nr_ev; i++)
		free(p->name[i]);
	for (size_t i = 0; i < p->nr_tracepoint; i++)
		pio_tracepoint_done(&p->tracepoint[i]);
	for (size_t i = 0; i < p->nr_cgroup; i++)
		pio_cgroup_done(&p->cgroup[i]);
	free(p->cgroup);
	filter_done(&p->filter);
	free(p->tracepoint);
	free(p->pt_name);
	pio_pmu_done(&p->pmu);
	pio_cpus_done(&p->cpus);
	*p = (struct plan){ 0 };
}
