/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "recorder/check.h"
#include "recorder/cmd.h"
#include "recorder/decode/decode.h"
#include "recorder/decode/images.h"
#include "recorder/input.h"
#include "recorder/jtree.h"
#include "recorder/log.h"
#include "recorder/opts.h"

struct asked {
	const char *path;
	bool json, decode;
	const char *images;
};

/* decoded: NULL when it was not asked for. */
static int print_json(const struct check_report *r, const struct decode_report *decoded,
		      const char *path)
{
	int err = 0;
	json_t *o = check_json(r, path, &err);

	if (decoded)
		jtree_set(o, "decode", decode_json(decoded, &err), &err);
	return jtree_print(o, err);
}

static int print(const struct check_report *r, const struct decode_report *decoded,
		 const struct asked *a)
{
	int err = 0;

	if (a->json) {
		err = print_json(r, decoded, a->path);
		if (err)
			log_err(err, "cannot print what is in '%s'", a->path);
		return err;
	}
	check_print_text(r, a->path);
	if (decoded)
		decode_print_text(decoded);
	return 0;
}

static int status_of(const struct check_report *r, const struct decode_report *decoded)
{
	enum check_severity verdict = check_verdict(r);

	if (verdict == CHECK_DAMAGE || (decoded && decode_misfits(decoded)))
		return EXIT_FAILED;
	if (verdict == CHECK_LOSS || (decoded && decoded->nr_errors))
		return EXIT_WITH_LOSSES;
	return EXIT_OK;
}

/* The file could not be opened as one: then there is nothing to decode. */
static int decode(struct decode_report *ret, struct input *in, const struct asked *a,
		  int opened)
{
	const struct decode_opts o = { .images = a->images };

	*ret = (struct decode_report){ 0 };
	if (opened)
		return 0;
	input_rewind(in);
	return decode_file(ret, in, &o);
}

static int judge(const struct asked *a)
{
	struct decode_report decoded = { 0 };
	struct check_report r;
	struct input in;
	int opened = input_open(&in, a->path), err = check_file(&r, &in, opened), status;

	if (err)
		input_cannot(&in, err);
	if (!err && a->decode) {
		err = decode(&decoded, &in, a, opened);
		if (err)
			log_err(err, "cannot decode '%s'", a->path);
	}
	if (!err)
		err = print(&r, a->decode ? &decoded : NULL, a);
	status = err ? EXIT_FAILED : status_of(&r, a->decode ? &decoded : NULL);
	decode_report_done(&decoded);
	input_done(&in);
	return status;
}

int cmd_check(int argc, char **argv)
{
	struct asked a = { 0 };
	const struct opt opt[] = {
		{ 0, "decode", NULL, OPT_FLAG, &a.decode, NULL,
		  "decode the Intel PT trace, too" },
		{ 0, "images", "DIR", OPT_CALL, &a.images, images_dir,
		  "decode, with programs from below DIR first" },
		{ 0, "json", NULL, OPT_FLAG, &a.json, NULL, "print one JSON object" },
	};
	const struct opts o = {
		.cmd = "check",
		.synopsis = "[--json] [--decode] [--images=DIR] FILE",
		.about = "Judge whether a perf.data file (or directory) is sound; \"-\" is "
			 "standard input.",
		.opt = opt,
		.n = sizeof(opt) / sizeof(*opt),
		.operands = OPTS_FILE,
		.anywhere = true,
	};
	int at = opts_parse(&o, argc, argv);

	if (at < 0)
		return at == OPTS_HELP ? EXIT_OK : EXIT_USAGE;
	a.path = argv[at];
	a.decode |= a.images != NULL;
	return judge(&a);
}
