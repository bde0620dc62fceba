/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "format/abi.h"
#include "format/record.h"
#include "perfio/buildid.h"
#include "recorder/dsos.h"
#include "tests/unit/fixture.h"
#include "tests/unit/smallelf.h"

static const uint8_t id_a[20] = { 0xaa, 1 }, id_b[20] = { 0xbb, 2 };
static const struct fmt_trailer zero;
static struct dsos *d;
static struct fmt_buf b;
static const struct fmt_build_id *rows;
static size_t n;

static int setup(void **state)
{
	return fixture_new(state) || dsos_new(&d);
}

static int teardown(void **state)
{
	dsos_free(d);
	d = NULL;
	fmt_buf_done(&b);
	return fixture_done(state);
}

static void get_rows(const struct fixture *f)
{
	assert_int_equal(dsos_rows(d, &f->sys, &rows, &n), 0);
}

static void add_user(const char *name, const uint8_t *id, size_t size)
{
	assert_int_equal(dsos_add(d, FMT_MISC_USER, name, id, size), 0);
}

static void each_name_and_id_stands_once(void **state)
{
	for (int i = 0; i < 3; i++) {
		add_user("/bin/a", id_a, 20);
		add_user("/bin/a", id_b, 20);
		add_user("/bin/a", id_a, 16);
		add_user("/bin/b", id_a, 20);
	}
	get_rows(*state);
	assert_int_equal(n, 4);
	assert_string_equal(rows[0].name, "/bin/a");
	assert_memory_equal(rows[0].id, id_a, 20);
	assert_int_equal(rows[0].id_size, 20);
	assert_int_equal(rows[0].misc, FMT_MISC_USER);
	assert_memory_equal(rows[1].id, id_b, 20);
	assert_int_equal(rows[2].id_size, 16);
	assert_string_equal(rows[3].name, "/bin/b");
}

static void memory_is_no_file(void **state)
{
	static const char *const names[] = {
		"//anon", "[heap]", "[stack]", "[vsyscall]", "/dev/zero", "[anon:x]",
		"/dev/zero (deleted)", "/memfd:jit (deleted)", "anon_inode:[x]", "",
		"/SYSV00000000 (deleted)", "/anon_hugepage (deleted)", "bpf_prog_x",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		add_user(names[i], id_a, 20);
	assert_int_equal(dsos_add(d, FMT_MISC_GUEST_USER, "/bin/a", id_a, 20), 0);
	get_rows(*state);
	assert_int_equal(n, 0);
}

static void the_kernel_loses_its_symbol(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(dsos_add(d, FMT_MISC_KERNEL, "[kernel.kallsyms]_text", id_a, 20),
			 0);
	assert_int_equal(
		dsos_add(d, FMT_MISC_KERNEL, "[kernel.kallsyms]_stext", id_a, 20), 0);
	get_rows(f);
	assert_int_equal(n, 1);
	assert_string_equal(rows[0].name, "[kernel.kallsyms]");
	assert_int_equal(rows[0].misc, FMT_MISC_KERNEL);
}

static void missing_ids_are_looked_up(void **state)
{
	struct fixture *f = *state;
	char path[PATH_MAX], notes[PATH_MAX];
	uint8_t vdso[20], text[256];
	FILE *o;
	int vdso_size = pio_build_id_vdso(vdso);

	snprintf(path, sizeof(path), "%s/prog", f->root);
	small_elf_file(path, id_a, 20, 0);
	fixture_dir(f, "sys/module/kvm_intel/notes");
	snprintf(notes, sizeof(notes), "%s/module/kvm_intel/notes/.note.gnu.build-id",
		 f->sysfs);
	o = fopen(notes, "w");
	assert_non_null(o);
	fwrite(text, 1, small_notes(text, id_b, 20), o);
	fclose(o);
	add_user(path, NULL, 0);
	add_user("/does/not/exist", NULL, 0);
	assert_int_equal(dsos_add(d, FMT_MISC_KERNEL, "/lib/kvm-intel.ko.xz", NULL, 0),
			 0);
	assert_int_equal(dsos_add(d, FMT_MISC_KERNEL, "[kvm_intel]", NULL, 0), 0);
	assert_int_equal(dsos_add(d, FMT_MISC_KERNEL, "[unknown]", NULL, 0), 0);
	if (vdso_size > 0)
		add_user("[vdso]", NULL, 0);
	get_rows(f);
	assert_int_equal(n, vdso_size > 0 ? 4 : 3);
	assert_string_equal(rows[0].name, path);
	assert_memory_equal(rows[0].id, id_a, 20);
	assert_string_equal(rows[1].name, "/lib/kvm-intel.ko.xz");
	assert_memory_equal(rows[1].id, id_b, 20);
	assert_int_equal(rows[1].misc, FMT_MISC_KERNEL);
	assert_string_equal(rows[2].name, "[kvm_intel]");
	if (vdso_size > 0) {
		assert_string_equal(rows[3].name, "[vdso]");
		assert_memory_equal(rows[3].id, vdso, (size_t)vdso_size);
	}
	/* once found, or not found, is enough */
	remove(path);
	add_user("/bin/late", id_a, 20);
	get_rows(f);
	assert_int_equal(n, vdso_size > 0 ? 5 : 4);
}

static void add_mmap2(const char *name, uint64_t addr, uint64_t ino, const uint8_t *id,
		      size_t size)
{
	struct fmt_mmap2 m = { .addr = addr,
			       .len = 4096,
			       .ino = ino,
			       .maj = 1,
			       .name = name,
			       .misc = FMT_MISC_USER,
			       .build_id_size = (uint8_t)size };

	if (size)
		memcpy(m.build_id, id, size);
	fmt_buf_reset(&b);
	assert_int_equal(fmt_put_mmap2(&b, &m, &zero), 0);
	assert_int_equal(dsos_add_record(d, b.data, b.len), 0);
}

static void records_bring_names_and_ids(void **state)
{
	add_mmap2("/bin/a", 0x400000, 5, id_a, 20);
	add_mmap2("/bin/b", 0x400000, 5, id_b, 16);
	fmt_buf_reset(&b);
	assert_int_equal(
		fmt_put_mmap(&b, FMT_MISC_USER, 1, 1, 0, 1, 0, "/nowhere", &zero), 0);
	assert_int_equal(dsos_add_record(d, b.data, b.len), 0);
	get_rows(*state);
	assert_int_equal(n, 2);
	assert_string_equal(rows[0].name, "/bin/a");
	assert_memory_equal(rows[0].id, id_a, 20);
	assert_string_equal(rows[1].name, "/bin/b");
	assert_int_equal(rows[1].id_size, 16);
	assert_memory_equal(rows[1].id, id_b, 16);
}

static void a_file_that_was_replaced_gets_no_id(void **state)
{
	struct fixture *f = *state;
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/prog", f->root);
	small_elf_file(path, id_a, 20, 0);
	assert_int_equal(stat(path, &st), 0);
	add_mmap2(path, 0x400000, st.st_ino + 1, NULL, 0);
	get_rows(f);
	assert_int_equal(n, 0);
	add_mmap2(path, 0x400000, st.st_ino, NULL, 0);
	get_rows(f);
	assert_int_equal(n, 1);
	assert_memory_equal(rows[0].id, id_a, 20);
}

static void the_vdso_of_32_bit_processes_is_another(void **state)
{
	add_mmap2("[vdso]", 0xf7f00000, 0, NULL, 0);
	get_rows(*state);
	assert_int_equal(n, 0);
	add_mmap2("[vdso]", 0x7ffd00000000, 0, NULL, 0);
	get_rows(*state);
	assert_int_equal(n, pio_build_id_vdso((uint8_t[20]){ 0 }) > 0 ? 1 : 0);
}

static void malformed_records_are_ignored(void **state)
{
	struct fmt_mmap2 m = { .name = "/bin/abcdefgh", .misc = FMT_MISC_USER,
			       .build_id_size = 20 };
	uint8_t copy[256];

	assert_int_equal(fmt_put_mmap2(&b, &m, &zero), 0);
	for (size_t cut = 0; cut < b.len; cut++)
		assert_int_equal(dsos_add_record(d, b.data, cut), 0);
	memcpy(copy, b.data, b.len);
	copy[0] = FMT_REC_COMM;
	assert_int_equal(dsos_add_record(d, copy, b.len), 0);
	memcpy(copy, b.data, b.len);
	copy[40] = 21; /* size of the id */
	assert_int_equal(dsos_add_record(d, copy, b.len), 0);
	memcpy(copy, b.data, b.len);
	memset(copy + 72, 'x', b.len - 72); /* a name without an end */
	assert_int_equal(dsos_add_record(d, copy, b.len), 0);
	get_rows(*state);
	assert_int_equal(n, 0);
	assert_int_equal(dsos_add_record(d, b.data, b.len), 0);
	get_rows(*state);
	assert_int_equal(n, 1);
}

static void thousands_fit(void **state)
{
	char name[64];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 5000; i++) {
			snprintf(name, sizeof(name), "/lib/%d.so", i);
			add_user(name, id_a, 20);
		}
	}
	get_rows(*state);
	assert_int_equal(n, 5000);
	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "/lib/%zu.so", i);
		assert_string_equal(rows[i].name, name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(each_name_and_id_stands_once),
		T(memory_is_no_file),
		T(the_kernel_loses_its_symbol),
		T(missing_ids_are_looked_up),
		T(records_bring_names_and_ids),
		T(a_file_that_was_replaced_gets_no_id),
		T(the_vdso_of_32_bit_processes_is_another),
		T(malformed_records_are_ignored),
		T(thousands_fit),
	};

	dsos_free(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
