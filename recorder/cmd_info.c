/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>

#include "recorder/cmd.h"
#include "recorder/info.h"
#include "recorder/input.h"
#include "recorder/log.h"
#include "recorder/opts.h"

static void report(const struct info_file *f)
{
	const struct info *i = f->i;

	for (size_t k = 0; k < i->nr_faults && k < INFO_FAULTS_MAX; k++)
		log_err(0, "'%s' at byte %" PRIu64 " (0x%" PRIx64 "): expected %s",
			input_path_of(f->in, i->faults[k].r), i->faults[k].at,
			i->faults[k].at, i->faults[k].expected);
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
static int inspect(struct input *in, int err, bool json)
{
	struct info i = { 0 };
	struct info_file f = { .path = in->path, .in = in, .r = &in->r, .i = &i };

	if (err && in->r.bad_what) {
		info_fault(&i, in->r.bad_at, "%s", in->r.bad_what);
		err = 0;
	} else if (!err) {
		err = info_fold(&i, in);
		if (!err)
			info_check_features(&i, &in->r);
	}
	f.bytes = input_size(in);
	if (err)
		input_cannot(in, err);
	else
		err = show(&f, json);
	if (input_looks_pt(in))
		log_hint("it looks like raw Intel PT: --as=pt reads that");
	info_done(&i);
	return err;
}

int cmd_info(int argc, char **argv)
{
	bool json = false;
	struct input_as as = { 0 };
	const struct opt opt[] = {
		{ 0, "json", NULL, OPT_FLAG, &json, NULL, "print one JSON object" },
		INPUT_AS_OPT(&as),
	};
	const struct opts o = {
		.cmd = "info",
		.synopsis = "[options] FILE",
		.about = "Say what a perf.data file (or directory) holds; \"-\" is standard input.",
		.opt = opt,
		.n = sizeof(opt) / sizeof(*opt),
		.operands = OPTS_FILE,
		.anywhere = true,
	};
	struct input in;
	int at, err;

	at = opts_parse(&o, argc, argv);
	if (at < 0)
		return at == OPTS_HELP ? EXIT_OK : EXIT_USAGE;
	err = inspect(&in, input_open_as(&in, argv[at], as), json);
	input_done(&in);
	return err ? EXIT_FAILED : EXIT_OK;
}
