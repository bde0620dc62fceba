/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/explain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "recorder/cmd.h"
#include "recorder/line.h"
#include "recorder/log.h"

static const char *place(const struct pio_fault *why, char *buf, size_t size)
{
	if (why->cpu >= 0 && why->tid > 0)
		snprintf(buf, size, " of thread %d on cpu %d", (int)why->tid, why->cpu);
	else if (why->cpu >= 0)
		snprintf(buf, size, " on cpu %d", why->cpu);
	else if (why->tid > 0)
		snprintf(buf, size, " of thread %d", (int)why->tid);
	else
		*buf = '\0';
	return buf;
}

static void explain_access(const struct plan *p)
{
	const struct pio_limits *l = &p->limits;

	if (p->system_wide && !pio_limits_system_wide(l)) {
		log_hint("kernel.perf_event_paranoid is %d: events of all tasks on a cpu need 0 or "
			 "less, or CAP_PERFMON", l->paranoid);
		log_hint("as root: sysctl kernel.perf_event_paranoid=0, or "
			 "setcap cap_perfmon,cap_ipc_lock=ep $(command -v auxrec)");
		log_hint("without privilege you can record your own programs: "
			 "auxrec record -- COMMAND");
	} else if (!pio_limits_own_task(l)) {
		log_hint("kernel.perf_event_paranoid is %d: this kernel allows no perf events "
			 "without CAP_PERFMON", l->paranoid);
		log_hint("as root: sysctl kernel.perf_event_paranoid=2");
	} else if (!p->system_wide) {
		log_hint("the task is another user's, or raised its privileges: that needs "
			 "CAP_PERFMON and the right to ptrace it");
	}
	if (l->seccomp > 0)
		log_hint("a seccomp filter is active (a container?): it may forbid "
			 "perf_event_open");
}

static void explain_memory(const struct plan *p, const struct pio_fault *why)
{
	const struct pio_limits *l = &p->limits;

	log_hint("asked: %zu bytes here, %zu rings of %zu data + %llu control + %zu AUX bytes",
		 why->asked, plan_rings(p), p->data_len, (unsigned long long)l->page, p->aux_len);
	log_hint("limit: %llu bytes = kernel.perf_event_mlock_kb (%llu) x %llu cpus, shared by "
		 "all recorders of this user, + RLIMIT_MEMLOCK (%llu)",
		 (unsigned long long)pio_limits_mlock_budget(l),
		 (unsigned long long)l->mlock_kb, (unsigned long long)l->online,
		 (unsigned long long)l->memlock_soft);
	log_hint("smaller rings: -m 16; or as root: sysctl kernel.perf_event_mlock_kb=%llu; or "
		 "ulimit -l unlimited",
		 (unsigned long long)(plan_bytes(p) / 1024 + 1));
}

int explain_no_memory(void)
{
	log_err(-ENOMEM, "record");
	return EXIT_FAILED;
}

void explain_nofile(const struct pio_limits *l, int err)
{
	if (err == -ENFILE)
		log_hint("the whole system is out of descriptors: see fs.file-max");
	if (err != -EMFILE)
		return;
	log_hint("RLIMIT_NOFILE is %llu, already raised to its hard limit",
		 (unsigned long long)l->nofile_hard);
	log_hint("fewer cpus with -C, or a higher hard limit: ulimit -Hn, or "
		 "/etc/security/limits.conf");
}

int explain_fault(const struct plan *p, const struct pio_fault *why, int err)
{
	char where[64];

	log_err(err, "%s failed for event '%s'%s", why->call, why->event ? why->event : "?",
		place(why, where, sizeof(where)));
	if (!strcmp(why->call, "ioctl PERF_EVENT_IOC_SET_FILTER")) {
		explain_filter(p, why, err);
		return EXIT_CANNOT;
	}
	if (explain_action(p, why, err))
		return EXIT_CANNOT;
	if (explain_cgroup(p, why, err))
		return EXIT_CANNOT;
	switch (-err) {
	case EACCES:
		explain_access(p);
		break;
	case EPERM:
	case ENOMEM:
		if (why->asked)
			explain_memory(p, why);
		else
			explain_access(p);
		break;
	case EMFILE:
	case ENFILE:
		log_hint("%zu events were open", why->opened);
		explain_nofile(&p->limits, err);
		break;
	case EBUSY:
		explain_busy(p, why);
		break;
	case ENODEV:
	case ENOENT:
	case EOPNOTSUPP:
		log_hint("the kernel has no such event here; auxrec list shows what it has");
		break;
	case ESRCH:
		log_hint("no such process or thread: it has ended, or never was");
		break;
	case EINVAL:
		log_hint("the kernel refuses this combination of event terms; auxrec list shows "
			 "the valid values");
		break;
	}
	return EXIT_CANNOT;
}

void explain_aux_pmus(const struct pio_sys *sys)
{
	struct pio_pmu_list l;
	struct line line = { 0 };

	if (pio_pmu_list(&l, sys))
		return;
	for (size_t i = 0; i < l.n; i++) {
		struct pio_pmu p;

		if (pio_pmu_load(&p, sys, l.pmu[i].name))
			continue;
		if (p.has_aux)
			line_add(&line, " %s", p.name);
		pio_pmu_done(&p);
	}
	pio_pmu_list_done(&l);
	log_hint("PMUs with an AUX area on this machine:%s", line.n ? line.s : " none");
	log_hint("without one: auxrec record -- COMMAND steps a program; "
		 "auxrec record -a records context switches");
}

/* Of a capability that is a set of values. */
static void explain_values(const struct pio_pmu *p, const char *cap)
{
	struct line line = { 0 };
	uint64_t v = 0;

	(void)pio_pmu_cap(p, cap, &v);
	for (int i = 0; i < 64; i++)
		if (v >> i & 1)
			line_add(&line, " %d", i);
	log_hint("%s:%s", cap, line.s);
}

void explain_terms(const struct pio_pmu *p)
{
	struct line line = { 0 };

	for (size_t i = 0; i < p->nr_terms; i++)
		line_add(&line, " %s", p->terms[i].name);
	log_hint("terms of %s:%s", p->name, line.s);
	for (size_t i = 0; i < p->nr_caps; i++)
		if (strstr(p->caps[i].name, "period") || strstr(p->caps[i].name, "threshold"))
			explain_values(p, p->caps[i].name);
	log_hint("modifiers: u user space only, k kernel only");
}

void explain_ptrace(const struct pio_limits *l, int err)
{
	if (err == -EPERM && l->yama > 2)
		log_hint("kernel.yama.ptrace_scope is %d: nobody may ptrace", l->yama);
	else if (err == -EPERM)
		log_hint("the software source steps the command with ptrace(2), which is not "
			 "permitted here (a container, a seccomp filter, or a tracer above us?)");
}

int explain_kcore(const struct pio_limits *l, const char *what, int err)
{
	log_err(err, "cannot copy the kernel's code: '%s'", what);
	if (err == -ENOENT)
		log_hint("this kernel has no such file: /proc/kcore needs CONFIG_PROC_KCORE");
	else if ((err == -EACCES || err == -EPERM) && !strcmp(what, "/proc/kallsyms"))
		log_hint("kernel.kptr_restrict is %d and hides the kernel's addresses: run as "
			 "root with sysctl kernel.kptr_restrict=1 or less", l->kptr_restrict);
	else if ((err == -EACCES || err == -EPERM) && l->lockdown)
		log_hint("kernel lockdown is confidentiality, which forbids reading "
			 "/proc/kcore: boot with lockdown=integrity");
	else if (err == -EACCES || err == -EPERM)
		log_hint("/proc/kcore is root's, and reading it needs CAP_SYS_RAWIO; without "
			 "--kcore the trace is recorded all the same");
	else if (err == -EBUSY)
		log_hint("modules were loaded or removed each time it was tried");
	return err == -ENOSPC || err == -EIO ? EXIT_FAILED : EXIT_CANNOT;
}
