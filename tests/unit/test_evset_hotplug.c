/* SPDX-License-Identifier: Apache-2.0 */
/* Cpus that leave a set of events and join it while it is open. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "perfio/attrs.h"
#include "perfio/evset.h"
#include "tests/unit/fake_sys.h"

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

enum { AUX_LEN = 8 * 4096, NR_EV = 3 };

static int two_cpus[] = { 0, 3 };
static struct pio_event ev[NR_EV];
static struct pio_evset set;
static struct pio_fault why;

static int setup(void **state)
{
	const struct pio_attr_common c = { .read_format = PERF_FORMAT_ID, .clockid = -1 };
	const struct pio_pmu pt = { .type = 8 };
	const struct pio_config conf = { .config = { 1 } };
	const struct pio_target t = {
		.cpus = { two_cpus, 2 },
		.data_len = 4 * PAGE,
		.aux_len = AUX_LEN,
	};

	(void)state;
	fake_reset();
	set = PIO_EVSET_INIT;
	memset(&why, 0, sizeof(why));
	memset(ev, 0, sizeof(ev));
	ev[0].name = "intel_pt";
	ev[0].attr = pio_attr_aux(&c, &pt, &conf);
	ev[1].name = "switch";
	ev[1].attr = pio_attr_switch(&c);
	ev[1].leader = 1;
	ev[2].name = "tracking";
	ev[2].attr = pio_attr_tracking(&c);
	ev[2].attr.disabled = 0;
	return pio_evset_open(&set, &fake_sys, ev, NR_EV, &t, &why);
}

static int teardown(void **state)
{
	(void)state;
	pio_evset_done(&set);
	if (fake_lent_fds() || fake_lent_maps() || fake_slips())
		return -1;
	fake_reset();
	return 0;
}

/* The descriptor of event i on a place; there is one, or none: -1. */
static int fd_of(size_t i, size_t place)
{
	for (size_t k = 0; k < ev[i].nr_fd; k++)
		if (ev[i].fd[k].place == place)
			return ev[i].fd[k].fd;
	return -1;
}

static void a_retired_place_gives_everything_back_and_keeps_its_number(void **state)
{
	struct iovec v[2];

	(void)state;
	pio_evset_retire(&set, 0);
	assert_int_equal(fake_lent_fds(), NR_EV);
	assert_int_equal(fake_lent_maps(), 2);
	assert_int_equal(set.nr_place, 2);
	assert_int_equal(pio_evset_place_of(&set, 0), -ENOENT);
	assert_int_equal(pio_evset_place_of(&set, 3), 1);
	for (size_t i = 0; i < NR_EV; i++) {
		assert_int_equal(ev[i].nr_fd, 1);
		assert_int_equal(fd_of(i, 0), -1);
		assert_int_equal(fake_event_of(fd_of(i, 1))->cpu, 3);
	}
	assert_int_equal(pio_ring_peek(&set.place[0].ring, v), 0);
	assert_int_equal(pio_ring_peek_aux(&set.place[0].ring, v), 0);
	pio_ring_release(&set.place[0].ring);
	pio_evset_retire(&set, 0); /* twice is nothing */
	assert_int_equal(fake_lent_fds(), NR_EV);
}

static void a_new_cpu_gets_a_place_of_its_own(void **state)
{
	(void)state;
	assert_int_equal(pio_evset_add_cpu(&set, 7, &why), 2);
	assert_int_equal(set.nr_place, 3);
	assert_int_equal(pio_evset_place_of(&set, 7), 2);
	assert_int_equal(fake_lent_fds(), 3 * NR_EV);
	assert_int_equal(fake_lent_maps(), 6);
	for (size_t i = 0; i < NR_EV; i++) {
		const struct fake_event *e = fake_event_of(fd_of(i, 2));

		assert_int_equal(e->cpu, 7);
		assert_int_equal(e->pid, -1);
		assert_int_equal(ev[i].fd[2].id, e->id);
		assert_int_equal(e->output, i ? set.place[2].ring.fd : -1);
	}
	assert_int_equal(set.place[2].ring.aux_len, AUX_LEN);
	assert_int_equal(fake_event_of(fd_of(1, 2))->group_fd, fd_of(0, 2));
	assert_int_equal(fake_event_of(fd_of(2, 2))->group_fd, -1);
	assert_false(fake_event_of(fd_of(0, 2))->enabled);
	assert_true(fake_event_of(fd_of(2, 2))->enabled);
}

static void a_cpu_that_comes_back_goes_on_in_its_old_place(void **state)
{
	struct iovec v[2];
	uint64_t old_id = ev[0].fd[1].id;

	(void)state;
	assert_true(fake_skip_aux(fd_of(0, 1), 100));
	assert_int_equal(pio_ring_peek_aux(&set.place[1].ring, v), 1);
	pio_ring_release_aux(&set.place[1].ring);
	pio_evset_retire(&set, 1);
	assert_int_equal(set.place[1].aux_base, 100);
	assert_int_equal(pio_evset_add_cpu(&set, 3, &why), 1);
	assert_int_equal(set.nr_place, 2);
	assert_int_equal(set.place[1].aux_base, 100);
	assert_int_equal(set.place[1].ring.aux_tail, 0);
	assert_true(ev[0].fd[1].id != old_id);
	assert_true(fake_skip_aux(fd_of(0, 1), 11));
	assert_int_equal(pio_ring_peek_aux(&set.place[1].ring, v), 1);
	pio_ring_release_aux(&set.place[1].ring);
	pio_evset_retire(&set, 1);
	assert_int_equal(set.place[1].aux_base, 111);
}

static void a_cpu_that_is_there_is_not_opened_again(void **state)
{
	(void)state;
	assert_int_equal(pio_evset_add_cpu(&set, 3, &why), -EEXIST);
	assert_int_equal(fake_lent_fds(), 2 * NR_EV);
}

static void the_last_cpu_may_go_and_come_back(void **state)
{
	(void)state;
	pio_evset_retire(&set, 0);
	pio_evset_retire(&set, 1);
	assert_int_equal(fake_lent_fds(), 0);
	assert_int_equal(pio_evset_enable(&set, 0), 0);
	assert_int_equal(pio_evset_add_cpu(&set, 0, &why), 0);
	assert_int_equal(fake_lent_fds(), NR_EV);
}

static void one_place_is_enabled_with_its_group(void **state)
{
	(void)state;
	assert_int_equal(pio_evset_add_cpu(&set, 7, &why), 2);
	assert_int_equal(pio_evset_enable_place(&set, 0, 2), 0);
	assert_true(fake_event_of(fd_of(0, 2))->enabled);
	assert_true(fake_event_of(fd_of(1, 2))->enabled);
	assert_false(fake_event_of(fd_of(0, 0))->enabled);
}

static void a_missing_event_is_not_opened_on_a_new_cpu(void **state)
{
	(void)state;
	ev[2].missing = -EACCES;
	assert_int_equal(pio_evset_add_cpu(&set, 7, &why), 2);
	assert_int_equal(fd_of(2, 2), -1);
	assert_int_equal(fake_lent_fds(), 3 * NR_EV - 1);
}

static int not_yet(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	(void)attr, (void)pid;
	return cpu == 7 ? -ENODEV : 0;
}

static void a_cpu_that_is_not_ready_says_so(void **state)
{
	(void)state;
	fake_refuse = not_yet;
	assert_int_equal(pio_evset_add_cpu(&set, 7, &why), -ENODEV);
	assert_string_equal(why.call, "perf_event_open");
	assert_int_equal(why.cpu, 7);
	assert_int_equal(set.nr_place, 2);
	fake_refuse = NULL;
	assert_int_equal(pio_evset_add_cpu(&set, 7, &why), 2);
}

/* For a new cpu and for one that had been there: after each failure the set is what it was,
 * the other cpus' rings are where they were, and the cpu can be added all the same. */
static void every_failing_call_leaves_the_others_alone(void **state)
{
	static const int cpu[] = { 7, 3 };
	const void *ring = set.place[0].ring.meta;

	(void)state;
	pio_evset_retire(&set, 1);
	for (size_t c = 0; c < 2; c++) {
		size_t places = set.nr_place;
		unsigned fds = fake_lent_fds(), maps = fake_lent_maps(), n = 1;

		for (;; n++) {
			int place;

			fake_fail(FAKE_ANY, n, EIO);
			place = pio_evset_add_cpu(&set, cpu[c], &why);
			if (!fake_failed()) {
				assert_int_equal(place, c ? 1 : 2);
				break;
			}
			assert_int_equal(place, -EIO);
			assert_int_equal(why.cpu, cpu[c]);
			assert_int_equal(set.nr_place, places);
			assert_int_equal(fake_lent_fds(), fds);
			assert_int_equal(fake_lent_maps(), maps);
			assert_ptr_equal(set.place[0].ring.meta, ring);
			assert_true(fake_put(fd_of(0, 0), "12345678", 8));
		}
		assert_int_equal(n, 11); /* 3 opens, 3 ids, 2 mmaps, 2 outputs */
	}
}

/* Of a task on each cpu: one event that sees all tasks of the cpu. */
static void an_event_of_all_tasks_ignores_the_task(void **state)
{
	static const pid_t tid = 500;
	const struct pio_target t = {
		.cpus = { two_cpus, 2 }, .tids = &tid, .nr_tids = 1,
		.data_len = 4 * PAGE, .aux_len = AUX_LEN,
	};

	(void)state;
	pio_evset_done(&set);
	ev[2].all_tasks = true;
	assert_int_equal(pio_evset_open(&set, &fake_sys, ev, NR_EV, &t, &why), 0);
	assert_int_equal(fake_event_of(fd_of(0, 1))->pid, 500);
	assert_int_equal(fake_event_of(fd_of(2, 1))->pid, -1);
	assert_int_equal(fake_event_of(fd_of(2, 1))->output, fd_of(0, 1));
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_retired_place_gives_everything_back_and_keeps_its_number),
		T(a_new_cpu_gets_a_place_of_its_own),
		T(a_cpu_that_comes_back_goes_on_in_its_old_place),
		T(a_cpu_that_is_there_is_not_opened_again),
		T(the_last_cpu_may_go_and_come_back),
		T(one_place_is_enabled_with_its_group),
		T(a_missing_event_is_not_opened_on_a_new_cpu),
		T(a_cpu_that_is_not_ready_says_so),
		T(every_failing_call_leaves_the_others_alone),
		T(an_event_of_all_tasks_ignores_the_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
