/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters, cgroups and aux-action on their way from the command line to the kernel, and the
 * words for what the kernel refuses; on a machine with Intel PT that is made of files.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "perfio/attrs.h"
#include "perfio/evset.h"
#include "recorder/cmd.h"
#include "recorder/explain.h"
#include "recorder/log.h"
#include "recorder/plan.h"
#include "tests/unit/fake_sys.h"
#include "tests/unit/fixture.h"
#include "tests/unit/symelf.h"

#define PT "sys/bus/event_source/devices/intel_pt/"
#define NR_CPUS 2

static struct fixture *f;
static struct rec_config c;
static struct event_arg args[3];
static struct plan p;
static struct pio_evset set;
static struct pio_fault why;
static char *argv[] = { "auxrec", NULL }, *command[] = { "true", NULL };
static char prog[128], text[512], said[4096], said_path[128];
static int real_stderr = -1;

static void machine(void)
{
	char mounts[256];

	fixture_file(f, PT "type", "8\n");
	fixture_file(f, PT "format/tsc", "config:10\n");
	fixture_file(f, PT "caps/num_address_ranges", "2\n");
	fixture_file(f, PT "nr_addr_filters", "4\n");
	fixture_file(f, "sys/devices/system/cpu/online", "0-1\n");
	fixture_file(f, "proc/self/status", "\nCapEff:\tffffffffffffffff\nSeccomp:\t0\n");
	fixture_file(f, "proc/sys/kernel/perf_event_paranoid", "-1\n");
	fixture_file(f, "proc/sys/kernel/perf_event_mlock_kb", "516\n");
	fixture_file(f, "proc/kallsyms", "ffffffff81000000 T _text\nffffffff81000040 T read\n"
		     "ffffffff81000080 T write\n");
	fixture_file(f, "tracing/events/sched/sched_switch/id", "314\n");
	fixture_file(f, "tracing/events/sched/sched_switch/format", "name: sched_switch\n");
	snprintf(mounts, sizeof(mounts), "none %s/cg cgroup2 rw 0 0\n", f->root);
	fixture_file(f, "proc/mounts", mounts);
	fixture_dir(f, "cg/web");
	fixture_dir(f, "cg/db/main");
}

static int setup(void **state)
{
	const struct symelf_sym sym = { "main", 0x401100, 0x30, STB_GLOBAL, STT_FUNC,
					SYMELF_TEXT };

	fixture_new(state);
	f = *state;
	fake_reset();
	fake_sys.proc = f->proc;
	fake_sys.sysfs = f->sysfs;
	fake_sys.tracefs = f->tracefs;
	machine();
	snprintf(prog, sizeof(prog), "%s/prog", f->root);
	symelf_file(prog, &sym, 1, SHT_SYMTAB, NULL);
	c = (struct rec_config){ .argc = 1, .argv = argv, .clockid = -1, .command = command,
				 .events = args };
	memset(args, 0, sizeof(args));
	snprintf(said_path, sizeof(said_path), "%s/stderr", f->root);
	fflush(stderr);
	real_stderr = dup(2);
	return freopen(said_path, "a", stderr) ? 0 : -1;
}

static int teardown(void **state)
{
	bool leak;

	pio_evset_done(&set);
	plan_done(&p);
	plan_done(&p);
	leak = fake_lent_fds() || fake_lent_maps() || fake_slips();
	fake_reset();
	fflush(stderr);
	dup2(real_stderr, 2);
	close(real_stderr);
	log_level = 0;
	fixture_done(state);
	return leak ? -1 : 0;
}

/* What was printed since the last time. */
static const char *words(void)
{
	FILE *in = fopen(said_path, "r");
	size_t n;

	fflush(stderr);
	assert_non_null(in);
	n = fread(said, 1, sizeof(said) - 1, in);
	said[n] = '\0';
	fclose(in);
	assert_int_equal(truncate(said_path, 0), 0);
	return said;
}

static void tells(const char *what)
{
	if (!strstr(said, what))
		fail_msg("no word of '%s' in: %s", what, said);
}

static void add_pt(char *body)
{
	args[c.nr_events++] = (struct event_arg){ .text = "intel_pt/../", .head = "intel_pt",
						  .body = body, .modifiers = "" };
}

static void add_tracepoint(uint32_t action, char *filter)
{
	args[c.nr_events++] = (struct event_arg){
		.text = "sched:sched_switch/../", .head = "sched", .body = "sched_switch",
		.modifiers = "", .tracepoint = true, .aux_action = action, .filter = filter };
}

static int open_plan(void)
{
	static const pid_t child[] = { 500 };
	struct pio_target t = {
		.cpus = p.cpus, .tids = p.system_wide ? NULL : child,
		.nr_tids = p.system_wide ? 0 : 1, .data_len = p.data_len, .aux_len = p.aux_len,
	};

	return pio_evset_open(&set, &fake_sys, p.ev, p.nr_ev, &t, &why);
}

static void planned(void)
{
	c.follow = c.command && !c.all;
	if (plan_make(&p, &fake_sys, &c))
		fail_msg("%s", words());
}

static void refused(int status)
{
	(void)words();
	c.follow = c.command && !c.all;
	assert_int_equal(plan_make(&p, &fake_sys, &c), status);
	(void)words();
	assert_int_equal(fake_lent_fds(), 0);
}

static const struct fake_event *opened(const char *name, size_t k)
{
	for (size_t i = 0; i < p.nr_ev; i++)
		if (!strcmp(p.ev[i].name, name))
			return fake_event_of(p.ev[i].fd[k].fd);
	fail_msg("no event '%s'", name);
	return NULL;
}

static void a_filter_arrives_in_numbers_and_is_kept_so(void **state)
{
	const struct fmt_time_conv conv = { 0 };
	char want[256];

	(void)state;
	snprintf(text, sizeof(text), "filter main @%s tracestop write", prog);
	c.filter = text;
	fixture_file(f, "proc/kallsyms", "ffffffff81000080 T write\nffffffff81000090 T x\n");
	planned();
	assert_int_equal(open_plan(), 0);
	snprintf(want, sizeof(want), "filter 0x300/0x30@%s,stop 0xffffffff81000080/0x10", prog);
	for (size_t k = 0; k < NR_CPUS; k++) {
		assert_string_equal(opened("intel_pt//", k)->filter, want);
		assert_string_equal(opened("context-switches", k)->filter, "");
		assert_string_equal(opened("tracking", k)->filter, "");
	}
	assert_string_equal(plan_pt_info(&p, &conv).filter, want);
	assert_int_equal(plan_pt_info(&p, &conv).have_sched_switch, 2);
}

static void rules_of_the_pmu_are_kept(void **state)
{
	(void)state;
	c.filter = "filter 1/2 filter 3/4 filter 5/6";
	refused(EXIT_USAGE);
	tells("address filter 'filter 1/2 filter 3/4 filter 5/6': 3 address filters, but "
	      "'intel_pt' on this machine has 2");
	fixture_file(f, PT "nr_addr_filters", "0\n");
	c.filter = "filter 1/2";
	refused(EXIT_CANNOT);
	tells("'intel_pt' on this machine has no address filters");
	fixture_file(f, PT "nr_addr_filters", "1\n");
	c.all = true;
	snprintf(text, sizeof(text), "filter main @%s", prog);
	c.filter = text;
	refused(EXIT_USAGE);
	tells("not with -a or -C");
	c.filter = "filter nosuch";
	refused(EXIT_USAGE);
	tells("no function 'nosuch' in the kernel");
}

static void the_software_source_filters_files(void **state)
{
	(void)state;
	c.filter = "filter 1/2";
	c.source = SOURCE_SOFT;
	refused(EXIT_USAGE);
	tells("0x1 is of no file: write @FILE");
	c.filter = "filter 0xffffffff81000000/2";
	refused(EXIT_USAGE);
	tells("is of the kernel");
	c.source = SOURCE_NONE;
	refused(EXIT_CANNOT);
	tells("no AUX event is recorded");
}

static void a_refused_filter_is_shown(void **state)
{
	(void)state;
	c.filter = "filter 0x10/0x20";
	planned();
	fake_fail(FAKE_IOCTL, 2, EINVAL);
	assert_int_equal(open_plan(), -EINVAL);
	assert_int_equal(explain_fault(&p, &why, -EINVAL), EXIT_CANNOT);
	(void)words();
	tells("ioctl PERF_EVENT_IOC_SET_FILTER failed for event 'intel_pt//' of thread 500 on "
	      "cpu 0: Invalid argument");
	tells("the filter is 'filter 0x10/0x20'");
}

static void an_expression_goes_to_its_tracepoint(void **state)
{
	(void)state;
	add_tracepoint(0, "prev_pid > 0");
	planned();
	assert_int_equal(open_plan(), 0);
	assert_string_equal(opened("sched:sched_switch", 1)->filter, "prev_pid > 0");
	assert_int_equal(opened("sched:sched_switch", 1)->group_fd, -1);
	assert_string_equal(opened("context-switches", 1)->filter, "");
}

static void one_cgroup_is_of_all_but_the_tracking_event(void **state)
{
	const struct fmt_time_conv conv = { 0 };

	(void)state;
	c.all = true;
	c.cgroups = "db/main";
	planned();
	assert_int_equal(open_plan(), 0);
	assert_int_equal(p.nr_cgroup, 1);
	for (size_t k = 0; k < NR_CPUS; k++) {
		const struct fake_event *pt = opened("intel_pt//", k);
		const struct fake_event *sw = opened("context-switches", k);

		assert_int_equal(pt->flags, PERF_FLAG_PID_CGROUP);
		assert_int_equal(pt->pid, p.cgroup[0].fd);
		assert_int_equal(sw->flags, PERF_FLAG_PID_CGROUP);
		assert_int_equal(sw->pid, p.cgroup[0].fd);
		assert_int_equal(sw->group_fd, pt->fd);
		assert_int_equal(opened("tracking", k)->flags, 0);
		assert_int_equal(opened("tracking", k)->pid, -1);
	}
	/* Whole cpus, but not all switches of them. */
	assert_int_equal(plan_pt_info(&p, &conv).have_sched_switch, 2);
	pio_evset_done(&set);
	plan_done(&p);
	c.cgroups = NULL;
	planned();
	assert_int_equal(plan_pt_info(&p, &conv).have_sched_switch, 3);
}

static void several_cgroups_go_to_the_events_in_their_order(void **state)
{
	(void)state;
	c.all = true;
	add_tracepoint(0, NULL);
	add_pt("");
	add_tracepoint(0, NULL);
	c.cgroups = "web,,db";
	planned();
	assert_int_equal(open_plan(), 0);
	assert_int_equal(p.nr_ev, 5);
	assert_int_equal(fake_event_of(p.ev[0].fd[0].fd)->flags, 0); /* intel_pt */
	assert_int_equal(fake_event_of(p.ev[1].fd[0].fd)->flags, 0); /* its switches */
	assert_int_equal(fake_event_of(p.ev[3].fd[0].fd)->pid, p.cgroup[0].fd);
	assert_int_equal(fake_event_of(p.ev[4].fd[0].fd)->pid, p.cgroup[2].fd);
}

static void cgroups_that_do_not_serve_are_named(void **state)
{
	(void)state;
	c.all = true;
	c.cgroups = "nosuch";
	refused(EXIT_CANNOT);
	tells("no cgroup 'nosuch' below '");
	c.cgroups = "web,db";
	refused(EXIT_USAGE);
	tells("-G web,db: 2 cgroups for 0 events");
	add_pt("");
	add_tracepoint(PIO_AUX_PAUSE, NULL);
	refused(EXIT_USAGE);
	tells("event 'sched:sched_switch' acts on 'intel_pt//' and must have the same cgroup");
	fixture_file(f, "proc/mounts", "proc /proc proc rw 0 0\n");
	refused(EXIT_CANNOT);
	tells("no cgroup file system that has perf events is mounted");
}

static void a_cgroup_without_perf_events_is_explained(void **state)
{
	(void)state;
	c.all = true;
	c.cgroups = "web";
	planned();
	fake_fail(FAKE_OPEN, 1, ENOENT);
	assert_int_equal(open_plan(), -ENOENT);
	(void)words();
	assert_int_equal(explain_fault(&p, &why, -ENOENT), EXIT_CANNOT);
	(void)words();
	tells("cgroup 'web' has no perf events");
	assert_null(strstr(said, "no such event"));
}

static void aux_actions_are_in_the_group_of_the_aux_event(void **state)
{
	(void)state;
	c.all = true;
	add_tracepoint(0, NULL);
	add_pt("aux-action=start-paused,tsc");
	add_tracepoint(PIO_AUX_RESUME, NULL);
	planned();
	assert_int_equal(open_plan(), 0);
	assert_int_equal(p.nr_ev, 5);
	assert_int_equal(p.tracking, 3);
	for (size_t k = 0; k < NR_CPUS; k++) {
		const struct fake_event *pt = fake_event_of(p.ev[0].fd[k].fd);
		const struct fake_event *resume = fake_event_of(p.ev[2].fd[k].fd);
		const struct fake_event *other = fake_event_of(p.ev[4].fd[k].fd);

		assert_int_equal(pio_attr_aux_action(&pt->attr), PIO_AUX_START_PAUSED);
		assert_int_equal(pio_attr_aux_action(&resume->attr), PIO_AUX_RESUME);
		assert_int_equal(resume->group_fd, pt->fd);
		assert_int_equal(resume->attr.type, PERF_TYPE_TRACEPOINT);
		assert_int_equal(other->group_fd, -1);
		assert_int_equal(pio_attr_aux_action(&other->attr), 0);
	}
	(void)words();
	assert_null(strstr(said, "starts paused"));
	assert_int_equal(pio_evset_enable(&set, 0), 0);
	assert_true(fake_event_of(p.ev[2].fd[1].fd)->enabled);
	assert_false(fake_event_of(p.ev[2].fd[1].fd)->stuck);
}

static bool knows_actions;
static int no_pause(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid, (void)cpu;
	if (!pio_attr_aux_action(a))
		return 0;
	return !knows_actions ? -EINVAL : a->type == 8 ? -EINVAL : -EOPNOTSUPP;
}

static void kernels_that_cannot_pause_are_named(void **state)
{
	struct utsname u;

	(void)state;
	assert_int_equal(uname(&u), 0);
	c.all = true;
	add_pt("aux-action=start-paused");
	planned();
	(void)words();
	tells("the trace starts paused, and no event resumes it");
	fake_refuse = no_pause;
	knows_actions = false;
	assert_int_equal(open_plan(), -EINVAL);
	(void)words();
	assert_int_equal(explain_fault(&p, &why, -EINVAL), EXIT_CANNOT);
	(void)words();
	snprintf(text, sizeof(text), "this kernel, %s, cannot pause AUX events: that takes Linux "
		 "6.13", u.release);
	tells(text);
	assert_null(strstr(said, "combination"));
	knows_actions = true;
	assert_int_equal(explain_fault(&p, &why, -EINVAL), EXIT_CANNOT);
	(void)words();
	tells("the driver of 'intel_pt' in this kernel cannot pause");
	/* Without aux-action, EINVAL is not blamed on it. */
	pio_attr_set_aux_action(&p.ev[0].attr, 0);
	assert_int_equal(explain_fault(&p, &why, -EINVAL), EXIT_CANNOT);
	(void)words();
	assert_null(strstr(said, "aux-action:"));
}

static void actions_need_a_trace_of_the_kernel(void **state)
{
	(void)state;
	add_tracepoint(PIO_AUX_PAUSE, NULL);
	refused(EXIT_CANNOT);
	tells("there is no AUX event of the kernel to pause or resume");
	c.nr_events = 0;
	add_pt("aux-action=start-paused");
	c.source = SOURCE_SOFT;
	refused(EXIT_CANNOT);
	tells("the software source is paused by commands, not by events");
}

static void hold(int pid, const char *comm)
{
	char path[256];

	snprintf(path, sizeof(path), "proc/%d/comm", pid);
	fixture_file(f, path, comm);
	snprintf(path, sizeof(path), "proc/%d/fd", pid);
	fixture_dir(f, path);
	snprintf(path, sizeof(path), "%s/%d/fd/7", f->proc, pid);
	assert_int_equal(symlink("anon_inode:[perf_event]", path), 0);
}

static void a_busy_pmu_tells_who_is_in_the_way(void **state)
{
	(void)state;
	c.all = true;
	planned();
	fake_fail(FAKE_OPEN, 2, EBUSY);
	assert_int_equal(open_plan(), -EBUSY);
	(void)words();
	assert_int_equal(explain_fault(&p, &why, -EBUSY), EXIT_CANNOT);
	(void)words();
	tells("perf_event_open failed for event 'intel_pt//' on cpu 1: Device or resource busy");
	tells("the PMU is exclusive");
	tells("this one is of a whole cpu");
	tells("no process has perf events open");
	for (int i = 0; i < 10; i++)
		hold(700 + i, "perf\n");
	assert_int_equal(explain_fault(&p, &why, -EBUSY), EXIT_CANNOT);
	(void)words();
	tells("now 'perf' (pid 700) has 1 perf event open");
	tells("and 'perf' (pid 707) has 1 perf event open");
	tells("and 2 more processes");
	assert_null(strstr(said, "708"));
	assert_null(strstr(said, "no process"));
}

/* Each call fails once: nothing stays open, and the plan is whole. */
static void every_failing_call_gives_everything_back(void **state)
{
	unsigned n;

	(void)state;
	c.all = true;
	c.cgroups = "web";
	c.filter = "filter read";
	add_pt("aux-action=start-paused");
	add_tracepoint(PIO_AUX_RESUME, "prev_pid > 0");
	planned();
	for (n = 1;; n++) {
		int err;

		fake_fail(FAKE_ANY, n, EIO);
		err = open_plan();
		if (!fake_failed())
			break;
		assert_int_equal(err, -EIO);
		assert_int_equal(fake_lent_fds() + fake_lent_maps(), 0);
		assert_int_equal(fake_slips(), 0);
	}
	/* 4 events on 2 cpus: opened, asked for their ids, filtered (2), mapped or redirected;
	 * and two AUX areas. */
	assert_int_equal(n - 1, 8 + 8 + 4 + 8 + 2);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_filter_arrives_in_numbers_and_is_kept_so),
		T(rules_of_the_pmu_are_kept),
		T(the_software_source_filters_files),
		T(a_refused_filter_is_shown),
		T(an_expression_goes_to_its_tracepoint),
		T(one_cgroup_is_of_all_but_the_tracking_event),
		T(several_cgroups_go_to_the_events_in_their_order),
		T(cgroups_that_do_not_serve_are_named),
		T(a_cgroup_without_perf_events_is_explained),
		T(aux_actions_are_in_the_group_of_the_aux_event),
		T(kernels_that_cannot_pause_are_named),
		T(actions_need_a_trace_of_the_kernel),
		T(a_busy_pmu_tells_who_is_in_the_way),
		T(every_failing_call_gives_everything_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
