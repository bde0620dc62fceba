/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <setjmp.h>
#include <cmocka.h>

#include "recorder/watch.h"

enum { MANY = 40 };

static struct watch w;
static int fds[MANY];
static unsigned called[MANY], removed;

static int setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		fds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		called[i] = 0;
	}
	return watch_init(&w);
}

static int teardown(void **state)
{
	(void)state;
	watch_done(&w);
	watch_done(&w);
	for (size_t i = 0; i < MANY; i++)
		close(fds[i]);
	return 0;
}

static void poke(size_t i)
{
	uint64_t one = 1;

	assert_int_equal(write(fds[i], &one, 8), 8);
}

static void on(void *ctx, int fd, uint32_t events)
{
	unsigned *n = ctx;
	uint64_t v;

	assert_true(events & EPOLLIN);
	assert_int_equal(read(fd, &v, 8), 8);
	++*n;
}

/* Whoever comes first removes the others. */
static void only_me(void *ctx, int fd, uint32_t events)
{
	(void)events;
	++*(unsigned *)ctx;
	for (size_t i = 0; i < MANY; i++)
		if (fds[i] != fd)
			watch_remove(&w, fds[i]);
	removed++;
	watch_remove(&w, fd);
}

static void each_ready_one_is_called(void **state)
{
	(void)state;
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(watch_add(&w, fds[i], on, &called[i]), 0);
	assert_int_equal(watch_wait(&w, 0), 0);
	poke(3);
	poke(MANY - 1);
	assert_int_equal(watch_wait(&w, -1), 0);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(called[i], i == 3 || i == MANY - 1);
	assert_int_equal(w.wakeups, 1);
}

static void a_removed_one_is_called_no_more(void **state)
{
	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(watch_add(&w, fds[i], only_me, &called[i]), 0);
		poke(i);
	}
	assert_int_equal(watch_wait(&w, 0), 0);
	assert_int_equal(removed, 1);
	assert_int_equal(watch_wait(&w, 0), 0);
	assert_int_equal(removed, 1);
	assert_int_equal(watch_add(&w, fds[0], on, &called[0]), 0);
	called[0] = 0;
	assert_int_equal(watch_wait(&w, 0), 0);
	assert_int_equal(called[0], 1);
}

static void what_cannot_be_watched_is_told(void **state)
{
	(void)state;
	assert_int_equal(watch_add(&w, -1, on, NULL), 0);
	watch_remove(&w, -1);
	watch_remove(&w, 1000);
	assert_int_equal(watch_add(&w, fds[0], on, &called[0]), 0);
	assert_int_equal(watch_add(&w, fds[0], on, &called[0]), -EEXIST);
	poke(0);
	assert_int_equal(watch_wait(&w, 0), 0);
	assert_int_equal(called[0], 1);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_ready_one_is_called),
		T(a_removed_one_is_called_no_more),
		T(what_cannot_be_watched_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
