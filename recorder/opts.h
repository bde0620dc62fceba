/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options as data: one table per command drives parsing (getopt_long), --help, and the test
 * that holds --help against the manual page.
 */
#ifndef RECORDER_OPTS_H
#define RECORDER_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opt_kind {
	OPT_FLAG,  /* bool *: true */
	OPT_COUNT, /* int *: one more each time */
	OPT_STR,   /* const char **: the argument, last one wins */
	OPT_U64,   /* uint64_t *: a decimal number */
	OPT_SIZE,  /* uint64_t *: bytes, with B K M G (powers of 1024) */
	OPT_LIMIT,	/* as OPT_U64, but not 0 */
	OPT_SIZE_LIMIT, /* as OPT_SIZE, the same */
	OPT_CALL,  /* whatever: `call` takes it */
};

struct opt {
	char letter;	  /* 0: long form only */
	const char *name; /* long form, without dashes; NULL: letter only */
	const char *arg;  /* name of the argument in help, or NULL; "[NAME]": may be left out */
	enum opt_kind kind;
	void *target;
	int (*call)(void *target, const char *arg); /* OPT_CALL: 0, or -EINVAL after a message */
	const char *help;
};

/* What stands behind the options. */
enum opts_operands {
	OPTS_ANY, /* the command looks itself */
	OPTS_NONE,
	OPTS_FILE, /* one, called FILE in the synopsis */
};

struct opts {
	const char *cmd;      /* "record" */
	const char *synopsis; /* "[options] [-- command [args]]" */
	const char *about;    /* one line */
	const struct opt *opt;
	size_t n;
	enum opts_operands operands;
	bool anywhere; /* options may stand behind operands, too */
};

enum { OPTS_BAD = -1, OPTS_HELP = -2 };

/* Parses argv (argv[0] is the command). Returns the index of the first operand, or OPTS_BAD
 * after a message on stderr (the caller exits with EXIT_USAGE), or OPTS_HELP after --help was
 * printed on stdout (EXIT_OK). Parsing stops at the first operand (unless `anywhere`, which
 * moves operands in argv behind the options) or at "--". */
int opts_parse(const struct opts *o, int argc, char **argv);
/* The command line is wrong: "CMD: " and what is, then "usage: auxrec CMD SYNOPSIS" and a
 * pointer to --help, on stderr. Returns OPTS_BAD. */
__attribute__((format(printf, 2, 3))) int opts_wrong(const struct opts *o, const char *fmt,
						     ...);
/* "64K" -> 65536; 0 or -EINVAL. */
int opts_size(uint64_t *ret, const char *s);

#endif
