/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/limits.h"

#include <limits.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "perfio/cpus.h"

/* paranoid may be negative, and so is no u64. */
static int read_int(const struct pio_sys *sys, const char *name, int dflt)
{
	char line[32], *end;
	ssize_t n = pio_read_line(line, sizeof(line), "%s/sys/kernel/%s", sys->proc,
				  name);
	long v;

	if (n <= 0)
		return dflt;
	v = strtol(line, &end, 10);
	return *end || v < INT_MIN || v > INT_MAX ? dflt : (int)v;
}

static void get_rlimit(int which, uint64_t *soft, uint64_t *hard)
{
	struct rlimit l = { RLIM_INFINITY, RLIM_INFINITY };

	(void)getrlimit((__rlimit_resource_t)which, &l);
	*soft = l.rlim_cur == RLIM_INFINITY ? UINT64_MAX : l.rlim_cur;
	*hard = l.rlim_max == RLIM_INFINITY ? UINT64_MAX : l.rlim_max;
}

/* The field of /proc/self/status, or NULL. */
static const char *field(const char *status, const char *name)
{
	const char *at = status ? strstr(status, name) : NULL;

	return at ? at + strlen(name) : NULL;
}

static bool has(uint64_t caps, int cap)
{
	return caps >> cap & 1;
}

/* perf_event_open() asks for capabilities in the first user namespace, whatever ours says
 * (perfmon_capable() in include/linux/capability.h, Linux 6.1); the first is the one that
 * maps every id onto itself. */
static bool in_userns(const struct pio_sys *sys)
{
	unsigned long from, to, n;
	char line[128], *at = line;

	if (pio_read_line(line, sizeof(line), "%s/self/uid_map", sys->proc) < 0)
		return false;
	from = strtoul(at, &at, 10);
	to = strtoul(at, &at, 10);
	n = strtoul(at, &at, 10);
	return from || to || n != UINT32_MAX;
}

static void get_status(struct pio_limits *l, const struct pio_sys *sys)
{
	char *status = NULL;
	size_t len = 0;
	uint64_t caps = 0;
	const char *s;

	if (pio_read_file(&status, &len, 1 << 20, "%s/self/status", sys->proc))
		return;
	s = field(status, "\nCapEff:");
	if (s)
		caps = strtoull(s, NULL, 16);
	s = field(status, "\nSeccomp:");
	if (s)
		l->seccomp = (int)strtol(s, NULL, 10);
	free(status);
	l->cap_sys_ptrace = has(caps, CAP_SYS_PTRACE);
	if (l->userns)
		return;
	l->cap_sys_admin = has(caps, CAP_SYS_ADMIN);
	l->cap_perfmon = l->cap_sys_admin || has(caps, CAP_PERFMON);
	l->cap_ipc_lock = has(caps, CAP_IPC_LOCK);
}

static uint64_t online_cpus(const struct pio_sys *sys)
{
	struct pio_cpus c = { 0 };
	uint64_t n = 1;

	if (!pio_cpus_online(&c, sys))
		n = c.n;
	pio_cpus_done(&c);
	return n;
}

void pio_limits_get(struct pio_limits *ret, const struct pio_sys *sys)
{
	struct pio_limits l = {
		.paranoid = read_int(sys, "perf_event_paranoid", INT32_MAX),
		.kptr_restrict = read_int(sys, "kptr_restrict", -1),
		.yama = read_int(sys, "yama/ptrace_scope", 0),
		.page = (uint64_t)sysconf(_SC_PAGESIZE),
		.online = online_cpus(sys),
		.euid = geteuid(),
		.seccomp = -1,
		.userns = in_userns(sys),
	};
	char line[128];

	if (pio_read_u64(&l.mlock_kb, "%s/sys/kernel/perf_event_mlock_kb", sys->proc))
		l.mlock_kb = 0;
	get_rlimit(RLIMIT_MEMLOCK, &l.memlock_soft, &l.memlock_hard);
	get_rlimit(RLIMIT_NOFILE, &l.nofile_soft, &l.nofile_hard);
	get_status(&l, sys);
	if (pio_read_line(line, sizeof(line), "%s/kernel/security/lockdown",
			  sys->sysfs) > 0)
		l.lockdown = strstr(line, "[confidentiality]") != NULL;
	*ret = l;
}

/* Debian's level 3 asks for CAP_SYS_ADMIN and nothing less; other kernels know no level
 * above 2, but who sets 3 there means it. */
static bool shut_out(const struct pio_limits *l)
{
	return l->paranoid > 2 && !l->cap_sys_admin;
}

bool pio_limits_system_wide(const struct pio_limits *l)
{
	return !shut_out(l) && (l->paranoid <= 0 || l->cap_perfmon);
}

bool pio_limits_own_task(const struct pio_limits *l)
{
	return !shut_out(l);
}

bool pio_limits_kernel(const struct pio_limits *l)
{
	return !shut_out(l) && (l->paranoid <= 1 || l->cap_perfmon);
}

uint64_t pio_limits_memory(const struct pio_sys *sys)
{
	static const char key[] = "MemAvailable:";
	uint64_t kb = 0;
	const char *p;
	char *text;
	size_t len;

	if (pio_read_file(&text, &len, 1u << 16, "%s/meminfo", sys->proc))
		return 0;
	p = strstr(text, key);
	if (p)
		kb = strtoull(p + strlen(key), NULL, 10);
	free(text);
	return kb * 1024;
}

uint64_t pio_limits_mlock_budget(const struct pio_limits *l)
{
	uint64_t per_cpu = l->mlock_kb * 1024 / l->page * l->page, all;

	if (l->paranoid < 0 || l->cap_ipc_lock || l->memlock_soft == UINT64_MAX)
		return UINT64_MAX;
	if (__builtin_mul_overflow(per_cpu, l->online, &all) ||
	    __builtin_add_overflow(all, l->memlock_soft / l->page * l->page, &all))
		return UINT64_MAX;
	return all;
}
