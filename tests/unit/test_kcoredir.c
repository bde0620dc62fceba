/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings that are directories: how they come to be, get their name, and go. */
#include "recorder/kcoredir.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <elf.h>

#include "recorder/output.h"
#include "tests/unit/smallkcore.h"

static struct fixture *f;
static char at[96]; /* the directory of the tests below */
static const char *what;
static uint64_t bytes;

static const char *path(const char *name)
{
	static char full[4][192];
	static unsigned n;
	char *p = full[n++ % 4];

	snprintf(p, sizeof(full[0]), "%s/%s", f->root, name);
	return p;
}

static int setup(void **state)
{
	if (fixture_new(state))
		return -1;
	f = *state;
	kc_make(f);
	snprintf(at, sizeof(at), "%s/rec", f->root);
	return 0;
}

static int teardown(void **state)
{
	return fixture_done(state);
}

static unsigned mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(path(name), &st), 0);
	return st.st_mode & 07777;
}

static bool is_there(const char *name)
{
	return !access(path(name), F_OK);
}

/* Every byte of every segment of a written kcore is the kernel's. Returns their number. */
static uint64_t check_kcore(const char *name)
{
	FILE *in = fopen(path(name), "r");
	uint64_t sum = 0;
	Elf64_Phdr p[8];
	Elf64_Ehdr e;

	assert_non_null(in);
	assert_int_equal(fread(&e, sizeof(e), 1, in), 1);
	assert_true(e.e_phnum <= 8);
	assert_int_equal(fread(p, sizeof(*p), e.e_phnum, in), e.e_phnum);
	for (size_t i = 0; i < e.e_phnum; i++) {
		assert_int_equal(fseek(in, (long)p[i].p_offset, SEEK_SET), 0);
		for (uint64_t k = 0; k < p[i].p_filesz; k++)
			assert_int_equal(getc(in), kc_byte(p[i].p_vaddr + k));
		sum += p[i].p_filesz;
	}
	assert_int_equal(getc(in), EOF);
	fclose(in);
	return sum;
}

static void assert_text(const char *name, const char *want)
{
	char *text = NULL;
	size_t len;

	assert_int_equal(pio_read_file(&text, &len, 1 << 20, "%s", path(name)), 0);
	assert_string_equal(text, want);
	free(text);
}

static void code_and_tables_are_copied(void **state)
{
	(void)state;
	umask(022);
	assert_int_equal(kcoredir_make(at, true), 0);
	assert_int_equal(kcoredir_fill(at, &f->sys, &bytes, &what), 0);
	assert_int_equal(bytes, 0x3000 + 0x12000 + 0x2000);
	assert_int_equal(check_kcore("rec/kcore_dir/kcore"), bytes);
	assert_text("rec/kcore_dir/kallsyms", kc_kallsyms);
	assert_text("rec/kcore_dir/modules", kc_modules);
	assert_int_equal(mode_of("rec"), 0700);
	assert_int_equal(mode_of("rec/kcore_dir"), 0700);
	assert_int_equal(mode_of("rec/kcore_dir/kcore"), 0600);
	assert_int_equal(mode_of("rec/kcore_dir/kallsyms"), 0600);
	assert_int_equal(kcoredir_remove(at), 0);
	assert_false(is_there("rec"));
}

static void what_is_missing_is_named(void **state)
{
	(void)state;
	assert_int_equal(kcoredir_make(at, true), 0);
	fixture_file(f, "proc/kallsyms", "0000000000000000 T _text\n");
	assert_int_equal(kcoredir_fill(at, &f->sys, &bytes, &what), -EACCES);
	assert_string_equal(what, "/proc/kallsyms");
	unlink(path("proc/kallsyms"));
	assert_int_equal(kcoredir_fill(at, &f->sys, &bytes, &what), -ENOENT);
	assert_string_equal(what, "/proc/kallsyms");
	unlink(path("proc/kcore"));
	assert_int_equal(kcoredir_fill(at, &f->sys, &bytes, &what), -ENOENT);
	assert_string_equal(what, "/proc/kcore");
	assert_int_equal(kcoredir_remove(at), 0);
}

static void a_kernel_without_modules_is_copied_too(void **state)
{
	(void)state;
	unlink(path("proc/modules"));
	assert_int_equal(kcoredir_make(at, true), 0);
	assert_int_equal(kcoredir_fill(at, &f->sys, &bytes, &what), 0);
	assert_text("rec/kcore_dir/modules", "");
}

/* A file whose text is never the same twice. */
static void modules_that_keep_moving_are_ebusy(void **state)
{
	(void)state;
	unlink(path("proc/modules"));
	assert_int_equal(symlink("/proc/sys/kernel/random/uuid", path("proc/modules")), 0);
	assert_int_equal(kcoredir_make(at, true), 0);
	assert_int_equal(kcoredir_fill(at, &f->sys, &bytes, &what), -EBUSY);
	assert_string_equal(what, "/proc/modules");
}

static void only_recordings_are_taken_for_such(void **state)
{
	(void)state;
	assert_false(kcoredir_is(at));
	assert_int_equal(kcoredir_make(at, true), 0);
	assert_false(kcoredir_is(at)); /* no data */
	fixture_file(f, "rec/data", "x");
	assert_true(kcoredir_is(at));
	assert_false(kcoredir_is(path("rec/data")));
	fixture_file(f, "rec/data.0", "x");
	fixture_file(f, "rec/data.17", "x");
	assert_true(kcoredir_is(at));
	fixture_file(f, "rec/letter", "x");
	assert_false(kcoredir_is(at));
	fixture_file(f, "rec/data.x", "x");
	assert_int_equal(kcoredir_remove(at), -ENOTEMPTY);
	assert_true(is_there("rec/letter"));
	assert_true(is_there("rec/data.x"));
	assert_false(is_there("rec/data.17"));
}

static void make_and_publish(const char *name, bool dir)
{
	struct output o = OUTPUT_INIT;
	const char *full = strdup(path(name));

	assert_int_equal(dir ? output_open_dir(&o, full, true) : output_open(&o, full), 0);
	assert_int_equal(write(o.fd, dir ? "dir" : "file", dir ? 3 : 4), dir ? 3 : 4);
	assert_int_equal(output_publish(&o), 0);
	assert_int_equal(output_close(&o), 0);
	output_done(&o);
	free((void *)(uintptr_t)full);
}

static void a_directory_gets_its_name_when_it_is_published(void **state)
{
	struct output o = OUTPUT_INIT;

	(void)state;
	assert_int_equal(output_open_dir(&o, at, true), 0);
	assert_false(is_there("rec"));
	assert_true(!access(o.temp, F_OK));
	assert_int_equal(output_publish(&o), 0);
	assert_true(is_there("rec/data"));
	assert_true(access(o.temp, F_OK));
	assert_int_equal(mode_of("rec/data"), 0600);
	output_done(&o);
	assert_true(is_there("rec/data"));
}

static void one_that_is_not_published_goes(void **state)
{
	struct output o = OUTPUT_INIT;
	char temp[128];

	(void)state;
	assert_int_equal(output_open_dir(&o, at, true), 0);
	assert_int_equal(kcoredir_fill(o.temp, &f->sys, &bytes, &what), 0);
	snprintf(temp, sizeof(temp), "%s", o.temp);
	output_done(&o);
	assert_true(access(temp, F_OK));
	output_done(&o);
}

static void what_was_there_is_kept_as_old(void **state)
{
	(void)state;
	for (int old = 0; old < 2; old++)
		for (int was = 0; was < 2; was++)
			for (int now = 0; now < 2; now++) {
				make_and_publish("rec", old);
				make_and_publish("rec", was);
				make_and_publish("rec", now);
				assert_text(now ? "rec/data" : "rec", now ? "dir" : "file");
				assert_text(was ? "rec.old/data" : "rec.old",
					    was ? "dir" : "file");
			}
}

static void other_directories_are_not_moved_or_removed(void **state)
{
	struct output o = OUTPUT_INIT;

	(void)state;
	fixture_file(f, "rec/letter", "x");
	assert_int_equal(output_open_dir(&o, at, true), -EISDIR);
	assert_int_equal(output_open(&o, at), -EISDIR);
	assert_int_equal(rename(at, path("rec.old")), 0);
	make_and_publish("rec", true); /* nothing to move */
	assert_int_equal(output_open_dir(&o, at, true), 0);
	assert_int_equal(output_publish(&o), -EISDIR);
	output_done(&o);
	assert_true(is_there("rec.old/letter"));
	assert_true(is_there("rec/data"));
}

static void what_is_neither_file_nor_directory_is_refused(void **state)
{
	struct output o = OUTPUT_INIT;

	(void)state;
	assert_int_equal(mkfifo(at, 0600), 0);
	assert_int_equal(output_open_dir(&o, at, true), -ENOTDIR);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(code_and_tables_are_copied),
		T(what_is_missing_is_named),
		T(a_kernel_without_modules_is_copied_too),
		T(modules_that_keep_moving_are_ebusy),
		T(only_recordings_are_taken_for_such),
		T(a_directory_gets_its_name_when_it_is_published),
		T(one_that_is_not_published_goes),
		T(what_was_there_is_kept_as_old),
		T(other_directories_are_not_moved_or_removed),
		T(what_is_neither_file_nor_directory_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
