/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands, one file each. To add one: a row in main.c, cmd_NAME.c with its option table
 * (recorder/opts.h), man/auxrec-NAME.1; tests/e2e/t-help.sh fails when --help and the page
 * disagree, or when the page is missing.
 */
#ifndef RECORDER_CMD_H
#define RECORDER_CMD_H

/* Exit statuses of every command. */
enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,     /* failed, or damaged input */
	EXIT_USAGE = 2,	     /* the command line is wrong */
	EXIT_CANNOT = 3,     /* this machine or user cannot: no PMU, no permission, a limit */
	EXIT_WITH_LOSSES = 4 /* done, but records or trace bytes are missing */
};

/* argv[0] is the command's name. Each returns an exit status. */
int cmd_record(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_ctl(int argc, char **argv);
int cmd_recover(int argc, char **argv);

#endif
