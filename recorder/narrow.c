/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/narrow.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/cmd.h"
#include "recorder/explain.h"
#include "recorder/filter.h"
#include "recorder/log.h"

/* ---- address filters ---- */

static int refuse_filter(const struct plan *p, struct filter_why *why, int status)
{
	char *save = NULL, *line = strtok_r(why->text, "\n", &save);

	log_err(0, "address filter '%s': %s", p->cfg->filter, line);
	while ((line = strtok_r(NULL, "\n", &save)))
		log_hint("%s", line);
	return status;
}

int narrow_parse(struct plan *p)
{
	struct filter_why why;
	int err;

	if (!p->cfg->filter)
		return 0;
	err = filter_parse(&p->filter, p->sys, p->cfg->filter, &why);
	if (err == -ENOMEM)
		return explain_no_memory();
	if (err)
		return refuse_filter(p, &why, EXIT_USAGE);
	log_debug("address filter: %s", p->filter.text);
	return 0;
}

/* nr_addr_filters is of the kernel's perf core; the capability is the CPU's own word. */
static uint64_t nr_filters(const struct plan *p)
{
	uint64_t core, cpu;

	if (pio_read_u64(&core, "%s/bus/event_source/devices/%s/nr_addr_filters", p->sys->sysfs,
			 p->pmu.name))
		core = UINT64_MAX;
	if (!pio_pmu_cap(&p->pmu, "num_address_ranges", &cpu))
		cpu = core == UINT64_MAX ? 0 : core;
	return cpu < core ? cpu : core;
}

static bool resumed(const struct plan *p)
{
	for (size_t i = 0; i < p->cfg->nr_events; i++)
		if (p->cfg->events[i].aux_action == PIO_AUX_RESUME)
			return true;
	return false;
}

int narrow_aux(struct plan *p)
{
	const struct perf_event_attr *a = &p->ev[0].attr;
	const struct filter_event e = {
		.pmu = p->pmu.name,
		.most = nr_filters(p),
		.ranges_only = true, /* Intel PT: SDM vol. 3, IA32_RTIT_CTL.ADDRn_CFG */
		.whole_cpus = p->system_wide,
		.exclude_user = a->exclude_user,
		.exclude_kernel = a->exclude_kernel,
	};
	struct filter_why why;

	if (p->pt.aux_action && !resumed(p))
		log_warn("the trace starts paused, and no event resumes it");
	if (!p->filter.text)
		return 0;
	if (filter_check(&p->filter, &e, &why))
		return refuse_filter(p, &why, e.most ? EXIT_USAGE : EXIT_CANNOT);
	p->ev[0].filter = p->filter.text;
	return 0;
}

static int refuse_max_instructions(const struct plan *p)
{
	log_err(0, "--max-instructions: only the software source counts instructions as they run, "
		   "and this is source %s (%s)", source_names[p->source], p->why);
	return EXIT_CANNOT;
}

/* It knows where files are mapped, any number of them, and starts and stops, too. */
static int check_soft_filter(const struct plan *p)
{
	const struct filter_event e = { .pmu = "the software source", .most = UINT64_MAX,
					.exclude_kernel = true };
	struct filter_why why;

	if (filter_check(&p->filter, &e, &why))
		return refuse_filter(p, &why, EXIT_USAGE);
	for (size_t i = 0; i < p->filter.n; i++) {
		if (p->filter.item[i].file)
			continue;
		log_err(0, "address filter '%s': 0x%llx is of no file: write @FILE",
			p->cfg->filter, (unsigned long long)p->filter.item[i].at);
		return EXIT_USAGE;
	}
	return 0;
}

int narrow_source(const struct plan *p)
{
	if (p->cfg->max_instructions && p->source != SOURCE_SOFT)
		return refuse_max_instructions(p);
	if (p->source == SOURCE_KERNEL)
		return 0;
	if (p->filter.text && p->source == SOURCE_SOFT)
		return check_soft_filter(p);
	if (p->filter.text) {
		log_err(0, "--filter '%s': no AUX event is recorded (%s)", p->cfg->filter, p->why);
		return EXIT_CANNOT;
	}
	for (size_t i = 0; i < p->cfg->nr_events; i++) {
		if (!p->cfg->events[i].aux_action)
			continue;
		log_err(0, "event '%s': there is no AUX event of the kernel to pause or resume",
			p->cfg->events[i].text);
		log_hint("name one: -e intel_pt//,%s", p->cfg->events[i].text);
		return EXIT_CANNOT;
	}
	return 0;
}

/* ---- control groups ---- */

static size_t count_names(const char *list)
{
	size_t n = 1;

	for (; *list; list++)
		n += *list == ',';
	return n;
}

static int refuse_cgroup(int err, const char *root, const char *name)
{
	if (err == -ENOENT)
		log_err(0, "no cgroup '%s' below '%s'", name, root);
	else
		log_err(err, "cannot use cgroup '%s' below '%s'", name, root);
	if (err == -ENOENT || err == -ENOTDIR)
		log_hint("a cgroup is a directory there: find %s -type d", root);
	return EXIT_CANNOT;
}

static int find_root(char *root, size_t size, const struct pio_sys *sys)
{
	int err = pio_cgroup_mount(root, size, sys);

	if (!err)
		return 0;
	log_err(err == -ENOENT ? 0 : err,
		"-G: no cgroup file system that has perf events is mounted");
	if (err == -ENOENT)
		log_hint("as root: mount -t cgroup2 none /sys/fs/cgroup");
	return EXIT_CANNOT;
}

/* One entry for each name; those of empty names stay closed. */
static int open_cgroups(struct plan *p, size_t n)
{
	char root[PATH_MAX], *names, *name, *rest;
	int err = find_root(root, sizeof(root), p->sys);

	if (err)
		return err;
	p->cgroup = calloc(n, sizeof(*p->cgroup));
	names = rest = strdup(p->cfg->cgroups);
	if (!p->cgroup || !names) {
		free(names);
		return explain_no_memory();
	}
	while (!err && (name = strsep(&rest, ","))) {
		struct pio_cgroup *c = &p->cgroup[p->nr_cgroup++];

		*c = PIO_CGROUP_INIT;
		err = *name ? pio_cgroup_open(c, root, name) : 0;
		if (err)
			err = refuse_cgroup(err, root, name);
	}
	free(names);
	return err;
}

/* The n-th name is the n-th event's, a single one everybody's. */
static const struct pio_cgroup *cgroup_of(const struct plan *p, const struct event_arg *arg)
{
	size_t i = p->nr_cgroup > 1 && arg ? (size_t)(arg - p->cfg->events) : 0;

	if (p->nr_cgroup > 1 && !arg)
		return NULL;
	return i < p->nr_cgroup && p->cgroup[i].fd >= 0 ? &p->cgroup[i] : NULL;
}

static int check_members(const struct plan *p)
{
	for (size_t i = 0; i < p->nr_ev; i++) {
		const struct pio_event *e = &p->ev[i];

		if (!e->leader || e->cgroup == p->ev[e->leader - 1].cgroup)
			continue;
		log_err(0, "-G: event '%s' acts on '%s' and must have the same cgroup", e->name,
			p->ev[e->leader - 1].name);
		return EXIT_USAGE;
	}
	return 0;
}

/*
 * The tracking event stays as it is: a task may enter a cgroup after its fork and mmap. The
 * switches go with the trace: what enters and what leaves the cgroup on a cpu is recorded,
 * since the kernel reports a switch in the cgroup of the task that leaves, then in that of
 * the task that comes (__perf_event_task_sched_out() and _in(), Linux 6.1).
 */
int narrow_cgroups(struct plan *p)
{
	size_t n = p->cfg->cgroups ? count_names(p->cfg->cgroups) : 0;
	bool aux = p->source == SOURCE_KERNEL;
	int err;

	if (!n)
		return 0;
	if (n > 1 && n > p->cfg->nr_events) {
		log_err(0, "-G %s: %zu cgroups for %zu events of -e", p->cfg->cgroups, n,
			p->cfg->nr_events);
		return EXIT_USAGE;
	}
	err = open_cgroups(p, n);
	if (err)
		return err;
	for (size_t i = 0; i < p->nr_ev; i++)
		if (i != p->tracking && !p->ev[i].all_tasks)
			p->ev[i].cgroup = cgroup_of(p, p->arg[i]);
	if (aux)
		p->ev[1].cgroup = p->ev[0].cgroup;
	return check_members(p);
}
