/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/kcoredir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/kcore.h"
#include "perfio/kcore.h"

enum {
	DIR_MODE = 0700,
	FILE_MODE = 0600,
	TABLE_MAX = 256 << 20, /* of /proc/kallsyms: a sanity bound */
	CHUNK = 1 << 20,
	TRIES = 3,
};

static const char *const kcore_files[] = { "kcore", "kallsyms", "modules" };

static int join(char *ret, const char *dir, const char *name)
{
	int n = snprintf(ret, PATH_MAX, "%s/%s", dir, name);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static int join_kcore(char *ret, const char *dir, const char *name)
{
	int n = snprintf(ret, PATH_MAX, "%s/kcore_dir/%s", dir, name);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int kcoredir_make(const char *path, bool with_kcore)
{
	char sub[PATH_MAX];
	int err = join(sub, path, "kcore_dir");

	if (err)
		return err;
	if (mkdir(path, DIR_MODE))
		return -errno;
	if (!with_kcore || !mkdir(sub, DIR_MODE))
		return 0;
	err = -errno;
	(void)rmdir(path);
	return err;
}

static bool is_part(const char *name)
{
	static const char data[] = "data.";
	const size_t n = sizeof(data) - 1;

	return !strncmp(name, data, n) && name[n] && !name[n + strspn(name + n, "0123456789")];
}

static bool known(const char *name)
{
	static const char *const names[] = { ".", "..", "data", "kcore_dir" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return is_part(name);
}

bool kcoredir_is(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	bool data = false, other = false;

	if (!d)
		return false;
	while ((e = readdir(d))) {
		data = data || !strcmp(e->d_name, "data");
		other = other || !known(e->d_name);
	}
	closedir(d);
	return data && !other;
}

static void remove_parts(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d)))
		if (is_part(e->d_name))
			(void)unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
}

int kcoredir_remove(const char *path)
{
	char sub[PATH_MAX], file[PATH_MAX];

	if (!join(file, path, "data"))
		(void)unlink(file);
	remove_parts(path);
	if (!join(sub, path, "kcore_dir")) {
		for (size_t i = 0; i < sizeof(kcore_files) / sizeof(*kcore_files); i++)
			if (!join(file, sub, kcore_files[i]))
				(void)unlink(file);
		(void)rmdir(sub);
	}
	return rmdir(path) ? -errno : 0;
}

int kcoredir_link(const char *path, const char *from)
{
	const size_t n = sizeof(kcore_files) / sizeof(*kcore_files);
	char to[PATH_MAX], old[PATH_MAX];
	size_t done = 0;
	int err = 0;

	for (; done < n && !err; done += !err) {
		err = join_kcore(to, path, kcore_files[done]);
		if (!err)
			err = join_kcore(old, from, kcore_files[done]);
		if (!err && link(old, to))
			err = -errno;
	}
	while (err && done--)
		if (!join_kcore(to, path, kcore_files[done]))
			(void)unlink(to);
	return err;
}

static int write_all(int fd, const void *p, size_t n)
{
	const char *at = p;

	while (n) {
		ssize_t k = write(fd, at, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k ? -errno : -EIO;
		at += k;
		n -= (size_t)k;
	}
	return 0;
}

static int create(const char *dir, const char *name)
{
	char path[PATH_MAX];
	int fd, err = join(path, dir, name);

	if (err)
		return err;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, FILE_MODE);
	return fd < 0 ? -errno : fd;
}

static int finish(int fd, int err)
{
	if (close(fd) && !err)
		err = -errno;
	return err;
}

static int put_text(const char *dir, const char *name, const char *text, size_t len)
{
	int fd = create(dir, name);

	return fd < 0 ? fd : finish(fd, write_all(fd, text, len));
}

static int copy_bytes(int to, int from, void *chunk)
{
	ssize_t n;
	int err = 0;

	while (!err && (n = read(from, chunk, CHUNK))) {
		if (n > 0)
			err = write_all(to, chunk, (size_t)n);
		else if (errno != EINTR)
			err = -errno;
	}
	return err;
}

static int copy_file(const char *dir, const char *from, const char *name, void *chunk)
{
	char old[PATH_MAX];
	int err = join_kcore(old, from, name), in, out;

	if (err)
		return err;
	in = open(old, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (in < 0)
		return errno == ENOENT ? 0 : -errno;
	out = create(dir, name);
	err = out < 0 ? out : finish(out, copy_bytes(out, in, chunk));
	close(in);
	return err;
}

int kcoredir_copy(const char *path, const char *from)
{
	const size_t n = sizeof(kcore_files) / sizeof(*kcore_files);
	char sub[PATH_MAX], old[PATH_MAX];
	int err = join(sub, path, "kcore_dir");
	struct stat st;
	void *chunk;

	if (!err)
		err = join(old, from, "kcore_dir");
	if (err || stat(old, &st))
		return err;
	if (mkdir(sub, DIR_MODE) && errno != EEXIST)
		return -errno;
	chunk = malloc(CHUNK);
	if (!chunk)
		return -ENOMEM;
	for (size_t i = 0; i < n && !err; i++)
		err = copy_file(sub, from, kcore_files[i], chunk);
	free(chunk);
	return err;
}

static int put_head(int fd, const struct pio_kcore *k, const struct pio_kcore_area *a,
		    size_t n)
{
	struct fmt_kcore_segment *s = calloc(n + 1, sizeof(*s));
	struct fmt_buf b = { 0 };
	int err = s ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		s[i] = (struct fmt_kcore_segment){ a[i].addr, a[i].len };
	if (!err)
		err = fmt_put_kcore_head(&b, k->machine, s, n);
	if (!err)
		err = write_all(fd, b.data, b.len);
	fmt_buf_done(&b);
	free(s);
	return err;
}

static int put_area(int fd, const struct pio_kcore *k, const struct pio_kcore_area *a,
		    uint8_t *chunk)
{
	int err = 0;

	for (uint64_t done = 0, n; done < a->len && !err; done += n) {
		n = a->len - done < CHUNK ? a->len - done : CHUNK;
		err = pio_kcore_read(k, a->addr + done, chunk, (size_t)n);
		if (!err)
			err = write_all(fd, chunk, (size_t)n);
	}
	return err;
}

static int put_kcore(const char *dir, const struct pio_kcore *k,
		     const struct pio_kcore_area *a, size_t n, uint64_t *ret_bytes)
{
	uint8_t *chunk = malloc(CHUNK);
	int fd = create(dir, "kcore"), err = chunk ? 0 : -ENOMEM;
	uint64_t bytes = 0;

	if (fd < 0) {
		free(chunk);
		return fd;
	}
	if (!err)
		err = put_head(fd, k, a, n);
	for (size_t i = 0; i < n && !err; i++) {
		err = put_area(fd, k, &a[i], chunk);
		bytes += a[i].len;
	}
	free(chunk);
	err = finish(fd, err);
	if (!err)
		*ret_bytes = bytes;
	return err;
}

/* What is copied at one moment. */
struct tables {
	char *kallsyms, *modules;
	size_t kallsyms_len, modules_len;
};

static void tables_done(struct tables *t)
{
	free(t->kallsyms);
	free(t->modules);
	*t = (struct tables){ 0 };
}

static int read_modules(char **ret, size_t *ret_len, const struct pio_sys *sys)
{
	int err = pio_read_file(ret, ret_len, TABLE_MAX, "%s/modules", sys->proc);

	if (err != -ENOENT)
		return err;
	*ret = strdup(""); /* a kernel without modules; readers want the file */
	*ret_len = 0;
	return *ret ? 0 : -ENOMEM;
}

static int read_tables(struct tables *t, const struct pio_sys *sys, const char **what)
{
	int err;

	*what = "/proc/kallsyms";
	err = pio_read_file(&t->kallsyms, &t->kallsyms_len, TABLE_MAX, "%s/kallsyms",
			    sys->proc);
	if (err)
		return err;
	*what = "/proc/modules";
	return read_modules(&t->modules, &t->modules_len, sys);
}

static int put_all(const char *dir, const struct pio_kcore *k, const struct tables *t,
		   uint64_t *ret_bytes, const char **what)
{
	struct pio_kcore_area *a = NULL;
	size_t n = 0;
	int err;

	*what = "/proc/kallsyms";
	err = pio_kcore_areas(&a, &n, k, t->kallsyms, t->modules);
	if (err)
		return err;
	*what = "kcore_dir";
	err = put_text(dir, "kallsyms", t->kallsyms, t->kallsyms_len);
	if (!err)
		err = put_text(dir, "modules", t->modules, t->modules_len);
	if (!err) {
		*what = "kcore_dir/kcore";
		err = put_kcore(dir, k, a, n, ret_bytes);
	}
	free(a);
	return err;
}

/* 1: nothing moved meanwhile, so that tables and code belong together; 0: try again. */
static int copy_once(const char *dir, const struct pio_sys *sys, const struct pio_kcore *k,
		     uint64_t *ret_bytes, const char **what)
{
	struct tables t = { 0 };
	char *now = NULL;
	size_t len;
	int err = read_tables(&t, sys, what);

	if (!err)
		err = put_all(dir, k, &t, ret_bytes, what);
	if (!err)
		err = read_modules(&now, &len, sys);
	if (!err)
		err = !strcmp(now, t.modules);
	free(now);
	tables_done(&t);
	return err;
}

int kcoredir_fill(const char *path, const struct pio_sys *sys, uint64_t *ret_bytes,
		  const char **ret_what)
{
	struct pio_kcore k;
	char dir[PATH_MAX];
	int err = join(dir, path, "kcore_dir"), done = 0;

	*ret_what = "/proc/kcore";
	if (!err)
		err = pio_kcore_open(&k, sys);
	if (err)
		return err;
	for (int i = 0; i < TRIES && !done; i++)
		done = copy_once(dir, sys, &k, ret_bytes, ret_what);
	pio_kcore_done(&k);
	if (done)
		return done < 0 ? done : 0;
	*ret_what = "/proc/modules";
	return -EBUSY;
}
