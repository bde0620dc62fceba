/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "perfio/limits.h"
#include "tests/unit/fixture.h"

static void machine(struct fixture *f, const char *paranoid, const char *caps)
{
	char status[256];

	snprintf(status, sizeof(status),
		 "Name:\tx\nCapPrm:\tffffffffffffffff\nCapEff:\t%s\nCapBnd:\t0\n"
		 "NoNewPrivs:\t0\nSeccomp:\t2\nSeccomp_filters:\t1\n", caps);
	fixture_file(f, "proc/self/status", status);
	fixture_file(f, "proc/self/uid_map", "         0          0 4294967295\n");
	fixture_file(f, "proc/sys/kernel/perf_event_paranoid", paranoid);
	fixture_file(f, "proc/sys/kernel/perf_event_mlock_kb", "516\n");
	fixture_file(f, "proc/sys/kernel/kptr_restrict", "1\n");
	fixture_file(f, "sys/devices/system/cpu/online", "0-3\n");
}

static struct pio_limits get(struct fixture *f)
{
	struct pio_limits l;

	pio_limits_get(&l, &f->sys);
	return l;
}

#define NO_CAPS "0000000000000000\n"
#define CAP_PERFMON_ONLY "0000004000000000\n"
#define CAP_SYS_ADMIN_ONLY "0000000000200000\n"
#define CAP_IPC_LOCK_ONLY "0000000000004000\n"
#define CAP_SYS_PTRACE_ONLY "0000000000080000\n"

static void numbers_are_read(void **state)
{
	struct fixture *f = *state;
	struct pio_limits l;
	struct rlimit r;

	machine(f, "2\n", NO_CAPS);
	fixture_file(f, "proc/sys/kernel/yama/ptrace_scope", "1\n");
	fixture_file(f, "sys/kernel/security/lockdown",
		     "none integrity [confidentiality]\n");
	l = get(f);
	assert_int_equal(l.paranoid, 2);
	assert_int_equal(l.mlock_kb, 516);
	assert_int_equal(l.kptr_restrict, 1);
	assert_int_equal(l.yama, 1);
	assert_int_equal(l.seccomp, 2);
	assert_int_equal(l.online, 4);
	assert_int_equal(l.euid, geteuid());
	assert_int_equal(l.page, sysconf(_SC_PAGESIZE));
	assert_true(l.lockdown);
	assert_false(l.cap_perfmon || l.cap_ipc_lock);
	assert_false(l.cap_sys_ptrace || l.cap_sys_admin);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &r), 0);
	assert_true(l.nofile_soft == r.rlim_cur && l.nofile_hard == r.rlim_max);
}

static void an_empty_machine_has_the_named_values(void **state)
{
	struct pio_limits l = get(*state);

	assert_int_equal(l.paranoid, INT32_MAX);
	assert_int_equal(l.kptr_restrict, -1);
	assert_int_equal(l.seccomp, -1);
	assert_int_equal(l.yama, 0);
	assert_int_equal(l.mlock_kb, 0);
	assert_int_equal(l.online, 1);
	assert_false(l.lockdown || l.userns || l.cap_perfmon);
}

static void lockdown_means_confidentiality(void **state)
{
	fixture_file(*state, "sys/kernel/security/lockdown",
		     "none [integrity] confidentiality\n");
	assert_false(get(*state).lockdown);
}

static void capabilities_are_told_apart(void **state)
{
	struct fixture *f = *state;

	machine(f, "2\n", CAP_PERFMON_ONLY);
	assert_true(get(f).cap_perfmon);
	assert_false(get(f).cap_sys_admin || get(f).cap_ipc_lock);
	assert_false(get(f).cap_sys_ptrace);
	machine(f, "2\n", CAP_SYS_ADMIN_ONLY);
	assert_true(get(f).cap_perfmon && get(f).cap_sys_admin);
	assert_false(get(f).cap_ipc_lock || get(f).cap_sys_ptrace);
	machine(f, "2\n", CAP_IPC_LOCK_ONLY);
	assert_true(get(f).cap_ipc_lock);
	assert_false(get(f).cap_perfmon);
	machine(f, "2\n", CAP_SYS_PTRACE_ONLY);
	assert_true(get(f).cap_sys_ptrace);
	assert_false(get(f).cap_perfmon);
}

static void root_of_a_user_namespace_is_nobody_to_perf(void **state)
{
	struct fixture *f = *state;

	machine(f, "2\n", "000001ffffffffff\n");
	assert_true(get(f).cap_perfmon);
	fixture_file(f, "proc/self/uid_map", "         0       1000          1\n");
	assert_true(get(f).userns && get(f).cap_sys_ptrace);
	assert_false(get(f).cap_perfmon || get(f).cap_sys_admin || get(f).cap_ipc_lock);
}

/* perf_event_open(2), "perf_event_paranoid"; level 3 is Debian's. */
static void paranoid_levels_allow_what_the_manual_says(void **state)
{
	static const struct {
		const char *paranoid, *caps;
		bool all, own, kernel;
	} want[] = {
		{ "-1\n", NO_CAPS, 1, 1, 1 },
		{ "0\n", NO_CAPS, 1, 1, 1 },
		{ "1\n", NO_CAPS, 0, 1, 1 },
		{ "2\n", NO_CAPS, 0, 1, 0 },
		{ "3\n", NO_CAPS, 0, 0, 0 },
		{ "2\n", CAP_PERFMON_ONLY, 1, 1, 1 },
		{ "3\n", CAP_PERFMON_ONLY, 0, 0, 0 },
		{ "3\n", CAP_SYS_ADMIN_ONLY, 1, 1, 1 },
		{ "2\n", CAP_IPC_LOCK_ONLY, 0, 1, 0 },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct pio_limits l;

		machine(*state, want[i].paranoid, want[i].caps);
		l = get(*state);
		assert_int_equal(pio_limits_system_wide(&l), want[i].all);
		assert_int_equal(pio_limits_own_task(&l), want[i].own);
		assert_int_equal(pio_limits_kernel(&l), want[i].kernel);
	}
}

static void the_budget_is_mlock_kb_for_each_cpu_plus_rlimit(void **state)
{
	struct pio_limits l = {
		.paranoid = 2,
		.mlock_kb = 516,
		.memlock_soft = 8 << 20,
		.online = 4,
		.page = 4096,
	};

	(void)state;
	assert_int_equal(pio_limits_mlock_budget(&l), 4 * 516 * 1024 + (8 << 20));
	l.mlock_kb = 519; /* whole pages only */
	l.memlock_soft += 4095;
	assert_int_equal(pio_limits_mlock_budget(&l), 4 * 516 * 1024 + (8 << 20));
	l.memlock_soft = 0;
	l.paranoid = 0;
	assert_int_equal(pio_limits_mlock_budget(&l), 4 * 516 * 1024);
}

static void memory_that_can_be_had_is_what_the_kernel_says(void **state)
{
	struct pio_sys nowhere = pio_kernel;

	(void)state;
	nowhere.proc = "/nonexistent";
	assert_int_equal(pio_limits_memory(&nowhere), 0);
	assert_in_range(pio_limits_memory(&pio_kernel), 1 << 20, UINT64_C(1) << 50);
}

static void the_budget_may_be_without_end(void **state)
{
	const struct pio_limits base = {
		.mlock_kb = 516, .memlock_soft = 1 << 20, .online = 4, .page = 4096,
	};
	struct pio_limits l = base;

	(void)state;
	l.paranoid = -1;
	assert_true(pio_limits_mlock_budget(&l) == UINT64_MAX);
	l = base;
	l.cap_ipc_lock = true;
	assert_true(pio_limits_mlock_budget(&l) == UINT64_MAX);
	l = base;
	l.memlock_soft = UINT64_MAX;
	assert_true(pio_limits_mlock_budget(&l) == UINT64_MAX);
	l = base;
	l.memlock_soft = UINT64_MAX - 1;
	assert_true(pio_limits_mlock_budget(&l) == UINT64_MAX);
}

#define T(f) cmocka_unit_test_setup_teardown(f, fixture_new, fixture_done)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(numbers_are_read),
		T(an_empty_machine_has_the_named_values),
		T(lockdown_means_confidentiality),
		T(capabilities_are_told_apart),
		T(root_of_a_user_namespace_is_nobody_to_perf),
		T(paranoid_levels_allow_what_the_manual_says),
		T(the_budget_is_mlock_kb_for_each_cpu_plus_rlimit),
		T(memory_that_can_be_had_is_what_the_kernel_says),
		T(the_budget_may_be_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
