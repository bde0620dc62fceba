/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "recorder/check.h"
#include "recorder/cmd.h"
#include "recorder/input.h"
#include "recorder/jtree.h"
#include "recorder/log.h"
#include "recorder/opts.h"

static int print_json(const struct check_report *r, const char *path)
{
	int err = 0;
	json_t *o = check_json(r, path, &err);

	return jtree_print(o, err);
}

static int status_of(const struct check_report *r)
{
	static const int status[] = {
		[CHECK_REMARK] = EXIT_OK,
		[CHECK_LOSS] = EXIT_WITH_LOSSES,
		[CHECK_DAMAGE] = EXIT_FAILED,
	};

	return status[check_verdict(r)];
}

static int judge(const char *path, bool json)
{
	struct check_report r;
	struct input in;
	int err = check_file(&r, &in, input_open(&in, path));

	if (err) {
		log_err(err, "cannot read '%s'", path);
	} else if (json) {
		err = print_json(&r, path);
		if (err)
			log_err(err, "cannot print what is in '%s'", path);
	} else {
		check_print_text(&r, path);
	}
	input_done(&in);
	return err ? EXIT_FAILED : status_of(&r);
}

int cmd_check(int argc, char **argv)
{
	bool json = false;
	const struct opt opt[] = {
		{ 0, "json", NULL, OPT_FLAG, &json, NULL, "print one JSON object" },
	};
	const struct opts o = {
		.cmd = "check",
		.synopsis = "[--json] FILE",
		.about = "Judge whether a perf.data file (or directory) is sound; \"-\" is "
			 "standard input.",
		.opt = opt,
		.n = sizeof(opt) / sizeof(*opt),
	};
	int at = opts_parse(&o, argc, argv);

	if (at == OPTS_HELP)
		return EXIT_OK;
	if (at >= 0 && argc - at != 1)
		opts_usage(&o);
	if (at < 0 || argc - at != 1)
		return EXIT_USAGE;
	return judge(argv[at], json);
}
