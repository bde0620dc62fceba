/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfio/btfname.h"
#include "perfio/buildid.h"
#include "tests/unit/fixture.h"
#include "tests/unit/smallelf.h"

static const uint8_t id20[20] = "\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab"
				"\xcd\xef\x01\x23\x45\x67";

static void at(char *path, const struct fixture *f, const char *name)
{
	snprintf(path, PATH_MAX, "%s/%s", f->root, name);
}

static void write_bytes(const char *path, const void *p, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, n), n);
	close(fd);
}

static void programs_and_objects_have_one(void **state)
{
	static const size_t sizes[] = { 1, 8, 16, 20 };
	char path[PATH_MAX];
	uint8_t id[20];

	at(path, *state, "a");
	for (int object = 0; object < 2; object++) {
		for (size_t i = 0; i < 4; i++) {
			small_elf_file(path, id20, sizes[i], object);
			memset(id, 0, sizeof(id));
			assert_int_equal(pio_build_id_file(path, id), sizes[i]);
			assert_memory_equal(id, id20, sizes[i]);
		}
	}
}

/* perf's readers take 20 bytes of it too */
static void a_longer_id_is_cut(void **state)
{
	uint8_t id[20], longer[32];
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(longer); i++)
		longer[i] = (uint8_t)(i + 1);
	at(path, *state, "a");
	small_elf_file(path, longer, sizeof(longer), 0);
	assert_int_equal(pio_build_id_file(path, id), 20);
	assert_memory_equal(id, longer, 20);
}

static void files_without_one_leave_the_output_alone(void **state)
{
	uint8_t id[20] = { 42 };
	char path[PATH_MAX];

	at(path, *state, "a");
	assert_int_equal(pio_build_id_file(path, id), -ENOENT);
	small_elf_file(path, NULL, 0, 0);
	assert_int_equal(pio_build_id_file(path, id), -ENODATA);
	write_bytes(path, "", 0);
	assert_int_equal(pio_build_id_file(path, id), -ENODATA);
	write_bytes(path, "#!/bin/sh\n", 10);
	assert_int_equal(pio_build_id_file(path, id), -ENODATA);
	assert_int_equal(pio_build_id_file("/", id), -ENODATA);
	assert_int_equal(pio_build_id_file("/dev/zero", id), -ENODATA);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(pio_build_id_file(path, id), -ENODATA);
	assert_int_equal(id[0], 42);
}

/* Opening a device may rewind a tape, opening a FIFO wakes who waits at its other end. */
static void only_regular_files_are_opened(void **state)
{
	char path[PATH_MAX], event[4096];
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	uint8_t id[20];

	assert_true(fd >= 0);
	at(path, *state, "a");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(inotify_add_watch(fd, path, IN_OPEN) >= 0);
	assert_int_equal(pio_build_id_file(path, id), -ENODATA);
	assert_int_equal(read(fd, event, sizeof(event)), -1);
	assert_int_equal(errno, EAGAIN);
	close(fd);
}

static void every_truncation_and_wrong_byte_is_survived(void **state)
{
	uint8_t elf[512], id[20];
	char path[PATH_MAX];
	size_t n;

	at(path, *state, "a");
	for (int object = 0; object < 2; object++) {
		n = small_elf(elf, id20, sizeof(id20), object);
		for (size_t cut = 0; cut < n; cut++) {
			int rc;

			write_bytes(path, elf, cut);
			rc = pio_build_id_file(path, id);
			assert_true(rc == -ENODATA || rc == 20);
		}
		for (size_t i = 0; i < n; i++) {
			uint8_t was = elf[i];
			int rc;

			elf[i] = 0xff;
			write_bytes(path, elf, n);
			rc = pio_build_id_file(path, id);
			assert_true(rc == -ENODATA || (rc > 0 && rc <= 20));
			elf[i] = was;
		}
	}
}

static void kernel_and_modules_have_theirs_in_sysfs(void **state)
{
	struct fixture *f = *state;
	uint8_t notes[256], id[20] = { 0 };
	char path[PATH_MAX];
	size_t n = small_notes(notes, id20, sizeof(id20));

	assert_int_equal(pio_build_id_kernel(&f->sys, id), -ENODATA);
	fixture_dir(f, "sys/kernel");
	at(path, f, "sys/kernel/notes");
	write_bytes(path, notes, n);
	assert_int_equal(pio_build_id_kernel(&f->sys, id), 20);
	assert_memory_equal(id, id20, 20);
	for (size_t cut = 0; cut < n; cut++) {
		write_bytes(path, notes, cut);
		assert_int_equal(pio_build_id_kernel(&f->sys, id), -ENODATA);
	}
	assert_int_equal(pio_build_id_module(&f->sys, "kvm_intel", id), -ENODATA);
	fixture_dir(f, "sys/module/kvm_intel/notes");
	at(path, f, "sys/module/kvm_intel/notes/.note.gnu.build-id");
	write_bytes(path, notes, n);
	memset(id, 0, sizeof(id));
	assert_int_equal(pio_build_id_module(&f->sys, "kvm_intel", id), 20);
	assert_memory_equal(id, id20, 20);
	assert_int_equal(pio_build_id_module(&f->sys, "../module/kvm_intel", id),
			 -ENODATA);
}

/* A note may claim any size. */
static void notes_that_overrun_are_refused(void **state)
{
	static const uint32_t bad[][4] = {
		{ 4, 0xffffffff, 3, 0x00554e47 }, { 0xffffffff, 20, 3, 0x00554e47 },
		{ 0xfffffffd, 0xfffffffd, 3, 0 }, { 4, 0, 3, 0x00554e47 },
		{ 8, 4, 3, 0x00554e47 },
	};
	struct fixture *f = *state;
	char path[PATH_MAX];
	uint8_t id[20];

	fixture_dir(f, "sys/kernel");
	at(path, f, "sys/kernel/notes");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		write_bytes(path, bad[i], sizeof(*bad));
		assert_int_equal(pio_build_id_kernel(&f->sys, id), -ENODATA);
	}
}

/* An independent reader of our own file; "" when it is not installed. */
static void readelf_says(char *ret, size_t size, const char *path)
{
	char cmd[PATH_MAX + 64];
	FILE *p;

	snprintf(cmd, sizeof(cmd),
		 "readelf -n '%s' 2>/dev/null | sed -n 's/.*Build ID: //p'", path);
	ret[0] = '\0';
	p = popen(cmd, "r");
	if (!p)
		return;
	if (fgets(ret, (int)size, p))
		ret[strcspn(ret, "\n")] = '\0';
	pclose(p);
}

static void hex(char *ret, const uint8_t *id, int n)
{
	for (int i = 0; i < n; i++)
		sprintf(ret + 2 * i, "%02x", id[i]);
}

static void readelf_agrees_about_installed_files(void **state)
{
	static const char *const files[] = { "/bin/sh", "/usr/bin/env", "/bin/ls",
					     "/usr/bin/readelf" };
	char want[64], got[64] = "";
	uint8_t id[20];
	int n;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		readelf_says(want, sizeof(want), files[i]);
		if (!want[0])
			continue;
		n = pio_build_id_file(files[i], id);
		assert_true(n > 0);
		hex(got, id, n);
		assert_string_equal(got, want);
	}
}

static void the_vdso_has_one(void **state)
{
	uint8_t id[20] = { 0 };
	int n = pio_build_id_vdso(id);

	(void)state;
	/* x86 and arm64 kernels link theirs with --build-id; others may not */
	assert_true(n == -ENODATA || (n > 0 && n <= 20));
#ifdef __x86_64__
	assert_int_equal(n, 20);
#endif
}

/* Documentation/bpf/btf.rst: header, types, strings. */
static const uint32_t btf[] = {
	0x0001eb9f, 24, 0, 104, 104, 28,
	/* 1: INT "int" */
	1, 0x01000000, 4, 0x01000020,
	/* 2: FUNC_PROTO, one parameter of type 1 */
	0, 0x0d000001, 0, 5, 1,
	/* 3: STRUCT, one member */
	0, 0x04000001, 4, 5, 1, 0,
	/* 4: PTR to 3 */
	0, 0x02000000, 3,
	/* 5: ENUM, one value */
	0, 0x06000001, 4, 5, 1,
	/* 6: FUNC "main_prog" of type 2 */
	7, 0x0c000001, 2,
	/* "\0int\0x\0main_prog\0" */
	0x746e6900, 0x6d007800, 0x5f6e6961, 0x676f7270, 0, 0, 0,
};

static void functions_are_named_by_their_type(void **state)
{
	uint32_t copy[sizeof(btf) / 4];

	(void)state;
	assert_string_equal(pio_btf_name(btf, sizeof(btf), 6), "main_prog");
	assert_string_equal(pio_btf_name(btf, sizeof(btf), 1), "int");
	assert_null(pio_btf_name(btf, sizeof(btf), 0));
	assert_null(pio_btf_name(btf, sizeof(btf), 2));
	assert_null(pio_btf_name(btf, sizeof(btf), 7));
	for (size_t cut = 0; cut < sizeof(btf); cut++)
		assert_null(pio_btf_name(btf, cut, 6));
	for (size_t i = 0; i < sizeof(btf); i++) {
		memcpy(copy, btf, sizeof(btf));
		((uint8_t *)copy)[i] = 0xff;
		(void)pio_btf_name(copy, sizeof(copy), 6);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_new, fixture_done)
		T(programs_and_objects_have_one),
		T(a_longer_id_is_cut),
		T(files_without_one_leave_the_output_alone),
		T(only_regular_files_are_opened),
		T(every_truncation_and_wrong_byte_is_survived),
		T(kernel_and_modules_have_theirs_in_sysfs),
		T(notes_that_overrun_are_refused),
		T(readelf_agrees_about_installed_files),
		T(the_vdso_has_one),
		T(functions_are_named_by_their_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
