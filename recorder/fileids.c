/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file may be overwritten in place and keep its inode and generation: what is known of it
 * holds as long as its ctime. That is asked for at most every TRUST_NS, so that a thousand
 * processes that map one library in a row cost a thousand look-ups in memory.
 */
#include "recorder/fileids.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "recorder/hash.h"
#include "recorder/units.h"

#define TRUST_NS UINT64_C(10000000)
/* Beyond this all is forgotten at once: 15 MiB. */
#define MOST_FILES	((size_t)32768)
#define MOST_NAME_BYTES ((size_t)8 * 1024 * 1024)
#define BCACHEFS_MAGIC 0xca451a4e /* not in linux/magic.h; statfs(2) */

/* The name belongs to the key: on btrfs the device in maps is that of the whole file
 * system, while inode numbers repeat from subvolume to subvolume. */
struct file {
	char *name; /* NULL: free slot */
	uint64_t hash, ino;
	uint32_t maj, min;
	uint32_t generation; /* 0: not known */
	bool read;	     /* it was found, and looks thus: */
	dev_t dev;
	struct timespec ctime;
	uint8_t size; /* of the id; 0: none */
	uint8_t id[PIO_BUILD_ID_MAX];
	uint64_t checked_ns;
};

struct fileids {
	struct file *slot; /* open addressing; a power of two, at most half full */
	size_t nr_slots, n, name_bytes;
	uint8_t vdso[PIO_BUILD_ID_MAX];
	uint8_t vdso_size;
};

int fileids_new(struct fileids **ret)
{
	struct fileids *f = calloc(1, sizeof(*f));
	int size;

	if (!f)
		return -ENOMEM;
	size = pio_build_id_vdso(f->vdso);
	f->vdso_size = size > 0 ? (uint8_t)size : 0;
	*ret = f;
	return 0;
}

static void forget_all(struct fileids *f)
{
	for (size_t i = 0; i < f->nr_slots; i++)
		free(f->slot[i].name);
	free(f->slot);
	f->slot = NULL;
	f->nr_slots = f->n = f->name_bytes = 0;
}

void fileids_free(struct fileids *f)
{
	if (f)
		forget_all(f);
	free(f);
}

/* ---- the table ---- */

static uint64_t hash_key(const struct fileids_key *k)
{
	uint64_t h = hash_bytes(HASH_INIT, &k->ino, sizeof(k->ino));

	h = hash_bytes(h, &k->maj, sizeof(k->maj));
	h = hash_bytes(h, &k->min, sizeof(k->min));
	return hash_bytes(h, k->name, strlen(k->name));
}

static struct file *find(const struct fileids *f, const struct fileids_key *k,
			 uint64_t hash)
{
	size_t i = hash & (f->nr_slots - 1);
	struct file *e;

	for (;; i = (i + 1) & (f->nr_slots - 1)) {
		e = &f->slot[i];
		if (!e->name ||
		    (e->hash == hash && e->ino == k->ino && e->maj == k->maj &&
		     e->min == k->min && !strcmp(e->name, k->name)))
			return e;
	}
}

static int make_room(struct fileids *f)
{
	size_t n, at;
	struct file *slot;

	if (f->n >= MOST_FILES || f->name_bytes >= MOST_NAME_BYTES)
		forget_all(f);
	if (f->nr_slots && f->n < f->nr_slots / 2)
		return 0;
	n = f->nr_slots ? f->nr_slots * 2 : 512;
	slot = calloc(n, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	for (size_t i = 0; i < f->nr_slots; i++) {
		if (!f->slot[i].name)
			continue;
		for (at = f->slot[i].hash & (n - 1); slot[at].name;
		     at = (at + 1) & (n - 1))
			;
		slot[at] = f->slot[i];
	}
	free(f->slot);
	f->slot = slot;
	f->nr_slots = n;
	return 0;
}

/* The entry of that file, made if need be. NULL: no memory. */
static struct file *entry(struct fileids *f, const struct fileids_key *k)
{
	uint64_t hash = hash_key(k);
	struct file *e;

	if (make_room(f))
		return NULL;
	e = find(f, k, hash);
	if (e->name)
		return e;
	e->name = strdup(k->name);
	if (!e->name)
		return NULL;
	e->hash = hash;
	e->ino = k->ino;
	e->maj = k->maj;
	e->min = k->min;
	f->name_bytes += strlen(e->name) + 1;
	f->n++;
	return e;
}

/* ---- the file ---- */

/*
 * Records and maps have the device of the superblock. stat(2) tells another one on btrfs
 * and bcachefs (of the subvolume) and may on overlayfs (whose mappings are of the layer
 * below): there the inode decides alone.
 */
static bool right_device(const struct file *e, const struct stat *st, int fd)
{
	struct statfs fs;

	if (major(st->st_dev) == e->maj && minor(st->st_dev) == e->min)
		return true;
	if (fstatfs(fd, &fs))
		return false;
	switch ((uint32_t)fs.f_type) {
	case BTRFS_SUPER_MAGIC:
	case BCACHEFS_MAGIC:
	case OVERLAYFS_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

/* Inode numbers are used again, by ext4 at once: a program that is built, run and built
 * anew may have the same one. 0: the file system does not tell. */
static uint32_t generation_of(int fd)
{
	long v = 0; /* most file systems store an int only: ioctl_iflags(2) has the like */

	return ioctl(fd, FS_IOC_GETVERSION, &v) ? 0 : (uint32_t)v;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static void read_id(struct file *e, const struct stat *st, int fd)
{
	int size = pio_build_id_fd(fd, e->id);

	e->size = size > 0 ? (uint8_t)size : 0;
	e->read = true;
	e->dev = st->st_dev;
	e->ctime = st->st_ctim;
}

static bool open_and_read(struct file *e, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	uint32_t generation;
	struct stat st;
	bool right;

	if (fd < 0)
		return false;
	generation = generation_of(fd);
	right = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_ino == e->ino &&
		right_device(e, &st, fd) &&
		(!generation || !e->generation || generation == e->generation);
	if (right) {
		e->generation = generation ? generation : e->generation;
		read_id(e, &st, fd);
	}
	close(fd);
	return right;
}

/* Is the file there the one that is meant? Then its id is known afterwards. Only regular
 * files are opened: opening a device or a FIFO may do things, or block. */
static bool look(struct file *e, const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_ino != e->ino)
		return false;
	if (e->read && st.st_dev == e->dev && same_time(&st.st_ctim, &e->ctime))
		return true;
	return open_and_read(e, path);
}

/* A file that is not found any more keeps the id it had: it cannot be another one. */
static void search(struct file *e, const struct pio_sys *sys, pid_t pid,
		   const struct fileids_key *k)
{
	char path[PATH_MAX];
	int n;

	/* The very file that is mapped, whatever its path means by now; needs
	 * CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN (proc(5)). */
	n = snprintf(path, sizeof(path), "%s/%d/map_files/%llx-%llx", sys->proc, pid,
		     (unsigned long long)k->start, (unsigned long long)(k->start + k->len));
	if (n > 0 && (size_t)n < sizeof(path) && look(e, path))
		return;
	n = snprintf(path, sizeof(path), "%s/%d/root%s", sys->proc, pid, k->name);
	if (n > 0 && (size_t)n < sizeof(path) && look(e, path))
		return;
	(void)look(e, k->name);
}

static void forget_other_generation(struct file *e, const struct fileids_key *k)
{
	uint32_t generation = (uint32_t)k->ino_generation;

	if (!generation || generation == e->generation)
		return;
	if (e->generation) {
		e->read = false;
		e->size = 0;
		e->checked_ns = 0;
	}
	e->generation = generation;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return units_ns(&t);
}

/* Below 4 GiB it is the vdso of a 32-bit process, which is not ours. */
static bool is_our_vdso(const struct fileids_key *k)
{
	return !strcmp(k->name, "[vdso]") && k->start >> 32;
}

size_t fileids_get(struct fileids *f, const struct pio_sys *sys, pid_t pid,
		   const struct fileids_key *k, uint8_t ret[PIO_BUILD_ID_MAX])
{
	struct file *e;
	uint64_t t;

	if (is_our_vdso(k)) {
		memcpy(ret, f->vdso, f->vdso_size);
		return f->vdso_size;
	}
	/* Shared memory has inodes too, but no file behind them. */
	if (!k->ino || k->name[0] != '/')
		return 0;
	e = entry(f, k);
	if (!e)
		return 0;
	forget_other_generation(e, k);
	t = now();
	if (!e->checked_ns || t - e->checked_ns >= TRUST_NS) {
		search(e, sys, pid, k);
		e->checked_ns = t;
	}
	memcpy(ret, e->id, e->size);
	return e->size;
}
