/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes at all as the file that a reading command is given: it ends with one of its exit
 * statuses, and with words when it failed.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/cmd.h"
#include "tests/fuzz/fuzz.h"

static const struct run {
	int (*cmd)(int argc, char **argv);
	bool finds; /* its words are on stdout: they are what was asked for */
	const char *words[2]; /* one or the other, by the bytes of the input */
} runs[] = {
	{ cmd_info, false, { "info", "info --json" } },
	{ cmd_check, true, { "check", "check --json" } },
};

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

static int run(const struct run *r, bool odd)
{
	char line[80], *argv[12] = { NULL }, *rest = NULL;
	int argc = 0, status;

	snprintf(line, sizeof(line), "%s", r->words[odd]);
	for (char *w = strtok_r(line, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
		argv[argc++] = w;
	argv[argc++] = path;
	fflush(stdout);
	expect(dup2(r->finds ? words : nothing, 1) == 1 && dup2(words, 2) == 2);
	status = r->cmd(argc, argv);
	fflush(stdout);
	expect(dup2(out, 1) == 1 && dup2(err, 2) == 2);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool odd = fuzz_sum(0, data, size) & 1;
	int status;

	prepare();
	expect(!ftruncate(file, 0));
	expect(pwrite(file, data, size, 0) == (ssize_t)size);
	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		status = run(runs + i, odd);
		expect(status == EXIT_OK || status == EXIT_FAILED ||
		       status == EXIT_WITH_LOSSES);
		expect(said() || status != EXIT_FAILED);
	}
	return 0;
}
