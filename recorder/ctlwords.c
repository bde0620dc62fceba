/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/ctlwords.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/log.h"
#include "recorder/session.h"

/* ---- the descriptors ---- */

/* fd:N[,M] into two numbers. */
static int parse_numbers(const char *arg, int *ret_in, int *ret_ack)
{
	long v[2] = { -1, -1 };
	char *end = NULL;

	for (int i = 0; i < 2; i++) {
		if (!isdigit((unsigned char)*arg))
			return -EINVAL;
		v[i] = strtol(arg, &end, 0);
		if (v[i] > INT_MAX || (*end && (*end != ',' || i)))
			return -EINVAL;
		if (!*end)
			break;
		arg = end + 1;
	}
	*ret_in = (int)v[0];
	*ret_ack = (int)v[1];
	return 0;
}

int ctlwords_check(const char *arg)
{
	int in, ack;

	if (!strncmp(arg, "fifo:", 5))
		return !arg[5] || arg[5] == ',' ? -EINVAL : 0;
	return strncmp(arg, "fd:", 3) ? -EINVAL : parse_numbers(arg + 3, &in, &ack);
}

static int open_fifo(int *ret, const char *name, size_t n)
{
	char path[PATH_MAX];
	int fd;

	if (n >= sizeof(path))
		return -ENAMETOOLONG;
	memcpy(path, name, n);
	path[n] = '\0';
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret = fd;
	return 0;
}

static int open_fifos(struct ctlwords *w, const char *arg, const char **ret_what)
{
	const char *comma = strchrnul(arg, ',');
	int err;

	w->ours = true;
	*ret_what = arg;
	err = open_fifo(&w->in, arg, (size_t)(comma - arg));
	if (err || !*comma || !comma[1])
		return err;
	*ret_what = comma + 1;
	return open_fifo(&w->ack, comma + 1, strlen(comma + 1));
}

/* Open, and for what it is needed. */
static int usable(int fd, int useless)
{
	int flags = fd < 0 ? 0 : fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	return fd >= 0 && (flags & O_ACCMODE) == useless ? -EBADF : 0;
}

static int open_numbers(struct ctlwords *w, const char *arg, const char **ret_what)
{
	int err = parse_numbers(arg, &w->in, &w->ack);

	*ret_what = arg;
	if (!err)
		err = usable(w->in, O_WRONLY);
	if (err)
		return err;
	*ret_what = strchrnul(arg, ',') + 1;
	return usable(w->ack, O_RDONLY);
}

static int look_at(const struct ctlwords *w)
{
	struct stat in, ack;

	if (fstat(w->in, &in))
		return -errno;
	if (S_ISREG(in.st_mode) || S_ISDIR(in.st_mode))
		return -ENOTSUP;
	if (w->ack < 0 || !S_ISFIFO(in.st_mode))
		return 0;
	if (fstat(w->ack, &ack))
		return -errno;
	return in.st_dev == ack.st_dev && in.st_ino == ack.st_ino ? -EINVAL : 0;
}

int ctlwords_open(struct ctlwords *ret, const char *arg, const char **ret_what)
{
	struct ctlwords w = CTLWORDS_INIT;
	int err = ctlwords_check(arg);

	*ret_what = arg;
	if (err)
		return err;
	err = arg[1] == 'i' ? open_fifos(&w, arg + 5, ret_what)
			    : open_numbers(&w, arg + 3, ret_what);
	if (!err)
		err = look_at(&w);
	if (err)
		ctlwords_done(&w);
	else
		*ret = w;
	return err;
}

void ctlwords_done(struct ctlwords *w)
{
	if (w->ours && w->in >= 0)
		(void)close(w->in);
	if (w->ours && w->ack >= 0)
		(void)close(w->ack);
	*w = CTLWORDS_INIT;
}

/* ---- answers ---- */

/* What is writable takes a line without waiting, whether it is set to or not (pipe(7)). */
static bool has_room(int fd)
{
	struct pollfd p = { fd, POLLOUT, 0 };

	return poll(&p, 1, 0) > 0 && (p.revents & POLLOUT);
}

static void answer(struct ctlwords *w, char *text)
{
	size_t n = strlen(text);

	if (w->ack < 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (iscntrl((unsigned char)text[i]))
			text[i] = '?';
	text[n] = '\n'; /* the NUL behind it goes along */
	if (has_room(w->ack) && write(w->ack, text, n + 2) == (ssize_t)(n + 2))
		return;
	if (!w->dropped)
		log_warn("nobody reads the answers of --control: they are dropped");
	w->dropped = true;
}

static void acknowledge(struct ctlwords *w)
{
	char text[8] = "ack";

	answer(w, text);
}

__attribute__((format(printf, 2, 3)))
static void complain(struct ctlwords *w, const char *fmt, ...)
{
	char text[8 + CTLWORDS_MAX + 256] = "error ";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + 6, sizeof(text) - 8, fmt, ap);
	va_end(ap);
	answer(w, text);
}

/* ---- words ---- */

static int do_snapshot(struct session *s, const char *arg)
{
	(void)arg;
	return control_snapshot(s, NULL, "control word");
}

static int do_stop(struct session *s, const char *arg)
{
	(void)arg;
	control_stop(s);
	return 0;
}

static int do_ping(struct session *s, const char *arg)
{
	(void)s;
	(void)arg;
	return 0;
}

static int do_evlist(struct session *s, const char *arg)
{
	int err = evlist_print(s, arg);

	if (err)
		snprintf(s->control.words, sizeof(s->control.words),
			 "evlist takes -v, -g or -F, not '%.200s'", arg);
	return err;
}

static const struct {
	const char *name;
	int (*run)(struct session *s, const char *arg); /* arg NULL: none */
} words[] = {
	{ "enable", control_enable }, { "disable", control_disable },
	{ "snapshot", do_snapshot },  { "stop", do_stop },
	{ "ping", do_ping },	      { "evlist", do_evlist },
};

/* w->word, whole and not empty. */
static void obey(struct ctlwords *w, struct session *s)
{
	size_t n = strcspn(w->word, " ");
	const char *arg = w->word[n] ? w->word + n + 1 : NULL;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (n != strlen(words[i].name) || memcmp(w->word, words[i].name, n))
			continue;
		if (words[i].run(s, arg))
			complain(w, "%s", s->control.words);
		else
			acknowledge(w);
		return;
	}
	complain(w, "unknown word '%s'", w->word);
}

static void end_word(struct ctlwords *w, struct session *s)
{
	w->word[w->n] = '\0';
	if (w->too_long)
		complain(w, "a word of more than %d bytes", CTLWORDS_MAX);
	else if (w->n)
		obey(w, s);
	w->n = 0;
	w->too_long = false;
}

static void take(struct ctlwords *w, struct session *s, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i] == '\n' || !bytes[i])
			end_word(w, s);
		else if (w->n < CTLWORDS_MAX)
			w->word[w->n++] = bytes[i];
		else
			w->too_long = true;
}

/* One read each time, of what is known to be there: a descriptor of the caller's may be one
 * that waits. */
static void words_came(void *ctx, int fd, uint32_t events)
{
	struct session *s = ctx;
	char bytes[1024];
	ssize_t n;

	do
		n = events & EPOLLIN ? read(fd, bytes, sizeof(bytes)) : 0;
	while (n < 0 && errno == EINTR);
	if (n > 0)
		take(&s->words, s, bytes, (size_t)n);
	if (n > 0 || (n < 0 && errno == EAGAIN))
		return;
	end_word(&s->words, s); /* that the other end left unfinished */
	watch_remove(&s->watch, fd);
}

int ctlwords_watch(struct session *s)
{
	return watch_add(&s->watch, s->words.in, words_came, s);
}
