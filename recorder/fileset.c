/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/fileset.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/kcoredir.h"

#define SUFFIX ".data"

enum { HIGHEST = 999999999 }; /* of the numbers that are looked at */

/* "dir/perf.data" -> "dir/perf.": what stands before the number. */
static char *head_of(const char *output)
{
	size_t n = strlen(output), tail = strlen(SUFFIX);
	const char *base = strrchr(output, '/');
	char *head;

	base = base ? base + 1 : output;
	if (strlen(base) > tail && !strcmp(output + n - tail, SUFFIX))
		n -= tail;
	return asprintf(&head, "%.*s.", (int)n, output) < 0 ? NULL : head;
}

/* The number in "perf.12.data", or 0. */
static unsigned number_of(const char *name, const char *head)
{
	size_t n = strlen(head);
	unsigned long v;
	char *end;

	if (strncmp(name, head, n) || name[n] < '1' || name[n] > '9')
		return 0;
	v = strtoul(name + n, &end, 10);
	return strcmp(end, SUFFIX) || v > HIGHEST ? 0 : (unsigned)v;
}

static int find_highest(struct fileset *f)
{
	const char *slash = strrchr(f->head, '/');
	char *copy = strdup(f->head);
	struct dirent *e;
	unsigned v;
	DIR *d;

	if (!copy)
		return -ENOMEM;
	d = opendir(slash ? dirname(copy) : ".");
	free(copy);
	while (d && (e = readdir(d))) {
		v = number_of(e->d_name, slash ? slash + 1 : f->head);
		if (v >= f->next)
			f->next = v + 1;
	}
	if (d)
		closedir(d);
	return 0;
}

int fileset_init(struct fileset *ret, const char *output, size_t keep)
{
	struct fileset f = { .head = head_of(output), .next = 1, .keep = keep };
	int err = f.head ? find_highest(&f) : -ENOMEM;

	if (err)
		fileset_done(&f);
	else
		*ret = f;
	return err;
}

void fileset_done(struct fileset *f)
{
	for (size_t i = 0; i < f->nr; i++)
		free(f->file[i].name);
	free(f->file);
	free(f->first);
	free(f->last);
	free(f->head);
	*f = (struct fileset){ 0 };
}

char *fileset_name(struct fileset *f)
{
	struct stat st;
	char *name;

	do {
		if (asprintf(&name, "%s%u" SUFFIX, f->head, f->next) < 0)
			return NULL;
		f->next++;
		if (lstat(name, &st))
			return name;
		free(name);
	} while (f->next <= HIGHEST);
	return NULL;
}

static int replace(char **at, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return -ENOMEM;
	free(*at);
	*at = copy;
	return 0;
}

static int remember(struct fileset *f, const char *name)
{
	struct fileset_file file = { .name = strdup(name) }, *more;
	size_t cap = f->cap ? 2 * f->cap : 8;
	struct stat st;

	if (!file.name)
		return -ENOMEM;
	if (f->nr == f->cap) {
		more = realloc(f->file, cap * sizeof(*more));
		if (!more) {
			free(file.name);
			return -ENOMEM;
		}
		f->file = more;
		f->cap = cap;
	}
	if (!lstat(name, &st)) {
		file.dev = st.st_dev;
		file.ino = st.st_ino;
	}
	f->file[f->nr++] = file;
	return 0;
}

int fileset_add(struct fileset *f, const char *name)
{
	int err = f->keep ? remember(f, name) : 0;

	if (!err)
		err = replace(&f->last, name);
	if (!err && !f->first)
		err = replace(&f->first, name);
	f->made += !err;
	return err;
}

void fileset_grown(struct fileset *f, uint64_t bytes)
{
	if (f->nr)
		f->file[f->nr - 1].bytes = bytes;
}

static void remove_oldest(struct fileset *f)
{
	struct fileset_file *file = f->file;
	struct stat st;

	if (!lstat(file->name, &st) && st.st_dev == file->dev && st.st_ino == file->ino)
		(void)(S_ISDIR(st.st_mode) ? kcoredir_remove(file->name) : unlink(file->name));
	f->removed++;
	f->removed_bytes += file->bytes;
	free(file->name);
	memmove(file, file + 1, --f->nr * sizeof(*file));
}

void fileset_trim(struct fileset *f)
{
	bool any = f->keep && f->nr > f->keep;

	while (f->keep && f->nr > f->keep)
		remove_oldest(f);
	if (any)
		(void)replace(&f->first, f->file->name);
}
