/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/cmd.h"
#include "recorder/decode/images.h"
#include "recorder/export/export.h"
#include "recorder/input.h"
#include "recorder/log.h"
#include "recorder/opts.h"
#include "recorder/units.h"

/* ---- arguments ---- */

static int take_exporter(void *target, const char *arg)
{
	const struct exporter **to = target;

	for (size_t i = 0; i < nr_exporters; i++)
		if (!strcmp(arg, exporters[i].name)) {
			*to = &exporters[i];
			return 0;
		}
	log_err(0, "unknown exit '%s'", arg);
	for (size_t i = 0; i < nr_exporters; i++)
		log_hint("--to=%s: %s", exporters[i].name, exporters[i].about);
	return -EINVAL;
}

static int take_cpus(void *target, const char *arg)
{
	struct pio_cpus c = { 0 };
	int err = pio_cpus_parse(&c, arg, NULL);

	if (err == -EINVAL || err == -ERANGE) {
		log_err(0, "'%s' is no list of cpus, as 0-3,8", arg);
		return -EINVAL;
	}
	if (err)
		return log_err(err, "cannot take the cpus '%s'", arg);
	pio_cpus_done(target);
	*(struct pio_cpus *)target = c;
	return 0;
}

static int take_window(void *target, const char *arg)
{
	struct export_opts *o = target;

	if (units_span(arg, &o->from, &o->to)) {
		log_err(0, "'%s' is no span of time, as 12.5,13 or 12.5, or ,13", arg);
		return -EINVAL;
	}
	o->windowed = true;
	return 0;
}

/* ---- the work ---- */

static int say_failed(const struct export *x, int err)
{
	const struct outfile *f = x->out.failed;

	if (f && err == -EEXIST)
		log_err(0, "'%s' is in the way", f->name);
	else if (f)
		log_err(err, "cannot write '%s'", f->name);
	else if (err != -EEXIST)
		log_err(err, "cannot export '%s'", x->o->path);
	return err;
}

static int say_done(const struct export *x)
{
	uint64_t bytes = 0;
	char text[16];

	for (size_t i = 0; i < x->out.nr; i++)
		bytes += x->out.files[i]->size;
	log_info("wrote %zu files, %s: '%s'*", x->out.nr, units_bytes(bytes, text),
		 x->o->base);
	return 0;
}

static int run(const struct exporter *to, struct export *x)
{
	int err = outset_open(&x->out, x->o->base, x->o->force);

	if (err)
		return log_err(err, "cannot make files '%s'*", x->o->base);
	err = export_survey(x);
	if (err)
		return err;
	err = to->run(x);
	if (!err)
		err = outset_commit(&x->out);
	return err ? say_failed(x, err) : say_done(x);
}

static int export(const struct exporter *to, const struct export_opts *o)
{
	struct export x = { .o = o, .out = { .dir = -1 } };
	struct input in;
	int err;

	err = input_open(&in, o->path);
	x.in = &in;
	if (err)
		input_say(&in, err);
	else
		err = run(to, &x);
	export_done(&x);
	input_done(&in);
	if (err || x.faults)
		return EXIT_FAILED;
	return x.homeless ? EXIT_WITH_LOSSES : EXIT_OK;
}

int cmd_export(int argc, char **argv)
{
	const struct exporter *to = NULL;
	struct export_opts e = { 0 };
	const struct opt opt[] = {
		{ 0, "to", "NAME", OPT_CALL, &to, take_exporter, "for whom: libipt" },
		{ 'o', "output", "BASE", OPT_STR, &e.base, NULL,
		  "what the names of the files begin with" },
		{ 'C', "cpu", "LIST", OPT_CALL, &e.cpus, take_cpus, "only these cpus" },
		{ 0, "time", "A,B", OPT_CALL, &e, take_window,
		  "only trace from A to B, seconds of the recording's clock" },
		{ 0, "images", "DIR", OPT_CALL, &e.images, images_dir,
		  "look for mapped files in DIR first" },
		{ 0, "no-images", NULL, OPT_FLAG, &e.no_images, NULL,
		  "make no copies of mapped files" },
		{ 'f', "force", NULL, OPT_FLAG, &e.force, NULL, "replace what is there" },
	};
	const struct opts o = {
		.cmd = "export",
		.synopsis = "--to=NAME -o BASE [options] FILE",
		.about = "Turn a recording into the files that other decoders take.",
		.opt = opt,
		.n = sizeof(opt) / sizeof(*opt),
		.operands = OPTS_FILE,
		.anywhere = true,
	};
	int at = opts_parse(&o, argc, argv), status = EXIT_USAGE;

	if (at == OPTS_HELP) {
		status = EXIT_OK;
	} else if (at >= 0 && !to) {
		opts_wrong(&o, "--to=NAME is missing: it says for whom, as --to=libipt");
	} else if (at >= 0 && (!e.base || !*e.base)) {
		opts_wrong(&o, "-o BASE is missing: the names of the files begin with it");
	} else if (at >= 0) {
		e.path = argv[at];
		status = export(to, &e);
	}
	pio_cpus_done(&e.cpus);
	return status;
}
