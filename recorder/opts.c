/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/opts.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/line.h"
#include "recorder/log.h"

enum { LONG_BASE = 256, HELP = 'h', MAX_OPTS = 64, HELP_COLUMN = 30 };

int opts_size(uint64_t *ret, const char *s)
{
	static const char units[] = "BKMG";
	const char *unit;
	uint64_t v;
	char *end;

	if (!isdigit((unsigned char)*s))
		return -EINVAL;
	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno)
		return -EINVAL;
	if (*end) {
		unit = strchr(units, toupper((unsigned char)*end));
		if (!unit || end[1])
			return -EINVAL;
		if (__builtin_mul_overflow(v, 1ull << (10 * (unit - units)), &v))
			return -EINVAL;
	}
	*ret = v;
	return 0;
}

int opts_wrong(const struct opts *o, const char *fmt, ...)
{
	struct line what = { 0 };
	va_list ap;

	va_start(ap, fmt);
	line_vadd(&what, fmt, ap);
	va_end(ap);
	log_err(0, "%s: %s", o->cmd, what.s);
	fprintf(stderr, "usage: auxrec %s %s\n", o->cmd, o->synopsis);
	fprintf(stderr, "       auxrec %s --help lists the options\n", o->cmd);
	return OPTS_BAD;
}

/* As struct option and getopt(3) count: 0 none, 1 needed, 2 optional. */
static int has_arg(const struct opt *p)
{
	if (!p->arg)
		return no_argument;
	return *p->arg == '[' ? optional_argument : required_argument;
}

static void print_help(const struct opts *o)
{
	printf("usage: auxrec %s %s\n\n%s\n\n", o->cmd, o->synopsis, o->about);
	for (size_t i = 0; i < o->n; i++) {
		const struct opt *p = &o->opt[i];
		struct line left = { 0 };

		line_add(&left, p->letter ? "  -%c" : "    ", p->letter);
		if (p->name)
			line_add(&left, "%s--%s", p->letter ? ", " : "  ", p->name);
		if (p->arg && *p->arg == '[')
			line_add(&left, "[=%s", p->arg + 1);
		else if (p->arg)
			line_add(&left, "%c%s", p->name ? '=' : ' ', p->arg);
		printf("%-*s %s\n", HELP_COLUMN, left.s, p->help);
	}
	printf("  -h, --help %*s this text\n", HELP_COLUMN - 13, "");
}

static int bad_value(const struct opts *o, const struct opt *p, const char *arg,
		     const char *want)
{
	if (p->name)
		log_err(0, "%s: bad value '%s' for --%s: %s", o->cmd, arg, p->name, want);
	else
		log_err(0, "%s: bad value '%s' for -%c: %s", o->cmd, arg, p->letter, want);
	return -EINVAL;
}

static int set_u64(const struct opts *o, const struct opt *p, const char *arg)
{
	uint64_t v;
	char *end;

	errno = 0;
	v = strtoull(arg, &end, 10);
	if (errno || *end || !isdigit((unsigned char)*arg))
		return bad_value(o, p, arg, "expected a number");
	*(uint64_t *)p->target = v;
	return 0;
}

static int set_size(const struct opts *o, const struct opt *p, const char *arg)
{
	return opts_size(p->target, arg) ?
		bad_value(o, p, arg, "expected bytes, as 4096, 64K, 16M, 1G") : 0;
}

static int refuse_zero(const struct opts *o, const struct opt *p, const char *arg)
{
	return *(const uint64_t *)p->target ? 0 :
		bad_value(o, p, arg, "expected at least 1");
}

static int apply(const struct opts *o, const struct opt *p, const char *arg)
{
	int err;

	switch (p->kind) {
	case OPT_FLAG:
		*(bool *)p->target = true;
		return 0;
	case OPT_COUNT:
		++*(int *)p->target;
		return 0;
	case OPT_STR:
		*(const char **)p->target = arg;
		return 0;
	case OPT_U64:
		return set_u64(o, p, arg);
	case OPT_SIZE:
		return set_size(o, p, arg);
	case OPT_LIMIT:
		err = set_u64(o, p, arg);
		return err ? err : refuse_zero(o, p, arg);
	case OPT_SIZE_LIMIT:
		err = set_size(o, p, arg);
		return err ? err : refuse_zero(o, p, arg);
	case OPT_CALL:
		return p->call(p->target, arg);
	}
	return -EINVAL;
}

static int complain(const struct opts *o, int argc, char **argv, int c)
{
	const char *word = optind > 0 && optind <= argc ? argv[optind - 1] : "";

	if (c == ':')
		return opts_wrong(o, "option '%s' needs an argument", word);
	if (optopt >= LONG_BASE)
		return opts_wrong(o, "option '%s' takes no argument", word);
	if (optopt)
		return opts_wrong(o, "unknown option '-%c'", optopt);
	return opts_wrong(o, "unknown option '%s'", word);
}

/* The operands begin at argv[at]: `at`, or OPTS_BAD after a message. */
static int judge_operands(const struct opts *o, int argc, char **argv, int at)
{
	switch (o->operands) {
	case OPTS_NONE:
		if (at < argc)
			return opts_wrong(o, "unexpected argument '%s'", argv[at]);
		break;
	case OPTS_FILE:
		if (at == argc || !*argv[at])
			return opts_wrong(o, "no FILE is named");
		if (argc - at > 1)
			return opts_wrong(o, "unexpected argument '%s': one FILE is taken",
					  argv[at + 1]);
		break;
	case OPTS_ANY:
		break;
	}
	return at;
}

int opts_parse(const struct opts *o, int argc, char **argv)
{
	struct option longs[MAX_OPTS + 2] = { 0 };
	char shorts[3 * MAX_OPTS + 4] = "+:h", *s = shorts + 3;
	size_t n = 0;
	int c;

	for (size_t i = 0; i < o->n && i < MAX_OPTS; i++) {
		const struct opt *p = &o->opt[i];

		if (p->name)
			longs[n++] = (struct option){ p->name, has_arg(p), NULL,
						      LONG_BASE + (int)i };
		if (p->letter) {
			*s++ = p->letter;
			for (int k = has_arg(p); k; k--)
				*s++ = ':'; /* two: may be left out */
		}
	}
	longs[n] = (struct option){ "help", no_argument, NULL, HELP };
	opterr = 0;
	optind = 0; /* also resets the scanner's own state (getopt(3), glibc) */
	while ((c = getopt_long(argc, argv, shorts + o->anywhere, longs, NULL)) != -1) {
		const struct opt *p = NULL;

		if (c == HELP) {
			print_help(o);
			return OPTS_HELP;
		}
		for (size_t i = 0; i < o->n; i++)
			if (c == LONG_BASE + (int)i || (o->opt[i].letter && c == o->opt[i].letter))
				p = &o->opt[i];
		if (!p)
			return complain(o, argc, argv, c);
		if (apply(o, p, optarg))
			return OPTS_BAD;
	}
	return judge_operands(o, argc, argv, optind);
}
