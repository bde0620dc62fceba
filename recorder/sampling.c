/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/sampling.h"

#include <string.h>

#include "recorder/cmd.h"
#include "recorder/log.h"

static bool any_counter(const struct rec_config *cfg)
{
	for (size_t i = 0; i < cfg->nr_events; i++)
		if (cfg->events[i].counter)
			return true;
	return false;
}

int sampling_check(const struct plan *p)
{
	const struct rec_config *cfg = p->cfg;

	if (!cfg->aux_sample)
		return 0;
	if (p->source != SOURCE_KERNEL) {
		log_err(0, "--aux-sample needs an AUX event of the kernel: -e intel_pt// "
			   "beside the sampling event");
		return EXIT_CANNOT;
	}
	if (!any_counter(cfg)) {
		log_err(0, "--aux-sample needs an event that takes samples, as -e cpu-clock");
		return EXIT_USAGE;
	}
	if (cfg->snapshot) {
		log_err(0, "--aux-sample and --snapshot exclude each other");
		return EXIT_USAGE;
	}
	return 0;
}

/* u and k as perf has them; more kinds of mode make no sense for a sample of a trace. */
static int set_modifiers(struct perf_event_attr *a, const struct event_arg *e)
{
	bool user = strchr(e->modifiers, 'u'), kernel = strchr(e->modifiers, 'k');

	if (strspn(e->modifiers, "uk") != strlen(e->modifiers)) {
		log_err(0, "event '%s': unknown modifier: u user space only, k kernel only",
			e->text);
		return EXIT_USAGE;
	}
	a->exclude_user = kernel && !user;
	a->exclude_kernel = user && !kernel;
	a->exclude_hv = a->exclude_kernel;
	return 0;
}

static int add(struct plan *p, const struct event_arg *e)
{
	struct pio_attr_common c = plan_attr_common(p, true);
	struct perf_event_attr a = pio_attr_counter(&c, e->counter, p->cfg->period,
						    p->cfg->freq);
	int err = set_modifiers(&a, e);

	if (err)
		return err;
	if (!a.exclude_kernel && !pio_limits_kernel(&p->limits))
		a.exclude_kernel = a.exclude_hv = 1;
	if (p->cfg->aux_sample)
		pio_attr_set_aux_sample(&a, p->cfg->aux_sample);
	err = plan_add_event(p, a, strdup(e->text), true);
	if (err)
		return err;
	p->arg[p->nr_ev - 1] = e;
	p->ev[p->nr_ev - 1].leader = p->cfg->aux_sample ? 1 : 0;
	return 0;
}

int sampling_add(struct plan *p, bool members)
{
	int err = 0;

	if (members != (p->cfg->aux_sample != 0))
		return 0;
	for (size_t i = 0; i < p->cfg->nr_events && !err; i++)
		if (p->cfg->events[i].counter)
			err = add(p, &p->cfg->events[i]);
	return err;
}
