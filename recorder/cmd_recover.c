/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/cmd.h"
#include "recorder/input.h"
#include "recorder/log.h"
#include "recorder/opts.h"
#include "recorder/output.h"
#include "recorder/recover.h"

#define SUFFIX ".recovered"

struct order {
	const char *path, *out;
	bool in_place, force, json;
	struct stat st;	    /* of the file when it was opened */
	char *name;	    /* of the file written, owned */
	struct input in;
	struct recover c;
};

static void passed(void *ctx, uint64_t at)
{
	input_passed(ctx, at);
}

/* Is it being written, or replaced, while we read? */
static bool has_changed(const struct order *o)
{
	struct stat now;

	return stat(o->path, &now) || now.st_size != o->st.st_size ||
	       now.st_ino != o->st.st_ino || now.st_dev != o->st.st_dev;
}

/* What stands in the way before anything is read. */
static int look_first(struct order *o)
{
	struct stat st;

	if (strcmp(o->path, "-") && stat(o->path, &o->st))
		return log_err(-errno, "cannot recover '%s'", o->path);
	if (S_ISDIR(o->st.st_mode)) {
		log_err(0, "'%s' is a directory", o->path);
		log_hint("name the file in it: '%s/data'", o->path);
		return -EISDIR;
	}
	if (o->in_place) {
		o->name = realpath(o->path, NULL);
		return o->name ? 0 : log_err(-errno, "cannot recover '%s'", o->path);
	}
	if (asprintf(&o->name, "%s%s", o->out ? o->out : o->path, o->out ? "" : SUFFIX) < 0) {
		o->name = NULL;
		return log_err(-ENOMEM, "cannot recover '%s'", o->path);
	}
	if (stat(o->name, &st))
		return 0;
	if (st.st_dev == o->st.st_dev && st.st_ino == o->st.st_ino) {
		log_err(0, "'%s' is the file itself", o->name);
		log_hint("--in-place mends it where it is");
		return -EEXIST;
	}
	if (o->force && S_ISREG(st.st_mode))
		return 0;
	log_err(-EEXIST, "cannot write '%s'", o->name);
	if (S_ISREG(st.st_mode))
		log_hint("--force writes it all the same, and keeps this one as '%s.old'",
			 o->name);
	return -EEXIST;
}

static int read_file(struct order *o)
{
	const struct fmt_reader *r = &o->c.r;
	int err = input_open(&o->in, o->path);

	if (err && !o->in.r.bad_what)
		return log_err(err, "cannot read '%s'", o->path);
	err = input_receive(&o->in);
	if (err)
		return log_err(err, "cannot read '%s'", o->path);
	err = recover_scan(&o->c, o->in.bytes.p, o->in.bytes.len, passed, &o->in);
	if (err && !r->bad_what)
		return log_err(err, "cannot recover '%s'", o->path);
	if (err)
		log_err(0, "nothing can be recovered of '%s': at byte %" PRIu64 " (0x%" PRIx64
			"): expected %s", o->path, r->bad_at, r->bad_at, r->bad_what);
	return err;
}

static int say(const struct order *o, int err)
{
	if (err == -ENODATA)
		log_err(0, "nothing can be recovered of '%s': it has no %s", o->path,
			o->c.r.nr_events ? "whole record" : "event");
	else if (err)
		log_err(err, "cannot write '%s'", o->name);
	return err;
}

static int put_under(struct order *o, struct output *out)
{
	struct fmt_sink sink = output_sink(out, true);
	const struct stat *st = &o->st;
	int err = recover_write(&o->c, &sink);

	if (err)
		return err;
	if (o->in_place && fchown(out->fd, st->st_uid, st->st_gid))
		return -errno;
	if (st->st_mode && fchmod(out->fd, st->st_mode & 0777))
		return -errno;
	err = sink.sync(out);
	if (err)
		return err;
	if (o->in_place && has_changed(o))
		return -ETXTBSY;
	return o->in_place ? output_replace(out) : output_publish(out);
}

static int write_file(struct order *o)
{
	struct output out = OUTPUT_INIT;
	int err = output_open(&out, o->name);

	if (!err && out.stream)
		err = -ESPIPE;
	if (!err)
		err = put_under(o, &out);
	if (!err)
		err = output_close(&out);
	output_done(&out);
	return say(o, err);
}

static int patch_file(struct order *o)
{
	struct output out = OUTPUT_INIT;
	struct fmt_sink sink;
	int err = 0;

	out.name = o->name;
	out.fd = open(o->name, O_RDWR | O_CLOEXEC);
	if (out.fd < 0)
		return say(o, -errno);
	sink = output_sink(&out, true);
	if (has_changed(o))
		err = -ETXTBSY;
	if (!err)
		err = recover_patch(&o->c, &sink);
	if (!err)
		err = output_close(&out);
	output_done(&out);
	return say(o, err);
}

static int report(struct order *o, const char *out, bool patched)
{
	const struct recover_report r = { .path = o->path, .out = out, .patched = patched };

	if (!o->json) {
		recover_print_text(&o->c, &r);
		return 0;
	}
	return recover_print_json(&o->c, &r) ?
		       log_err(-ENOMEM, "cannot print what was recovered") : 0;
}

/* Exit status. */
static int recover(struct order *o)
{
	bool patch;
	int err = look_first(o);

	if (!err)
		err = read_file(o);
	if (err)
		return EXIT_FAILED;
	if (recover_sound(&o->c) && (!o->out || o->in_place))
		return report(o, NULL, false) ? EXIT_FAILED : EXIT_OK;
	patch = o->in_place && recover_can_patch(&o->c);
	if (!o->in_place)
		recover_leave_dir(&o->c);
	err = patch ? patch_file(o) : write_file(o);
	if (!err)
		err = report(o, o->name, patch);
	if (err)
		return EXIT_FAILED;
	return recover_lost(&o->c) ? EXIT_WITH_LOSSES : EXIT_OK;
}

/* What is wrong with the options, or NULL. */
static const char *contradiction(const struct order *o)
{
	if (o->out && o->in_place)
		return "-o OUT and --in-place exclude each other";
	if (o->out && !*o->out)
		return "the name of OUT is empty";
	if (strcmp(o->path, "-") || o->out)
		return NULL;
	return o->in_place ? "--in-place cannot mend standard input" :
			     "what comes from standard input needs a name: -o OUT";
}

int cmd_recover(int argc, char **argv)
{
	struct order o = { 0 };
	const struct opt opt[] = {
		{ 'o', "output", "OUT", OPT_STR, &o.out, NULL,
		  "write this file (default: FILE" SUFFIX ")" },
		{ 0, "in-place", NULL, OPT_FLAG, &o.in_place, NULL, "mend FILE itself" },
		{ 0, "force", NULL, OPT_FLAG, &o.force, NULL,
		  "write OUT although it is there; it is kept as OUT.old" },
		{ 0, "json", NULL, OPT_FLAG, &o.json, NULL, "print one JSON object" },
	};
	const struct opts opts = {
		.cmd = "recover",
		.synopsis = "[-o OUT | --in-place] [--force] [--json] FILE",
		.about = "Make a finished file of all that is whole in a damaged one.",
		.opt = opt,
		.n = sizeof(opt) / sizeof(*opt),
		.operands = OPTS_FILE,
		.anywhere = true,
	};
	int at = opts_parse(&opts, argc, argv), status;
	const char *wrong;

	if (at < 0)
		return at == OPTS_HELP ? EXIT_OK : EXIT_USAGE;
	o.path = argv[at];
	wrong = contradiction(&o);
	if (wrong)
		return opts_wrong(&opts, "%s", wrong), EXIT_USAGE;
	status = recover(&o);
	recover_done(&o.c);
	input_done(&o.in);
	free(o.name);
	return status;
}
