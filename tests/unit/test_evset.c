/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "perfio/attrs.h"
#include "perfio/evset.h"
#include "tests/unit/fake_sys.h"

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static int two_cpus[] = { 0, 3 };
static const pid_t tids[] = { 500, 501, 502 };
static struct pio_event ev[3];
static struct pio_evset set;
static struct pio_fault why;

static int setup(void **state)
{
	const struct pio_attr_common c = {
		.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST,
		.watermark = 2048,
		.clockid = -1,
	};
	const struct pio_pmu pt = { .type = 8 };
	const struct pio_config conf = { .config = { 0x300e601 } };

	(void)state;
	fake_reset();
	set = PIO_EVSET_INIT;
	memset(&why, 0, sizeof(why));
	memset(ev, 0, sizeof(ev));
	ev[0].name = "intel_pt";
	ev[0].attr = pio_attr_aux(&c, &pt, &conf);
	ev[1].name = "tracking";
	ev[1].attr = pio_attr_tracking(&c);
	ev[2].name = "switch";
	ev[2].attr = pio_attr_switch(&c);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	pio_evset_done(&set);
	pio_evset_done(&set);
	if (fake_lent_fds() || fake_lent_maps() || fake_slips())
		return -1;
	fake_reset();
	return 0;
}

static struct pio_target on_cpus(void)
{
	return (struct pio_target){
		.cpus = { two_cpus, 2 },
		.data_len = 4 * PAGE,
		.aux_len = 8 * PAGE,
	};
}

static struct pio_target on_threads(size_t n)
{
	return (struct pio_target){
		.tids = tids,
		.nr_tids = n,
		.data_len = 4 * PAGE,
		.aux_len = 8 * PAGE,
	};
}

static int open_set(struct pio_target t)
{
	return pio_evset_open(&set, &fake_sys, ev, 3, &t, &why);
}

static void every_event_is_opened_on_every_cpu(void **state)
{
	(void)state;
	assert_int_equal(open_set(on_cpus()), 0);
	assert_int_equal(set.nr_place, 2);
	assert_int_equal(set.place[1].cpu, 3);
	assert_int_equal(set.place[1].tid, -1);
	assert_int_equal(fake_nr_events(), 6);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(ev[i].nr_fd, 2);
		for (size_t k = 0; k < 2; k++) {
			const struct fake_event *e = fake_event_of(ev[i].fd[k].fd);

			assert_int_equal(e->cpu, two_cpus[k]);
			assert_int_equal(e->pid, -1);
			assert_int_equal(e->group_fd, -1);
			assert_int_equal(e->attr.type, ev[i].attr.type);
			assert_int_equal(ev[i].fd[k].id, e->id);
			assert_int_equal(ev[i].fd[k].cpu, two_cpus[k]);
			assert_int_equal(ev[i].fd[k].tid, -1);
			assert_int_equal(ev[i].fd[k].place, k);
		}
	}
}

static void the_first_event_owns_the_ring_and_the_rest_write_into_it(void **state)
{
	(void)state;
	assert_int_equal(open_set(on_cpus()), 0);
	assert_int_equal(fake_lent_maps(), 4); /* data and AUX on two cpus */
	for (size_t k = 0; k < 2; k++) {
		const int owner = ev[0].fd[k].fd;

		assert_int_equal(set.place[k].ring.fd, owner);
		assert_int_equal(set.place[k].ring.data_len, 4 * PAGE);
		assert_int_equal(set.place[k].ring.aux_len, 8 * PAGE);
		assert_int_equal(fake_event_of(owner)->output, -1);
		assert_int_equal(fake_event_of(ev[1].fd[k].fd)->output, owner);
		assert_int_equal(fake_event_of(ev[2].fd[k].fd)->output, owner);
	}
}

static void what_any_event_writes_is_seen_in_the_ring_of_its_place(void **state)
{
	uint8_t rec[8] = { 14 };
	struct iovec v[2];

	(void)state;
	assert_int_equal(open_set(on_cpus()), 0);
	assert_true(fake_put(ev[2].fd[1].fd, rec, sizeof(rec)));
	assert_int_equal(pio_ring_peek(&set.place[0].ring, v), 0);
	assert_int_equal(pio_ring_peek(&set.place[1].ring, v), 1);
	assert_memory_equal(v[0].iov_base, rec, sizeof(rec));
}

static void threads_have_a_place_each(void **state)
{
	(void)state;
	assert_int_equal(open_set(on_threads(3)), 0);
	assert_int_equal(set.nr_place, 3);
	assert_int_equal(fake_nr_events(), 9);
	for (size_t k = 0; k < 3; k++) {
		assert_int_equal(set.place[k].cpu, -1);
		assert_int_equal(set.place[k].tid, tids[k]);
		assert_int_equal(set.place[k].ring.fd, ev[0].fd[k].fd);
		assert_int_equal(ev[2].fd[k].tid, tids[k]);
		assert_int_equal(ev[2].fd[k].cpu, -1);
		assert_int_equal(fake_event_of(ev[2].fd[k].fd)->pid, tids[k]);
	}
}

static void threads_on_cpus_share_the_cpus_rings(void **state)
{
	struct pio_target t = on_threads(3);

	(void)state;
	t.cpus = (struct pio_cpus){ two_cpus, 2 };
	for (size_t i = 0; i < 3; i++)
		ev[i].attr.inherit = 1;
	assert_int_equal(open_set(t), 0);
	assert_int_equal(set.nr_place, 2);
	assert_int_equal(fake_nr_events(), 18);
	assert_int_equal(fake_lent_maps(), 4);
	assert_int_equal(ev[0].nr_fd, 6);
	assert_int_equal(ev[0].fd[4].tid, 501);
	assert_int_equal(ev[0].fd[4].cpu, 3);
	assert_int_equal(fake_event_of(ev[0].fd[4].fd)->output, set.place[1].ring.fd);
}

static void without_aux_len_there_is_no_aux_area(void **state)
{
	struct pio_target t = on_cpus();

	(void)state;
	t.aux_len = 0;
	assert_int_equal(open_set(t), 0);
	assert_int_equal(fake_lent_maps(), 2);
	assert_null(set.place[0].ring.aux);
}

static void every_failing_call_gives_everything_back(void **state)
{
	const struct pio_target targets[] = { on_cpus(), on_threads(2) };

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		for (unsigned n = 1;; n++) {
			const struct pio_evset before = set;
			int err;

			fake_reset();
			fake_fail(FAKE_ANY, n, EIO);
			err = open_set(targets[k]);
			if (!fake_failed()) {
				assert_int_equal(err, 0);
				/* 6 opens, 6 ids, 4 mmaps, 4 redirections */
				assert_int_equal(n, 21);
				break;
			}
			assert_int_equal(err, -EIO);
			assert_memory_equal(&set, &before, sizeof(set));
			assert_int_equal(fake_lent_fds() + fake_lent_maps(), 0);
			assert_int_equal(fake_slips(), 0);
			for (size_t i = 0; i < 3; i++)
				assert_true(!ev[i].fd && !ev[i].nr_fd);
			assert_non_null(why.call);
		}
		pio_evset_done(&set);
	}
}

static void fails(enum fake_call kind, unsigned n, int err, const char *call,
		  const char *event, int cpu)
{
	fake_reset();
	fake_fail(kind, n, err);
	assert_int_equal(open_set(on_cpus()), -err);
	assert_string_equal(why.call, call);
	assert_string_equal(why.event, event);
	assert_int_equal(why.cpu, cpu);
	assert_int_equal(why.tid, -1);
}

static void faults_name_call_event_and_cpu(void **state)
{
	(void)state;
	fails(FAKE_OPEN, 1, EBUSY, "perf_event_open", "intel_pt", 0);
	assert_int_equal(why.opened + why.asked, 0);
	fails(FAKE_OPEN, 2, EBUSY, "perf_event_open", "intel_pt", 3);
	fails(FAKE_OPEN, 6, EBUSY, "perf_event_open", "switch", 3);
	assert_int_equal(why.opened, 5);
	fails(FAKE_IOCTL, 4, EIO, "ioctl PERF_EVENT_IOC_ID", "tracking", 3);
	assert_int_equal(why.opened, 4);
	fails(FAKE_MMAP, 1, EPERM, "mmap", "intel_pt", 0);
	assert_int_equal(why.asked, 4 * PAGE);
	assert_int_equal(why.opened, 6);
	fails(FAKE_MMAP, 4, EPERM, "mmap (AUX area)", "intel_pt", 3);
	assert_int_equal(why.asked, 8 * PAGE);
	fails(FAKE_IOCTL, 7, EINVAL, "ioctl PERF_EVENT_IOC_SET_OUTPUT", "tracking", 0);
}

static void a_filter_reaches_every_descriptor_of_its_event(void **state)
{
	static const char text[] = "filter 0x1000/0x20@/bin/true";

	(void)state;
	ev[0].filter = text;
	assert_int_equal(open_set(on_threads(2)), 0);
	for (size_t k = 0; k < 2; k++) {
		assert_string_equal(fake_event_of(ev[0].fd[k].fd)->filter, text);
		assert_string_equal(fake_event_of(ev[1].fd[k].fd)->filter, "");
	}
}

static void a_refused_filter_is_named_and_gives_everything_back(void **state)
{
	const struct pio_target targets[] = { on_cpus(), on_threads(2) };

	(void)state;
	ev[0].filter = "filter 0xffffffff81000000/0x1000";
	for (size_t k = 0; k < 2; k++)
		for (unsigned n = 1; n < 23; n++) { /* as above, and two filters */
			fake_reset();
			fake_fail(FAKE_ANY, n, EIO);
			assert_int_equal(open_set(targets[k]), -EIO);
			assert_int_equal(fake_lent_fds() + fake_lent_maps(), 0);
		}
	fails(FAKE_IOCTL, 2, EOPNOTSUPP, "ioctl PERF_EVENT_IOC_SET_FILTER", "intel_pt", 0);
	fails(FAKE_IOCTL, 4, EINVAL, "ioctl PERF_EVENT_IOC_SET_FILTER", "intel_pt", 3);
}

static void a_cgroup_stands_in_for_the_task(void **state)
{
	const struct pio_cgroup c = { .name = NULL, .fd = 77 };

	(void)state;
	ev[0].cgroup = ev[2].cgroup = &c;
	ev[2].leader = 1;
	assert_int_equal(open_set(on_cpus()), 0);
	for (size_t k = 0; k < 2; k++) {
		const struct fake_event *pt = fake_event_of(ev[0].fd[k].fd);
		const struct fake_event *tracking = fake_event_of(ev[1].fd[k].fd);
		const struct fake_event *sw = fake_event_of(ev[2].fd[k].fd);

		assert_int_equal(pt->flags, PERF_FLAG_PID_CGROUP);
		assert_int_equal(pt->pid, 77);
		assert_int_equal(pt->cpu, two_cpus[k]);
		assert_int_equal(ev[0].fd[k].tid, -1);
		assert_int_equal(tracking->flags, 0);
		assert_int_equal(tracking->pid, -1);
		assert_int_equal(sw->flags, PERF_FLAG_PID_CGROUP);
		assert_int_equal(sw->pid, 77);
		assert_int_equal(sw->group_fd, pt->fd);
	}
}

static int no_501(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)a, (void)cpu;
	return pid == 501 ? -ESRCH : 0;
}

static int nobody(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)a, (void)pid, (void)cpu;
	return -ESRCH;
}

static void a_thread_that_has_gone_is_skipped(void **state)
{
	(void)state;
	fake_refuse = no_501;
	assert_int_equal(open_set(on_threads(3)), 0);
	assert_int_equal(set.nr_place, 2);
	assert_int_equal(set.place[0].tid, 500);
	assert_int_equal(set.place[1].tid, 502);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(ev[i].nr_fd, 2);
		assert_int_equal(ev[i].fd[1].tid, 502);
		assert_int_equal(ev[i].fd[1].place, 1);
	}
}

static void a_thread_gone_on_all_cpus_is_skipped_too(void **state)
{
	struct pio_target t = on_threads(3);

	(void)state;
	t.cpus = (struct pio_cpus){ two_cpus, 2 };
	fake_refuse = no_501;
	assert_int_equal(open_set(t), 0);
	assert_int_equal(ev[0].nr_fd, 4);
	assert_int_equal(set.nr_place, 2);
}

static void when_all_have_gone_it_is_esrch(void **state)
{
	(void)state;
	fake_refuse = nobody;
	assert_int_equal(open_set(on_threads(1)), -ESRCH);
	assert_int_equal(why.tid, 500);
	assert_int_equal(open_set(on_threads(3)), -ESRCH);
	assert_string_equal(why.call, "perf_event_open");
	assert_string_equal(why.event, "intel_pt");
}

static int no_switch(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid;
	return a->context_switch && cpu == 3 ? -EACCES : 0;
}

static void an_optional_event_is_left_out_everywhere(void **state)
{
	(void)state;
	fake_refuse = no_switch;
	assert_int_equal(open_set(on_cpus()), -EACCES);
	assert_string_equal(why.event, "switch");
	ev[2].optional = true;
	assert_int_equal(open_set(on_cpus()), 0);
	assert_int_equal(ev[2].missing, -EACCES);
	assert_int_equal(ev[2].nr_fd, 0);
	assert_int_equal(fake_lent_fds(), 4); /* what cpu 0 had opened is closed */
	assert_int_equal(pio_evset_enable(&set, 2), 0);
}

static int no_aux(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid, (void)cpu;
	return a->type == 8 ? -ENOENT : 0;
}

static void without_the_optional_first_event_the_next_owns_the_ring(void **state)
{
	(void)state;
	fake_refuse = no_aux;
	ev[0].optional = true;
	assert_int_equal(open_set(on_cpus()), 0);
	assert_int_equal(ev[0].missing, -ENOENT);
	assert_int_equal(set.place[0].ring.fd, ev[1].fd[0].fd);
	assert_null(set.place[0].ring.aux);
}

static void an_optional_event_does_not_hide_other_errors(void **state)
{
	(void)state;
	ev[0].optional = true;
	fake_fail(FAKE_OPEN, 1, EBUSY);
	assert_int_equal(open_set(on_cpus()), -EBUSY);
}

static int refuse_all(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)a, (void)pid, (void)cpu;
	return -EACCES;
}

static void a_set_of_which_nothing_is_left_is_an_error(void **state)
{
	(void)state;
	fake_refuse = refuse_all;
	for (size_t i = 0; i < 3; i++)
		ev[i].optional = true;
	assert_int_equal(open_set(on_cpus()), -EACCES);
	assert_string_equal(why.event, "intel_pt");
}

/* Linux 5.10: no lost counts. */
static int linux_5_10(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid, (void)cpu;
	return a->read_format & PERF_FORMAT_LOST ? -EINVAL : 0;
}

static void an_older_kernel_is_asked_for_less(void **state)
{
	(void)state;
	fake_refuse = linux_5_10;
	assert_int_equal(open_set(on_cpus()), 0);
	assert_int_equal(ev[1].attr.read_format, PERF_FORMAT_ID);
	assert_int_equal(ev[1].attr.ksymbol, 1);
	assert_int_equal(ev[1].attr.bpf_event, 1);
	assert_int_equal(fake_event_of(ev[1].fd[1].fd)->attr.read_format, PERF_FORMAT_ID);
}

static int no_ksymbol(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid, (void)cpu;
	return a->ksymbol || a->bpf_event ? -EACCES : 0;
}

static void ksymbol_and_bpf_event_are_given_up_where_they_are_refused(void **state)
{
	(void)state;
	fake_refuse = no_ksymbol;
	assert_int_equal(open_set(on_cpus()), 0);
	assert_int_equal(ev[1].attr.ksymbol + ev[1].attr.bpf_event, 0);
	assert_int_equal(ev[1].attr.read_format, PERF_FORMAT_ID | PERF_FORMAT_LOST);
}

static void a_refusal_that_less_does_not_cure_leaves_the_attr_alone(void **state)
{
	(void)state;
	fake_refuse = refuse_all;
	assert_int_equal(open_set(on_cpus()), -EACCES);
	assert_int_equal(ev[0].attr.read_format, PERF_FORMAT_ID | PERF_FORMAT_LOST);
	assert_int_equal(ev[1].attr.bpf_event, 1);
}

static void emfile_raises_the_soft_limit_once(void **state)
{
	struct rlimit old, low, now;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	low = (struct rlimit){ old.rlim_max - 1, old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	fake_fail(FAKE_OPEN, 4, EMFILE);
	assert_int_equal(open_set(on_cpus()), 0);
	assert_int_equal(fake_calls(FAKE_OPEN), 7);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
	assert_true(now.rlim_cur == now.rlim_max);
	pio_evset_done(&set);
	/* nothing to raise any more: the error stands */
	fake_fail(FAKE_OPEN, 4, EMFILE);
	assert_int_equal(open_set(on_cpus()), -EMFILE);
	assert_int_equal(why.opened, 3);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

static void a_group_is_led_on_each_place_and_switched_as_one(void **state)
{
	const struct fake_event *lead, *member;

	(void)state;
	ev[2].leader = 1;
	assert_int_equal(open_set(on_cpus()), 0);
	for (size_t i = 0; i < 2; i++) {
		lead = fake_event_of(ev[0].fd[i].fd);
		member = fake_event_of(ev[2].fd[i].fd);
		assert_int_equal(lead->group_fd, -1);
		assert_int_equal(member->group_fd, lead->fd);
		assert_int_equal(member->cpu, lead->cpu);
		assert_int_equal(fake_event_of(ev[1].fd[i].fd)->group_fd, -1);
	}
	assert_int_equal(pio_evset_enable(&set, 0), 0);
	assert_int_equal(pio_evset_enable(&set, 2), 0); /* a member: its leader did it */
	assert_true(member->enabled && lead->enabled);
	assert_int_equal(member->enables, 1);
	assert_false(member->stuck); /* enabled before its leader */
	assert_false(fake_event_of(ev[1].fd[0].fd)->enabled);
	assert_int_equal(pio_evset_restart(&set, 0, 1), 0);
	assert_true(member->enabled && lead->enabled);
	assert_int_equal(pio_evset_disable(&set, 0), 0);
	assert_false(member->enabled || lead->enabled);
	assert_int_equal(pio_evset_enable(&set, 0), 0);
	assert_true(member->enabled && lead->enabled && !member->stuck);
	assert_int_equal(pio_evset_disable(&set, 0), 0);
	fake_fail(FAKE_IOCTL, 1, EIO); /* of a member: the rest is done all the same */
	assert_int_equal(pio_evset_enable(&set, 0), -EIO);
	assert_true(lead->enabled);
}

static void a_member_goes_with_the_thread_of_its_leader(void **state)
{
	(void)state;
	ev[2].leader = 1;
	fake_refuse = no_501;
	assert_int_equal(open_set(on_threads(3)), 0);
	assert_int_equal(ev[0].nr_fd, 2);
	assert_int_equal(ev[2].nr_fd, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(fake_event_of(ev[2].fd[i].fd)->group_fd, ev[0].fd[i].fd);
}

static void enable_and_disable_reach_every_descriptor(void **state)
{
	(void)state;
	assert_int_equal(open_set(on_cpus()), 0);
	assert_int_equal(pio_evset_enable(&set, 0), 0);
	for (size_t k = 0; k < 2; k++) {
		assert_true(fake_event_of(ev[0].fd[k].fd)->enabled);
		assert_false(fake_event_of(ev[1].fd[k].fd)->enabled);
	}
	fake_fail(FAKE_IOCTL, 1, EIO);
	assert_int_equal(pio_evset_disable(&set, 0), -EIO);
	assert_true(fake_event_of(ev[0].fd[0].fd)->enabled);
	assert_false(fake_event_of(ev[0].fd[1].fd)->enabled); /* all the same */
}

static void lost_counts_are_found_behind_the_id(void **state)
{
	uint64_t lost = 1;

	(void)state;
	ev[1].attr.read_format |=
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	ev[2].attr.read_format = PERF_FORMAT_ID;
	assert_int_equal(open_set(on_cpus()), 0);
	fake_event_of(ev[0].fd[1].fd)->lost = 77;
	fake_event_of(ev[1].fd[0].fd)->lost = 78;
	assert_int_equal(pio_event_lost(&set, &ev[0], 1, &lost), 0);
	assert_int_equal(lost, 77);
	assert_int_equal(pio_event_lost(&set, &ev[0], 0, &lost), 0);
	assert_int_equal(lost, 0);
	assert_int_equal(pio_event_lost(&set, &ev[1], 0, &lost), 0);
	assert_int_equal(lost, 78);
	assert_int_equal(pio_event_lost(&set, &ev[2], 0, &lost), -EOPNOTSUPP);
	fake_fail(FAKE_READ, 1, EIO);
	assert_int_equal(pio_event_lost(&set, &ev[0], 1, &lost), -EIO);
	assert_int_equal(lost, 78);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(every_event_is_opened_on_every_cpu),
		T(the_first_event_owns_the_ring_and_the_rest_write_into_it),
		T(what_any_event_writes_is_seen_in_the_ring_of_its_place),
		T(threads_have_a_place_each),
		T(threads_on_cpus_share_the_cpus_rings),
		T(without_aux_len_there_is_no_aux_area),
		T(every_failing_call_gives_everything_back),
		T(faults_name_call_event_and_cpu),
		T(a_filter_reaches_every_descriptor_of_its_event),
		T(a_refused_filter_is_named_and_gives_everything_back),
		T(a_cgroup_stands_in_for_the_task),
		T(a_thread_that_has_gone_is_skipped),
		T(a_thread_gone_on_all_cpus_is_skipped_too),
		T(when_all_have_gone_it_is_esrch),
		T(an_optional_event_is_left_out_everywhere),
		T(without_the_optional_first_event_the_next_owns_the_ring),
		T(an_optional_event_does_not_hide_other_errors),
		T(a_set_of_which_nothing_is_left_is_an_error),
		T(an_older_kernel_is_asked_for_less),
		T(ksymbol_and_bpf_event_are_given_up_where_they_are_refused),
		T(a_refusal_that_less_does_not_cure_leaves_the_attr_alone),
		T(emfile_raises_the_soft_limit_once),
		T(a_group_is_led_on_each_place_and_switched_as_one),
		T(a_member_goes_with_the_thread_of_its_leader),
		T(enable_and_disable_reach_every_descriptor),
		T(lost_counts_are_found_behind_the_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
