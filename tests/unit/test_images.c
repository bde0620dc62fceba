/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/decode/images.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/abi.h"
#include "format/auxtrace.h"
#include "format/le.h"
#include "format/record.h"
#include "perfio/buildid.h"
#include "tests/unit/fixture.h"
#include "tests/unit/smallelf.h"
#include "tests/unit/smallkcore.h"

static const uint8_t id20[20] = "\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab"
				"\xcd\xef\x01\x23\x45\x67";
static const uint8_t other20[20] = "\xff\x23\x45";
#define ID_HEX "23456789abcdef0123456789abcdef01234567" /* but the first byte */

struct world {
	struct fixture *f;
	struct images *v;
	struct fmt_buf b;
	char home[80], dir[80], recording[80];
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w || fixture_new((void **)&w->f))
		return -1;
	snprintf(w->home, sizeof(w->home), "%s/home", w->f->root);
	snprintf(w->dir, sizeof(w->dir), "%s/dir", w->f->root);
	snprintf(w->recording, sizeof(w->recording), "%s/rec", w->f->root);
	setenv("HOME", w->home, 1);
	*state = w;
	return images_new(&w->v, w->recording, w->dir);
}

static int teardown(void **state)
{
	struct world *w = *state;

	images_free(w->v);
	fmt_buf_done(&w->b);
	fixture_done((void **)&w->f);
	free(w);
	return 0;
}

/* Good until the next call. */
static const char *at(const struct world *w, const char *name)
{
	static char *path;

	free(path);
	if (asprintf(&path, "%s/%s", w->f->root, name) < 0)
		abort();
	return path;
}

/* A file below the root, with the folders on the way, that has this build id. */
static void elf(struct world *w, const char *name, const uint8_t *id)
{
	fixture_file(w->f, name, "");
	small_elf_file(at(w, name), id, 20, 0);
}

static struct image *take(struct world *w)
{
	struct fmt_rec rec = { .p = w->b.data, .type = le_get32(w->b.data),
			       .misc = le_get16(w->b.data + 4),
			       .size = le_get16(w->b.data + 6) };
	struct image *i;

	assert_int_equal(w->b.err, 0);
	assert_int_equal(images_take(w->v, &rec, &i), 0);
	return i;
}

static struct image *map_at(struct world *w, uint16_t misc, const char *name,
			    const uint8_t *id, uint64_t addr)
{
	struct fmt_mmap2 m = { .pid = 7, .tid = 7, .addr = addr, .len = 0x1000, .prot = 5,
			       .misc = misc, .name = name };
	struct fmt_trailer t = { 0 };

	if (id) {
		memcpy(m.build_id, id, 20);
		m.build_id_size = 20;
	}
	fmt_buf_reset(&w->b);
	fmt_put_mmap2(&w->b, &m, &t);
	return take(w);
}

static struct image *map(struct world *w, const char *name, const uint8_t *id)
{
	return map_at(w, FMT_MISC_USER, name, id, 0x7f0000000000);
}

static void the_file_of_that_name_is_found_by_its_id(void **state)
{
	struct world *w = *state;
	struct image *i;

	elf(w, "prog", id20);
	i = map(w, at(w, "prog"), id20);
	assert_ptr_equal(map(w, at(w, "prog"), id20), i);
	assert_int_equal(images_count(w->v), 1);
	assert_int_equal(i->mappings, 2);
	assert_int_equal(i->bytes, 0x2000);
	assert_int_equal(images_find(w->v), 0);
	assert_int_equal(i->state, IMAGE_FOUND);
	assert_true(i->checked);
	assert_string_equal(i->path, at(w, "prog"));
}

static void a_file_without_a_recorded_id_is_found_unchecked(void **state)
{
	struct world *w = *state;
	struct image *i;

	elf(w, "prog", id20);
	i = map(w, at(w, "prog"), NULL);
	assert_int_equal(images_find(w->v), 0);
	assert_int_equal(i->state, IMAGE_FOUND);
	assert_false(i->checked);
}

static void another_id_is_told_and_not_used(void **state)
{
	struct world *w = *state;
	struct image *i;

	elf(w, "prog", other20);
	i = map(w, at(w, "prog"), id20);
	assert_int_equal(images_find(w->v), 0);
	assert_int_equal(i->state, IMAGE_OTHER_ID);
	assert_null(i->path);
	assert_string_equal(i->other_path, at(w, "prog"));
	assert_int_equal(i->other_id_size, 20);
	assert_memory_equal(i->other_id, other20, 20);
}

static void a_file_without_an_id_is_not_the_one_that_had_one(void **state)
{
	struct world *w = *state;
	struct image *i;

	fixture_file(w->f, "prog", "#!/bin/sh\n");
	i = map(w, at(w, "prog"), id20);
	assert_int_equal(images_find(w->v), 0);
	assert_int_equal(i->state, IMAGE_OTHER_ID);
	assert_int_equal(i->other_id_size, 0);
}

static void missing_files_and_folders_are_no_file(void **state)
{
	struct world *w = *state;
	struct image *gone, *folder;

	fixture_dir(w->f, "folder");
	gone = map(w, at(w, "gone"), id20);
	folder = map(w, at(w, "folder"), NULL);
	assert_int_equal(images_find(w->v), 0);
	assert_int_equal(gone->state, IMAGE_NO_FILE);
	assert_int_equal(folder->state, IMAGE_NO_FILE);
}

static void perfs_cache_has_what_is_gone(void **state)
{
	struct world *w = *state;
	struct image *i;

	elf(w, "prog", other20);
	elf(w, "home/.debug/.build-id/01/" ID_HEX "/elf", id20);
	i = map(w, at(w, "prog"), id20);
	assert_int_equal(images_find(w->v), 0);
	assert_int_equal(i->state, IMAGE_FOUND);
	assert_string_equal(i->path, at(w, "home/.debug/.build-id/01/" ID_HEX "/elf"));
}

static void the_given_folder_comes_first(void **state)
{
	struct world *w = *state;
	struct image *by_name, *by_id;
	char name[PATH_MAX + 128];

	elf(w, "prog", id20);
	snprintf(name, sizeof(name), "dir/%s/prog", w->f->root);
	elf(w, name, id20);
	by_name = map(w, at(w, "prog"), id20);
	elf(w, "dir/.build-id/ff/23450000000000000000000000000000000000", other20);
	by_id = map(w, "/not/here", other20);
	assert_int_equal(images_find(w->v), 0);
	assert_int_equal(by_name->state, IMAGE_FOUND);
	assert_memory_equal(by_name->path, w->dir, strlen(w->dir));
	assert_int_equal(by_id->state, IMAGE_FOUND);
}

static void a_deleted_file_is_known_by_its_id_only(void **state)
{
	struct world *w = *state;
	struct image *with, *without;
	char name[PATH_MAX + 128];

	elf(w, "prog", id20);
	snprintf(name, sizeof(name), "%s/prog (deleted)", w->f->root);
	with = map(w, name, id20);
	without = map(w, name, NULL);
	assert_int_equal(images_find(w->v), 0);
	assert_int_equal(with->state, IMAGE_FOUND);
	assert_int_equal(without->state, IMAGE_NO_FILE);
}

static void a_build_id_record_tells_the_id_by_name(void **state)
{
	struct world *w = *state;
	struct image *i, *twice;
	struct fmt_rec rec;
	struct image *none;

	elf(w, "prog", other20);
	i = map(w, at(w, "prog"), NULL);
	twice = map(w, "/twice", NULL);
	for (int k = 0; k < 3; k++) {
		fmt_buf_reset(&w->b);
		fmt_put_build_id(&w->b, FMT_MISC_USER, -1, k ? other20 : id20, 20,
				 k == 2 ? "/twice" : k ? "/twice" : at(w, "prog"));
		if (k == 2)
			w->b.data[12] ^= 1;
		rec = (struct fmt_rec){ .p = w->b.data, .type = FMT_REC_HEADER_BUILD_ID,
					.size = (uint16_t)w->b.len };
		assert_int_equal(images_take(w->v, &rec, &none), 0);
		assert_null(none);
	}
	assert_int_equal(images_find(w->v), 0);
	assert_int_equal(i->id_size, 20);
	assert_memory_equal(i->id, id20, 20);
	assert_int_equal(i->state, IMAGE_OTHER_ID);
	assert_int_equal(twice->id_size, 0); /* two ids: neither is known to be right */
}

static void memory_without_a_file_says_so(void **state)
{
	struct world *w = *state;
	struct image *anon = map(w, "//anon", NULL), *heap = map(w, "[heap]", NULL);

	assert_int_equal(images_find(w->v), 0);
	assert_int_equal(anon->state, IMAGE_NO_CODE);
	assert_int_equal(heap->state, IMAGE_NO_CODE);
}

static void our_vdso_serves_recordings_that_had_the_same(void **state)
{
	struct world *w = *state;
	uint8_t id[20];
	struct image *same, *other, *low;

	if (pio_build_id_vdso(id) != 20)
		skip();
	same = map(w, "[vdso]", id);
	other = map(w, "[vdso]", other20);
	low = map_at(w, FMT_MISC_USER, "[vdso]", NULL, 0xf7f00000);
	assert_int_equal(images_find(w->v), 0);
	assert_int_equal(same->state, IMAGE_FOUND);
	assert_int_equal(access(same->path, R_OK), 0);
	memset(id, 0, sizeof(id));
	assert_int_equal(pio_build_id_file(same->path, id), 20);
	assert_memory_equal(id, same->id, 20);
	assert_int_equal(other->state, IMAGE_OTHER_ID);
	assert_int_equal(low->state, IMAGE_NO_CODE);
}

static void the_kernel_is_in_the_recordings_kcore(void **state)
{
	struct world *w = *state;
	const struct image_kcore *k;
	const char *path;
	struct image *i, *module;
	char from[PATH_MAX];

	kc_make(w->f);
	fixture_dir(w->f, "rec/kcore_dir");
	snprintf(from, sizeof(from), "%s/kcore", w->f->proc);
	assert_int_equal(symlink(from, at(w, "rec/kcore_dir/kcore")), 0);
	i = map_at(w, FMT_MISC_KERNEL, "[kernel.kallsyms]_text", NULL, KC_TEXT);
	module = map_at(w, FMT_MISC_KERNEL, "[one]", NULL, KC_MOD);
	assert_int_equal(images_find(w->v), 0);
	assert_string_equal(i->name, "[kernel.kallsyms]");
	assert_int_equal(i->state, IMAGE_FOUND);
	assert_int_equal(module->state, IMAGE_FOUND);
	assert_int_equal(images_kcore(w->v, &k, &path), 2);
	assert_int_equal(k[0].addr, KC_TEXT);
	assert_int_equal(k[0].size, KC_TEXT_LEN);
	assert_int_equal(k[1].offset, k[0].offset + KC_TEXT_LEN);
	assert_string_equal(path, i->path);
}

static void without_kcore_the_kernel_is_missing(void **state)
{
	struct world *w = *state;
	struct image *i = map_at(w, FMT_MISC_KERNEL, "[kernel.kallsyms]_text", id20, KC_TEXT);

	fixture_file(w->f, "rec/kcore_dir/kcore", "\177ELF, but that is all");
	assert_int_equal(images_find(w->v), 0);
	assert_int_equal(i->state, IMAGE_NO_KCORE);
}

static void the_guests_mappings_are_not_ours(void **state)
{
	struct world *w = *state;

	assert_null(map_at(w, FMT_MISC_GUEST_KERNEL, "[guest.kernel.kallsyms]_text", NULL,
			   KC_TEXT));
	assert_null(map_at(w, FMT_MISC_GUEST_USER, "/bin/true", NULL, 0x400000));
	assert_int_equal(images_count(w->v), 0);
}

static void a_cut_record_is_passed_over(void **state)
{
	struct world *w = *state;
	struct image *i;

	map(w, "/bin/true", NULL);
	for (uint16_t n = 8; n < FMT_MMAP2_AT_NAME + 9; n++) {
		uint8_t *copy = malloc(n); /* a sanitizer sees what is read behind it */
		struct fmt_rec rec = { .p = copy, .type = FMT_REC_MMAP2,
				       .misc = FMT_MISC_USER, .size = n };

		assert_non_null(copy);
		memcpy(copy, w->b.data, n);
		assert_int_equal(images_take(w->v, &rec, &i), 0);
		assert_null(i);
		free(copy);
	}
}

static void many_images_share_one_beyond_the_bound(void **state)
{
	struct world *w = *state;
	struct image *last = NULL;
	char name[32];

	for (int k = 0; k < 65540; k++) {
		snprintf(name, sizeof(name), "/x/%d", k);
		last = map(w, name, NULL);
		assert_non_null(last);
	}
	assert_int_equal(images_count(w->v), 65536);
	assert_ptr_equal(map(w, "/y", NULL), last);
	assert_int_equal(last->mappings, 5);
	assert_ptr_equal(map(w, "/x/77", NULL), images_at(w->v, 77));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_file_of_that_name_is_found_by_its_id),
		TEST(a_file_without_a_recorded_id_is_found_unchecked),
		TEST(another_id_is_told_and_not_used),
		TEST(a_file_without_an_id_is_not_the_one_that_had_one),
		TEST(missing_files_and_folders_are_no_file),
		TEST(perfs_cache_has_what_is_gone),
		TEST(the_given_folder_comes_first),
		TEST(a_deleted_file_is_known_by_its_id_only),
		TEST(a_build_id_record_tells_the_id_by_name),
		TEST(memory_without_a_file_says_so),
		TEST(our_vdso_serves_recordings_that_had_the_same),
		TEST(the_kernel_is_in_the_recordings_kcore),
		TEST(without_kcore_the_kernel_is_missing),
		TEST(the_guests_mappings_are_not_ours),
		TEST(a_cut_record_is_passed_over),
		TEST(many_images_share_one_beyond_the_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
