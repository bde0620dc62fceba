/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/export/outset.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	BUFFER = 64 << 10,
	COPY = 1 << 30, /* bytes per copy_file_range(2) */
};

static const int deadly[] = { SIGINT, SIGTERM, SIGHUP };
enum { NR_DEADLY = sizeof(deadly) / sizeof(*deadly) };

static struct outset *volatile live; /* for the handler below */

/* "12" */
static void number_name(unsigned n, char ret[16])
{
	char digits[16];
	size_t len = 0;

	do {
		digits[len++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while (len)
		*ret++ = digits[--len];
	*ret = '\0';
}

/* Nothing but calls that signal-safety(7) allows. */
static void die(int sig)
{
	char name[16];

	if (live) {
		for (size_t i = 0; i <= live->nr; i++) {
			number_name((unsigned)i, name);
			unlinkat(live->dir, name, 0);
		}
		rmdir(live->temp);
	}
	raise(sig); /* the handler is gone, so this ends us */
}

static void catch_signals(void)
{
	struct sigaction a = { .sa_handler = die, .sa_flags = (int)SA_RESETHAND }, was;

	sigemptyset(&a.sa_mask);
	for (size_t i = 0; i < NR_DEADLY; i++)
		if (!sigaction(deadly[i], NULL, &was) && was.sa_handler != SIG_IGN)
			sigaction(deadly[i], &a, NULL);
	signal(SIGXFSZ, SIG_IGN); /* EFBIG tells as much */
}

static void hold_signals(sigset_t *was)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < NR_DEADLY; i++)
		sigaddset(&set, deadly[i]);
	sigprocmask(SIG_BLOCK, &set, was);
}

static char *path_of(const struct outset *s, const char *suffix)
{
	char *p;

	return asprintf(&p, "%s%s", s->base, suffix) < 0 ? NULL : p;
}

int outset_open(struct outset *ret, const char *base, bool force)
{
	struct outset s = { .base = base, .force = force, .dir = -1 };
	char suffix[32];
	int err;

	snprintf(suffix, sizeof(suffix), ".%ld.tmp", (long)getpid());
	s.temp = path_of(&s, suffix);
	if (!s.temp)
		return -ENOMEM;
	if (mkdir(s.temp, 0700)) {
		err = -errno;
		free(s.temp);
		return err;
	}
	s.dir = open(s.temp, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s.dir < 0) {
		err = -errno;
		rmdir(s.temp);
		free(s.temp);
		return err;
	}
	*ret = s;
	live = ret;
	catch_signals();
	return 0;
}

bool outset_taken(const struct outset *s, const char *suffix)
{
	char *path = s->force ? NULL : path_of(s, suffix);
	bool there = path && !faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW);

	free(path);
	return there;
}

static int write_all(struct outfile *f, const uint8_t *p, size_t len)
{
	ssize_t n;

	for (; len; p += n, len -= (size_t)n) {
		n = write(f->fd, p, len);
		if (n < 0 && errno != EINTR) {
			f->set->failed = f;
			return -errno;
		}
		if (n < 0)
			n = 0;
	}
	return 0;
}

static int flush(struct outfile *f)
{
	size_t n = f->held;

	f->held = 0;
	return write_all(f, f->buf, n);
}

static void forget_open(struct outfile *f)
{
	struct outset *s = f->set;
	size_t i = 0;

	while (s->open[i] != f)
		i++;
	s->open[i] = s->open[--s->nr_open];
	f->fd = -1;
	free(f->buf);
	f->buf = NULL;
	f->held = 0;
}

static int rest(struct outfile *f)
{
	int err = flush(f);

	if (close(f->fd) && !err) {
		err = -errno;
		f->set->failed = f;
	}
	forget_open(f);
	return err;
}

static int rest_oldest(struct outset *s)
{
	struct outfile *oldest = s->open[0];

	for (size_t i = 1; i < s->nr_open; i++)
		if (s->open[i]->used < oldest->used)
			oldest = s->open[i];
	return rest(oldest);
}

static int awake(struct outfile *f)
{
	struct outset *s = f->set;
	char name[16];
	int err = 0;

	f->used = ++s->calls;
	if (f->fd >= 0)
		return 0;
	if (s->nr_open == OUTSET_OPEN_MAX)
		err = rest_oldest(s);
	if (err)
		return err;
	s->failed = f;
	number_name(f->number, name);
	f->buf = malloc(BUFFER);
	if (!f->buf)
		return -ENOMEM;
	f->fd = openat(s->dir, name, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (f->fd < 0) {
		err = -errno;
		free(f->buf);
		f->buf = NULL;
		return err;
	}
	s->failed = NULL;
	s->open[s->nr_open++] = f;
	return 0;
}

static int enter(struct outset *s, struct outfile *f)
{
	struct outfile **all;

	if (!(s->nr & (s->nr - 1))) { /* full at every power of two */
		all = realloc(s->files, (s->nr ? 2 * s->nr : 1) * sizeof(*all));
		if (!all)
			return -ENOMEM;
		s->files = all;
	}
	s->files[s->nr] = f;
	f->number = (unsigned)s->nr;
	s->nr++;
	return 0;
}

static void release(struct outfile *f)
{
	char name[16];

	if (f->fd >= 0) {
		close(f->fd);
		forget_open(f);
	}
	number_name(f->number, name);
	if (!f->published)
		unlinkat(f->set->dir, name, 0);
	free(f->name);
	free(f);
}

void outset_drop_last(struct outset *s)
{
	struct outfile *f = s->files[--s->nr];

	if (s->failed == f)
		s->failed = NULL;
	release(f);
}

int outset_add(struct outset *s, struct outfile **ret, const char *suffix)
{
	struct outfile *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->set = s;
	f->fd = -1;
	f->name = path_of(s, suffix);
	if (!f->name || enter(s, f)) {
		free(f->name);
		free(f);
		return -ENOMEM;
	}
	s->failed = f;
	err = outset_taken(s, suffix) ? -EEXIST : awake(f);
	if (err)
		return err;
	*ret = f;
	return 0;
}

int outfile_write(struct outfile *f, const void *p, size_t n)
{
	int err = awake(f);

	f->size += n;
	if (!err && n > BUFFER - f->held)
		err = flush(f);
	if (err)
		return err;
	if (n > BUFFER)
		return write_all(f, p, n);
	memcpy(f->buf + f->held, p, n);
	f->held += n;
	return 0;
}

int outfile_print(struct outfile *f, const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n, err;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	err = outfile_write(f, s, (size_t)n);
	free(s);
	return err;
}

/* By way of our own memory, where the kernel does not copy from one file to the other. */
static int copy_through(struct outfile *f, int fd, off_t at, bool *ret_read)
{
	uint8_t *buf = malloc(BUFFER);
	ssize_t n;
	int err = 0;

	if (!buf)
		return -ENOMEM;
	while (!err) {
		n = pread(fd, buf, BUFFER, at);
		if (n < 0 && errno != EINTR) {
			err = -errno;
			*ret_read = true;
		}
		if (!n)
			break;
		if (n < 0)
			continue;
		err = outfile_write(f, buf, (size_t)n);
		at += n;
	}
	free(buf);
	return err;
}

int outfile_copy(struct outfile *f, int fd, bool *ret_read)
{
	off_t at = 0;
	ssize_t n;
	int err = awake(f);

	*ret_read = false;
	if (!err)
		err = flush(f);
	if (err)
		return err;
	/* copy_file_range(2) takes no O_APPEND. */
	if (!fcntl(f->fd, F_SETFL, 0) && lseek(f->fd, 0, SEEK_END) >= 0) {
		do {
			n = copy_file_range(fd, &at, f->fd, NULL, COPY, 0);
			if (n > 0)
				f->size += (uint64_t)n;
		} while (n > 0);
		fcntl(f->fd, F_SETFL, O_APPEND);
	}
	return copy_through(f, fd, at, ret_read);
}

int outfile_map(struct outfile *f, const uint8_t **ret)
{
	int err = awake(f);
	void *p;

	if (!err)
		err = flush(f);
	if (err)
		return err;
	p = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, f->fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	*ret = p;
	return 0;
}

int outfile_restart(struct outfile *f)
{
	char name[16];
	int err = awake(f);

	if (!err)
		err = rest(f);
	number_name(f->number, name);
	/* A new file: a mapping of the old one stays whole. */
	if (!err && unlinkat(f->set->dir, name, 0))
		err = -errno;
	f->size = 0;
	return err ? err : awake(f);
}

/* ---- giving names ---- */

static int note_made(struct outset *s, const char *path)
{
	char **all = realloc(s->made, (s->nr_made + 1) * sizeof(*all));

	if (!all)
		return -ENOMEM;
	s->made = all;
	all[s->nr_made] = strdup(path);
	if (!all[s->nr_made])
		return -ENOMEM;
	s->nr_made++;
	return 0;
}

/* The directories behind BASE that a file lies in. */
static int make_dirs(struct outset *s, char *path)
{
	char *at = path + strlen(s->base);
	int err = 0;

	while (!err && (at = strchr(at, '/'))) {
		*at = '\0';
		if (!mkdir(path, 0700))
			err = note_made(s, path);
		else if (errno != EEXIST)
			err = -errno;
		*at++ = '/';
	}
	return err;
}

static int publish(struct outset *s, struct outfile *f)
{
	char name[16];
	int err = f->fd >= 0 ? rest(f) : 0;

	s->failed = f;
	if (!err)
		err = make_dirs(s, f->name);
	if (err)
		return err;
	number_name(f->number, name);
	if (renameat2(s->dir, name, AT_FDCWD, f->name, s->force ? 0 : RENAME_NOREPLACE)) {
		/* Not every file system knows RENAME_NOREPLACE. */
		if (s->force || errno != EINVAL)
			return -errno;
		if (renameat(s->dir, name, AT_FDCWD, f->name))
			return -errno;
	}
	f->published = true;
	return 0;
}

static void withdraw(struct outset *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->files[i]->published)
			unlink(s->files[i]->name);
	for (size_t i = s->nr_made; i--;)
		rmdir(s->made[i]);
}

int outset_commit(struct outset *s)
{
	sigset_t was;
	int err = 0;

	hold_signals(&was);
	for (size_t i = 0; !err && i < s->nr; i++)
		err = publish(s, s->files[i]);
	if (err)
		withdraw(s);
	else
		s->failed = NULL;
	sigprocmask(SIG_SETMASK, &was, NULL);
	return err;
}

void outset_done(struct outset *s)
{
	if (live == s)
		live = NULL;
	while (s->nr)
		outset_drop_last(s);
	free(s->files);
	while (s->nr_made)
		free(s->made[--s->nr_made]);
	free(s->made);
	if (s->dir >= 0)
		close(s->dir);
	if (s->temp)
		rmdir(s->temp);
	free(s->temp);
	*s = (struct outset){ .dir = -1 };
}
