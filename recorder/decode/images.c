/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/decode/images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/abi.h"
#include "format/le.h"
#include "recorder/decode/images_priv.h"
#include "recorder/dsos.h"
#include "recorder/hash.h"
#include "recorder/log.h"

enum {
	ROWS_MAX = 65536, /* a bound for what a file can make us allocate */
	PROT_EXEC_BIT = 4, /* PROT_EXEC, <asm-generic/mman-common.h> */
};

int images_dir(void *target, const char *arg)
{
	struct stat st;
	int err = stat(arg, &st) ? -errno : S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;

	if (err)
		return log_err(err, "cannot look for images in '%s'", arg), -EINVAL;
	*(const char **)target = arg;
	return 0;
}

int images_new(struct images **ret, const char *recording, const char *dir)
{
	struct images *v = calloc(1, sizeof(*v));
	struct image_row *rest = calloc(1, sizeof(*rest) + 32);

	if (!v || !rest) {
		free(v);
		free(rest);
		return -ENOMEM;
	}
	strcpy(rest->name, "(more than 65536 images)");
	rest->image.name = rest->name;
	*v = (struct images){
		.recording = recording, .dir = dir, .rest = rest, .vdso = -1,
	};
	*ret = v;
	return 0;
}

void images_beside(struct images *v, const char *recording)
{
	v->file = recording;
}

static void free_row(struct image_row *r)
{
	free(r->path);
	free(r->other_path);
	free(r);
}

void images_free(struct images *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->nr; i++)
		free_row(v->rows[i]);
	for (size_t i = 0; i < v->nr_told; i++)
		free(v->told[i].name);
	if (v->vdso >= 0)
		close(v->vdso);
	free_row(v->rest);
	free(v->rows);
	free(v->slot);
	free(v->told);
	free(v->kcore);
	free(v->kcore_path);
	free(v);
}

static uint64_t hash_of(const struct image *key)
{
	uint64_t h = hash_bytes(HASH_INIT, key->name, strlen(key->name) + 1);

	h = hash_bytes(h, &key->kernel, 1);
	return hash_bytes(h, key->id, key->id_size);
}

static bool same(const struct image *a, const struct image *b)
{
	return a->kernel == b->kernel && a->id_size == b->id_size &&
	       !memcmp(a->id, b->id, a->id_size) && !strcmp(a->name, b->name);
}

/* The slot of key: its own, or the empty one where it belongs. */
static size_t *find(const struct images *v, const struct image *key, uint64_t hash)
{
	size_t i = hash & (v->nr_slots - 1);

	while (v->slot[i]) {
		const struct image_row *r = v->rows[v->slot[i] - 1];

		if (r->hash == hash && same(&r->image, key))
			break;
		i = (i + 1) & (v->nr_slots - 1);
	}
	return &v->slot[i];
}

/* Room for one row more, and slots at least half empty. */
static int make_room(struct images *v)
{
	size_t n = v->room ? 2 * v->room : 64;
	struct image_row **rows;
	size_t *slot;

	if (v->nr < v->room)
		return 0;
	rows = realloc(v->rows, n * sizeof(struct image_row *));
	if (!rows)
		return -ENOMEM;
	v->rows = rows;
	slot = calloc(2 * n, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	free(v->slot);
	v->slot = slot;
	v->nr_slots = 2 * n;
	v->room = n;
	for (size_t i = 0; i < v->nr; i++)
		*find(v, &rows[i]->image, rows[i]->hash) = i + 1;
	return 0;
}

static int enter(struct images *v, const struct image *key, struct image **ret)
{
	uint64_t hash = hash_of(key);
	size_t len = strlen(key->name), *at;
	struct image_row *r;

	if (make_room(v))
		return -ENOMEM;
	at = find(v, key, hash);
	if (*at) {
		*ret = &v->rows[*at - 1]->image;
		return 0;
	}
	if (v->nr == ROWS_MAX) {
		*ret = &v->rest->image;
		return 0;
	}
	r = calloc(1, sizeof(*r) + len + 1);
	if (!r)
		return -ENOMEM;
	r->image = *key;
	r->hash = hash;
	r->image.name = memcpy(r->name, key->name, len);
	v->rows[v->nr] = r;
	*at = ++v->nr;
	*ret = &r->image;
	return 0;
}

/* The guest's addresses and files are not ours to look up. */
static bool of_host(uint32_t misc)
{
	misc &= FMT_MISC_CPUMODE_MASK;
	return misc == FMT_MISC_KERNEL || misc == FMT_MISC_USER;
}

/* perf's name for the vdso of a 32-bit process, which lies below 4 GiB: not this machine's
 * 64-bit one. */
static bool is_vdso32(const struct fmt_rec *rec, const char *name)
{
	return !strcmp(name, "[vdso]") && le_get(rec->p + FMT_MMAP_AT_ADDR, 8) >> 32 == 0;
}

static int take_mapping(struct images *v, const struct fmt_rec *rec, struct image **ret)
{
	bool two = rec->type == FMT_REC_MMAP2;
	size_t at = two ? FMT_MMAP2_AT_NAME : FMT_MMAP_AT_NAME, id_size = 0;
	struct image key = { 0 };
	bool code = !(rec->misc & FMT_MISC_MMAP_DATA);
	int err;

	if (rec->size <= at || !memchr(rec->p + at, 0, rec->size - at) ||
	    !of_host(rec->misc))
		return 0;
	key.name = (const char *)rec->p + at;
	key.kernel = (rec->misc & FMT_MISC_CPUMODE_MASK) == FMT_MISC_KERNEL;
	if (key.kernel && !strncmp(key.name, IMAGE_KERNEL, sizeof(IMAGE_KERNEL) - 1))
		key.name = IMAGE_KERNEL;
	if (is_vdso32(rec, key.name))
		key.name = "[vdso32]";
	if (two && rec->misc & FMT_MISC_MMAP_BUILD_ID)
		id_size = rec->p[FMT_MMAP2_AT_ID_SIZE];
	if (id_size > IMAGE_ID_MAX)
		id_size = 0;
	key.id_size = (uint8_t)id_size;
	memcpy(key.id, rec->p + FMT_MMAP2_AT_ID, id_size);
	if (two)
		code = le_get(rec->p + FMT_MMAP2_AT_PROT, 4) & PROT_EXEC_BIT;
	err = enter(v, &key, ret);
	if (!err && code) {
		(*ret)->mappings++;
		(*ret)->bytes += le_get(rec->p + FMT_MMAP_AT_LEN, 8);
	}
	return err;
}

static int tell(struct images *v, const char *name, const uint8_t *id, size_t size)
{
	struct image_told *all;
	size_t n;

	if (v->nr_told == v->room_told) {
		if (v->nr_told == ROWS_MAX)
			return 0;
		n = v->room_told ? 2 * v->room_told : 64;
		all = realloc(v->told, n * sizeof(*all));
		if (!all)
			return -ENOMEM;
		v->told = all;
		v->room_told = n;
	}
	all = &v->told[v->nr_told];
	*all = (struct image_told){ .name = strdup(name), .size = (uint8_t)size };
	if (!all->name)
		return -ENOMEM;
	memcpy(all->id, id, size);
	v->nr_told++;
	return 0;
}

/* A HEADER_BUILD_ID record, or an entry of the feature: both look the same. */
static int take_build_id(struct images *v, const uint8_t *p, size_t size)
{
	uint32_t misc = le_get16(p + FMT_REC_AT_MISC);
	size_t id_size = IMAGE_ID_MAX;

	if (size <= FMT_BUILD_ID_AT_NAME || !of_host(misc) ||
	    !memchr(p + FMT_BUILD_ID_AT_NAME, 0, size - FMT_BUILD_ID_AT_NAME))
		return 0;
	if (misc & FMT_MISC_BUILD_ID_SIZE)
		id_size = p[FMT_BUILD_ID_AT_SIZE];
	if (!id_size || id_size > IMAGE_ID_MAX)
		return 0;
	return tell(v, (const char *)p + FMT_BUILD_ID_AT_NAME, p + FMT_BUILD_ID_AT_ID,
		    id_size);
}

int images_take(struct images *v, const struct fmt_rec *rec, struct image **ret)
{
	*ret = NULL;
	if (rec->type == FMT_REC_MMAP || rec->type == FMT_REC_MMAP2)
		return take_mapping(v, rec, ret);
	if (rec->type == FMT_REC_HEADER_BUILD_ID)
		return take_build_id(v, rec->p, rec->size);
	return 0;
}

int images_take_feature(struct images *v, const struct fmt_reader *r)
{
	const uint8_t *p;
	uint64_t left, size;
	int err = 0;

	if (fmt_reader_feature(r, FMT_FEAT_BUILD_ID, &p, &left))
		return 0;
	for (; !err && left > FMT_BUILD_ID_AT_NAME; p += size, left -= size) {
		size = le_get16(p + FMT_REC_AT_SIZE);
		if (size <= FMT_BUILD_ID_AT_NAME || size > left)
			break;
		err = take_build_id(v, p, size);
	}
	return err;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct image_told *)a)->name,
		      ((const struct image_told *)b)->name);
}

/* What the recording tells by name only. Of several ids for one name none can be told to
 * be the right one. */
static void complete(const struct images *v, struct image *i)
{
	struct image_told key = { .name = (char *)(uintptr_t)i->name };
	const struct image_told *t, *end;

	if (i->id_size || !v->nr_told)
		return;
	end = v->told + v->nr_told;
	t = bsearch(&key, v->told, v->nr_told, sizeof(key), by_name);
	if (!t)
		return;
	while (t > v->told && !strcmp(t[-1].name, i->name))
		t--;
	for (const struct image_told *n = t + 1; n < end && !strcmp(n->name, i->name); n++)
		if (n->size != t->size || memcmp(n->id, t->id, t->size))
			return;
	i->id_size = t->size;
	memcpy(i->id, t->id, t->size);
}

int images_find(struct images *v)
{
	int err = image_kcore_open(v);

	if (v->nr_told)
		qsort(v->told, v->nr_told, sizeof(*v->told), by_name);
	for (size_t i = 0; !err && i < v->nr; i++) {
		complete(v, &v->rows[i]->image);
		err = image_find(v, v->rows[i]);
	}
	v->rest->image.state = IMAGE_NO_FILE;
	return err;
}

size_t images_count(const struct images *v)
{
	return v->nr;
}

const struct image *images_at(const struct images *v, size_t i)
{
	return &v->rows[i]->image;
}

size_t images_kcore(const struct images *v, const struct image_kcore **ret,
		    const char **ret_path)
{
	*ret = v->kcore;
	*ret_path = v->kcore_path;
	return v->nr_kcore;
}

const char *image_words(enum image_state state)
{
	static const char *const words[] = {
		[IMAGE_FOUND] = "found",
		[IMAGE_NO_FILE] = "no such file",
		[IMAGE_OTHER_ID] = "another build id",
		[IMAGE_NO_CODE] = "memory without a file",
		[IMAGE_NO_KCORE] = "no copy of the kernel's code",
	};

	return words[state];
}
