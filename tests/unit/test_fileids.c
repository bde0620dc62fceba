/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "recorder/fileids.h"
#include "tests/unit/fixture.h"
#include "tests/unit/smallelf.h"

enum { PID = 7 };

static const uint8_t id_a[20] = { 0xaa, 1 }, id_b[20] = { 0xbb, 2 };
static struct fileids *ids;
static char path[PATH_MAX]; /* the file of most tests */

static int setup(void **state)
{
	struct fixture *f;

	if (fixture_new(state) || fileids_new(&ids))
		return -1;
	f = *state;
	snprintf(path, sizeof(path), "%s/prog", f->root);
	return 0;
}

static int teardown(void **state)
{
	fileids_free(ids);
	return fixture_done(state);
}

/* As a record of a mapping of `file` has it, called `name`. */
static struct fileids_key key_of(const char *file, const char *name)
{
	struct stat st;

	assert_int_equal(stat(file, &st), 0);
	return (struct fileids_key){
		.start = 0x1000,
		.len = 0x1000,
		.ino = st.st_ino,
		.maj = major(st.st_dev),
		.min = minor(st.st_dev),
		.name = name,
	};
}

/* First byte of the id; 0: none. */
static int get(const struct fixture *f, const struct fileids_key *k)
{
	uint8_t id[PIO_BUILD_ID_MAX] = { 0 };
	size_t n = fileids_get(ids, &f->sys, PID, k, id);

	assert_true(n == 20 || (n == 0 && id[0] == 0));
	return id[0];
}

static void put(struct fixture *f, const char *name, const uint8_t *id, char *ret)
{
	char dir[PATH_MAX + 16];

	snprintf(dir, sizeof(dir), "%s", name);
	*strrchr(dir, '/') = '\0';
	fixture_dir(f, dir);
	snprintf(ret, PATH_MAX, "%s/%s", f->root, name);
	small_elf_file(ret, id, 20, 0);
}

/* So that the cache has a look again. */
static void wait_a_little(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL);
}

static int watch(void)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	assert_true(fd >= 0);
	assert_true(inotify_add_watch(fd, path, IN_OPEN | IN_CLOSE) >= 0);
	return fd;
}

static unsigned opened(int fd)
{
	struct inotify_event e[64]; /* without names, as a file is watched */
	unsigned n = 0;
	ssize_t got = read(fd, e, sizeof(e));

	for (ssize_t i = 0; i < got / (ssize_t)sizeof(*e); i++)
		n += !!(e[i].mask & IN_OPEN);
	return n;
}

static void a_file_is_opened_once(void **state)
{
	struct fixture *f = *state;
	struct fileids_key k;
	int fd;

	small_elf_file(path, id_a, 20, 0);
	k = key_of(path, path);
	fd = watch();
	for (int i = 0; i < 3; i++) {
		assert_int_equal(get(f, &k), 0xaa);
		wait_a_little();
		k.start += 0x1000;
	}
	assert_int_equal(opened(fd), 1);
	close(fd);
}

static void a_file_without_an_id_is_opened_once(void **state)
{
	struct fixture *f = *state;
	struct fileids_key k;
	int fd;

	small_elf_file(path, NULL, 0, 0);
	k = key_of(path, path);
	fd = watch();
	for (int i = 0; i < 3; i++) {
		assert_int_equal(get(f, &k), 0);
		wait_a_little();
	}
	assert_int_equal(opened(fd), 1);
	close(fd);
}

static void a_file_that_changed_is_read_again(void **state)
{
	struct fixture *f = *state;
	struct fileids_key k;

	small_elf_file(path, id_a, 20, 0);
	k = key_of(path, path);
	assert_int_equal(get(f, &k), 0xaa);
	wait_a_little();
	small_elf_file(path, id_b, 20, 0); /* in place */
	assert_int_equal(key_of(path, path).ino, k.ino);
	assert_int_equal(get(f, &k), 0xbb);
}

static void a_file_that_is_gone_keeps_its_id(void **state)
{
	struct fixture *f = *state;
	struct fileids_key k;

	small_elf_file(path, id_a, 20, 0);
	k = key_of(path, path);
	assert_int_equal(get(f, &k), 0xaa);
	assert_int_equal(unlink(path), 0);
	wait_a_little();
	assert_int_equal(get(f, &k), 0xaa);
}

static void a_file_that_was_not_there_is_searched_again(void **state)
{
	struct fixture *f = *state;
	struct fileids_key k;
	char away[PATH_MAX];

	small_elf_file(path, id_a, 20, 0);
	k = key_of(path, path);
	put(f, "other/x", id_b, away);
	assert_int_equal(rename(path, away), 0);
	assert_int_equal(get(f, &k), 0);
	wait_a_little();
	assert_int_equal(rename(away, path), 0);
	assert_int_equal(get(f, &k), 0xaa);
}

static void another_inode_or_device_is_another_file(void **state)
{
	struct fixture *f = *state;
	struct fileids_key k, other;

	small_elf_file(path, id_a, 20, 0);
	k = key_of(path, path);
	other = k;
	other.ino++;
	assert_int_equal(get(f, &other), 0);
	other = k;
	other.maj ^= 1;
	assert_int_equal(get(f, &other), 0);
	other = k;
	other.min ^= 1;
	assert_int_equal(get(f, &other), 0);
	assert_int_equal(get(f, &k), 0xaa);
}

/* 0: this file system has none. */
static uint32_t generation(void)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), v = 0;

	assert_true(fd >= 0);
	if (ioctl(fd, FS_IOC_GETVERSION, &v))
		v = 0;
	close(fd);
	return (uint32_t)v;
}

static void an_inode_that_was_used_again_is_another_file(void **state)
{
	struct fixture *f = *state;
	struct fileids_key k;
	uint32_t g;

	small_elf_file(path, id_a, 20, 0);
	g = generation();
	if (!g)
		skip();
	k = key_of(path, path);
	/* learnt from maps, which does not tell it */
	assert_int_equal(get(f, &k), 0xaa);
	k.ino_generation = g;
	assert_int_equal(get(f, &k), 0xaa);
	k.ino_generation = g ^ 1;
	assert_int_equal(get(f, &k), 0);
	k.ino_generation = g;
	assert_int_equal(get(f, &k), 0xaa);
}

static void the_mapping_comes_before_paths_and_ours_last(void **state)
{
	struct fixture *f = *state;
	char mapped[PATH_MAX], below[PATH_MAX], name[PATH_MAX + 16];
	struct fileids_key k;

	/* Three files, of which the key picks one, whatever stands at the other places. */
	small_elf_file(path, id_b, 20, 0);
	snprintf(name, sizeof(name), "proc/7/root%s", path);
	put(f, name, id_b, below);
	put(f, "proc/7/map_files/1000-2000", id_a, mapped);
	k = key_of(mapped, path);
	assert_int_equal(get(f, &k), 0xaa);
	k = key_of(below, path);
	assert_int_equal(get(f, &k), 0xbb);
	k = key_of(path, path);
	assert_int_equal(get(f, &k), 0xbb);
	/* one that was deleted has but its mapping */
	k = key_of(mapped, "/gone (deleted)");
	assert_int_equal(get(f, &k), 0xaa);
}

static void what_is_no_regular_file_is_not_opened(void **state)
{
	struct fixture *f = *state;
	struct fileids_key k;
	int fd;

	assert_int_equal(mkfifo(path, 0600), 0);
	k = key_of(path, path);
	fd = watch();
	assert_int_equal(get(f, &k), 0);
	assert_int_equal(opened(fd), 0);
	close(fd);
}

static void memory_has_no_id(void **state)
{
	static const char *const names[] = { "", "//anon", "[heap]", "anon_inode:[x]" };
	struct fileids_key k;

	small_elf_file(path, id_a, 20, 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		k = key_of(path, names[i]);
		assert_int_equal(get(*state, &k), 0);
	}
	k = key_of(path, path);
	k.ino = 0;
	assert_int_equal(get(*state, &k), 0);
}

static void the_vdso_is_ours_above_4_gib(void **state)
{
	struct fixture *f = *state;
	struct fileids_key k = { .start = 0x7ffd00000000, .len = 0x2000, .name = "[vdso]" };
	uint8_t want[20], id[20];
	int size = pio_build_id_vdso(want);

	if (size <= 0)
		skip();
	assert_int_equal(fileids_get(ids, &f->sys, PID, &k, id), size);
	assert_memory_equal(id, want, (size_t)size);
	k.start = 0xf7f00000;
	assert_int_equal(fileids_get(ids, &f->sys, PID, &k, id), 0);
}

/* More files than it has room for: the first is forgotten, and read again. */
static void endless_files_do_not_need_endless_memory(void **state)
{
	struct fixture *f = *state;
	struct fileids_key k, many;
	char name[3000];
	int fd;

	small_elf_file(path, id_a, 20, 0);
	k = key_of(path, path);
	fd = watch();
	assert_int_equal(get(f, &k), 0xaa);
	many = k;
	many.name = name;
	for (int i = 0; i < 4000; i++) {
		snprintf(name, sizeof(name), "/%0*d", (int)sizeof(name) - 2, i);
		assert_int_equal(get(f, &many), 0);
	}
	assert_int_equal(get(f, &k), 0xaa);
	assert_int_equal(opened(fd), 2);
	close(fd);
}

static void thousands_are_kept_apart(void **state)
{
	struct fixture *f = *state;
	struct fileids_key k;
	char name[64];

	small_elf_file(path, id_a, 20, 0);
	k = key_of(path, path);
	assert_int_equal(get(f, &k), 0xaa);
	for (int i = 0; i < 40000; i++) {
		struct fileids_key other = k;

		snprintf(name, sizeof(name), "/lib/%d.so", i);
		other.name = name;
		assert_int_equal(get(f, &other), 0);
		if (i % 1000 == 0)
			assert_int_equal(get(f, &k), 0xaa);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(a_file_is_opened_once),
		T(a_file_without_an_id_is_opened_once),
		T(a_file_that_changed_is_read_again),
		T(a_file_that_is_gone_keeps_its_id),
		T(a_file_that_was_not_there_is_searched_again),
		T(another_inode_or_device_is_another_file),
		T(an_inode_that_was_used_again_is_another_file),
		T(the_mapping_comes_before_paths_and_ours_last),
		T(what_is_no_regular_file_is_not_opened),
		T(memory_has_no_id),
		T(the_vdso_is_ours_above_4_gib),
		T(endless_files_do_not_need_endless_memory),
		T(thousands_are_kept_apart),
	};

	fileids_free(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
