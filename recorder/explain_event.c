/* SPDX-License-Identifier: Apache-2.0 */
/* Words for refusals of single events: who is in the way, and what the kernel lacks. */
#include "recorder/explain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "perfio/holders.h"
#include "recorder/cmd.h"
#include "recorder/log.h"

enum { HOLDERS_SHOWN = 8 };

const struct pio_event *explain_which(const struct plan *p, const struct pio_fault *why)
{
	for (size_t i = 0; i < p->nr_ev; i++)
		if (p->ev[i].name == why->event)
			return &p->ev[i];
	return NULL;
}

static void name_holders(const struct pio_holders *all)
{
	for (size_t i = 0; i < all->n && i < HOLDERS_SHOWN; i++)
		log_hint("%s '%s' (pid %d) has %zu perf event%s open", i ? "    and" : "now",
			 all->h[i].comm, (int)all->h[i].pid, all->h[i].nr_fd,
			 all->h[i].nr_fd == 1 ? "" : "s");
	if (all->n > HOLDERS_SHOWN)
		log_hint("    and %zu more processes", all->n - HOLDERS_SHOWN);
	if (all->hidden)
		log_hint("%zu processes are not this user's to look at; as root: find "
			 "/proc/[0-9]*/fd -lname '*perf_event*'", all->hidden);
	else if (!all->n)
		log_hint("no process has perf events open: the kernel itself uses the hardware, "
			 "or the firmware left it switched on");
}

/* exclusive_event_init() and exclusive_event_installable(), kernel/events/core.c, Linux 6.1;
 * x86_add_exclusive(), arch/x86/events/core.c. */
void explain_busy(const struct plan *p, const struct pio_fault *why)
{
	const struct pio_event *e = explain_which(p, why);
	struct pio_holders all;

	if (e == p->ev && p->source == SOURCE_KERNEL) {
		log_hint("the PMU is exclusive: one event on a cpu, or one of a task on a cpu; "
			 "and those of whole cpus (-a, -C) and those of tasks exclude each other, "
			 "on whatever cpu they are");
		log_hint("this one is of %s", p->system_wide ? "a whole cpu" : "a task");
	}
	if (pio_holders(&all, p->sys)) {
		log_hint("as root, find who has perf events: find /proc/[0-9]*/fd -lname "
			 "'*perf_event*'");
		return;
	}
	name_holders(&all);
	pio_holders_done(&all);
}

void explain_filter(const struct plan *p, const struct pio_fault *why, int err)
{
	const struct pio_event *e = explain_which(p, why);

	if (!e || !e->filter)
		return;
	log_hint("the filter is '%s'", e->filter);
	if (e != p->ev || p->source != SOURCE_KERNEL) {
		if (err == -EINVAL)
			log_hint("its fields are listed in /sys/kernel/tracing/events/, in the "
				 "event's file 'format'");
		return;
	}
	if (err == -EOPNOTSUPP)
		log_hint("this PMU takes ranges, no more of them than it has, and those of files "
			 "for single tasks only");
	else if (err == -EINVAL)
		log_hint("older kernels take no addresses of user space without a file, and "
			 "none of the kernel where the event excludes it");
}

/* Refused because of aux-action? */
bool explain_action(const struct plan *p, const struct pio_fault *why, int err)
{
	const struct pio_event *e = explain_which(p, why);
	struct utsname u;

	if (!e || !pio_attr_aux_action(&e->attr) || (err != -EINVAL && err != -EOPNOTSUPP))
		return false;
	if (pio_aux_action_known(p->sys)) {
		log_hint("aux-action: the driver of '%s' in this kernel cannot pause",
			 p->pmu.name);
		return true;
	}
	if (uname(&u))
		strcpy(u.release, "?");
	log_hint("aux-action: this kernel, %s, cannot pause AUX events: that takes Linux 6.13, "
		 "or a kernel to which it was ported back", u.release);
	return true;
}

/* perf_cgroup_connect() and css_tryget_online_from_dir(), Linux 6.1: EBADF for what is no
 * cgroup, ENOENT for one that has no perf events, or is going away. A group of cgroup2 has
 * them once its parent has enabled any controller (seen on 6.1.0-57; systemd does that). */
bool explain_cgroup(const struct plan *p, const struct pio_fault *why, int err)
{
	const struct pio_event *e = explain_which(p, why);

	if (!e || !e->cgroup || (err != -EBADF && err != -ENOENT))
		return false;
	log_hint("cgroup '%s' has no perf events", e->cgroup->name);
	log_hint("in cgroup2 that takes one controller, any, enabled in the group above; as root: "
		 "echo +pids >.../cgroup.subtree_control");
	return true;
}

int explain_tracepoint(const struct event_arg *a, int err)
{
	log_err(err, "cannot use tracepoint '%s:%s'", a->head, a->body);
	if (err == -ENODEV)
		log_hint("tracefs is not mounted: mount -t tracefs tracefs /sys/kernel/tracing");
	else if (err == -EACCES)
		log_hint("tracefs is readable by root only: run as root, or "
			 "mount -o remount,mode=755 /sys/kernel/tracing");
	else if (err == -ENOENT)
		log_hint("valid names are listed in /sys/kernel/tracing/available_events");
	return EXIT_CANNOT;
}
