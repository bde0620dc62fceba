/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes at all as the file that a reading command is given: it ends with one of its exit
 * statuses, and with words when it failed. What
 * recover makes of it is whole. With FUZZ_ONE in the environment an input goes through one
 * of the commands, which one depends on its bytes.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/reader.h"
#include "recorder/cmd.h"
#include "tests/fuzz/fuzz.h"

static const struct run {
	int (*cmd)(int argc, char **argv);
	bool finds; /* its words are on stdout: they are what was asked for */
	const char *words[2]; /* one or the other, by the bytes of the input */
} runs[] = {
	{ cmd_info, false, { "info", "info --json" } },
	{ cmd_dump, false, { "dump", "dump --json" } },
	{ cmd_dump, false, { "dump --packets", "dump --packets --json" } },
	{ cmd_check, true, { "check", "check --json" } },
};
static const struct run recover = {
	cmd_recover, false, { "recover -o recovered", "recover --json -o recovered" },
};
static const struct run again = { cmd_recover, true, { "recover", "recover" } };

/* Instead of libc's: no power fails here, and waiting for a disk would take all the time. */
int fdatasync(int fd)
{
	return fd < 0 ? -1 : 0;
}

static int file, words, nothing, out, err;
static char path[40];

static void prepare(void)
{
	if (nothing)
		return;
	file = memfd_create("input", 0);
	words = memfd_create("words", 0);
	nothing = open("/dev/null", O_WRONLY);
	out = dup(1);
	err = dup(2);
	expect(file >= 0 && words >= 0 && nothing >= 0 && out >= 0 && err >= 0);
#ifdef __SANITIZE_ADDRESS__
	__sanitizer_set_report_fd((void *)(intptr_t)err);
#endif
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
}

static int run(const struct run *r, bool odd, char *input)
{
	char line[80], *argv[12] = { NULL }, *rest = NULL;
	int argc = 0, status;

	snprintf(line, sizeof(line), "%s", r->words[odd]);
	for (char *w = strtok_r(line, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
		argv[argc++] = w;
	argv[argc++] = input;
	fflush(stdout);
	expect(dup2(r->finds ? words : nothing, 1) == 1 && dup2(words, 2) == 2);
	status = r->cmd(argc, argv);
	fflush(stdout);
	expect(dup2(out, 1) == 1 && dup2(err, 2) == 2);
	expect(status == EXIT_OK || status == EXIT_FAILED || status == EXIT_CANNOT ||
	       status == EXIT_WITH_LOSSES);
	return status;
}

/* Something was said; forgets it. */
static bool said(void)
{
	struct stat st;

	expect(!fstat(words, &st) && !ftruncate(words, 0));
	lseek(words, 0, SEEK_SET);
	return st.st_size > 0;
}

static void show_words(void)
{
	char buf[4096];
	ssize_t n = pread(words, buf, sizeof(buf), 0);

	if (n > 0 && write(2, buf, (size_t)n) < 0)
		abort();
}

/* A file can be read from its first byte to its last. */
static void expect_whole(const char *name)
{
	int fd = open(name, O_RDONLY);
	struct fmt_reader r;
	struct fmt_rec rec;
	struct stat st;
	uint8_t *p;
	int got;

	expect(fd >= 0 && !fstat(fd, &st));
	p = malloc((size_t)st.st_size + 1);
	expect(p && read(fd, p, (size_t)st.st_size) == st.st_size);
	close(fd);
	expect(!fmt_reader_open(&r, p, (uint64_t)st.st_size));
	expect(!r.pipe && r.version == 2);
	while ((got = fmt_reader_next(&r, &rec)) > 0)
		expect(!rec.inflated);
	expect(!got && !r.bad_what && r.at == r.data_end);
	fmt_reader_done(&r);
	free(p);
}

/* What recover writes is whole, and for recover itself there is nothing left to do. */
static void recovered(bool odd)
{
	static char name[] = "recovered";
	int status = run(&recover, odd, path);

	expect(said() || status == EXIT_OK || status == EXIT_WITH_LOSSES);
	if (access(name, F_OK))
		return;
	expect(status != EXIT_FAILED);
	expect_whole(name);
	status = run(&again, odd, name);
	if (status == EXIT_FAILED || !access("recovered.recovered", F_OK))
		show_words();
	expect(status != EXIT_FAILED && access("recovered.recovered", F_OK));
	said();
	expect(!unlink(name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { RUNS = sizeof(runs) / sizeof(*runs) };
	uint64_t sum = fuzz_sum(0, data, size);
	bool odd = sum & 1, all = !getenv("FUZZ_ONE");
	int status;

	prepare();
	expect(!ftruncate(file, 0));
	expect(pwrite(file, data, size, 0) == (ssize_t)size);
	for (size_t i = 0; i < RUNS; i++) {
		if (!all && sum / 2 % (RUNS + 1) != i)
			continue;
		status = run(runs + i, odd, path);
		expect(said() || status == EXIT_OK || status == EXIT_WITH_LOSSES);
	}
	if (all || sum / 2 % (RUNS + 1) == RUNS)
		recovered(odd);
	return 0;
}
