/* SPDX-License-Identifier: Apache-2.0 */
/* Breakpoints that nobody knows of, in a child that waits for us. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "perfio/soft/cleanse.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

struct world {
	pid_t child;
	uint8_t *code; /* two pages of a file that is deleted, in both */
	int mem;       /* the child's memory */
};

/* A file whose every 256th byte is an int3 of its own. */
static int make_file(void)
{
	char name[] = "/tmp/cleanse.XXXXXX";
	uint8_t b[2 * PAGE];
	int fd = mkstemp(name);

	for (size_t i = 0; i < sizeof(b); i++)
		b[i] = (uint8_t)(i + 0xcc);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, b, sizeof(b)), sizeof(b));
	return unlink(name) ? -1 : fd;
}

static int begin(void **state)
{
	static struct world w;
	char path[64];
	int fd = make_file();

	w.code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	if (w.code == MAP_FAILED)
		return -1;
	w.child = fork();
	if (!w.child)
		for (;;)
			pause();
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)w.child);
	w.mem = open(path, O_RDWR | O_CLOEXEC);
	*state = &w;
	return w.child > 0 && w.mem >= 0 ? 0 : -1;
}

static int end(void **state)
{
	struct world *w = *state;

	kill(w->child, SIGKILL);
	waitpid(w->child, NULL, 0);
	close(w->mem);
	munmap(w->code, 2 * PAGE);
	return 0;
}

static void plant(struct world *w, size_t at, uint8_t v)
{
	assert_int_equal(pwrite(w->mem, &v, 1, (off_t)(uintptr_t)(w->code + at)), 1);
}

static uint8_t byte(const struct world *w, size_t at)
{
	uint8_t v = 0;

	assert_int_equal(pread(w->mem, &v, 1, (off_t)(uintptr_t)(w->code + at)), 1);
	return v;
}

static void what_the_file_has_is_put_back(void **state)
{
	struct world *w = *state;
	long n;

	plant(w, 7, 0xcc);
	plant(w, PAGE + 9, 0xcc);
	n = soft_cleanse(w->child);
	if (!n) /* a deleted file is found with privileges only */
		skip();
	assert_int_equal(n, 2);
	for (size_t i = 0; i < 2 * PAGE; i++)
		assert_int_equal(byte(w, i), w->code[i]);
	assert_int_equal(soft_cleanse(w->child), 0);
}

static void other_bytes_are_the_programs_own(void **state)
{
	struct world *w = *state;

	plant(w, 11, 0x90);
	assert_int_equal(soft_cleanse(w->child), 0);
	assert_int_equal(byte(w, 11), 0x90);
	assert_int_equal(byte(w, 256), 0xcc);
}

static void a_process_that_is_not_there(void **state)
{
	struct world *w = *state;

	kill(w->child, SIGKILL);
	waitpid(w->child, NULL, 0);
	assert_true(soft_cleanse(w->child) < 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_the_file_has_is_put_back),
		T(other_bytes_are_the_programs_own),
		T(a_process_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
