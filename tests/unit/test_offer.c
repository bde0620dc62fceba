/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "recorder/offer.h"
#include "tests/unit/fake_sys.h"
#include "tests/unit/fixture.h"

static struct offer offer;

#define ALL_TASKS "to record all tasks (-a)"
#define STEPPING "to step programs in software"
#define PT "sys/bus/event_source/devices/intel_pt/"

/* An ordinary user on a machine with Intel PT, paranoid 2, two cpus. */
static int setup(void **state)
{
	struct fixture *f;

	fixture_new(state);
	f = *state;
	fake_reset();
	fake_sys.proc = f->proc;
	fake_sys.sysfs = f->sysfs;
	fake_sys.tracefs = f->tracefs;
	fixture_file(f, PT "type", "8\n");
	fixture_file(f, PT "format/psb_period", "config:24-27\n");
	fixture_file(f, PT "format/tsc", "config:10\n");
	fixture_file(f, PT "caps/psb_cyc", "1\n");
	fixture_file(f, PT "caps/psb_periods", "3d\n");
	fixture_file(f, "sys/bus/event_source/devices/software/type", "1\n");
	fixture_file(f, "sys/devices/system/cpu/online", "0-1\n");
	fixture_file(f, "proc/self/status", "\nCapEff:\t0\nSeccomp:\t0\n");
	fixture_file(f, "proc/sys/kernel/perf_event_paranoid", "2\n");
	fixture_file(f, "proc/sys/kernel/perf_event_mlock_kb", "516\n");
	fixture_file(f, "proc/sys/kernel/kptr_restrict", "0\n");
	return 0;
}

static int teardown(void **state)
{
	bool leak = fake_lent_fds() || fake_lent_maps() || fake_slips();

	offer_done(&offer);
	offer_done(&offer);
	fake_reset();
	fixture_done(state);
	return leak ? -1 : 0;
}

static void collect(void)
{
	assert_int_equal(offer_collect(&offer, &fake_sys), 0);
}

static const struct offer_fix *fix_for(const char *need)
{
	for (size_t i = 0; i < offer.nr_fix; i++)
		if (!strcmp(offer.fix[i].need, need))
			return &offer.fix[i];
	return NULL;
}

static void assert_fix(const char *need, const char *command)
{
	const struct offer_fix *f = fix_for(need);

	assert_non_null(f);
	assert_string_equal(f->command, command);
}

/* perf_event_paranoid 2, Linux 6.1. */
static int paranoid_2(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)cpu;
	return pid == -1 || !a->exclude_kernel ? -EACCES : 0;
}

static int busy(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid, (void)cpu;
	return a->type == 8 ? -EBUSY : 0;
}

static void only_pmus_with_an_aux_area_are_listed(void **state)
{
	(void)state;
	collect();
	assert_int_equal(offer.nr_pmu, 1);
	assert_string_equal(offer.pmu[0].pmu.name, "intel_pt");
	assert_string_equal(offer_auto_command(&offer), "kernel");
	assert_string_equal(offer_auto_all(&offer), "kernel");
}

static void events_are_really_opened(void **state)
{
	unsigned aux = 0, all = 0;

	(void)state;
	collect();
	for (size_t i = 0; i < fake_nr_events(); i++) {
		const struct fake_event *e = fake_event(i);

		aux += e->attr.type == 8;
		all += e->pid == -1;
		assert_true(e->pid == -1 || e->pid == getpid());
		assert_true(e->attr.disabled);
		assert_false(e->enabled || e->open);
	}
	assert_int_equal(aux, 3);
	assert_int_equal(all, 2);
	assert_int_equal(offer.pmu[0].all.err + offer.switches_all.err, 0);
	assert_null(fix_for(ALL_TASKS));
}

static void what_paranoid_refuses_is_said_and_how_to_mend_it(void **state)
{
	(void)state;
	fake_refuse = paranoid_2;
	collect();
	assert_int_equal(offer.switches_all.err, -EACCES);
	assert_string_equal(offer.switches_all.call, "perf_event_open");
	assert_int_equal(offer.switches_own.err, 0);
	assert_int_equal(offer.pmu[0].all.err, -EACCES);
	assert_int_equal(offer.pmu[0].own.err, 0);
	assert_int_equal(offer.pmu[0].kernel.err, -EACCES);
	assert_fix(ALL_TASKS, "sudo sysctl kernel.perf_event_paranoid=0");
	assert_fix("to trace kernel code", "sudo sysctl kernel.perf_event_paranoid=1");
	assert_null(fix_for("to record own tasks"));
	/* the stronger setting comes last and stays */
	assert_true(fix_for(ALL_TASKS) > fix_for("to trace kernel code"));
}

static void a_container_is_told_from_a_setting(void **state)
{
	fixture_file(*state, "proc/sys/kernel/perf_event_paranoid", "-1\n");
	fixture_file(*state, "proc/self/status", "\nCapEff:\t0\nSeccomp:\t2\n");
	fake_refuse = paranoid_2;
	collect();
	assert_non_null(strstr(fix_for(ALL_TASKS)->command, "seccomp="));
}

static void a_pmu_in_use_is_said_to_be(void **state)
{
	(void)state;
	fake_refuse = busy;
	collect();
	assert_int_equal(offer.pmu[0].all.err, -EBUSY);
	assert_non_null(fix_for("to use the PMU"));
	assert_null(fix_for(ALL_TASKS));
}

static void rings_that_cannot_be_mapped_are_seen(void **state)
{
	(void)state;
	fake_fail(FAKE_MMAP, 2, EPERM); /* the first AUX area */
	collect();
	assert_int_equal(offer.pmu[0].all.err, -EPERM);
	assert_string_equal(offer.pmu[0].all.call, "mmap (AUX area)");
}

static void ring_memory_is_weighed(void **state)
{
	const uint64_t rings = (512 << 10) + (4 << 20) + (uint64_t)sysconf(_SC_PAGESIZE);

	(void)state;
	collect();
	assert_int_equal(offer.mlock_wanted, 2 * rings);
	offer.mlock_budget = offer.mlock_wanted - 1;
	offer_find_fixes(&offer);
	assert_fix("to have rings of full size",
		   "sudo sysctl kernel.perf_event_mlock_kb=4612");
	offer.mlock_budget++;
	offer_find_fixes(&offer);
	assert_null(fix_for("to have rings of full size"));
}

static void limits_that_are_too_low_are_named(void **state)
{
	(void)state;
	collect();
	assert_int_equal(offer.fds_wanted, 70);
	offer.limits.nofile_hard = 69;
	offer.ptrace.err = -EPERM;
	offer.limits.yama = 2;
	offer.kallsyms.err = -EACCES;
	offer.limits.kptr_restrict = 1;
	offer.limits.euid = 1000;
	offer.limits.lockdown = true;
	offer_find_fixes(&offer);
	assert_fix("to open events on all cpus", "sudo prlimit --pid $$ --nofile=70");
	assert_fix(STEPPING, "sudo sysctl kernel.yama.ptrace_scope=1");
	assert_fix("to name kernel functions",
		   "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
	assert_non_null(fix_for("to record tracepoints and read /proc/kcore"));
	offer.limits.euid = 0;
	offer.limits.kptr_restrict = 2;
	offer_find_fixes(&offer);
	assert_fix("to name kernel functions", "sudo sysctl kernel.kptr_restrict=0");
}

static void a_machine_without_pmus_has_none(void **state)
{
	struct fixture *f = *state;
	char empty[100];

	snprintf(empty, sizeof(empty), "%s/none", f->root);
	fake_sys.sysfs = empty;
	collect();
	assert_int_equal(offer.nr_pmu, 0);
	assert_string_equal(offer_auto_all(&offer), "none");
	assert_int_equal(offer.switches_all.err, -ENOENT);
}

/* stdout of list_json(), parsed */
static json_t *json_of(struct fixture *f)
{
	char path[100];
	json_t *v;
	int out;

	snprintf(path, sizeof(path), "%s/out", f->root);
	fflush(stdout);
	out = dup(STDOUT_FILENO);
	assert_non_null(freopen(path, "w", stdout));
	assert_int_equal(list_json(&offer), 0);
	fflush(stdout);
	assert_true(dup2(out, STDOUT_FILENO) >= 0);
	close(out);
	v = json_load_file(path, 0, NULL);
	assert_non_null(v);
	return v;
}

static void json_holds_the_pmu(void **state)
{
	const char *name, *mask, *cap, *err;
	int type, ok, n0, n1, n4;
	json_t *v, *psb;

	fake_refuse = paranoid_2;
	collect();
	v = json_of(*state);
	assert_int_equal(json_unpack(v, "{s[{s:s,s:i,s{s{s:s}},s{s:s},s{s:o}}]}", "pmus",
				     "name", &name, "type", &type, "terms", "psb_period",
				     "mask", &mask, "caps", "psb_periods", &cap, "valid",
				     "psb_period", &psb), 0);
	assert_int_equal(json_unpack(v, "{s[{s{s:b},s{s:s}}]}", "pmus", "own_tasks", "ok",
				     &ok, "all_tasks", "errno", &err), 0);
	assert_string_equal(name, "intel_pt");
	assert_int_equal(type, 8);
	assert_string_equal(mask, "0xf000000");
	assert_string_equal(cap, "3d");
	assert_true(ok);
	assert_string_equal(err, "EACCES");
	assert_int_equal(json_array_size(psb), 5);
	assert_int_equal(json_unpack(psb, "[i,i,*]", &n0, &n1), 0);
	n4 = (int)json_integer_value(json_array_get(psb, 4));
	assert_true(n0 == 0 && n1 == 2 && n4 == 5);
	json_decref(v);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(only_pmus_with_an_aux_area_are_listed),
		T(events_are_really_opened),
		T(what_paranoid_refuses_is_said_and_how_to_mend_it),
		T(a_container_is_told_from_a_setting),
		T(a_pmu_in_use_is_said_to_be),
		T(rings_that_cannot_be_mapped_are_seen),
		T(ring_memory_is_weighed),
		T(limits_that_are_too_low_are_named),
		T(a_machine_without_pmus_has_none),
		T(json_holds_the_pmu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
