/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "recorder/cmd.h"
#include "recorder/dump.h"
#include "recorder/line.h"
#include "recorder/log.h"
#include "recorder/opts.h"
#include "recorder/tepfields.h"
#include "recorder/units.h"

enum { BYTES_SHOWN = 64 }; /* of a field, without --hex */

static int bad_list(int err, const char *arg, const char *what)
{
	if (err == -ENOMEM)
		return log_err(err, "cannot take the list '%s'", arg);
	return log_err(0, "'%s' is no list of %s", arg, what), -EINVAL;
}

static int take_numbers(void *target, const char *arg)
{
	int err = number_set_parse(target, arg);

	return err ? bad_list(err, arg, "numbers, as 0,2-3") : 0;
}

static void list_types(void)
{
	struct line l = { 0 };
	const char *name;

	for (uint32_t t = 0; t < DUMP_TYPES_NAMED; t++) {
		name = fmt_record_name(t);
		if (name)
			line_add(&l, " %s", name);
	}
	log_hint("types that have names:%s", l.s);
}

static int take_types(void *target, const char *arg)
{
	const char *bad;
	int err = dump_types_parse(target, arg, &bad);

	if (err == -EINVAL) {
		log_err(0, "'%.*s' is no record type, as MMAP2 or 81",
			(int)strcspn(bad, ","), bad);
		list_types();
		return err;
	}
	return err ? bad_list(err, arg, "record types") : 0;
}

static int take_span(void *target, const char *arg)
{
	struct dump_filter *f = target;

	if (units_span(arg, &f->from, &f->to))
		return log_err(0, "'%s' is no span of time, as 12.5,13 or 12.5, or ,13", arg),
		       -EINVAL;
	f->has_time = true;
	return 0;
}

static int run(struct dump *d, const char *path, struct input_as as, bool packets)
{
	struct input in = { 0 };
	int err;

	signal(SIGPIPE, SIG_IGN);
	d->in = &in;
	err = out_init(&d->out);
	if (err)
		return log_err(err, "cannot dump '%s'", path);
	d->line.o = &d->out;
	d->line.bytes_shown = d->hex ? SIZE_MAX : BYTES_SHOWN;
	err = input_open_as(&in, path, as);
	if (err) {
		input_say(&in, err);
		err = -EBADMSG;
	} else {
		err = packets ? dump_packets(d) : dump_records(d);
	}
	if (out_done(&d->out))
		err = d->out.err;
	tepfields_free(d->tep);
	input_done(&in);
	return err;
}

static int status_of(int err, bool said)
{
	switch (err) {
	case 0:
	case -EPIPE: /* whoever read it had enough */
		return EXIT_OK;
	case -ENOTSUP:
		return EXIT_CANNOT;
	case -ENOENT:
		return EXIT_USAGE;
	}
	if (!said)
		log_err(err, "cannot write to standard output");
	return EXIT_FAILED;
}

/* 0, or EXIT_USAGE after a message. */
static int check_packets(const struct dump *d, struct input_as as, bool packets)
{
	const struct dump_filter *f = &d->filter;

	if (!packets && as.kind == INPUT_PT)
		return log_err(0, "dump: raw Intel PT has no records, only --packets"),
		       EXIT_USAGE;
	if (!packets && d->last_ip)
		return log_err(0, "dump: --last-ip is for --packets"), EXIT_USAGE;
	if (packets && (f->types.n || f->pids.n || f->has_time || f->event || d->hex))
		return log_err(0, "dump: --packets knows no --type, --pid, --time, --event"
				  " and --hex"),
		       EXIT_USAGE;
	return 0;
}

static int dump(struct dump *d, const char *path, struct input_as as, bool packets)
{
	int status = check_packets(d, as, packets), err;

	if (status)
		return status;
	err = run(d, path, as, packets);
	return status_of(err, !d->out.err);
}

int cmd_dump(int argc, char **argv)
{
	struct dump d = { 0 };
	struct dump_filter *f = &d.filter;
	struct input_as as = { 0 };
	bool packets = false;
	const struct opt opt[] = {
		{ 'j', "json", NULL, OPT_FLAG, &d.line.json, NULL, "one JSON object a line" },
		{ 't', "type", "LIST", OPT_CALL, &f->types, take_types,
		  "records of these types only, as MMAP2,AUX,81" },
		{ 'C', "cpu", "LIST", OPT_CALL, &f->cpus, take_numbers,
		  "of these cpus only, as 0,2-3" },
		{ 'p', "pid", "LIST", OPT_CALL, &f->pids, take_numbers,
		  "of these processes only" },
		{ 0, "tid", "LIST", OPT_CALL, &f->tids, take_numbers,
		  "of these threads only" },
		{ 0, "time", "A,B", OPT_CALL, f, take_span,
		  "from second A to B only; either may be missing" },
		{ 'e', "event", "NAME", OPT_STR, &f->event, NULL,
		  "of this event only" },
		{ 'x', "hex", NULL, OPT_FLAG, &d.hex, NULL,
		  "bytes whole, and those of the trace" },
		{ 0, "packets", NULL, OPT_FLAG, &packets, NULL,
		  "the packets of the Intel PT trace" },
		{ 0, "last-ip", NULL, OPT_FLAG, &d.last_ip, NULL,
		  "with --packets: addresses without gaps" },
		INPUT_AS_OPT(&as),
	};
	const struct opts o = {
		.cmd = "dump",
		.synopsis = "[options] FILE",
		.about = "Print every record of a perf.data file (or directory), one a line;"
			 " \"-\" is standard input.",
		.opt = opt,
		.n = sizeof(opt) / sizeof(*opt),
		.operands = OPTS_FILE,
		.anywhere = true,
	};
	int at, status;

	at = opts_parse(&o, argc, argv);
	status = at == OPTS_HELP ? EXIT_OK : EXIT_USAGE;
	if (at >= 0)
		status = dump(&d, argv[at], as, packets);
	dump_filter_done(f);
	return status;
}
