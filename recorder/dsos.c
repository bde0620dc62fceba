/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids that the records did not bring are looked up by path at the end. By then the path
 * may mean another file: an upgrade happened, or the process lived in another root. A
 * wrong id is worse than none (readers refuse symbols by it), so a file counts only if
 * its inode is still the one that the record named.
 */
#include "recorder/dsos.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format/abi.h"
#include "format/le.h"
#include "perfio/buildid.h"
#include "recorder/hash.h"

#define KERNEL_NAME "[kernel.kallsyms]"

struct dso {
	struct dso *next; /* in the order they came */
	uint64_t hash;
	uint64_t ino; /* 0 unknown; only without an id */
	uint16_t misc;
	uint8_t size; /* 0: no id known */
	uint8_t id[PIO_BUILD_ID_MAX];
	bool looked; /* on disk, in vain or not */
	char name[];
};

struct dsos {
	struct dso *first, **last;
	struct dso **slot; /* open addressing; a power of two */
	size_t nr_slots, n;
	struct fmt_build_id *rows;
};

int dsos_new(struct dsos **ret)
{
	struct dsos *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->last = &d->first;
	*ret = d;
	return 0;
}

void dsos_free(struct dsos *d)
{
	struct dso *e, *next;

	if (!d)
		return;
	for (e = d->first; e; e = next) {
		next = e->next;
		free(e);
	}
	free(d->slot);
	free(d->rows);
	free(d);
}

static uint64_t hash_dso(const struct dso *e, const char *name)
{
	uint64_t h = hash_bytes(HASH_INIT, name, strlen(name));

	h = hash_bytes(h, e->id, e->size);
	return hash_bytes(h, &e->ino, sizeof(e->ino));
}

static bool same(const struct dso *e, const struct dso *key, const char *name)
{
	return e->hash == key->hash && e->misc == key->misc && e->ino == key->ino &&
	       e->size == key->size && !memcmp(e->id, key->id, key->size) &&
	       !strcmp(e->name, name);
}

static struct dso **find(const struct dsos *d, const struct dso *key, const char *name)
{
	size_t i = key->hash & (d->nr_slots - 1);

	while (d->slot[i] && !same(d->slot[i], key, name))
		i = (i + 1) & (d->nr_slots - 1);
	return &d->slot[i];
}

/* At most half full, so that a search ends soon. */
static int make_room(struct dsos *d)
{
	size_t n = d->nr_slots ? d->nr_slots * 2 : 256, at;
	struct dso **slot;

	if (d->n < d->nr_slots / 2)
		return 0;
	slot = calloc(n, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	for (struct dso *e = d->first; e; e = e->next) {
		for (at = e->hash & (n - 1); slot[at]; at = (at + 1) & (n - 1))
			;
		slot[at] = e;
	}
	free(d->slot);
	d->slot = slot;
	d->nr_slots = n;
	return 0;
}

static int insert(struct dsos *d, struct dso *key, const char *name)
{
	size_t len = strlen(name) + 1;
	struct dso **at, *e;

	if (make_room(d))
		return -ENOMEM;
	key->hash = hash_dso(key, name);
	at = find(d, key, name);
	if (*at)
		return 0;
	e = malloc(sizeof(*e) + len);
	if (!e)
		return -ENOMEM;
	*e = *key;
	e->next = NULL;
	memcpy(e->name, name, len);
	*at = *d->last = e;
	d->last = &e->next;
	d->n++;
	return 0;
}

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static bool is_vdso(const char *name)
{
	return !strcmp(name, "[vdso]");
}

bool dsos_is_file(uint16_t misc, const char *name)
{
	if (misc == FMT_MISC_KERNEL)
		return name[0] == '/' || name[0] == '[';
	if (misc != FMT_MISC_USER)
		return false;
	if (name[0] != '/')
		return is_vdso(name);
	return !starts(name, "//anon") && !starts(name, "/memfd:") &&
	       !starts(name, "/SYSV") && !starts(name, "/anon_hugepage") &&
	       strcmp(name, "/dev/zero") && strcmp(name, "/dev/zero (deleted)");
}

static int add(struct dsos *d, uint16_t misc, const char *name, uint64_t ino,
	       const uint8_t *id, size_t size)
{
	struct dso key = { .misc = misc };

	if (!dsos_is_file(misc, name))
		return 0;
	/* The map is called after its reference symbol, the kernel is not. */
	if (misc == FMT_MISC_KERNEL && starts(name, KERNEL_NAME))
		name = KERNEL_NAME;
	if (size > sizeof(key.id))
		size = sizeof(key.id);
	key.size = (uint8_t)size;
	if (size)
		memcpy(key.id, id, size);
	else
		key.ino = ino;
	return insert(d, &key, name);
}

int dsos_add(struct dsos *d, uint16_t misc, const char *name, const uint8_t *id,
	     size_t size)
{
	return add(d, misc, name, 0, id, size);
}

/* A vdso below 4 GiB belongs to a 32-bit process: not the one whose id we know. */
static bool foreign_vdso(const char *name, uint64_t addr)
{
	return is_vdso(name) && addr >> 32 == 0;
}

int dsos_add_record(struct dsos *d, const uint8_t *rec, size_t size)
{
	uint32_t type, misc;
	size_t at, id_size = 0, len;
	const char *name;
	uint64_t ino = 0;

	if (size < FMT_REC_HEADER_SIZE)
		return 0;
	type = le_get32(rec);
	misc = le_get16(rec + FMT_REC_AT_MISC);
	len = le_get16(rec + FMT_REC_AT_SIZE);
	at = type == FMT_REC_MMAP2 ? FMT_MMAP2_AT_NAME : FMT_MMAP_AT_NAME;
	if ((type != FMT_REC_MMAP && type != FMT_REC_MMAP2) || len > size || len <= at ||
	    !memchr(rec + at, '\0', len - at))
		return 0;
	name = (const char *)rec + at;
	if (type == FMT_REC_MMAP2 && misc & FMT_MISC_MMAP_BUILD_ID)
		id_size = rec[FMT_MMAP2_AT_ID_SIZE];
	else if (type == FMT_REC_MMAP2)
		ino = le_get(rec + FMT_MMAP2_AT_INO, 8);
	if (id_size > PIO_BUILD_ID_MAX ||
	    (!id_size && foreign_vdso(name, le_get(rec + FMT_MMAP_AT_ADDR, 8))))
		return 0;
	return add(d, misc & FMT_MISC_CPUMODE_MASK, name, ino, rec + FMT_MMAP2_AT_ID,
		   id_size);
}

/* "/lib/modules/.../kvm-intel.ko.xz" and "[kvm_intel]" are of the module kvm_intel. */
static int module_id(const struct pio_sys *sys, const char *path, uint8_t *ret)
{
	const char *base = strrchr(path, '/');
	char name[64]; /* MODULE_NAME_LEN, include/linux/moduleparam.h */
	size_t n;

	base = base ? base + 1 : path + (path[0] == '[');
	n = strcspn(base, ".]");
	if (n >= sizeof(name))
		return -ENODATA;
	for (size_t i = 0; i < n; i++)
		name[i] = base[i] == '-' ? '_' : base[i];
	name[n] = '\0';
	return pio_build_id_module(sys, name, ret);
}

static int file_id(const struct dso *e, uint8_t *ret)
{
	struct stat st;

	if (e->ino && (stat(e->name, &st) || st.st_ino != e->ino))
		return -ENODATA;
	return pio_build_id_file(e->name, ret);
}

static int look_up(struct dsos *d, const struct pio_sys *sys, struct dso *e)
{
	uint8_t id[PIO_BUILD_ID_MAX];
	int size;

	e->looked = true;
	if (e->misc == FMT_MISC_KERNEL && !strcmp(e->name, KERNEL_NAME))
		size = pio_build_id_kernel(sys, id);
	else if (e->misc == FMT_MISC_KERNEL)
		size = module_id(sys, e->name, id);
	else if (is_vdso(e->name))
		size = pio_build_id_vdso(id);
	else
		size = file_id(e, id);
	return size > 0 ? add(d, e->misc, e->name, 0, id, (size_t)size) : 0;
}

int dsos_rows(struct dsos *d, const struct pio_sys *sys, const struct fmt_build_id **ret,
	      size_t *ret_n)
{
	struct fmt_build_id *rows;
	size_t n = 0;

	/* What is found is appended as an entry of its own: the loop meets it and goes
	 * on. */
	for (struct dso *e = d->first; e; e = e->next)
		if (!e->size && !e->looked && look_up(d, sys, e))
			return -ENOMEM;
	rows = calloc(d->n + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (struct dso *e = d->first; e; e = e->next) {
		if (!e->size)
			continue;
		rows[n] = (struct fmt_build_id){ .misc = e->misc, .id_size = e->size };
		rows[n].name = e->name;
		memcpy(rows[n++].id, e->id, e->size);
	}
	free(d->rows);
	d->rows = rows;
	*ret = rows;
	*ret_n = n;
	return 0;
}
