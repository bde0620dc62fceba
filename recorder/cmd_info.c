/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/cmd.h"
#include "recorder/info.h"
#include "recorder/log.h"
#include "recorder/opts.h"

/* A file's bytes, mapped where that is possible and read where it is not. */
struct bytes {
	void *p;
	size_t len;
	bool mapped;
};

static int map(struct bytes *ret, int fd, off_t size)
{
	size_t len = (size_t)size;
	void *p;

	p = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	madvise(p, len, MADV_SEQUENTIAL);
	*ret = (struct bytes){ .p = p, .len = len, .mapped = true };
	return 0;
}

static int slurp(struct bytes *ret, int fd)
{
	size_t cap = 0, len = 0;
	char *p = NULL, *more;
	ssize_t got;

	for (;;) {
		if (len == cap) {
			cap = cap ? 2 * cap : 1 << 16;
			more = realloc(p, cap);
			if (!more) {
				free(p);
				return -ENOMEM;
			}
			p = more;
		}
		got = read(fd, p + len, cap - len);
		if (got < 0 && errno != EINTR) {
			got = -errno;
			free(p);
			return (int)got;
		}
		if (!got)
			break;
		if (got > 0)
			len += (size_t)got;
	}
	*ret = (struct bytes){ .p = p, .len = len };
	return 0;
}

static int load_fd(struct bytes *ret, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	/* A file on stdin may have been read in part: what is left is ours. */
	if (S_ISREG(st.st_mode) && st.st_size > 0 && !lseek(fd, 0, SEEK_CUR))
		return map(ret, fd, st.st_size);
	return slurp(ret, fd);
}

/* A recording may be a directory (recorder/kcoredir.h). */
static int open_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), data;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISDIR(st.st_mode))
		return fd;
	data = openat(fd, "data", O_RDONLY | O_CLOEXEC);
	data = data >= 0 ? data : errno == ENOENT ? -EISDIR : -errno;
	close(fd);
	return data;
}

static int load(struct bytes *ret, const char *path)
{
	int fd = STDIN_FILENO, err;

	if (strcmp(path, "-")) {
		fd = open_path(path);
		if (fd < 0)
			return fd;
	}
	err = load_fd(ret, fd);
	if (fd != STDIN_FILENO)
		close(fd);
	return err;
}

static void unload(struct bytes *b)
{
	if (b->mapped)
		munmap(b->p, b->len);
	else
		free(b->p);
}

static void report(const struct info_file *f)
{
	const struct info *i = f->i;

	for (size_t k = 0; k < i->nr_faults && k < INFO_FAULTS_MAX; k++)
		log_err(0, "'%s' at byte %" PRIu64 " (0x%" PRIx64 "): expected %s",
			f->path, i->faults[k].at, i->faults[k].at,
			i->faults[k].expected);
	if (i->nr_faults > INFO_FAULTS_MAX)
		log_err(0, "'%s' has %zu more faults", f->path,
			i->nr_faults - INFO_FAULTS_MAX);
}

static int show(const struct info_file *f, bool json)
{
	int err = json ? info_print_json(f) : info_print_text(f);

	if (err)
		return log_err(err, "cannot print what is in '%s'", f->path);
	report(f);
	return f->i->nr_faults ? -EBADMSG : 0;
}

/* A fault of the header leaves nothing to gather; it is shown like any other. */
static int inspect(const struct bytes *b, const char *path, bool json)
{
	struct fmt_reader r;
	struct info i = { 0 };
	struct info_file f = { .path = path, .bytes = b->len, .r = &r, .i = &i };
	int err = fmt_reader_open(&r, b->p, b->len);

	if (err && err != -ENOMEM) {
		info_fault(&i, r.bad_at, "%s", r.bad_what);
		err = 0;
	} else if (!err) {
		err = info_fold(&i, &r);
		if (!err)
			info_check_features(&i, &r);
	}
	if (err)
		log_err(err, "cannot read '%s'", path);
	else
		err = show(&f, json);
	info_done(&i);
	fmt_reader_done(&r);
	return err;
}

int cmd_info(int argc, char **argv)
{
	bool json = false;
	const struct opt opt[] = {
		{ 0, "json", NULL, OPT_FLAG, &json, NULL, "print one JSON object" },
	};
	const struct opts o = {
		.cmd = "info",
		.synopsis = "[--json] FILE",
		.about = "Say what a perf.data file (or directory) holds; \"-\" is standard input.",
		.opt = opt,
		.n = sizeof(opt) / sizeof(*opt),
	};
	struct bytes b = { 0 };
	int at, err;

	at = opts_parse(&o, argc, argv);
	if (at == OPTS_HELP)
		return EXIT_OK;
	if (at >= 0 && argc - at != 1)
		opts_usage(&o);
	if (at < 0 || argc - at != 1)
		return EXIT_USAGE;
	err = load(&b, argv[at]);
	if (err) {
		log_err(err, "cannot read '%s'", argv[at]);
		return EXIT_FAILED;
	}
	err = inspect(&b, argv[at], json);
	unload(&b);
	return err ? EXIT_FAILED : EXIT_OK;
}
