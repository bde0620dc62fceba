/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "perfio/sys.h"
#include "tests/unit/fixture.h"

static char *text;
static size_t len;

static int teardown(void **state)
{
	free(text);
	text = NULL;
	return fixture_done(state);
}

static int read_file(struct fixture *f, size_t max)
{
	free(text);
	text = NULL;
	len = 4711;
	return pio_read_file(&text, &len, max, "%s/a/%s", f->root, "file");
}

static void a_whole_file_is_read_and_terminated(void **state)
{
	char big[10001];

	memset(big, 'x', sizeof(big));
	big[10000] = '\0';
	fixture_file(*state, "a/file", big);
	assert_int_equal(read_file(*state, 10000), 0);
	assert_int_equal(len, 10000);
	assert_string_equal(text, big);
}

static void sizes_around_the_limit_are_exact(void **state)
{
	fixture_file(*state, "a/file", "0123456789");
	assert_int_equal(read_file(*state, 10), 0);
	assert_int_equal(len, 10);
	assert_int_equal(read_file(*state, 9), -EFBIG);
	assert_null(text);
	assert_int_equal(len, 4711);
	fixture_file(*state, "a/file", "");
	assert_int_equal(read_file(*state, 0), 0);
	assert_int_equal(len, 0);
	assert_string_equal(text, "");
}

static void what_cannot_be_read_has_the_kernels_errno(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_file(f, 10), -ENOENT);
	fixture_dir(f, "a/file");
	assert_int_equal(read_file(f, 10), -EISDIR);
	assert_int_equal(pio_read_file(&text, &len, 1, "/%05000d", 1), -ENAMETOOLONG);
}

static void a_line_ends_at_its_newline_or_at_the_buffer(void **state)
{
	struct fixture *f = *state;
	char buf[8];

	fixture_file(f, "a/file", "abc\ndef\n");
	assert_int_equal(pio_read_line(buf, sizeof(buf), "%s/a/file", f->root), 3);
	assert_string_equal(buf, "abc");
	assert_int_equal(pio_read_line(buf, 3, "%s/a/file", f->root), 2);
	assert_string_equal(buf, "ab");
	assert_int_equal(pio_read_line(buf, 3, "%s/a/none", f->root), -ENOENT);
	fixture_file(f, "a/file", "");
	assert_int_equal(pio_read_line(buf, sizeof(buf), "%s/a/file", f->root), 0);
}

static void numbers_are_decimal_or_0x(void **state)
{
	static const struct {
		const char *text;
		int err;
		uint64_t v;
	} want[] = {
		{ "0\n", 0, 0 },
		{ "17", 0, 17 },
		{ "010\n", 0, 10 },
		{ "0x1f\n", 0, 31 },
		{ "18446744073709551615\n", 0, UINT64_MAX },
		{ "18446744073709551616\n", -EINVAL, 0 },
		{ "-1\n", -EINVAL, 0 },
		{ " 1\n", -EINVAL, 0 },
		{ "1x\n", -EINVAL, 0 },
		{ "1 \n", -EINVAL, 0 },
		{ "\n", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		uint64_t v = 5;

		fixture_file(f, "a/file", want[i].text);
		assert_int_equal(pio_read_u64(&v, "%s/a/file", f->root), want[i].err);
		assert_true(v == (want[i].err ? 5 : want[i].v));
	}
}

static void the_kernel_answers_with_negative_errno(void **state)
{
	struct perf_event_attr nonsense = { .type = UINT32_MAX, .size = 128 };
	void *p = &nonsense;
	char c;

	(void)state;
	assert_true(pio_kernel.open(&nonsense, 0, -1, -1, 0) < 0);
	assert_int_equal(pio_kernel.ioctl(-1, PERF_EVENT_IOC_ENABLE, 0), -EBADF);
	assert_int_equal(pio_kernel.read(-1, &c, 1), -EBADF);
	assert_int_equal(pio_kernel.close(-1), -EBADF);
	assert_int_equal(pio_kernel.mmap(&p, 4096, PROT_READ, -1, 0), -EBADF);
	assert_ptr_equal(p, &nonsense);
	assert_int_equal(pio_kernel.munmap((void *)1, 1), -EINVAL);
}

#define T(f) cmocka_unit_test_setup_teardown(f, fixture_new, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_whole_file_is_read_and_terminated),
		T(sizes_around_the_limit_are_exact),
		T(what_cannot_be_read_has_the_kernels_errno),
		T(a_line_ends_at_its_newline_or_at_the_buffer),
		T(numbers_are_decimal_or_0x),
		T(the_kernel_answers_with_negative_errno),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
