/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/input.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/ptwalk.h"
#include "recorder/log.h"

#define STREAM_MAX (UINT64_C(1) << 40) /* address space set aside for a stream */
#define STREAM_MIN (UINT64_C(16) << 20) /* less is no use */
#define KEEP	   (UINT64_C(16) << 20) /* pages are given back in pieces of this */
#define LOOK	   (UINT64_C(64) << 10) /* bytes in which raw trace must have a PSB */

static void cut_short(int sig)
{
	static const char words[] =
		"auxrec: a file became shorter while it was being read\n";

	(void)sig;
	if (write(STDERR_FILENO, words, sizeof(words) - 1) < 0)
		_exit(1);
	_exit(1);
}

static int map_file(struct input_bytes *ret, int fd, off_t size)
{
	size_t len = (size_t)size;
	void *p;

	p = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	madvise(p, len, MADV_SEQUENTIAL);
	*ret = (struct input_bytes){ .p = p, .len = len, .mapped = len };
	return 0;
}

int input_temporary(void)
{
	const char *dir = getenv("TMPDIR");
	int fd = open(dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		fd = memfd_create("stream", MFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int write_all(int fd, const char *p, size_t n)
{
	ssize_t got;

	for (; n; p += got, n -= (size_t)got) {
		got = write(fd, p, n);
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got < 0)
			got = 0;
	}
	return 0;
}

static int keep(struct input_bytes *b, const char *p, size_t n)
{
	int err = write_all(b->fd, p, n);

	b->full = err;
	return err;
}

/* fmt_reader's `more`: receive until `want` bytes are there. */
static int receive(void *ctx, uint64_t want, uint64_t *len)
{
	struct input_bytes *b = ctx;
	static char buf[1 << 16];
	ssize_t got;
	int err = 0;

	while (!err && !b->ended && b->len < want) {
		got = read(b->from, buf, sizeof(buf));
		if (got < 0)
			err = errno == EINTR ? 0 : -errno;
		else if (!got)
			b->ended = true;
		else if ((uint64_t)got > b->mapped - b->len)
			err = -EFBIG;
		else
			err = keep(b, buf, (size_t)got);
		if (!err && got > 0)
			b->len += (uint64_t)got;
	}
	*len = b->len;
	return err;
}

/* All bytes are there. */
static int open_bytes(struct input *in)
{
	const struct input_bytes *b = &in->bytes;

	if (in->as.kind == INPUT_PT)
		return 0;
	if (in->as.kind == INPUT_RECORDS)
		return fmt_reader_open_bare(&in->r, in->as.sample_type, b->p, b->len);
	return fmt_reader_open(&in->r, b->p, b->len);
}

static int open_stream(struct input *in, int from)
{
	struct input_bytes *b = &in->bytes;
	uint64_t len;
	void *p;
	int err;

	b->fd = input_temporary();
	if (b->fd < 0)
		return b->fd;
	/* A limit on address space (ulimit -v) leaves less for it. */
	for (b->mapped = STREAM_MAX;; b->mapped /= 2) {
		p = mmap(NULL, b->mapped, PROT_READ, MAP_SHARED, b->fd, 0);
		if (p != MAP_FAILED)
			break;
		if (errno != ENOMEM || b->mapped / 2 < STREAM_MIN) {
			b->mapped = 0;
			return -errno;
		}
	}
	b->p = p;
	b->from = from;
	err = receive(b, FMT_PIPE_HEADER_SIZE, &len);
	if (err)
		return err;
	if (len >= FMT_PIPE_HEADER_SIZE && in->as.kind == INPUT_PERF_DATA) {
		if (le_get((const uint8_t *)p + FMT_HDR_SIZE, 8) == FMT_PIPE_HEADER_SIZE)
			return fmt_reader_open_stream(&in->r, p, receive, b);
		/* What is refused whatever follows may never end. What else it could be shows in
		 * its beginning. */
		if (fmt_reader_open(&in->r, p, FMT_PIPE_HEADER_SIZE) != -ENODATA) {
			err = receive(b, LOOK, &len);
			b->ended = true;
		}
	}
	if (!err)
		err = receive(b, UINT64_MAX, &len);
	return err ? err : open_bytes(in);
}

static int open_fd(struct input *in, int fd)
{
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	/* A file on stdin may have been read in part: what is left is ours. */
	if (!S_ISREG(st.st_mode) || lseek(fd, 0, SEEK_CUR))
		return open_stream(in, fd);
	if (st.st_size > 0) {
		err = map_file(&in->bytes, fd, st.st_size);
		if (err)
			return err;
	}
	return open_bytes(in);
}

static int by_number(const void *a, const void *b)
{
	const char *x = strrchr(((const struct input_part *)a)->path, '.');
	const char *y = strrchr(((const struct input_part *)b)->path, '.');
	unsigned long m = strtoul(x + 1, NULL, 10), n = strtoul(y + 1, NULL, 10);

	return m == n ? strcmp(x, y) : m < n ? -1 : 1;
}

/* The last one. */
static void drop_part(struct input *in)
{
	free(in->parts[--in->nr_parts].path);
}

static int open_part(struct input *in, int dir, const char *name)
{
	struct input_part *all, *p;
	struct stat st;
	int fd, err = 0;

	all = realloc(in->parts, (in->nr_parts + 1) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	in->parts = all;
	p = all + in->nr_parts;
	*p = (struct input_part){ 0 };
	if (asprintf(&p->path, "%s/%s", in->dir, name) < 0)
		return -ENOMEM;
	in->nr_parts++;
	fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		drop_part(in);
	else if (st.st_size > 0)
		err = map_file(&p->bytes, fd, st.st_size);
	if (fd >= 0)
		close(fd);
	if (err)
		in->failed = p->path;
	return err;
}

/* The data.N of a directory: perf reads every regular file of such a name. */
static int map_parts(struct input *in, int dir)
{
	DIR *d = fdopendir(dup(dir));
	struct dirent *e;
	int err = 0;

	if (!d)
		return -errno;
	rewinddir(d);
	while (!err && (e = readdir(d)))
		if (!strncmp(e->d_name, "data.", 5) && e->d_name[5])
			err = open_part(in, dir, e->d_name);
	closedir(d);
	if (!err && in->nr_parts)
		qsort(in->parts, in->nr_parts, sizeof(*in->parts), by_number);
	return err;
}

static void release(struct input_bytes *b)
{
	if (b->mapped)
		munmap((void *)(uintptr_t)b->p, b->mapped);
	if (b->fd > 0)
		close(b->fd);
	*b = (struct input_bytes){ 0 };
}

static void part_done(struct input_part *p)
{
	fmt_reader_done(&p->r);
	release(&p->bytes);
	free(p->path);
}

static bool is_whole(const struct input_bytes *b)
{
	uint64_t magic = b->len < 8 ? 0 : le_get64(b->p);

	return magic == FMT_MAGIC || magic == FMT_MAGIC_V1 || magic == FMT_MAGIC_SWAPPED;
}

/* What only has the name of one: a perf.data file of its own. */
static void drop_whole(struct input *in)
{
	size_t n = 0;

	for (size_t i = 0; i < in->nr_parts; i++) {
		if (is_whole(&in->parts[i].bytes))
			part_done(&in->parts[i]);
		else
			in->parts[n++] = in->parts[i];
	}
	in->nr_parts = n;
}

/* Where `data` says that there are any. A recorder that was killed never said so. */
static int open_parts(struct input *in, int dir)
{
	const uint8_t *p;
	uint64_t len;
	bool told = !fmt_reader_feature(&in->r, FMT_FEAT_DIR_FORMAT, &p, &len);
	int err;

	if (!told && (in->r.finished || in->r.pipe))
		return 0;
	err = map_parts(in, dir);
	if (!told)
		drop_whole(in);
	for (size_t i = 0; !err && i < in->nr_parts; i++)
		err = fmt_reader_open_part(&in->parts[i].r, &in->r, in->parts[i].bytes.p,
					   in->parts[i].bytes.len);
	return err;
}

static int open_dir(struct input *in, int dir)
{
	struct stat st;
	int fd, err;

	in->dir = strdup(in->path);
	if (!in->dir)
		return -ENOMEM;
	for (size_t n = strlen(in->dir); n > 1 && in->dir[n - 1] == '/'; n--)
		in->dir[n - 1] = '\0';
	if (asprintf(&in->data, "%s/data", in->dir) < 0) {
		in->data = NULL;
		return -ENOMEM;
	}
	/* A fifo in it would be waited for. */
	fd = openat(dir, "data", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		in->failed = errno == ENOENT ? NULL : in->data;
		return errno == ENOENT ? -EISDIR : -errno;
	}
	if (fstat(fd, &st))
		err = -errno;
	else
		err = S_ISREG(st.st_mode) ? open_fd(in, fd) : -EISDIR;
	close(fd);
	if (err && err != -EISDIR)
		in->failed = in->data;
	return err ? err : open_parts(in, dir);
}

int input_as(void *target, const char *arg)
{
	static const char records[] = "records,sample_type=";
	struct input_as as = { 0 };
	const char *number = arg + sizeof(records) - 1;
	char *end;

	if (!strcmp(arg, "pt")) {
		as.kind = INPUT_PT;
	} else if (!strcmp(arg, "records")) {
		as.kind = INPUT_RECORDS;
	} else if (!strncmp(arg, records, sizeof(records) - 1) &&
		   isdigit((unsigned char)*number)) {
		as.kind = INPUT_RECORDS;
		errno = 0;
		as.sample_type = strtoull(number, &end, 0);
		if (errno || *end)
			as.kind = INPUT_PERF_DATA;
	}
	if (as.kind == INPUT_PERF_DATA) {
		log_err(0, "'%s' is neither 'pt' nor 'records[,sample_type=0xN]'", arg);
		return -EINVAL;
	}
	*(struct input_as *)target = as;
	return 0;
}

int input_open(struct input *ret, const char *path)
{
	return input_open_as(ret, path, (struct input_as){ 0 });
}

int input_open_as(struct input *ret, const char *path, struct input_as as)
{
	struct stat st;
	int fd, err;

	*ret = (struct input){ .path = path, .as = as };
	signal(SIGBUS, cut_short);
	signal(SIGXFSZ, SIG_IGN); /* EFBIG says it, and nothing is left behind */
	if (!strcmp(path, "-"))
		return open_fd(ret, STDIN_FILENO);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISDIR(st.st_mode)) {
		err = as.kind == INPUT_PERF_DATA ? open_dir(ret, fd) : -EISDIR;
	} else {
		err = open_fd(ret, fd);
		/* A fifo by name: its descriptor is still needed. */
		if (ret->bytes.fd && !err)
			return 0;
	}
	close(fd);
	return err;
}

int input_find_parts(struct input *in)
{
	int dir = open(in->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;

	if (dir < 0)
		return -errno;
	if (!in->nr_parts)
		err = map_parts(in, dir);
	close(dir);
	drop_whole(in);
	return err;
}

void input_done(struct input *in)
{
	for (size_t i = 0; i < in->nr_parts; i++)
		part_done(&in->parts[i]);
	free(in->parts);
	fmt_reader_done(&in->r);
	release(&in->bytes);
	free(in->data);
	free(in->dir);
	*in = (struct input){ 0 };
}

const char *input_path_of(const struct input *in, const struct fmt_reader *r)
{
	for (size_t i = 0; i < in->nr_parts; i++)
		if (r == &in->parts[i].r)
			return in->parts[i].path;
	return in->data ? in->data : in->path;
}

bool input_looks_pt(const struct input *in)
{
	const struct input_bytes *b = &in->bytes;
	size_t at;

	if (in->as.kind != INPUT_PERF_DATA || in->r.bad_at || !in->r.bad_what)
		return false;
	return fmt_pt_find_psb(b->p, b->len < LOOK ? b->len : LOOK, &at);
}

int input_cannot(const struct input *in, int err)
{
	if (err == -EISDIR && in->dir)
		return log_err(0, "'%s' is no recording: it has no file 'data'", in->path), err;
	log_err(err, "cannot %s '%s'", in->bytes.full ? "keep what comes from" : "read",
		in->failed ? in->failed : in->path);
	if (in->bytes.full)
		log_hint("it goes to a file without a name in %s: TMPDIR names another directory",
			 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	return err;
}

int input_say(const struct input *in, int err)
{
	const struct fmt_reader *r = &in->r;

	for (size_t i = 0; !r->bad_what && i < in->nr_parts; i++)
		r = &in->parts[i].r;
	if (!r->bad_what)
		return input_cannot(in, err);
	log_err(0, "'%s' at byte %" PRIu64 " (0x%" PRIx64 "): expected %s",
		input_path_of(in, r), r->bad_at, r->bad_at, r->bad_what);
	return err;
}

/* Pages before `at` are read no more by this walk, unless something points there: then
 * they come back from the file. */
static void give_back(struct input *in, const struct input_bytes *b, uint64_t at)
{
	uint64_t to = at & ~(KEEP - 1);

	if (!b->mapped || to <= in->kept)
		return;
	madvise((char *)(uintptr_t)b->p + in->kept, to - in->kept, MADV_DONTNEED);
	in->kept = to;
}

void input_passed(struct input *in, uint64_t at)
{
	if (at < in->kept)
		in->kept = 0; /* another walk */
	give_back(in, &in->bytes, at);
}

int input_receive(struct input *in)
{
	uint64_t len;

	return in->bytes.fd ? receive(&in->bytes, UINT64_MAX, &len) : 0;
}

int input_next(struct input *in, struct fmt_rec *rec, struct fmt_reader **from)
{
	const struct input_bytes *b;
	struct fmt_reader *r;
	int got;

	for (; in->part <= in->nr_parts; in->part++, in->kept = 0) {
		r = in->part ? &in->parts[in->part - 1].r : &in->r;
		b = in->part ? &in->parts[in->part - 1].bytes : &in->bytes;
		*from = r;
		got = fmt_reader_next(r, rec);
		if (got > 0) {
			give_back(in, b, rec->at);
			return got;
		}
		if (got < 0) {
			in->part++;
			in->kept = 0;
			return got;
		}
	}
	return 0;
}

void input_rewind(struct input *in)
{
	in->part = 0;
	in->kept = 0;
	fmt_reader_rewind(&in->r);
	for (size_t i = 0; i < in->nr_parts; i++)
		fmt_reader_rewind(&in->parts[i].r);
}

uint64_t input_size(const struct input *in)
{
	uint64_t n = in->bytes.len;

	for (size_t i = 0; i < in->nr_parts; i++)
		n += in->parts[i].bytes.len;
	return n;
}
