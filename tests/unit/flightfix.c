/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/flightfix.h"

#include <errno.h>
#include <stdlib.h>

#include "perfio/attrs.h"
#include "recorder/log.h"
#include "tests/unit/fake_sys.h"

static void set_events(struct pio_event *ev)
{
	const struct pio_attr_common c = { .read_format = PERF_FORMAT_ID, .clockid = -1 };
	const struct pio_pmu pmu = { .type = 8 };
	const struct pio_config conf = { 0 };

	ev[FLIGHTFIX_PT] = (struct pio_event){ .attr = pio_attr_aux(&c, &pmu, &conf),
					       .name = "pt" };
	ev[FLIGHTFIX_SWITCHES] = (struct pio_event){ .attr = pio_attr_switch(&c), .name = "sw",
						     .leader = 1, .newest = true };
	ev[FLIGHTFIX_TRACKING] = (struct pio_event){ .attr = pio_attr_tracking(&c),
						     .name = "tracking" };
	ev[FLIGHTFIX_TRACKING].attr.disabled = 0;
}

int flightfix_begin(struct flightfix *f)
{
	struct pio_target t = { .data_len = FLIGHTFIX_PAGE, .aux_len = FLIGHTFIX_AUX_LEN,
				.overwrite = true, .newest_len = FLIGHTFIX_NEWEST_LEN };
	struct session *s = &f->s;
	struct pio_fault why;
	int err;

	fake_reset();
	log_level = -1;
	*f = (struct flightfix){ .cpu = { 0, 3 } };
	f->cfg = (struct rec_config){ .snapshot = true, .output = "f" };
	t.cpus = (struct pio_cpus){ f->cpu, FLIGHTFIX_CPUS };
	*s = (struct session){ .sys = &fake_sys, .cfg = &f->cfg, .enabled = true, .on_ns = 1,
			       .out = OUTPUT_INIT, .work = WORKLOAD_INIT,
			       .plan = { .source = SOURCE_KERNEL, .system_wide = true,
					 .cpus = t.cpus, .cfg = &f->cfg,
					 .start_late = { true, true, false } } };
	set_events(f->ev);
	err = pio_evset_open(&s->set, &fake_sys, f->ev, FLIGHTFIX_EVENTS, &t, &why);
	if (err)
		return err;
	s->source.set = &s->set;
	s->stalled = calloc(FLIGHTFIX_CPUS, sizeof(*s->stalled));
	s->flight.place = calloc(FLIGHTFIX_CPUS, sizeof(*s->flight.place));
	if (!s->stalled || !s->flight.place)
		return -ENOMEM;
	err = flight_setup(s);
	return err ? err : pio_evset_enable(&s->set, FLIGHTFIX_PT);
}

int flightfix_end(struct flightfix *f)
{
	struct session *s = &f->s;
	bool lent;

	pio_evset_done(&s->set);
	ledger_done(&s->ledger);
	free(s->stalled);
	flight_done(s);
	ctlstatus_done(&s->serve.status);
	lent = fake_lent_fds() || fake_lent_maps() || fake_slips();
	fake_reset();
	return lent ? -1 : 0;
}
