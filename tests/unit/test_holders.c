/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perfio/attrs.h"
#include "perfio/holders.h"
#include "tests/unit/fixture.h"

static struct pio_holders got;

static int teardown(void **state)
{
	pio_holders_done(&got);
	pio_holders_done(&got);
	return fixture_done(state);
}

static void has(struct fixture *f, int pid, const char *comm, const char *const *fds)
{
	char path[256];

	snprintf(path, sizeof(path), "proc/%d/comm", pid);
	fixture_file(f, path, comm);
	snprintf(path, sizeof(path), "proc/%d/fd", pid);
	fixture_dir(f, path);
	for (int i = 0; fds[i]; i++) {
		snprintf(path, sizeof(path), "%s/%d/fd/%d", f->proc, pid, i);
		assert_int_equal(symlink(fds[i], path), 0);
	}
}

#define EVENT "anon_inode:[perf_event]"

static void processes_with_perf_events_are_found(void **state)
{
	static const char *const two[] = { "/dev/null", EVENT, EVENT, NULL };
	static const char *const none[] = { "anon_inode:[eventfd]", "/" EVENT, NULL };
	static const char *const one[] = { EVENT, NULL };
	struct fixture *f = *state;

	has(f, 812, "perf\n", two);
	has(f, 1, "init\n", none);
	has(f, 77, "a name of more than 15\n", one);
	has(f, getpid(), "auxrec\n", one);
	fixture_file(f, "proc/self/comm", "auxrec\n");
	fixture_file(f, "proc/99/comm", "ended\n"); /* its fd has gone */
	assert_int_equal(pio_holders(&got, &f->sys), 0);
	assert_int_equal(got.n, 2);
	assert_int_equal(got.hidden, 0);
	assert_int_equal(got.h[0].pid, 77);
	assert_string_equal(got.h[0].comm, "a name of more ");
	assert_int_equal(got.h[0].nr_fd, 1);
	assert_int_equal(got.h[1].pid, 812);
	assert_string_equal(got.h[1].comm, "perf");
	assert_int_equal(got.h[1].nr_fd, 2);
}

static void without_proc_there_is_an_error(void **state)
{
	struct fixture *f = *state;

	f->sys.proc = "/nonexistent";
	assert_int_equal(pio_holders(&got, &f->sys), -ENOENT);
	assert_null(got.h);
}

/* In a child, which gives up root for it: 65534 is nobody. */
static void what_may_not_be_seen_is_counted(void **state)
{
	static const char *const one[] = { EVENT, NULL };
	struct fixture *f = *state;
	char path[256];
	int status;
	pid_t pid;

	has(f, 5, "secret\n", one);
	has(f, 6, "open\n", one);
	snprintf(path, sizeof(path), "%s/5/fd", f->proc);
	assert_int_equal(chmod(path, 0), 0);
	assert_int_equal(chmod(f->root, 0755), 0);
	pid = fork();
	if (!pid) {
		if (!getuid() && setuid(65534))
			_exit(2);
		if (pio_holders(&got, &f->sys))
			_exit(3);
		_exit(got.n == 1 && got.h[0].pid == 6 && got.hidden == 1 ? 0 : 4);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(status, 0);
}

/* The kernel's own name for them. */
static void a_real_event_is_found(void **state)
{
	const struct pio_attr_common c = { .clockid = -1 };
	struct perf_event_attr a = pio_attr_switch(&c);
	int fd, pipes[2], err;
	pid_t pid;
	char x;

	(void)state;
	a.context_switch = 0;
	a.exclude_user = 1;
	fd = pio_kernel.open(&a, 0, -1, -1, 0);
	if (fd < 0)
		skip(); /* not permitted here */
	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (!pid) {
		close(pipes[1]);
		_exit(read(pipes[0], &x, 1) != 0);
	}
	err = pio_holders(&got, &pio_kernel);
	close(pipes[0]);
	close(pipes[1]);
	waitpid(pid, NULL, 0);
	close(fd);
	assert_int_equal(err, 0);
	for (size_t i = 0; i < got.n; i++)
		if (got.h[i].pid == pid) {
			assert_int_equal(got.h[i].nr_fd, 1);
			return;
		}
	fail();
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_new, teardown)
	const struct CMUnitTest tests[] = {
		T(processes_with_perf_events_are_found),
		T(without_proc_there_is_an_error),
		T(what_may_not_be_seen_is_counted),
		T(a_real_event_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
