/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that is a directory: `data` and the data.N beside it, each with what is whole
 * in it, and copies of the kernel's code. Index and features are those of `data`.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/abi.h"
#include "format/le.h"
#include "recorder/kcoredir.h"
#include "recorder/log.h"
#include "recorder/output.h"
#include "recorder/recover_job.h"

int recover_scan_parts(struct recover_job *j)
{
	int err = 0;

	if (!recover_has_parts(&j->c))
		return 0;
	err = input_find_parts(&j->in);
	if (err)
		return input_cannot(&j->in, err);
	j->parts = calloc(j->in.nr_parts + 1, sizeof(*j->parts));
	if (!j->parts)
		return log_err(-ENOMEM, "cannot recover '%s'", j->path);
	while (!err && j->nr_parts < j->in.nr_parts) {
		const struct input_part *p = &j->in.parts[j->nr_parts];

		err = recover_scan_part(&j->parts[j->nr_parts++], &j->c, p->bytes.p,
					p->bytes.len, NULL, NULL);
		if (err)
			log_err(err, "cannot recover '%s'", p->path);
	}
	return err;
}

/* ---- another directory ---- */

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int write_part(const struct recover_job *j, size_t i, const char *dir)
{
	const char *from = j->in.parts[i].path;
	struct output out = OUTPUT_INIT;
	struct stat st;
	char *name;
	int err;

	if (asprintf(&name, "%s/%s", dir, last_name(from)) < 0)
		return -ENOMEM;
	out.fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	err = out.fd < 0 || stat(from, &st) ? -errno : 0;
	if (!err)
		err = recover_fill(&j->parts[i], &out, &st);
	if (!err)
		err = output_close(&out);
	output_done(&out);
	free(name);
	return err;
}

static int fill_dir(struct recover_job *j, struct output *out, const struct stat *data)
{
	int err = recover_fill(&j->c, out, data);

	for (size_t i = 0; !err && i < j->nr_parts; i++)
		err = write_part(j, i, out->temp);
	if (!err)
		err = kcoredir_copy(out->temp, j->path);
	if (!err && chmod(out->temp, j->st.st_mode & 0777))
		err = -errno;
	return err;
}

static int write_dir(struct recover_job *j, const char *from)
{
	struct output out = OUTPUT_INIT;
	struct stat st;
	int err = stat(from, &st) ? -errno : output_open_dir(&out, j->name, false);

	if (!err)
		err = fill_dir(j, &out, &st);
	if (!err)
		err = output_publish(&out);
	if (!err)
		err = output_close(&out);
	output_done(&out);
	return recover_say(&j->c, from, j->name, err);
}

/* ---- where it is ---- */

static int mend(struct recover *c, const char *path)
{
	char *name = realpath(path, NULL);
	struct recover_file f = { .c = c, .from = path, .name = name, .in_place = true };
	bool patched;
	int err;

	if (!name || stat(path, &f.st))
		err = log_err(-errno, "cannot recover '%s'", path);
	else if ((uint64_t)f.st.st_size != c->len)
		err = recover_say(c, path, path, -ETXTBSY); /* since it was read */
	else
		err = recover_file(&f, &patched);
	free(name);
	return err;
}

/* `data` first: with its mark that there are parts, readers look for them. */
static int mend_dir(struct recover_job *j, const char *from)
{
	int err = recover_sound(&j->c) ? 0 : mend(&j->c, from);

	for (size_t i = 0; !err && i < j->nr_parts; i++)
		if (!recover_sound(&j->parts[i]))
			err = mend(&j->parts[i], j->in.parts[i].path);
	return err;
}

int recover_dir(struct recover_job *j)
{
	char *from;
	int err;

	if (asprintf(&from, "%s/data", j->path) < 0)
		return log_err(-ENOMEM, "cannot recover '%s'", j->path);
	err = j->in_place ? mend_dir(j, from) : write_dir(j, from);
	free(from);
	return err;
}

/* ---- a file out of one ---- */

static bool has_magic(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	uint8_t b[8] = { 0 };
	ssize_t n = fd < 0 ? -1 : read(fd, b, sizeof(b));

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)sizeof(b) && le_get64(b) == FMT_MAGIC;
}

/* Has the directory parts that its `data` may go on in? */
static bool goes_on(const struct recover_job *j, const char *dir)
{
	struct input in = { .path = dir, .dir = strdup(dir) };
	bool any;

	if (!in.dir || !recover_has_parts(&j->c))
		in.nr_parts = 0;
	else if (input_find_parts(&in))
		in.nr_parts = 0;
	any = in.nr_parts;
	input_done(&in);
	return any;
}

/* Is it a data.N beside a `data`? */
static bool is_part(const char *path, const char *dir)
{
	const char *name = last_name(path);
	char *data;
	bool is;

	if (strncmp(name, "data.", 5) || has_magic(path) ||
	    asprintf(&data, "%s/data", dir) < 0)
		return false;
	is = has_magic(data);
	free(data);
	return is;
}

bool recover_in_dir(const struct recover_job *j)
{
	char *copy = strdup(j->path), *dir;
	bool is = false;

	if (!copy)
		return false;
	dir = dirname(copy);
	if (!strcmp(last_name(j->path), "data"))
		is = goes_on(j, dir);
	else
		is = is_part(j->path, dir);
	if (is) {
		log_err(0, "'%s' is one file of the recording '%s', which is a directory",
			j->path, dir);
		log_hint("auxrec recover '%s' mends all of it", dir);
	}
	free(copy);
	return is;
}
