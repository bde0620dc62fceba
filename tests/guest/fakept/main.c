/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
#include <linux/module.h>
#include <linux/slab.h>

#include "fakept.h"

DEFINE_PER_CPU(struct fake_cpu, fake_cpus);

unsigned long tick_ns = 1000000;
module_param(tick_ns, ulong, 0644);
unsigned long bytes_per_tick = 4096;
module_param(bytes_per_tick, ulong, 0644);
unsigned int psb_bytes = 4096;
module_param(psb_bytes, uint, 0644);
MODULE_PARM_DESC(psb_bytes, "bytes from one PSB to the next");
unsigned int mode;
module_param(mode, uint, 0644);
MODULE_PARM_DESC(mode, "0: numbered packets, 1: the bytes of debugfs fakept/feedN");
unsigned int cheat;
module_param(cheat, uint, 0644);
MODULE_PARM_DESC(cheat, "drop a packet in each so-manieth tick and say nothing");

static struct pmu fake_pmu;

/* pt, cyc, pwr_evt, fup_on_ptw, mtc to mtc_period, cyc_thresh, psb_period */
#define CONFIG_BITS (GENMASK_ULL(1, 0) | GENMASK_ULL(5, 4) | GENMASK_ULL(17, 9) | \
		     GENMASK_ULL(22, 19) | GENMASK_ULL(27, 24))

static int fake_event_init(struct perf_event *event)
{
	if (event->attr.type != fake_pmu.type)
		return -ENOENT;
	return event->attr.config & ~CONFIG_BITS ? -EINVAL : 0;
}

static void fake_start(struct perf_event *event, int flags)
{
	struct fake_cpu *c = this_cpu_ptr(&fake_cpus);
	bool on;

	if (flags & PERF_EF_RESUME) {
		c->paused = false;
		return;
	}
	c->paused = fake_starts_paused(event);
	on = aux_start(c, event);
	event->hw.state = on ? 0 : PERF_HES_STOPPED;
}

static void fake_stop(struct perf_event *event, int flags)
{
	if (flags & PERF_EF_PAUSE) {
		this_cpu_ptr(&fake_cpus)->paused = true;
		return;
	}
	if (event->hw.state == PERF_HES_STOPPED)
		return;
	event->hw.state = PERF_HES_STOPPED;
	aux_stop(this_cpu_ptr(&fake_cpus), flags & PERF_EF_UPDATE);
}

static int fake_add(struct perf_event *event, int flags)
{
	if (this_cpu_ptr(&fake_cpus)->handle.event)
		return -EBUSY;
	event->hw.state = PERF_HES_STOPPED;
	if (!(flags & PERF_EF_START))
		return 0;
	fake_start(event, 0);
	return event->hw.state ? -EINVAL : 0;
}

static void fake_del(struct perf_event *event, int flags)
{
	fake_stop(event, PERF_EF_UPDATE);
}

static void fake_read(struct perf_event *event)
{
}

static void *fake_setup_aux(struct perf_event *event, void **pages, int nr, bool overwrite)
{
	struct fake_area *a;

	if (event->attr.aux_sample_size && !overwrite)
		return NULL;	/* as pt.c: samples come from a running area only */
	a = kzalloc(sizeof(*a), GFP_KERNEL);
	if (a)
		*a = (struct fake_area){ pages, (u64)nr << PAGE_SHIFT, overwrite };
	return a;
}

static void fake_free_aux(void *area)
{
	kfree(area);
}

/* What pt.c takes: ranges to filter or to stop in, and no more than it has registers for.
 * Nothing is filtered: there is no code behind these packets. */
static int fake_filters_ok(struct list_head *filters)
{
	struct perf_addr_filter *f;
	unsigned int n = 0;

	list_for_each_entry(f, filters, entry)
		if (!f->size || f->action == PERF_ADDR_FILTER_ACTION_START ||
		    ++n > fake_pmu.nr_addr_filters)
			return -EOPNOTSUPP;
	return 0;
}

static struct pmu fake_pmu = {
	.module = THIS_MODULE,
	.attr_groups = fake_attr_groups,
	.capabilities = PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_ITRACE |
			PERF_PMU_CAP_AUX_PAUSE,
	.task_ctx_nr = perf_sw_context,
	.event_init = fake_event_init,
	.add = fake_add,
	.del = fake_del,
	.start = fake_start,
	.stop = fake_stop,
	.read = fake_read,
	.setup_aux = fake_setup_aux,
	.free_aux = fake_free_aux,
	.snapshot_aux = sample_aux,
	.addr_filters_validate = fake_filters_ok,
	.nr_addr_filters = 2,
};

static int __init fake_init(void)
{
	int cpu, err;

	for_each_possible_cpu(cpu)
		aux_timer_init(per_cpu_ptr(&fake_cpus, cpu));
	sample_init();
	err = perf_pmu_register(&fake_pmu, "intel_pt", -1);
	if (!err)
		fake_debugfs_init();
	return err;
}

static void __exit fake_exit(void)
{
	fake_debugfs_exit();
	perf_pmu_unregister(&fake_pmu);
}

module_init(fake_init);
module_exit(fake_exit);
MODULE_DESCRIPTION("Intel PT for machines without it: predictable AUX bytes");
/* The kernel exports the PMU interface to GPL modules only, and knows no name for a choice
 * of Apache-2.0 or GPL-2.0: this names the half of the choice that it is loaded under. */
MODULE_LICENSE("GPL");
