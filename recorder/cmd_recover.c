/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/cmd.h"
#include "recorder/kcoredir.h"
#include "recorder/log.h"
#include "recorder/opts.h"
#include "recorder/recover_job.h"

#define SUFFIX ".recovered"

static void passed(void *ctx, uint64_t at)
{
	input_passed(ctx, at);
}

static bool is_dir(const struct recover_job *j)
{
	return S_ISDIR(j->st.st_mode);
}

/* Of a directory that is named by what is in it the name has to be asked for. */
static bool is_dots(const char *path)
{
	size_t n = strlen(path), dots;

	while (n > 1 && path[n - 1] == '/')
		n--;
	for (dots = 0; dots < n && path[n - 1 - dots] == '.';)
		dots++;
	return (dots == 1 || dots == 2) && (dots == n || path[n - 1 - dots] == '/');
}

static char *with_suffix(const char *path)
{
	size_t n = strlen(path);
	char *name;

	while (n > 1 && path[n - 1] == '/')
		n--;
	return asprintf(&name, "%.*s%s", (int)n, path, SUFFIX) < 0 ? NULL : name;
}

/* OUT, or the name of the file or directory with a suffix. */
static char *name_out(const struct recover_job *j)
{
	char *whole, *name;

	if (j->in_place)
		return realpath(j->path, NULL);
	if (j->out)
		return strdup(j->out);
	if (!is_dots(j->path))
		return with_suffix(j->path);
	whole = realpath(j->path, NULL);
	name = whole ? with_suffix(whole) : NULL;
	free(whole);
	return name;
}

/* Something has the name already. */
static int in_the_way(const struct recover_job *j, const struct stat *st)
{
	bool can_move = is_dir(j) ? kcoredir_is(j->name) : S_ISREG(st->st_mode);

	if (st->st_dev == j->st.st_dev && st->st_ino == j->st.st_ino) {
		log_err(0, "'%s' is the %s itself", j->name, is_dir(j) ? "directory" : "file");
		log_hint("--in-place mends it where it is");
		return -EEXIST;
	}
	if (j->force && can_move)
		return 0;
	log_err(-EEXIST, "cannot write '%s'", j->name);
	if (can_move)
		log_hint("--force writes it all the same, and keeps this one as '%s.old'",
			 j->name);
	return -EEXIST;
}

/* What stands in the way before anything is read. */
static int look_first(struct recover_job *j)
{
	struct stat st;

	if (strcmp(j->path, "-") && stat(j->path, &j->st))
		return log_err(-errno, "cannot recover '%s'", j->path);
	errno = ENOMEM;
	j->name = name_out(j);
	if (!j->name)
		return log_err(-errno, "cannot recover '%s'", j->path);
	return j->in_place || stat(j->name, &st) ? 0 : in_the_way(j, &st);
}

static int scan(struct recover_job *j)
{
	const struct fmt_reader *r = &j->c.r;
	int err = recover_scan(&j->c, j->in.bytes.p, j->in.bytes.len, passed, &j->in);

	if (err && !r->bad_what)
		return log_err(err, "cannot recover '%s'", j->path);
	if (err && !is_dir(j) && recover_in_dir(j))
		return err;
	if (err)
		log_err(0, "nothing can be recovered of '%s%s': at byte %" PRIu64 " (0x%" PRIx64
			"): expected %s", j->path, is_dir(j) ? "/data" : "", r->bad_at,
			r->bad_at, r->bad_what);
	return err;
}

static int read_all(struct recover_job *j)
{
	int err = input_open(&j->in, j->path);

	if (err && !j->in.r.bad_what)
		return input_cannot(&j->in, err);
	err = input_receive(&j->in);
	if (err)
		return input_cannot(&j->in, err);
	err = scan(j);
	if (err)
		return err;
	if (is_dir(j))
		return recover_scan_parts(j);
	return strcmp(j->path, "-") && recover_in_dir(j) ? -EISDIR : 0;
}

bool recover_job_lost(const struct recover_job *j)
{
	bool lost = recover_lost(&j->c);

	for (size_t i = 0; i < j->nr_parts; i++)
		lost = lost || recover_lost(&j->parts[i]);
	return lost;
}

bool recover_job_sound(const struct recover_job *j)
{
	bool sound = recover_sound(&j->c);

	for (size_t i = 0; i < j->nr_parts; i++)
		sound = sound && recover_sound(&j->parts[i]);
	return sound;
}

static int report(struct recover_job *j, const char *out, bool patched)
{
	const struct recover_report r = {
		.path = j->path, .out = out, .patched = patched,
		.in = &j->in, .parts = j->parts, .nr_parts = j->nr_parts,
	};

	if (!j->json) {
		recover_print_text(&j->c, &r);
		return 0;
	}
	return recover_print_json(&j->c, &r) ?
		       log_err(-ENOMEM, "cannot print what was recovered") : 0;
}

static int write_out(struct recover_job *j, bool *patched)
{
	const struct recover_file f = {
		.c = &j->c, .from = j->path, .name = j->name, .st = j->st,
		.in_place = j->in_place,
	};

	if (is_dir(j)) {
		*patched = j->in_place;
		return recover_dir(j);
	}
	if (!j->in_place)
		recover_leave_dir(&j->c);
	return recover_file(&f, patched);
}

/* Exit status. */
static int recover(struct recover_job *j)
{
	bool patched = false;
	int err = look_first(j);

	if (!err)
		err = read_all(j);
	if (err)
		return EXIT_FAILED;
	if (recover_job_sound(j) && (!j->out || j->in_place))
		return report(j, NULL, false) ? EXIT_FAILED : EXIT_OK;
	err = write_out(j, &patched);
	if (!err)
		err = report(j, j->name, patched);
	if (err)
		return EXIT_FAILED;
	return recover_job_lost(j) ? EXIT_WITH_LOSSES : EXIT_OK;
}

static void job_done(struct recover_job *j)
{
	for (size_t i = 0; i < j->nr_parts; i++)
		recover_done(&j->parts[i]);
	free(j->parts);
	recover_done(&j->c);
	input_done(&j->in);
	free(j->name);
}

/* What is wrong with the options, or NULL. */
static const char *contradiction(const struct recover_job *o)
{
	if (o->out && o->in_place)
		return "-o OUT and --in-place exclude each other";
	if (o->out && !*o->out)
		return "the name of OUT is empty";
	if (o->out && !strcmp(o->out, "-"))
		return "a recovered file is written at many places, never to standard output";
	if (strcmp(o->path, "-") || o->out)
		return NULL;
	return o->in_place ? "--in-place cannot mend standard input" :
			     "what comes from standard input needs a name: -o OUT";
}

int cmd_recover(int argc, char **argv)
{
	struct recover_job o = { 0 };
	const struct opt opt[] = {
		{ 'o', "output", "OUT", OPT_STR, &o.out, NULL,
		  "write this file or directory (default: FILE" SUFFIX ")" },
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
	job_done(&o);
	return status;
}
