/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a running recording for something, on its control socket. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/cmd.h"
#include "recorder/ctl_text.h"
#include "recorder/ctlclient.h"
#include "recorder/ctlsock.h"
#include "recorder/log.h"
#include "recorder/opts.h"
#include "recorder/units.h"

#define UNSET UINT64_MAX

struct ask {
	const char *socket, *output, *kind;
	uint64_t cpu, tid, offset, size;
	bool json;
	const char *word, *arg; /* the command and its operand, or NULL */
};

/* ---- which command takes what ---- */

enum { TAKES_EVENT = 1, TAKES_TID = 2, TAKES_OUTPUT = 4, TAKES_FETCH = 8 };

static const struct word {
	const char *name;
	unsigned takes;
} words[] = {
	{ "status", 0 },	     { "pause", 0 },
	{ "resume", 0 },	     { "enable", TAKES_EVENT },
	{ "disable", TAKES_EVENT },  { "snapshot", TAKES_OUTPUT },
	{ "fetch", TAKES_OUTPUT | TAKES_FETCH },
	{ "rotate", 0 },	     { "stop", 0 },
	{ "thread-start", TAKES_TID }, { "thread-stop", TAKES_TID },
	{ "ping", 0 },
};

static int usage(const char *word, const char *what)
{
	log_err(0, "ctl: '%s' %s", word, what);
	return EXIT_USAGE;
}

static const struct word *find_word(const char *name)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i].name, name))
			return &words[i];
	return NULL;
}

static bool fetches(const struct ask *a)
{
	return a->kind || a->cpu != UNSET || a->tid != UNSET || a->offset != UNSET ||
	       a->size != UNSET;
}

static int check(const struct ask *a, const struct word *w)
{
	if (a->output && !(w->takes & TAKES_OUTPUT))
		return usage(w->name, "takes no -o");
	if (fetches(a) && !(w->takes & TAKES_FETCH))
		return usage(w->name, "takes none of the options of fetch");
	if (a->arg && !(w->takes & (TAKES_EVENT | TAKES_TID)))
		return usage(w->name, "takes no argument");
	if (!a->arg && w->takes & TAKES_TID)
		return usage(w->name, "needs the id of a thread");
	if (!(w->takes & TAKES_FETCH))
		return 0;
	if (!a->kind)
		return usage(w->name, "needs --kind");
	if (a->json && !a->output)
		return usage(w->name, "with --json needs -o: the bytes have to go somewhere");
	if (!a->output && isatty(STDOUT_FILENO))
		return usage(w->name, "would write bytes to a terminal: choose a file with -o");
	return 0;
}

/* ---- the request ---- */

/* The recorder has another working directory. */
static json_t *absolute(const char *path)
{
	char whole[PATH_MAX];
	size_t n;

	if (*path == '/')
		return jtree_text(path);
	if (!getcwd(whole, sizeof(whole)))
		return NULL;
	n = strlen(whole);
	if (n + 1 + strlen(path) >= sizeof(whole))
		return NULL;
	snprintf(whole + n, sizeof(whole) - n, "/%s", path);
	return json_string(whole); /* NULL where it is not UTF-8: JSON cannot say it */
}

static void set_if(json_t *o, const char *key, uint64_t v, int *err)
{
	if (v != UNSET)
		jtree_set(o, key, jtree_number(v), err);
}

static int put_tid(json_t *o, const char *arg, int *err)
{
	char *end;
	long tid = strtol(arg, &end, 10);

	if (end == arg || *end || tid <= 0 || tid > INT_MAX)
		return usage(arg, "is not the id of a thread");
	jtree_set(o, "tid", json_integer(tid), err);
	return 0;
}

/* 0 or an exit status. */
static int make_request(const struct ask *a, const struct word *w, json_t **ret)
{
	json_t *o = json_object();
	int err = 0, status = 0;

	jtree_set(o, "cmd", json_string(w->name), &err);
	if (w->takes & TAKES_FETCH) {
		jtree_set(o, "kind", jtree_text(a->kind), &err);
		set_if(o, "cpu", a->cpu, &err);
		set_if(o, "tid", a->tid, &err);
		set_if(o, "offset", a->offset, &err);
		set_if(o, "size", a->size, &err);
	} else if (a->output) {
		jtree_set(o, "output", absolute(a->output), &err);
	}
	if (a->arg && w->takes & TAKES_EVENT)
		jtree_set(o, "event", jtree_text(a->arg), &err);
	if (a->arg && w->takes & TAKES_TID)
		status = put_tid(o, a->arg, &err);
	if (!status && err) {
		log_err(0, "ctl: cannot put this into a request: no memory, or a path that is "
			   "too long or not UTF-8");
		status = EXIT_FAILED;
	}
	if (status)
		json_decref(o);
	else
		*ret = o;
	return status;
}

/* ---- the answer ---- */

static int copy(int from, int to)
{
	static char buf[64 << 10];
	ssize_t n, done;

	while ((n = read(from, buf, sizeof(buf))) > 0)
		for (ssize_t at = 0; at < n; at += done) {
			done = write(to, buf + at, (size_t)(n - at));
			if (done < 0)
				return -errno;
		}
	return n < 0 ? -errno : 0;
}

static int save(const struct ask *a, int file)
{
	int fd = STDOUT_FILENO, err;

	if (file < 0) {
		log_err(0, "ctl: the answer came without its bytes");
		return EXIT_FAILED;
	}
	if (a->output)
		fd = open(a->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	err = fd < 0 ? -errno : copy(file, fd);
	if (a->output && fd >= 0 && close(fd) && !err)
		err = -errno;
	if (!err)
		return EXIT_OK;
	log_err(err, "cannot write '%s'", a->output ? a->output : "standard output");
	return EXIT_FAILED;
}

static uint64_t number(const json_t *o, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(o, key));

	return v > 0 ? (uint64_t)v : 0;
}

static void say_fetched(const json_t *a)
{
	char size[16], total[16], pause[16];

	log_info("%s of %s of %s; the ring stood still for %s",
		 units_bytes(number(a, "size"), size), units_bytes(number(a, "total"), total),
		 json_string_value(json_object_get(a, "kind")),
		 units_time(number(a, "pauseNs"), pause));
}

static int show(const struct ask *a, struct ctlclient *c, const json_t *answer)
{
	bool ok = json_is_true(json_object_get(answer, "ok"));
	const char *error = json_string_value(json_object_get(answer, "error"));
	char pause[16];
	int status = EXIT_OK;

	if (a->json)
		puts(c->line);
	if (!ok) {
		if (!a->json)
			log_err(0, "%s", error ? error : "the recorder gives no reason");
		return EXIT_FAILED;
	}
	if (!strcmp(a->word, "fetch"))
		status = save(a, c->file);
	if (a->json || status)
		return status;
	if (!strcmp(a->word, "status"))
		ctl_text_status(answer);
	else if (!strcmp(a->word, "snapshot"))
		printf("snapshot %llu taken, no cpu stood still for longer than %s\n",
		       (unsigned long long)number(answer, "snapshots"),
		       units_time(number(answer, "pauseNs"), pause));
	else if (!strcmp(a->word, "fetch"))
		say_fetched(answer);
	return EXIT_OK;
}

static int refuse_connection(const char *path, int err)
{
	if (err == -ENOENT || err == -ECONNREFUSED) {
		log_err(0, "no recording listens on '%s'", path);
		log_hint("auxrec record --socket=%s", path);
		return EXIT_CANNOT;
	}
	log_err(err, "cannot connect to '%s'", path);
	return err == -ENAMETOOLONG ? EXIT_USAGE : EXIT_CANNOT;
}

static int talk(const struct ask *a, const json_t *request)
{
	struct ctlclient c = CTLCLIENT_INIT;
	json_t *answer = NULL;
	int status, err = ctlclient_open(&c, a->socket);

	if (err)
		return refuse_connection(a->socket, err);
	err = ctlclient_ask(&c, request, &answer);
	if (!err) {
		status = show(a, &c, answer);
		if (!status && !strcmp(a->word, "stop"))
			ctlclient_wait_end(&c);
	} else if (err == -EPIPE) {
		log_err(0, "the recording on '%s' ended before it answered", a->socket);
		status = EXIT_CANNOT;
	} else {
		log_err(err, "no answer on '%s'", a->socket);
		status = EXIT_FAILED;
	}
	json_decref(answer);
	ctlclient_done(&c);
	return status;
}

static int run(struct ask *a, char **operand)
{
	const struct word *w;
	json_t *request = NULL;
	int status;

	if (!operand[0]) {
		log_err(0, "ctl: what is to be done? status, for instance");
		return EXIT_USAGE;
	}
	a->word = operand[0];
	a->arg = operand[1];
	w = find_word(a->word);
	if (!w)
		return usage(a->word, "is not a command of ctl");
	if (a->arg && operand[2])
		return usage(a->word, "takes one argument");
	status = check(a, w);
	if (!status)
		status = make_request(a, w, &request);
	if (!status)
		status = talk(a, request);
	json_decref(request);
	return status;
}

int cmd_ctl(int argc, char **argv)
{
	struct ask a = { .socket = ctlsock_default(), .cpu = UNSET, .tid = UNSET,
			 .offset = UNSET, .size = UNSET };
	const struct opt opt[] = {
		{ 's', "socket", "PATH", OPT_STR, &a.socket, NULL,
		  "where the recording listens (default $XDG_RUNTIME_DIR/auxrec.sock)" },
		{ 'o', "output", "FILE", OPT_STR, &a.output, NULL,
		  "snapshot, fetch: where to" },
		{ 0, "kind", "KIND", OPT_STR, &a.kind, NULL,
		  "fetch: traceBuffer, perfContextSwitchTrace or procfsCpuInfo" },
		{ 0, "cpu", "N", OPT_U64, &a.cpu, NULL, "fetch: of this cpu" },
		{ 0, "tid", "N", OPT_U64, &a.tid, NULL, "fetch: of this thread" },
		{ 0, "offset", "BYTES", OPT_SIZE, &a.offset, NULL, "fetch: from there on" },
		{ 0, "size", "BYTES", OPT_SIZE, &a.size, NULL, "fetch: so much at most" },
		{ 0, "json", NULL, OPT_FLAG, &a.json, NULL, "print the answer as it came" },
	};
	const struct opts o = {
		.cmd = "ctl",
		.synopsis = "[-s PATH] [-o FILE] [--kind KIND] [--cpu N | --tid N] "
			    "[--offset BYTES] [--size BYTES] [--json] COMMAND [argument]",
		.about = "Ask a running recording for something: status, pause, resume, "
			 "snapshot ...",
		.opt = opt,
		.n = sizeof(opt) / sizeof(opt[0]),
		.anywhere = true,
	};
	int at = opts_parse(&o, argc, argv);

	if (at < 0)
		return at == OPTS_HELP ? EXIT_OK : EXIT_USAGE;
	return run(&a, argv + at);
}
