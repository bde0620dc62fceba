/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/kcore.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/smallkcore.h"

static struct pio_kcore k;
static struct pio_kcore_area *area;
static size_t n;

static int setup(void **state)
{
	k = PIO_KCORE_INIT;
	area = NULL;
	n = 0;
	if (fixture_new(state))
		return -1;
	kc_make(*state);
	return 0;
}

static int teardown(void **state)
{
	pio_kcore_done(&k);
	pio_kcore_done(&k);
	free(area);
	return fixture_done(state);
}

static int open_it(void **state)
{
	return pio_kcore_open(&k, &((struct fixture *)*state)->sys);
}

static void memory_is_read_by_its_address(void **state)
{
	static const uint64_t at[] = { KC_TEXT, KC_TEXT + 0x2ff0, KC_MOD + 5, KC_MOD + 0xffff0 };
	uint8_t b[16];

	assert_int_equal(open_it(state), 0);
	assert_int_equal(k.machine, 62);
	assert_int_equal(k.nr_seg, 2);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(pio_kcore_read(&k, at[i], b, sizeof(b)), 0);
		for (size_t j = 0; j < sizeof(b); j++)
			assert_int_equal(b[j], kc_byte(at[i] + j));
	}
}

static void memory_that_is_not_shown_is_efault(void **state)
{
	uint8_t b[16];

	assert_int_equal(open_it(state), 0);
	assert_int_equal(pio_kcore_read(&k, KC_TEXT - 1, b, 1), -EFAULT);
	assert_int_equal(pio_kcore_read(&k, KC_TEXT + 0x2ff1, b, 16), -EFAULT);
	assert_int_equal(pio_kcore_read(&k, KC_TEXT + KC_TEXT_LEN, b, 1), -EFAULT);
	assert_int_equal(pio_kcore_read(&k, 0, b, 1), -EFAULT);
}

static void assert_area(size_t i, uint64_t start, uint64_t end)
{
	assert_true(area[i].addr == start);
	assert_true(area[i].addr + area[i].len == end);
}

static void code_is_text_modules_and_what_the_kernel_made(void **state)
{
	assert_int_equal(open_it(state), 0);
	assert_int_equal(pio_kcore_areas(&area, &n, &k, kc_kallsyms, kc_modules), 0);
	assert_int_equal(n, 3);
	assert_area(0, KC_TEXT, KC_TEXT + 0x3000);
	assert_area(1, KC_MOD + 0x1000, KC_MOD + 0x13000); /* one, two, bpf_prog_near */
	assert_area(2, KC_MOD + 0x80000, KC_MOD + 0x82000);
}

static void entry_trampolines_are_code(void **state)
{
	static const char symbols[] =
		"ffffffff81000000 T _stext\nffffffff81001000 T _etext\n"
		"ffffffffc0040000 t __entry_SYSCALL_64_trampoline\n";

	assert_int_equal(open_it(state), 0);
	assert_int_equal(pio_kcore_areas(&area, &n, &k, symbols, ""), 0);
	assert_int_equal(n, 2);
	assert_area(0, KC_TEXT, KC_TEXT + 0x1000);
	assert_area(1, KC_MOD + 0x40000, KC_MOD + 0x41000);
}

/* What the file does not show is left out, or cut off at the end of a segment. */
static void areas_end_where_the_file_does(void **state)
{
	static const char symbols[] =
		"ffffffff81000000 T _text\nffffffff81009000 T _etext\n"
		"ffffffffa0000000 t elsewhere\t[m]\n"
		"ffffffffc00ff800 t at_the_end\t[m]\n";

	assert_int_equal(open_it(state), 0);
	assert_int_equal(pio_kcore_areas(&area, &n, &k, symbols, ""), 0);
	assert_int_equal(n, 2);
	assert_area(0, KC_TEXT, KC_TEXT + KC_TEXT_LEN);
	assert_area(1, KC_MOD + 0xff000, KC_MOD + KC_MOD_LEN);
}

static void hidden_addresses_are_eacces(void **state)
{
	assert_int_equal(open_it(state), 0);
	assert_int_equal(pio_kcore_areas(&area, &n, &k, "0000000000000000 T _text\n"
					 "0000000000000000 T _etext\n", ""), -EACCES);
	assert_int_equal(pio_kcore_areas(&area, &n, &k, "ffffffff81000000 T start\n", ""),
			 -ENOENT);
	assert_int_equal(pio_kcore_areas(&area, &n, &k, "ffffffff91000000 T _stext\n", ""),
			 -ENXIO);
	assert_null(area);
}

static void odd_lines_are_passed_over(void **state)
{
	static const char symbols[] = "\n \nx\nffffffff81000000\nffffffff81000000 T\n"
				      "ffffffff81000000 T _text\nffffffff81001000 T _etext";

	assert_int_equal(open_it(state), 0);
	assert_int_equal(pio_kcore_areas(&area, &n, &k, symbols, "a\nb 12\nc x 0x\n\n"), 0);
	assert_int_equal(n, 1);
}

static void a_file_that_is_no_core_is_refused(void **state)
{
	struct fixture *f = *state;
	char path[128];

	for (unsigned at = 0; at < 20; at++) {
		FILE *out;

		kc_make(f);
		snprintf(path, sizeof(path), "%s/kcore", f->proc);
		out = fopen(path, "r+");
		assert_non_null(out);
		fseek(out, at, SEEK_SET);
		putc(0x55, out);
		fclose(out);
		/* magic, class, order, type; not version and padding; the machine is told */
		if (at < 6 || at == 16 || at == 17)
			assert_int_equal(open_it(state), -EBADMSG);
		else
			assert_int_equal(open_it(state), 0);
		pio_kcore_done(&k);
	}
	for (off_t len = 0; len < 64 + 3 * 56; len += 7) {
		kc_make(f);
		assert_int_equal(truncate(path, len), 0);
		assert_int_equal(open_it(state), -EBADMSG);
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(open_it(state), -ENOENT);
	assert_int_equal(k.fd, -1);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(memory_is_read_by_its_address),
		T(memory_that_is_not_shown_is_efault),
		T(code_is_text_modules_and_what_the_kernel_made),
		T(entry_trampolines_are_code),
		T(areas_end_where_the_file_does),
		T(hidden_addresses_are_eacces),
		T(odd_lines_are_passed_over),
		T(a_file_that_is_no_core_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
