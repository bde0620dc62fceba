/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/decode/spaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEPT = 32, /* processes that take turns on a cpu */
	MAPS_MAX = 16384, /* mappings of code; further ones are passed over */
};
#define CACHE_BYTES (UINT64_C(1) << 30) /* address space for mapped files */
#define KERNEL_HALF (UINT64_C(1) << 63)

struct map {
	uint64_t addr, end, off;
	const struct image *image;
};

struct space {
	bool used;
	uint64_t last_used;
	struct tasks_cursor cursor;
	uint64_t applied, until; /* times: of the last event, and when the next is due */
	struct pt_image *image;
	struct map *map; /* ascending, disjoint */
	size_t nr, room;
};

struct spaces {
	const struct tasks *tasks;
	const struct images *images;
	const struct image *kernel; /* the image of the kernel's own text, or NULL */
	struct pt_image_section_cache *cache;
	struct space kept[KEPT];
	struct space *last;
	uint64_t uses;
	uint64_t hole;
};

static int note_hole(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip,
		     void *context)
{
	struct spaces *v = context;

	(void)buffer;
	(void)size;
	(void)asid;
	v->hole = ip;
	return -pte_nomap;
}

int spaces_new(struct spaces **ret, const struct tasks *tasks, const struct images *images)
{
	struct spaces *v = calloc(1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	v->tasks = tasks;
	v->images = images;
	v->cache = pt_iscache_alloc(NULL);
	if (!v->cache || pt_iscache_set_limit(v->cache, CACHE_BYTES) < 0) {
		spaces_free(v);
		return -ENOMEM;
	}
	for (size_t i = 0; !v->kernel && i < images_count(images); i++)
		if (images_at(images, i)->kernel)
			v->kernel = images_at(images, i);
	*ret = v;
	return 0;
}

static void clear(struct space *s)
{
	pt_image_free(s->image);
	free(s->map);
	*s = (struct space){ 0 };
}

void spaces_free(struct spaces *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < KEPT; i++)
		clear(&v->kept[i]);
	pt_iscache_free(v->cache);
	free(v);
}

uint64_t *spaces_hole(struct spaces *v)
{
	return &v->hole;
}

/* A file that cannot be used is noticed when its code is wanted. */
static int add_section(struct spaces *v, struct space *s, const char *path, uint64_t off,
		       uint64_t size, uint64_t addr)
{
	int id = pt_iscache_add_file(v->cache, path, off, size, addr);
	int status = id;

	if (id > 0)
		status = pt_image_add_cached(s->image, v->cache, id, NULL);
	return status == -pte_nomem ? -ENOMEM : 0;
}

static int add_map(struct spaces *v, struct space *s, const struct map *m)
{
	if (m->image->state != IMAGE_FOUND)
		return 0;
	return add_section(v, s, m->image->path, m->off, m->end - m->addr, m->addr);
}

static int add_kernel(struct spaces *v, struct space *s)
{
	const struct image_kcore *k;
	const char *path;
	size_t n = images_kcore(v->images, &k, &path);
	int err = 0;

	for (size_t i = 0; !err && i < n; i++)
		err = add_section(v, s, path, k[i].offset, k[i].size, k[i].addr);
	return err;
}

/* The image anew: libipt cannot take away a part of it. */
static int rebuild(struct spaces *v, struct space *s)
{
	int err;

	pt_image_free(s->image);
	s->image = pt_image_alloc(NULL);
	if (!s->image || pt_image_set_callback(s->image, note_hole, v) < 0)
		return -ENOMEM;
	err = add_kernel(v, s);
	for (size_t i = 0; !err && i < s->nr; i++)
		err = add_map(v, s, &s->map[i]);
	return err;
}

/* Index of the first map that ends behind addr. */
static size_t find_map(const struct space *s, uint64_t addr)
{
	size_t low = 0, high = s->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->map[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Room for two maps more: a new one may split an old one. */
static int make_room(struct space *s)
{
	size_t n = s->room ? 2 * s->room : 64;
	struct map *all;

	if (s->nr + 2 <= s->room)
		return 0;
	all = realloc(s->map, n * sizeof(*all));
	if (!all)
		return -ENOMEM;
	s->map = all;
	s->room = n;
	return 0;
}

static void insert(struct space *s, size_t at, const struct map *m)
{
	memmove(s->map + at + 1, s->map + at, (s->nr - at) * sizeof(*m));
	s->map[at] = *m;
	s->nr++;
}

/* Takes [addr, end) away from what is mapped. Index where a map of it belongs; *ret_code:
 * code was taken away. */
static size_t punch(struct space *s, uint64_t addr, uint64_t end, bool *ret_code)
{
	size_t i = find_map(s, addr), k;

	if (i < s->nr && s->map[i].addr < addr) {
		struct map rest = s->map[i];

		*ret_code |= rest.image->state == IMAGE_FOUND;
		s->map[i].end = addr;
		i++;
		if (rest.end > end) {
			rest.off += end - rest.addr;
			rest.addr = end;
			insert(s, i, &rest);
		}
	}
	for (k = i; k < s->nr && s->map[k].end <= end; k++)
		*ret_code |= s->map[k].image->state == IMAGE_FOUND;
	memmove(s->map + i, s->map + k, (s->nr - k) * sizeof(*s->map));
	s->nr -= k - i;
	if (i < s->nr && s->map[i].addr < end) {
		*ret_code |= s->map[i].image->state == IMAGE_FOUND;
		s->map[i].off += end - s->map[i].addr;
		s->map[i].addr = end;
	}
	return i;
}

struct apply {
	struct spaces *v;
	struct space *s;
	bool later; /* the image is rebuilt anyway */
};

static int apply_map(void *ctx, const struct tasks_event *e)
{
	struct apply *a = ctx;
	struct map m = { .addr = e->addr, .end = e->end, .off = e->off, .image = e->image };
	bool code = false;
	int err = a->s->nr < MAPS_MAX ? make_room(a->s) : 0;

	if (err || a->s->nr >= MAPS_MAX)
		return err;
	insert(a->s, punch(a->s, m.addr, m.end, &code), &m);
	a->s->applied = e->time;
	if (a->later)
		return 0;
	if (code && m.image->state != IMAGE_FOUND)
		return rebuild(a->v, a->s);
	return add_map(a->v, a->s, &m);
}

static int begin(struct spaces *v, struct space *s, uint32_t pid, uint64_t time)
{
	struct apply a = { .v = v, .s = s, .later = true };
	int err;

	s->nr = 0;
	s->applied = 0;
	s->used = true;
	err = tasks_begin(v->tasks, &s->cursor, pid, time, apply_map, &a);
	return err ? err : rebuild(v, s);
}

static int follow(struct spaces *v, struct space *s, uint64_t time)
{
	struct apply a = { .v = v, .s = s };
	const struct tasks_event *e;
	int err = 0;

	while (!err && (e = tasks_next(v->tasks, &s->cursor, time, &s->until))) {
		if (e->kind == TASKS_MAP)
			err = apply_map(&a, e);
		else
			err = begin(v, s, s->cursor.pid, e->time);
		s->applied = e->time;
	}
	return err;
}

static struct space *choose(struct spaces *v, uint32_t pid)
{
	struct space *oldest = v->kept;

	for (size_t i = 0; i < KEPT; i++) {
		struct space *s = &v->kept[i];

		if (s->used && s->cursor.pid == pid)
			return s;
		if (s->last_used < oldest->last_used)
			oldest = s;
	}
	clear(oldest);
	return oldest;
}

int spaces_at(struct spaces *v, uint32_t pid, uint64_t time, struct pt_image **ret,
	      uint64_t *ret_until)
{
	struct space *s = choose(v, pid);
	int err = 0;

	s->last_used = ++v->uses;
	v->last = s;
	if (!s->used || time < s->applied)
		err = begin(v, s, pid, time);
	if (!err)
		err = follow(v, s, time);
	if (err)
		return err;
	*ret = s->image;
	*ret_until = s->until;
	return 0;
}

const struct image *spaces_find(const struct spaces *v, uint64_t ip)
{
	const struct space *s = v->last;
	size_t i;

	if (ip & KERNEL_HALF)
		return v->kernel;
	if (!s)
		return NULL;
	i = find_map(s, ip);
	return i < s->nr && s->map[i].addr <= ip ? s->map[i].image : NULL;
}
