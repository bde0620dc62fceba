/* SPDX-License-Identifier: Apache-2.0 */
/* Golden bytes: tools/perf/Documentation/jitdump-specification.txt (Linux 6.1), elf(5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <libelf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/jitdump.h"

static void expect(struct fmt_buf *b, const uint8_t *want, size_t n)
{
	assert_int_equal(b->err, 0);
	assert_int_equal(b->len, n);
	assert_memory_equal(b->data, want, n);
	fmt_buf_done(b);
}

static void a_file_begins_with_magic_and_clock(void **state)
{
	static const uint8_t want[] = {
		0x44, 0x54, 0x69, 0x4a, 1, 0, 0, 0, 40, 0, 0, 0, 62, 0, 0, 0,
		0, 0, 0, 0, 0x39, 0x30, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1,
		1, 0, 0, 0, 0, 0, 0, 0,
	};
	struct fmt_buf b = { 0 };

	(void)state;
	fmt_put_jit_header(&b, 12345, 0x0102030405060708);
	expect(&b, want, sizeof(want));
}

static const struct fmt_jit_load load = {
	.pid = 7, .tid = 9, .ticks = 0x1122, .addr = 0x7f0000001000, .size = 3, .index = 5,
	.name = "ab", .bytes = (const uint8_t *)"\x90\xc3\xcc",
};

static void code_comes_with_its_name(void **state)
{
	static const uint8_t want[] = {
		0, 0, 0, 0, 62, 0, 0, 0, 0x22, 0x11, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0,
		0, 0x10, 0, 0, 0, 0x7f, 0, 0, 0, 0x10, 0, 0, 0, 0x7f, 0, 0,
		3, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 0, 0x90, 0xc3, 0xcc,
	};
	struct fmt_buf b = { 0 };

	(void)state;
	fmt_put_jit_load(&b, &load);
	expect(&b, want, sizeof(want));
}

static void code_that_is_back_moves_to_where_it_is(void **state)
{
	static const uint8_t want[] = {
		1, 0, 0, 0, 64, 0, 0, 0, 0x22, 0x11, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0, 0,
		0, 0x10, 0, 0, 0, 0x7f, 0, 0, 0, 0x10, 0, 0, 0, 0x7f, 0, 0,
		0, 0x10, 0, 0, 0, 0x7f, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0,
	};
	struct fmt_buf b = { 0 };

	(void)state;
	fmt_put_jit_again(&b, &load);
	expect(&b, want, sizeof(want));
}

/* libelf is the witness. */
static void a_code_file_is_elf_of_64_bits(void **state)
{
	struct fmt_buf b = { 0 };
	Elf_Scn *scn = NULL;
	size_t names, n = 0;
	Elf *elf;

	(void)state;
	fmt_put_code_file(&b);
	assert_int_equal(b.len, FMT_CODE_BEGIN);
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)b.data, b.len);
	assert_non_null(elf);
	assert_int_equal(elf_kind(elf), ELF_K_ELF);
	assert_int_equal(elf64_getehdr(elf)->e_machine, EM_X86_64);
	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	for (; (scn = elf_nextscn(elf, scn)); n++) {
		static const char *const want[] = { ".text", ".dynsym", ".dynstr" };
		const Elf64_Shdr *s = elf64_getshdr(scn);

		assert_string_equal(elf_strptr(elf, names, s->sh_name), want[n]);
		assert_true(s->sh_offset + s->sh_size <= FMT_CODE_BEGIN);
	}
	assert_int_equal(n, 3);
	elf_end(elf);
	fmt_buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_begins_with_magic_and_clock),
		cmocka_unit_test(code_comes_with_its_name),
		cmocka_unit_test(code_that_is_back_moves_to_where_it_is),
		cmocka_unit_test(a_code_file_is_elf_of_64_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
