/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/cmd.h"
#include "recorder/log.h"
#include "recorder/offer.h"
#include "recorder/opts.h"

static int print(const struct offer *o, bool json)
{
	int err;

	if (!json) {
		list_text(o);
		return EXIT_OK;
	}
	err = list_json(o);
	if (!err)
		return EXIT_OK;
	log_err(err, "cannot print the list");
	return EXIT_FAILED;
}

int cmd_list(int argc, char **argv)
{
	bool json = false;
	const struct opt table[] = {
		{ 0, "json", NULL, OPT_FLAG, &json, NULL, "print one JSON object" },
	};
	const struct opts opts = {
		.cmd = "list",
		.synopsis = "[--json]",
		.about = "Show what this machine and this user can record.",
		.opt = table,
		.n = sizeof(table) / sizeof(table[0]),
		.operands = OPTS_NONE,
	};
	struct offer o;
	int at = opts_parse(&opts, argc, argv), err;

	if (at < 0)
		return at == OPTS_HELP ? EXIT_OK : EXIT_USAGE;
	err = offer_collect(&o, &pio_kernel);
	if (err) {
		log_err(err, "cannot find out what this machine has");
		return EXIT_FAILED;
	}
	err = print(&o, json);
	offer_done(&o);
	return err;
}
