/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/jitdir.h"
#include "recorder/kcoredir.h"

enum { FILE_MODE = 0600 }; /* a trace tells what other users' programs did */

static int open_stream(struct output *o, int fd)
{
	struct stat st;

	if (fd < 0)
		return -errno;
	if (isatty(fd)) {
		if (fd != STDOUT_FILENO)
			close(fd);
		return -ENOTTY;
	}
	if (!fstat(fd, &st))
		o->waits = S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode);
	o->fd = fd;
	o->stream = true;
	o->published = true;
	return 0;
}

static int name_temp(struct output *o)
{
	if (asprintf(&o->temp, "%s.%d.tmp", o->name, (int)getpid()) >= 0)
		return 0;
	o->temp = NULL;
	return -ENOMEM;
}

static int open_temp_named(struct output *o)
{
	if (name_temp(o))
		return -ENOMEM;
	o->fd = open(o->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
	if (o->fd < 0) {
		int err = -errno;

		free(o->temp);
		o->temp = NULL;
		return err;
	}
	return 0;
}

static int open_unnamed(struct output *o)
{
	char *copy = strdup(o->name);
	int err;

	if (!copy)
		return -ENOMEM;
	o->fd = open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, FILE_MODE);
	err = o->fd < 0 ? -errno : 0;
	free(copy);
	/* What a kernel or file system without O_TMPFILE says: open(2), ERRORS. */
	if (err == -EOPNOTSUPP || err == -EISDIR || err == -EINVAL)
		return open_temp_named(o);
	return err;
}

int output_open(struct output *ret, const char *name)
{
	struct output o = OUTPUT_INIT;
	struct stat st;
	int err;

	o.name = name;
	if (!strcmp(name, "-")) {
		err = open_stream(&o, STDOUT_FILENO);
	} else if (!stat(name, &st) && !S_ISREG(st.st_mode) && !kcoredir_is(name)) {
		if (S_ISDIR(st.st_mode))
			return -EISDIR;
		err = open_stream(&o, open(name, O_WRONLY | O_CLOEXEC));
	} else {
		err = open_unnamed(&o);
	}
	if (!err)
		*ret = o;
	return err;
}

static int open_in_dir(struct output *o)
{
	char *data;
	int err;

	if (asprintf(&data, "%s/data", o->temp) < 0)
		return -ENOMEM;
	o->fd = open(data, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
	err = o->fd < 0 ? -errno : 0;
	free(data);
	return err;
}

int output_open_dir(struct output *ret, const char *name, bool with_kcore)
{
	struct output o = OUTPUT_INIT;
	struct stat st;
	int err;

	o.name = name;
	o.dir = true;
	if (!stat(name, &st) && !S_ISREG(st.st_mode) && !kcoredir_is(name))
		return S_ISDIR(st.st_mode) ? -EISDIR : -ENOTDIR;
	if (asprintf(&o.temp, "%s.%d.tmp", name, (int)getpid()) < 0)
		return -ENOMEM;
	err = kcoredir_make(o.temp, with_kcore);
	if (err) {
		free(o.temp);
		return err;
	}
	err = open_in_dir(&o);
	if (err)
		output_done(&o);
	else
		*ret = o;
	return err;
}

/* rename(2) replaces a file by a file, and an empty directory by a directory. */
static int make_way(const char *old, bool for_dir)
{
	struct stat st;

	if (lstat(old, &st))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(st.st_mode))
		return kcoredir_is(old) ? kcoredir_remove(old) : -EISDIR;
	return for_dir && unlink(old) ? -errno : 0;
}

/* *ret_moved: there was an earlier file, and it has the other name now. */
static int keep_old(const char *name, bool *ret_moved)
{
	struct stat st;
	char *old;
	int err;

	if (lstat(name, &st))
		return errno == ENOENT ? 0 : -errno;
	if (asprintf(&old, "%s.old", name) < 0)
		return -ENOMEM;
	err = make_way(old, S_ISDIR(st.st_mode));
	if (!err && rename(name, old) && errno != ENOENT)
		err = -errno;
	*ret_moved = !err;
	free(old);
	return err;
}

static int link_unnamed(struct output *o, const char *name)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", o->fd);
	if (linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW))
		return -errno;
	return 0;
}

/* The new file could not take the name: the earlier one has it again. */
static void give_back_old(const char *name)
{
	char *old;

	if (asprintf(&old, "%s.old", name) < 0)
		return;
	(void)renameat2(AT_FDCWD, old, AT_FDCWD, name, RENAME_NOREPLACE);
	free(old);
}

static int rename_to(const struct output *o)
{
	unsigned flags = o->fresh ? RENAME_NOREPLACE : 0;

	return renameat2(AT_FDCWD, o->temp, AT_FDCWD, o->name, flags) ? -errno : 0;
}

int output_publish(struct output *o)
{
	bool moved = false;
	int err;

	if (o->published)
		return 0;
	err = o->fresh ? 0 : keep_old(o->name, &moved);
	if (err)
		return err;
	if (o->temp)
		err = rename_to(o);
	else
		err = link_unnamed(o, o->name);
	o->published = !err;
	if (!err && moved && !o->has_code)
		jitdir_keep_old(o->name);
	else if (moved && err)
		give_back_old(o->name);
	return err;
}

int output_replace(struct output *o)
{
	int err = 0;

	/* linkat(2) replaces nothing, rename(2) does. */
	if (!o->temp) {
		err = name_temp(o);
		if (!err)
			err = link_unnamed(o, o->temp);
		if (err) {
			free(o->temp);
			o->temp = NULL;
			return err;
		}
	}
	if (rename(o->temp, o->name))
		return -errno;
	o->published = true;
	return 0;
}

static void skip_written(struct iovec **v, int *n, size_t done)
{
	while (*n && done >= (*v)->iov_len) {
		done -= (*v)->iov_len;
		++*v;
		--*n;
	}
	if (*n) {
		(*v)->iov_base = (char *)(*v)->iov_base + done;
		(*v)->iov_len -= done;
	}
}

/* A pipe that is writable takes PIPE_BUF bytes without waiting (pipe(7)); with more, a reader
 * that stands still would hold us where no signal is seen. */
static int wait_writable(const struct output *o, bool *stopping)
{
	enum { GRACE_MS = 2000 };

	for (;;) {
		struct pollfd p[2] = { { o->fd, POLLOUT, 0 }, { o->wake_fd, POLLIN, 0 } };
		int n = poll(p, *stopping ? 1 : 2, *stopping ? GRACE_MS : -1);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0 && p[0].revents)
			return 0;
		if (!n)
			return -EINTR;
		if (n > 0 && p[1].revents)
			*stopping = o->stop(o->stop_ctx);
	}
}

static ssize_t write_some(struct output *o, const struct iovec *v, int n)
{
	int err;

	if (!o->waits || o->wake_fd < 0)
		return writev(o->fd, v, n < IOV_MAX ? n : IOV_MAX);
	err = wait_writable(o, &o->stopping);
	if (err) {
		errno = err == -EINTR ? ETIMEDOUT : -err;
		return -1;
	}
	return write(o->fd, v->iov_base, v->iov_len < PIPE_BUF ? v->iov_len : PIPE_BUF);
}

static int sink_append(void *ctx, struct iovec *v, int n)
{
	struct output *o = ctx;

	skip_written(&v, &n, 0);
	while (n) {
		ssize_t k = write_some(o, v, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		o->size += (uint64_t)k;
		skip_written(&v, &n, (size_t)k);
	}
	return 0;
}

static int sink_patch(void *ctx, uint64_t at, const void *p, size_t n)
{
	struct output *o = ctx;
	const char *from = p;
	ssize_t k;

	while (n) {
		k = pwrite(o->fd, from, n, (off_t)at);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		from += k;
		at += (uint64_t)k;
		n -= (size_t)k;
	}
	return 0;
}

static int sink_cut(void *ctx, uint64_t size)
{
	struct output *o = ctx;

	if (ftruncate(o->fd, (off_t)size) || lseek(o->fd, (off_t)size, SEEK_SET) < 0)
		return -errno;
	o->size = size;
	return 0;
}

static int sink_sync(void *ctx)
{
	struct output *o = ctx;

	return fdatasync(o->fd) ? -errno : 0;
}

struct fmt_sink output_sink(struct output *o, bool sync)
{
	return (struct fmt_sink){
		.append = sink_append,
		.patch = o->stream ? NULL : sink_patch,
		.cut = o->stream ? NULL : sink_cut,
		.sync = sync && !o->stream ? sink_sync : NULL,
		.ctx = o,
	};
}

int output_close(struct output *o)
{
	int fd = o->fd;

	o->fd = -1;
	if (fd >= 0 && close(fd))
		return -errno;
	return 0;
}

void output_done(struct output *o)
{
	if (o->fd >= 0)
		(void)close(o->fd);
	if (o->temp && !o->published && o->dir)
		(void)kcoredir_remove(o->temp);
	else if (o->temp && !o->published)
		(void)unlink(o->temp);
	free(o->temp);
	*o = OUTPUT_INIT;
}
