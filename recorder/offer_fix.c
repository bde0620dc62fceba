/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One command for each thing that did not work. A refusal that the limits do not explain
 * comes from a container's filter or a security module.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "recorder/offer.h"

#define READ_LOG "sudo dmesg | grep -iE 'avc|apparmor|denied'"

__attribute__((format(printf, 4, 5)))
static void add(struct offer *o, const char *need, const char *why, const char *command,
		...)
{
	struct offer_fix *f = &o->fix[o->nr_fix];
	va_list ap;

	if (o->nr_fix == sizeof(o->fix) / sizeof(*o->fix))
		return;
	o->nr_fix++;
	snprintf(f->need, sizeof(f->need), "%s", need);
	snprintf(f->why, sizeof(f->why), "%s", why);
	va_start(ap, command);
	vsnprintf(f->command, sizeof(f->command), command, ap);
	va_end(ap);
}

static bool denied(const struct offer_try *t)
{
	return t->err == -EACCES || t->err == -EPERM;
}

struct denials {
	bool all, own, kernel, busy;
};

static struct denials find_denials(const struct offer *o)
{
	struct denials d = {
		.all = denied(&o->switches_all),
		.own = denied(&o->switches_own),
	};

	for (size_t i = 0; i < o->nr_pmu; i++) {
		d.all |= denied(&o->pmu[i].all);
		d.own |= denied(&o->pmu[i].own);
		d.kernel |= denied(&o->pmu[i].kernel);
		d.busy |= o->pmu[i].all.err == -EBUSY || o->pmu[i].own.err == -EBUSY;
	}
	return d;
}

static void fix_paranoid(struct offer *o, const char *need, bool expected, int level)
{
	char why[128];

	if (!expected) {
		snprintf(why, sizeof(why), "kernel.perf_event_paranoid is %d",
			 o->limits.paranoid);
		add(o, need, why, "sudo sysctl kernel.perf_event_paranoid=%d", level);
	} else if (o->limits.seccomp > 0) {
		add(o, need, "a seccomp filter refuses perf_event_open (a container?)",
		    "docker run --security-opt seccomp=unconfined --cap-add PERFMON ...");
	} else {
		add(o, need, "a security module refuses perf_event_open", READ_LOG);
	}
}

/* kallsyms_show_value() in kernel/ksyms_common.c, Linux 6.1: root sees addresses unless
 * kptr_restrict is 2, others only where it is 0 and perf_event_paranoid at most 1. */
static void fix_kallsyms(struct offer *o)
{
	const bool paranoid = o->limits.euid && o->limits.paranoid > 1;
	const bool kptr = o->limits.kptr_restrict > 0;

	if (o->kallsyms.err == -EACCES)
		add(o, "to name kernel functions",
		    "the kernel hides its addresses from this user", "sudo sysctl%s%s",
		    kptr ? " kernel.kptr_restrict=0" : "",
		    paranoid ? " kernel.perf_event_paranoid=1" : "");
}

/* The least permissive first: who types all of them ends up with all. */
static void fix_events(struct offer *o)
{
	const struct pio_limits *l = &o->limits;
	const struct denials d = find_denials(o);

	if (d.own)
		fix_paranoid(o, "to record own tasks", pio_limits_own_task(l), 2);
	fix_kallsyms(o);
	if (d.kernel)
		fix_paranoid(o, "to trace kernel code", pio_limits_kernel(l), 1);
	if (d.all)
		fix_paranoid(o, "to record all tasks (-a)", pio_limits_system_wide(l), 0);
	if (d.busy)
		add(o, "to use the PMU", "another recorder holds it; find it",
		    "sudo find /proc/[0-9]*/fd -lname '*perf_event*' 2>/dev/null");
}

static void fix_tracepoints(struct offer *o)
{
	if (o->limits.lockdown)
		add(o, "to record tracepoints and read /proc/kcore",
		    "kernel lockdown is confidentiality: boot with less",
		    "lockdown=integrity");
	else if (o->tracepoints.err == -ENODEV)
		add(o, "to record tracepoints", "tracefs is not mounted",
		    "sudo mount -t tracefs tracefs /sys/kernel/tracing");
	else if (denied(&o->tracepoints))
		add(o, "to record tracepoints", "they are root's",
		    "sudo auxrec record -e sched:sched_switch -a");
}

static void fix_ptrace(struct offer *o)
{
	const int yama = o->limits.yama;

	if (!o->x86_64 || !o->ptrace.err)
		return;
	if (yama > 2)
		add(o, "to step programs in software",
		    "kernel.yama.ptrace_scope is 3, which holds until the next boot",
		    "echo kernel.yama.ptrace_scope=1 | sudo tee /etc/sysctl.d/yama.conf");
	else if (yama == 2 && !o->limits.cap_sys_ptrace)
		add(o, "to step programs in software", "kernel.yama.ptrace_scope is 2",
		    "sudo sysctl kernel.yama.ptrace_scope=1");
	else if (o->limits.seccomp > 0)
		add(o, "to step programs in software",
		    "a seccomp filter refuses ptrace (a container?)",
		    "docker run --cap-add SYS_PTRACE ...");
	else
		add(o, "to step programs in software", "a security module refuses ptrace",
		    READ_LOG);
}

static void fix_limits(struct offer *o)
{
	const struct pio_limits *l = &o->limits;

	if (l->nofile_hard < o->fds_wanted)
		add(o, "to open events on all cpus",
		    "the hard limit of open files is too low",
		    "sudo prlimit --pid $$ --nofile=%" PRIu64, o->fds_wanted);
	if (o->mlock_budget < o->mlock_wanted)
		add(o, "to have rings of full size",
		    "less memory may be locked than they take",
		    "sudo sysctl kernel.perf_event_mlock_kb=%" PRIu64,
		    (o->mlock_wanted / l->online + 1023) / 1024);
}

void offer_find_fixes(struct offer *o)
{
	o->nr_fix = 0;
	fix_events(o);
	fix_tracepoints(o);
	fix_ptrace(o);
	fix_limits(o);
}
