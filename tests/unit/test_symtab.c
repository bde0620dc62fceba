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

#include "perfio/symtab.h"
#include "tests/unit/fixture.h"
#include "tests/unit/symelf.h"

#define AT(vaddr) ((vaddr) - SYMELF_VADDR + SYMELF_OFFSET)

static struct pio_symtab t;
static char path[128];

static int setup(void **state)
{
	struct fixture *f;

	fixture_new(state);
	f = *state;
	snprintf(path, sizeof(path), "%s/prog", f->root);
	t = (struct pio_symtab){ 0 };
	return 0;
}

static int teardown(void **state)
{
	pio_symtab_done(&t);
	pio_symtab_done(&t);
	return fixture_done(state);
}

static const struct symelf_sym *func(const char *name, uint64_t value, uint64_t size)
{
	static struct symelf_sym s;

	s = (struct symelf_sym){ name, value, size, STB_GLOBAL, STT_FUNC, SYMELF_TEXT };
	return &s;
}

static void is(size_t i, const char *name, uint64_t at, uint64_t size, char kind)
{
	assert_true(i < t.n);
	assert_string_equal(t.sym[i].name, name);
	assert_int_equal(t.sym[i].at, at);
	assert_int_equal(t.sym[i].size, size);
	assert_int_equal(t.sym[i].kind, kind);
}

static void functions_come_by_their_offset_in_the_file(void **state)
{
	const struct symelf_sym sym[] = {
		{ "zero", 0x401100, 0x20, STB_GLOBAL, STT_FUNC, SYMELF_TEXT },
		{ "helper", 0x401040, 0x10, STB_LOCAL, STT_FUNC, SYMELF_TEXT },
		{ "weak", 0x401000, 0x10, STB_WEAK, STT_GNU_IFUNC, SYMELF_TEXT },
		{ "helper", 0x401060, 0x11, STB_LOCAL, STT_FUNC, SYMELF_TEXT },
		{ "variable", 0x401200, 8, STB_GLOBAL, STT_OBJECT, SYMELF_DATA },
		{ "elsewhere", 0, 0, STB_GLOBAL, STT_FUNC, SYMELF_UNDEF },
		{ "beyond", SYMELF_VADDR + SYMELF_SIZE, 1, STB_GLOBAL, STT_FUNC, SYMELF_TEXT },
	};

	(void)state;
	symelf_file(path, sym, 7, SHT_SYMTAB, NULL);
	assert_int_equal(pio_symtab_elf(&t, path, NULL), 0);
	assert_int_equal(t.n, 4);
	assert_int_equal(t.start, 0);
	assert_int_equal(t.end, SYMELF_BYTES);
	is(0, "weak", AT(0x401000), 0x10, 'w');
	assert_false(t.sym[0].global);
	is(1, "helper", AT(0x401040), 0x10, 'l');
	is(2, "helper", AT(0x401060), 0x11, 'l');
	is(3, "zero", AT(0x401100), 0x20, 'g');
	assert_true(t.sym[3].global);
}

static void a_function_without_a_size_ends_at_the_next_or_with_its_segment(void **state)
{
	const struct symelf_sym sym[] = {
		{ "_start", 0x401000, 0, STB_GLOBAL, STT_NOTYPE, SYMELF_TEXT },
		{ "alias", 0x401000, 0, STB_LOCAL, STT_FUNC, SYMELF_TEXT },
		{ "next", 0x401030, 5, STB_LOCAL, STT_FUNC, SYMELF_TEXT },
		{ "last", 0x401100, 0, STB_LOCAL, STT_FUNC, SYMELF_TEXT },
		{ "label_in_data", 0x401200, 0, STB_LOCAL, STT_NOTYPE, SYMELF_DATA },
	};

	(void)state;
	symelf_file(path, sym, 5, SHT_SYMTAB, NULL);
	assert_int_equal(pio_symtab_elf(&t, path, NULL), 0);
	assert_int_equal(t.n, 4);
	is(0, "_start", AT(0x401000), 0x30, 'g');
	is(1, "alias", AT(0x401000), 0x30, 'l');
	is(2, "next", AT(0x401030), 5, 'l');
	is(3, "last", AT(0x401100), SYMELF_SIZE - 0x100, 'l');
}

static void a_default_version_is_not_part_of_the_name(void **state)
{
	const struct symelf_sym sym[] = {
		{ "memcpy@@V2", 0x401000, 1, STB_GLOBAL, STT_FUNC, SYMELF_TEXT },
		{ "memcpy@V1", 0x401010, 1, STB_GLOBAL, STT_FUNC, SYMELF_TEXT },
	};

	(void)state;
	symelf_file(path, sym, 2, SHT_SYMTAB, NULL);
	assert_int_equal(pio_symtab_elf(&t, path, NULL), 0);
	is(0, "memcpy", AT(0x401000), 1, 'g');
	is(1, "memcpy@V1", AT(0x401010), 1, 'g');
}

static void a_stripped_file_has_its_dynamic_symbols(void **state)
{
	(void)state;
	symelf_file(path, func("exported", 0x401000, 4), 1, SHT_DYNSYM, NULL);
	assert_int_equal(pio_symtab_elf(&t, path, NULL), 0);
	assert_int_equal(t.n, 1);
	is(0, "exported", AT(0x401000), 4, 'g');
}

static void a_debug_file_is_found_by_build_id(void **state)
{
	static const uint8_t id[20] = { 0xab, 0xcd, 0x12 };
	struct fixture *f = *state;
	char debug[256];

	symelf_file(path, func("exported", 0x401000, 4), 1, SHT_DYNSYM, id);
	fixture_dir(f, ".build-id/ab");
	snprintf(debug, sizeof(debug),
		 "%s/.build-id/ab/cd12%034d.debug", f->root, 0);
	symelf_file(debug, func("hidden", 0x401010, 4), 1, SHT_SYMTAB, id);
	assert_int_equal(pio_symtab_elf(&t, path, f->root), 0);
	assert_int_equal(t.n, 1);
	is(0, "hidden", AT(0x401010), 4, 'g');
}

static void a_file_without_symbols_has_none(void **state)
{
	(void)state;
	symelf_file(path, func("x", 0, 0), 1, 0, NULL);
	assert_int_equal(pio_symtab_elf(&t, path, NULL), 0);
	assert_int_equal(t.n, 0);
	assert_int_equal(t.end, SYMELF_BYTES);
}

static void what_is_not_elf_is_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(pio_symtab_elf(&t, path, NULL), -ENOENT);
	fixture_file(f, "prog", "#!/bin/sh\n");
	assert_int_equal(pio_symtab_elf(&t, path, NULL), -ENOEXEC);
	assert_int_equal(pio_symtab_elf(&t, f->root, NULL), -ENOEXEC);
	assert_null(t.sym);
}

/* Whatever an ELF file holds, it is read without a fault: every byte of one is changed. */
static void damaged_files_do_no_harm(void **state)
{
	uint8_t buf[SYMELF_BYTES];
	FILE *f;

	(void)state;
	symelf_file(path, func("f", 0x401000, 4), 1, SHT_SYMTAB, NULL);
	f = fopen(path, "r+");
	assert_non_null(f);
	assert_int_equal(fread(buf, 1, sizeof(buf), f), sizeof(buf));
	setbuf(f, NULL);
	for (long i = 0; i < (long)sizeof(buf); i++) {
		if (!buf[i] && i % 16) /* the empty parts, here and there */
			continue;
		fseek(f, i, SEEK_SET);
		fputc(buf[i] ^ 0xff, f);
		if (!pio_symtab_elf(&t, path, NULL))
			pio_symtab_done(&t);
		fseek(f, i, SEEK_SET);
		fputc(buf[i], f);
	}
	fclose(f);
}

static void functions_of_the_kernel_end_at_the_next_symbol(void **state)
{
	struct fixture *f = *state;

	fixture_file(f, "proc/kallsyms",
		     "0000000000000000 A fixed_percpu_data\n"
		     "ffffffff81000000 T _text\n"
		     "ffffffff81000040 t helper\n"
		     "ffffffff81000080 D data\n"
		     "ffffffffc0000000 t helper\t[mod]\n"
		     "ffffffffc0000010 W weak\t[mod]\n");
	assert_int_equal(pio_symtab_kernel(&t, &f->sys), 0);
	assert_int_equal(t.n, 4);
	is(0, "_text", 0xffffffff81000000, 0x40, 'T');
	is(1, "helper", 0xffffffff81000040, 0x40, 't');
	is(2, "helper", 0xffffffffc0000000, 0x10, 't');
	is(3, "weak", 0xffffffffc0000010, 0, 'W');
	assert_true(t.sym[0].global);
	assert_false(t.sym[1].global);
	assert_int_equal(t.start, 0xffffffff81000000);
	assert_int_equal(t.end, 0xffffffffc0002000);
}

static void hidden_addresses_are_eacces(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(pio_symtab_kernel(&t, &f->sys), -ENOENT);
	fixture_file(f, "proc/kallsyms", "0000000000000000 T _text\n");
	assert_int_equal(pio_symtab_kernel(&t, &f->sys), -EACCES);
	fixture_file(f, "proc/kallsyms", "nonsense\n");
	assert_int_equal(pio_symtab_kernel(&t, &f->sys), -ENOENT);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(functions_come_by_their_offset_in_the_file),
		T(a_function_without_a_size_ends_at_the_next_or_with_its_segment),
		T(a_default_version_is_not_part_of_the_name),
		T(a_stripped_file_has_its_dynamic_symbols),
		T(a_debug_file_is_found_by_build_id),
		T(a_file_without_symbols_has_none),
		T(what_is_not_elf_is_refused),
		T(damaged_files_do_no_harm),
		T(functions_of_the_kernel_end_at_the_next_symbol),
		T(hidden_addresses_are_eacces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
