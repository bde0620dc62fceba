/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "recorder/cmd.h"
#include "recorder/log.h"

static const struct cmd {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *about;
} commands[] = {
	{ "record", cmd_record, "record AUX trace and context switches into perf.data" },
	{ "ctl", cmd_ctl, "ask a running recording for something: status, pause, snapshot" },
	{ "list", cmd_list, "show what this machine and this user can record" },
	{ "info", cmd_info, "say what a perf.data file holds" },
	{ "recover", cmd_recover, "make a finished file of what is whole in a damaged one" },
	{ "dump", cmd_dump, "print every record of a perf.data file, or every packet" },
	{ "check", cmd_check, "judge whether a perf.data file is sound" },
	{ "export", cmd_export, "turn a recording into what other decoders take" },
};
enum { NR_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void usage(FILE *f)
{
	fputs("usage: auxrec COMMAND [options]\n\n", f);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(f, "  %-8s %s\n", commands[i].name, commands[i].about);
	fputs("\nauxrec COMMAND --help lists the options of a command; auxrec --version\n", f);
}

/* Where stdin, stdout or stderr is closed, the next file that is opened would take its place,
 * and messages would go into the recording. What stands there instead fails as before. */
static int fill_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return -errno;
	return 0;
}

/* A write error may show only now: a full disk must not look like success. */
static int close_stdout(int status)
{
	if (fflush(stdout) || ferror(stdout)) {
		log_err(0, "cannot write to standard output");
		return status ? status : EXIT_FAILED;
	}
	return status;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";

	if (fill_standard())
		return EXIT_FAILED;
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(word, commands[i].name))
			return close_stdout(commands[i].run(argc - 1, argv + 1));
	if (!strcmp(word, "--version")) {
		puts("auxrec " AUXREC_VERSION);
		return close_stdout(EXIT_OK);
	}
	if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
		usage(stdout);
		return close_stdout(EXIT_OK);
	}
	if (*word)
		log_err(0, "unknown command '%s'", word);
	else
		log_err(0, "no command is named");
	usage(stderr);
	return EXIT_USAGE;
}
