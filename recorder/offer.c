/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/offer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perfio/attrs.h"
#include "perfio/cpus.h"
#include "perfio/proc.h"
#include "perfio/tracefs.h"
#include "recorder/plan.h"

/* What a recording asks for by default: an AUX, a tracking and a switch event on each cpu,
 * beside what the program itself keeps open. */
enum { EVENTS_PER_CPU = 3, OTHER_FDS = 64 };

const struct offer_valid offer_valid[] = {
	{ "psb_period", "psb_periods" },
	{ "mtc_period", "mtc_periods" },
	{ "cyc_thresh", "cycle_thresholds" },
	{ NULL, NULL },
};

static struct pio_attr_common common(void)
{
	return (struct pio_attr_common){ .read_format = PERF_FORMAT_ID, .clockid = -1 };
}

/* Open one event, with the smallest rings, on the first cpu: for all tasks, or for us. */
static struct offer_try try_event(const struct pio_sys *sys, struct perf_event_attr attr,
				  bool all, bool aux)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const pid_t me = getpid();
	struct pio_event ev = { .attr = attr, .name = "" };
	struct pio_target t = { .data_len = page, .aux_len = aux ? 2 * page : 0 };
	struct offer_try ret = { .call = "reading the list of cpus" };
	struct pio_evset set = PIO_EVSET_INIT;
	struct pio_cpus online = { 0 };
	struct pio_fault why;

	ret.err = pio_cpus_online(&online, sys);
	if (ret.err)
		return ret;
	t.cpus = (struct pio_cpus){ online.cpu, 1 };
	if (!all) {
		t.tids = &me;
		t.nr_tids = 1;
	}
	ret.err = pio_evset_open(&set, sys, &ev, 1, &t, &why);
	ret.call = ret.err ? why.call : NULL;
	if (!ret.err)
		pio_evset_done(&set);
	pio_cpus_done(&online);
	return ret;
}

static struct perf_event_attr aux_attr(const struct pio_pmu *p, bool kernel)
{
	const struct pio_attr_common c = common();
	struct pio_config conf = { 0 };

	if (!strcmp(p->name, "intel_pt"))
		pio_pmu_pt_defaults(&conf, p);
	conf.exclude_kernel = !kernel;
	conf.exclude_hv = !kernel;
	return pio_attr_aux(&c, p, &conf);
}

static void try_pmu(struct offer_pmu *p, const struct pio_sys *sys)
{
	p->all = try_event(sys, aux_attr(&p->pmu, false), true, true);
	p->own = try_event(sys, aux_attr(&p->pmu, false), false, true);
	p->kernel = try_event(sys, aux_attr(&p->pmu, true), false, true);
}

static int add_pmu(struct offer *o, const struct pio_sys *sys, const char *name)
{
	struct offer_pmu *more, p = { .pmu = { 0 } };
	int err = pio_pmu_load(&p.pmu, sys, name);

	if (err == -ENOENT) /* unloaded meanwhile */
		return 0;
	if (err)
		return err;
	if (!p.pmu.has_aux) {
		pio_pmu_done(&p.pmu);
		return 0;
	}
	more = realloc(o->pmu, (o->nr_pmu + 1) * sizeof(*more));
	if (!more) {
		pio_pmu_done(&p.pmu);
		return -ENOMEM;
	}
	try_pmu(&p, sys);
	o->pmu = more;
	o->pmu[o->nr_pmu++] = p;
	return 0;
}

static int find_pmus(struct offer *o, const struct pio_sys *sys)
{
	struct pio_pmu_list list;
	int err = pio_pmu_list(&list, sys);

	if (err == -ENOENT) /* a kernel without perf events, or /sys not mounted */
		return 0;
	if (err)
		return err;
	for (size_t i = 0; !err && i < list.n; i++)
		err = add_pmu(o, sys, list.pmu[i].name);
	pio_pmu_list_done(&list);
	return err;
}

static struct offer_try try_tracepoints(const struct pio_sys *sys)
{
	const struct pio_attr_common c = common();
	struct offer_try ret = { .call = "reading tracefs" };
	struct pio_tracepoint tp;

	ret.err = pio_tracepoint_load(&tp, sys, "sched", "sched_switch");
	if (ret.err)
		return ret;
	ret = try_event(sys, pio_attr_tracepoint(&c, tp.id), true, false);
	pio_tracepoint_done(&tp);
	return ret;
}

static struct offer_try try_kallsyms(const struct pio_sys *sys)
{
	struct offer_try ret = { .call = "reading /proc/kallsyms" };
	struct pio_kernel_map map;

	ret.err = pio_proc_kernel(sys, &map);
	return ret;
}

static _Noreturn void wait_for_the_end(void)
{
	for (;;)
		pause();
}

/* The software source seizes its own child. Security modules decide by more than their
 * settings say: ask with a child that does nothing. */
static struct offer_try try_ptrace(void)
{
	struct offer_try ret = { .call = "fork" };
	pid_t pid = fork();

	if (pid < 0) {
		ret.err = -errno;
		return ret;
	}
	if (!pid)
		wait_for_the_end();
	ret.call = "ptrace";
	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)PTRACE_O_EXITKILL) < 0)
		ret.err = -errno;
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	return ret;
}

int offer_collect(struct offer *ret, const struct pio_sys *sys)
{
	const struct pio_attr_common c = common();
	struct offer o = { .nr_pmu = 0 };
	int err = find_pmus(&o, sys);

	if (err) {
		offer_done(&o);
		return err;
	}
	pio_limits_get(&o.limits, sys);
	o.switches_all = try_event(sys, pio_attr_switch(&c), true, false);
	o.switches_own = try_event(sys, pio_attr_switch(&c), false, false);
	o.tracepoints = try_tracepoints(sys);
	o.kallsyms = try_kallsyms(sys);
	o.ptrace = try_ptrace();
#ifdef __x86_64__
	o.x86_64 = true;
#endif
	o.mlock_budget = pio_limits_mlock_budget(&o.limits);
	o.mlock_wanted = o.limits.online *
			 (o.limits.page +
			  (o.nr_pmu ? PLAN_DATA_LEN_AUX + PLAN_AUX_LEN : PLAN_DATA_LEN));
	o.fds_wanted = EVENTS_PER_CPU * o.limits.online + OTHER_FDS;
	offer_find_fixes(&o);
	*ret = o;
	return 0;
}

void offer_done(struct offer *o)
{
	for (size_t i = 0; i < o->nr_pmu; i++)
		pio_pmu_done(&o->pmu[i].pmu);
	free(o->pmu);
	*o = (struct offer){ .nr_pmu = 0 };
}

static bool has_intel_pt(const struct offer *o)
{
	for (size_t i = 0; i < o->nr_pmu; i++)
		if (!strcmp(o->pmu[i].pmu.name, "intel_pt"))
			return true;
	return false;
}

const char *offer_auto_command(const struct offer *o)
{
	if (has_intel_pt(o))
		return "kernel";
	return o->x86_64 ? "soft" : "none";
}

const char *offer_auto_all(const struct offer *o)
{
	return has_intel_pt(o) ? "kernel" : "none";
}
