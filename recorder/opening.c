/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything before the first event counts. Nothing here has a name in the file system yet
 * and the command still waits: whatever fails leaves nothing behind.
 */
#include "recorder/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format/abi.h"
#include "perfio/tracefs.h"
#include "recorder/cmd.h"
#include "recorder/explain.h"
#include "recorder/kcoredir.h"
#include "recorder/log.h"
#include "recorder/softfilter.h"
#include "recorder/softpmu.h"
#include "recorder/units.h"

struct pio_target opening_target(const struct session *s)
{
	const struct plan *p = &s->plan;

	return (struct pio_target){
		.cpus = p->cpus,
		.tids = p->system_wide ? NULL : s->cfg->follow ? &s->work.pid : s->cfg->tids,
		.nr_tids = p->system_wide ? 0 : s->cfg->follow ? 1 : s->cfg->nr_tids,
		.data_len = p->data_len,
		.aux_len = p->aux_len,
		.overwrite = s->cfg->snapshot || s->cfg->aux_sample,
		.newest_len = p->newest_len,
	};
}

static int open_rings(struct session *s)
{
	struct plan *p = &s->plan;
	struct pio_fault why = { .call = "perf_event_open" };
	struct pio_target t;
	int err;

	/* The budget is shared with every recorder of this user: what fitted on paper may not
	 * fit now, so sizes that were our choice shrink until they do. */
	for (;;) {
		t = opening_target(s);
		err = pio_evset_open(&s->set, s->sys, p->ev, p->nr_ev, &t, &why);
		if ((err != -EPERM && err != -ENOMEM) || !why.asked || !plan_shrink(p))
			break;
		plan_rewater(p);
	}
	return err ? explain_fault(p, &why, err) : 0;
}

/* With the sizes that were found meanwhile. */
static int open_again(struct session *s)
{
	int err = plan_fit(&s->plan);

	if (err)
		return err;
	pio_evset_done(&s->set);
	plan_rewater(&s->plan);
	return open_rings(s);
}

static int open_soft(struct session *s)
{
	const struct plan *p = &s->plan;
	struct soft_config c = {
		.use_rdtsc = p->clockid < 0,
		.pt = softpmu_packets(&p->pt),
		.ptwrite = s->cfg->soft_ptwrite,
		.pin = true,
		.window = s->cfg->snapshot ? plan_flight_len(p) : 0,
		.step = s->cfg->soft_step,
		.paused = s->cfg->start_paused || s->cfg->delay_ms,
		.max_instructions = s->cfg->max_instructions,
		.note_stops = p->has_switches,
		.per_cpu = s->cfg->per_cpu,
		.ip_log = s->cfg->ip_log,
		.lifeline = s->cfg->lifeline,
		.code = softcode_keep,
		.code_arg = s,
		.withheld = setid_tell,
		.withheld_arg = &s->setid,
	};
	const char *file = NULL;
	int err = softfilter_make(&s->source.filter, &p->filter, &file);

	c.pt.ovf_every = s->cfg->soft_overflow;
	c.filter = s->source.filter;
	c.nr_filters = p->filter.n;
	if (!err)
		err = soft_new(&s->source.soft, &c);
	if (err) {
		log_err(err, "cannot set up the software source");
		return EXIT_CANNOT;
	}
	if (s->cfg->attach)
		return 0;
	err = soft_start(s->source.soft, s->work.pid);
	if (!err)
		return 0;
	log_err(err, "cannot trace the command with ptrace");
	explain_ptrace(&p->limits, err);
	return EXIT_CANNOT;
}

static void read_time_conv(struct session *s)
{
	struct pio_time_conv c;

	if (s->plan.source == SOURCE_SOFT && s->plan.clockid == CLOCK_MONOTONIC_RAW) {
		/* The virtual TSC counts the nanoseconds of the events' own clock. */
		s->conv = (struct fmt_time_conv){ .mult = 1, .mask = UINT64_MAX,
						  .cap_time_zero = true };
		return;
	}
	if (s->plan.clockid >= 0 || !s->set.nr_place ||
	    !pio_ring_time_conv(&s->set.place[0].ring, &c))
		return;
	s->conv = (struct fmt_time_conv){
		.shift = c.shift, .mult = c.mult, .zero = c.zero, .cycles = c.cycles,
		.mask = c.mask, .cap_time_zero = c.cap_zero, .cap_time_short = c.cap_short,
	};
}

/* One moment on two clocks, the second one read between two readings of the first. */
static void read_clock_pair(struct session *s)
{
	struct timespec a, b, wall;

	if (s->plan.clockid < 0)
		return;
	clock_gettime(s->plan.clockid, &a);
	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(s->plan.clockid, &b);
	s->wall_ns = units_ns(&wall);
	s->clock_ns = (units_ns(&a) + units_ns(&b)) / 2;
}

/* As many as a kernel would have: by cpu, one for each. */
size_t opening_soft_ids(const struct session *s)
{
	if (!s->source.soft)
		return 0;
	return s->cfg->per_cpu ? soft_nr_queues(s->source.soft) : 1;
}

size_t opening_count_ids(const struct session *s)
{
	size_t n = opening_soft_ids(s);

	for (size_t i = 0; i < s->set.nr_ev; i++)
		n += s->set.ev[i].nr_fd;
	return n;
}

int opening_describe(struct session *s)
{
	size_t room = joining_room(s);
	struct fmt_event *e = calloc(s->set.nr_ev + 1, sizeof(*e));
	uint64_t *id, max = 0;

	id = calloc(opening_count_ids(s) + s->set.nr_ev * room, sizeof(*id));
	if (!e || !id) {
		free(e);
		free(id);
		return -ENOMEM;
	}
	free(s->events);
	free(s->ids);
	s->events = e;
	s->ids = id;
	if (s->source.soft) {
		pio_attr_bytes(&s->plan.soft_attr, e->attr);
		e->name = s->plan.pt_name;
		e->ids = id;
		e->nr_ids = opening_soft_ids(s);
		id += e->nr_ids;
		e++;
	}
	for (size_t i = 0; i < s->set.nr_ev; i++) {
		const struct pio_event *k = &s->set.ev[i];

		if (k->missing)
			continue;
		pio_attr_bytes(&k->attr, e->attr);
		e->name = k->name;
		e->ids = id;
		e->nr_ids = k->nr_fd;
		for (size_t j = 0; j < k->nr_fd; j++) {
			if (k->fd[j].id > max)
				max = k->fd[j].id;
			*id++ = k->fd[j].id;
		}
		e->room = room;
		id += room;
		e++;
	}
	s->nr_events = (size_t)(e - s->events);
	s->pt_id = max + 1;
	for (size_t i = 0; i < opening_soft_ids(s); i++)
		s->ids[i] = s->pt_id + i;
	return 0;
}

/* The rings are drained along the way: the tracking event is on already. */
static int flush_synth(void *ctx, struct fmt_buf *records)
{
	struct session *s = ctx;
	int err;

	if (s->flight.table) {
		err = tasktable_add_all(s->flight.table, records);
		return err ? err : flight_drain(s);
	}
	err = s->rotation.table ? tasktable_add_all(s->rotation.table, records) : 0;
	if (!err)
		err = fmt_writer_put(&s->writer, records);
	return err ? err : drain_round(s, false, false);
}

static int synthesise(struct session *s)
{
	struct sideband_want want = {
		.kernel = true,
		.all = s->plan.system_wide,
		.tids = s->cfg->follow ? &s->work.pid : s->cfg->tids,
		.nr_tids = s->cfg->follow ? 1 : s->cfg->nr_tids,
		.flush = flush_synth,
		.ctx = s,
		.fileids = s->fileids,
		.dsos = s->flight.table ? NULL : s->dsos, /* they are learned when written */
	};
	int err = sideband_synth(s->sys, &want, &s->synth);

	s->ledger.unreadable = s->synth.unreadable;
	/* What is refused to those who may read everything is nobody's to have. */
	if (s->plan.limits.cap_sys_ptrace)
		s->ledger.unreadable -= s->synth.refused;
	return err;
}

static int by_system(const void *a, const void *b)
{
	const struct fmt_trace_format *x = a, *y = b;

	return strcmp(x->system, y->system);
}

static int load_tracing(struct session *s)
{
	struct pio_tracing_files f;
	struct fmt_trace_format *fmt;
	struct fmt_tracing t;
	int err;

	if (!s->plan.nr_tracepoint)
		return 0;
	err = pio_tracing_files_load(&f, s->sys);
	if (err) {
		log_err(err, "cannot read the tracepoint formats of tracefs");
		return EXIT_CANNOT;
	}
	fmt = calloc(s->plan.nr_tracepoint, sizeof(*fmt));
	if (!fmt) {
		pio_tracing_files_done(&f);
		return explain_no_memory();
	}
	for (size_t i = 0; i < s->plan.nr_tracepoint; i++) {
		const struct pio_tracepoint *p = &s->plan.tracepoint[i];

		fmt[i] = (struct fmt_trace_format){ p->system, p->format, p->format_len };
	}
	qsort(fmt, s->plan.nr_tracepoint, sizeof(*fmt), by_system);
	t = (struct fmt_tracing){
		.header_page = f.header_page, .header_page_len = f.header_page_len,
		.header_event = f.header_event, .header_event_len = f.header_event_len,
		.printk_formats = f.printk_formats, .printk_len = f.printk_len,
		.cmdlines = f.cmdlines, .cmdlines_len = f.cmdlines_len,
		.formats = fmt, .nr_formats = s->plan.nr_tracepoint,
		.page_size = (uint32_t)s->plan.limits.page,
	};
	err = fmt_put_tracing_data(&s->tracing, &t);
	free(fmt);
	pio_tracing_files_done(&f);
	return err ? explain_no_memory() : 0;
}

int opening_events(struct session *s)
{
	int err;

	if (s->plan.system_wide)
		hotplug_open(&s->hotplug, s->sys);
	err = open_rings(s);
	if (!err && window_measure(s))
		err = open_again(s);
	if (!err && s->plan.source == SOURCE_SOFT)
		err = open_soft(s);
	if (!err && s->plan.source == SOURCE_KERNEL)
		s->source.set = &s->set;
	if (err)
		return err;
	s->stalled = calloc(s->set.nr_place + 1, sizeof(*s->stalled));
	s->flight.place = calloc(s->set.nr_place + 1, sizeof(*s->flight.place));
	if (!s->stalled || !s->flight.place)
		return explain_no_memory();
	if (softswitch_setup(s))
		return explain_no_memory();
	read_time_conv(s);
	read_clock_pair(s);
	return opening_describe(s) ? explain_no_memory() : 0;
}

int opening_kcore(struct session *s)
{
	const char *what = "kcore_dir";
	uint64_t bytes = 0;
	int err = kcoredir_fill(s->out.temp, s->sys, &bytes, &what);

	if (err)
		return explain_kcore(&s->plan.limits, what, err);
	log_debug("copied %llu bytes of kernel code", (unsigned long long)bytes);
	for (size_t i = 0; i < s->set.nr_ev; i++)
		if (s->set.ev[i].all_tasks && s->set.ev[i].missing)
			log_info("the kernel refuses '%s' (%s): what changes in its code while "
				 "recording is not told", s->set.ev[i].name,
				 strerror(-s->set.ev[i].missing));
	return 0;
}

/* /proc, sysfs and ELF files are read a few at a time from here on. Without room for them
 * everything would look as if it had vanished. */
static int spare_descriptors(const struct session *s)
{
	enum { SPARE = 8 };
	int fd[SPARE], n = 0, err = 0;

	for (; n < SPARE && !err; n++) {
		fd[n] = dup(s->signal_fd);
		err = fd[n] < 0 ? -errno : 0;
	}
	while (n--)
		if (fd[n] >= 0)
			(void)close(fd[n]);
	if (!err)
		return 0;
	log_err(err, "cannot read what already runs");
	explain_nofile(&s->plan.limits, err);
	return EXIT_CANNOT;
}

int opening_head(struct session *s)
{
	int err;

	if (fileids_new(&s->fileids) || dsos_new(&s->dsos) ||
	    host_collect(&s->host, s->sys, s->version, s->cfg->argc, s->cfg->argv))
		return explain_no_memory();
	err = spare_descriptors(s);
	if (!err)
		err = load_tracing(s);
	if (err)
		return err;
	err = flight_setup(s);
	if (!err && !s->flight.table)
		err = recfile_begin(s);
	if (!err)
		err = synthesise(s);
	if (err == -ESRCH) {
		log_err(err, "nothing to record");
		return EXIT_CANNOT;
	}
	if (!err && !s->flight.table)
		err = recfile_head_done(s);
	return err ? recfile_refuse(s, err) : 0;
}
