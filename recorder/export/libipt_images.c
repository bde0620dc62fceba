/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of the code that was mapped: a tree for ptxed's --pevent:sysroot, the vdso, and the
 * kernel's code where the recording has it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/export/libipt_priv.h"
#include "recorder/log.h"

#define VDSO "[vdso]"

/* A path below the tree, whatever it is made of? */
static bool stays_inside(const char *name)
{
	if (*name != '/' || !strncmp(name, "//", 2))
		return false;
	for (const char *at = name; at; at = strchr(at + 1, '/'))
		if (!strncmp(at, "/../", 4) || !strcmp(at, "/..") || !strncmp(at, "/./", 3) ||
		    !strcmp(at, "/.") || !strcmp(at, "/"))
			return false;
	return true;
}

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		return -EINVAL;
	}
	return fd < 0 ? -errno : fd;
}

/* *why tells why there is no copy, where that is no reason to end. */
static int copy(struct outset *out, struct outfile **ret, const char *from,
		const char *suffix, const char **why)
{
	int fd = open_file(from), err;
	bool reading = false;

	*why = "cannot be read";
	if (fd < 0)
		return 0;
	err = outset_add(out, ret, suffix);
	if (err == -EEXIST)
		*why = "its place is taken";
	else if (!err)
		err = outfile_copy(*ret, fd, &reading);
	close(fd);
	if (err == -EEXIST || reading) {
		outset_drop_last(out);
		*ret = NULL;
		return 0;
	}
	if (!err)
		*why = NULL;
	return err;
}

static int copy_to_tree(struct libipt *l, struct libipt_image *i)
{
	char *suffix;
	int err;

	if (!stays_inside(i->image->name)) {
		i->why = "not the path of a file";
		return 0;
	}
	if (asprintf(&suffix, LIBIPT_IMAGES "%s", i->image->name) < 0)
		return -ENOMEM;
	err = copy(&l->x->out, &i->copy, i->image->path, suffix, &i->why);
	free(suffix);
	return err;
}

static int take(struct libipt *l, struct libipt_image *i, const struct libipt_image *same)
{
	int err;

	if (i->image->state != IMAGE_FOUND) {
		i->why = image_words(i->image->state);
	} else if (same) {
		i->why = "another file of that name came first";
	} else if (!strcmp(i->image->name, VDSO)) {
		i->why = "the recording does not tell its build id";
		if (!i->image->checked)
			return 0;
		err = copy(&l->x->out, &i->copy, i->image->path, LIBIPT_VDSO, &i->why);
		l->vdso = i->copy;
		return err;
	} else {
		return copy_to_tree(l, i);
	}
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct image *x = *(const struct image *const *)a;
	const struct image *y = *(const struct image *const *)b;

	return x < y ? -1 : x > y;
}

static int by_name(const void *a, const void *b)
{
	const struct image *x = *(const struct image *const *)a;
	const struct image *y = *(const struct image *const *)b;
	int diff = strcmp(x->name, y->name);

	if (diff)
		return diff;
	/* Those that were found first, the one that is mapped most before others. */
	if ((x->state == IMAGE_FOUND) != (y->state == IMAGE_FOUND))
		return x->state == IMAGE_FOUND ? -1 : 1;
	return x->mappings > y->mappings ? -1 : x->mappings < y->mappings;
}

const struct libipt_image *libipt_image_of(const struct libipt *l, const struct image *i)
{
	if (!l->nr_images)
		return NULL;
	return bsearch(&i, l->images, l->nr_images, sizeof(*l->images), by_address);
}

static void say_missing(const struct libipt *l)
{
	enum { SAID = 8 };
	size_t n = 0;

	for (size_t i = 0; i < l->nr_images; i++) {
		const struct libipt_image *m = &l->images[i];

		if (!m->why || m->image->state == IMAGE_NO_CODE)
			continue;
		if (n++ < SAID)
			log_info("no copy of '%s': %s", m->image->name, m->why);
	}
	if (n > SAID)
		log_info("no copy of %zu more images", n - SAID);
}

static int put_kcore(struct libipt *l)
{
	const struct image_kcore *s;
	const char *path, *why = NULL;
	int err;

	if (!images_kcore(l->x->images, &s, &path))
		return 0;
	err = copy(&l->x->out, &l->kcore, path, LIBIPT_KCORE, &why);
	if (why && !err)
		log_info("no copy of '%s': %s", path, why);
	return err;
}

int libipt_put_images(struct libipt *l)
{
	const struct images *all = l->x->images;
	size_t n = images_count(all);
	int err = 0;

	if (l->x->o->no_images)
		return 0;
	l->images = calloc(n + 1, sizeof(*l->images));
	if (!l->images)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (images_at(all, i)->mappings && !images_at(all, i)->kernel)
			l->images[l->nr_images++].image = images_at(all, i);
	qsort(l->images, l->nr_images, sizeof(*l->images), by_name);
	for (size_t i = 0; !err && i < l->nr_images; i++) {
		struct libipt_image *m = &l->images[i];
		bool again = i && !strcmp(m[-1].image->name, m->image->name);

		err = take(l, m, again ? m - 1 : NULL);
	}
	if (!err)
		err = put_kcore(l);
	qsort(l->images, l->nr_images, sizeof(*l->images), by_address);
	if (!err)
		say_missing(l);
	return err;
}
