/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes at all on the channels that a recording is controlled through: control words
 * (--control) where the first byte is odd, the control socket where it is even. Every word and
 * every line is answered, once and in the form of its channel; no descriptor is left open; and
 * whatever was asked, "enable" lets all events count again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "recorder/jtree.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/fake_sys.h"
#include "tests/unit/flightfix.h"

enum { PIECE = 256, ROOM = 1 << 16, MOST_FDS = 256 };

static struct flightfix fix;
static struct session *const s = &fix.s;

static int nothing, err; /* /dev/null, and where standard error goes else */

static void prepare(void)
{
	if (nothing)
		return;
	nothing = open("/dev/null", O_WRONLY);
	err = dup(2);
	expect(nothing >= 0 && err >= 0);
#ifdef __SANITIZE_ADDRESS__
	__sanitizer_set_report_fd((void *)(intptr_t)err);
#endif
}

/* What has come is done. evlist prints: nobody wants to read that. */
static void turn(void)
{
	int failed;

	expect(dup2(nothing, 2) == 2);
	failed = watch_wait(&s->watch, 0);
	expect(dup2(err, 2) == 2);
	expect(!failed);
}

static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < MOST_FDS; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* ---- control words ---- */

static size_t count_words(const uint8_t *data, size_t size, bool ends)
{
	size_t n = 0, len = 0;

	for (size_t i = 0; i < size; i++) {
		bool end = data[i] == '\n' || !data[i];

		n += end && len;
		len = end ? 0 : len + 1;
	}
	return n + (ends && len);
}

/* The answers that are there: "ack" or "error REASON", a newline and a NUL. */
static size_t take_answers(int fd)
{
	static char text[ROOM + 1];
	ssize_t n = read(fd, text, ROOM);
	size_t answers = 0, len;

	expect(n > 0 || errno == EAGAIN);
	for (char *at = text; n > 0 && at < text + n; at += len + 1) {
		text[n] = '\0';
		len = strlen(at);
		expect(len && at[len - 1] == '\n' && at + len < text + n);
		expect(!strcmp(at, "ack\n") || !strncmp(at, "error ", 6));
		expect(strchr(at, '\n') == at + len - 1);
		answers++;
	}
	return answers;
}

static void words(const uint8_t *data, size_t size)
{
	int in[2], ack[2];
	char arg[40];
	const char *what;
	size_t answers = 0;

	expect(!pipe2(in, O_NONBLOCK) && !pipe2(ack, O_NONBLOCK));
	snprintf(arg, sizeof(arg), "fd:%d,%d", in[0], ack[1]);
	expect(!ctlwords_open(&s->words, arg, &what) && !ctlwords_watch(s));
	for (size_t at = 0, n; at < size; at += n) {
		n = least(size - at, PIECE);
		expect(write(in[1], data + at, n) == (ssize_t)n);
		turn();
		answers += take_answers(ack[0]);
	}
	close(in[1]);
	turn();
	answers += take_answers(ack[0]);
	expect(answers == count_words(data, size, true));
	ctlwords_done(&s->words);
	close(in[0]);
	close(ack[0]);
	close(ack[1]);
}

/* ---- the socket ---- */

/* Of a line that is too long is told, and nothing is read behind it. */
static size_t count_lines(const uint8_t *data, size_t size)
{
	size_t n = 0, len = 0;

	for (size_t i = 0; i < size; i++) {
		bool end = data[i] == '\n';

		n += end && len;
		len = end ? 0 : len + 1;
		if (len == CTLSOCK_LINE)
			return n + 1;
	}
	return n;
}

static void judge(const char *line, size_t n)
{
	json_error_t why;
	json_t *o = json_loadb(line, n, JSON_REJECT_DUPLICATES, &why);
	const json_t *ok = json_object_get(o, "ok");

	expect(json_is_boolean(ok));
	expect(json_is_true(ok) || json_is_string(json_object_get(o, "error")));
	json_decref(o);
}

struct client {
	int fd;
	char *text; /* what was received of a line */
	size_t n;
	size_t answers;
};

static void close_gift(struct msghdr *m)
{
	struct cmsghdr *h = CMSG_FIRSTHDR(m);
	int fd;

	if (!h)
		return;
	memcpy(&fd, CMSG_DATA(h), sizeof(fd));
	close(fd);
}

/* False: nothing more will come. */
static bool listen_to(struct client *c)
{
	char room[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec v = { c->text + c->n, ROOM - c->n };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = room,
			    .msg_controllen = sizeof(room) };
	ssize_t n = recvmsg(c->fd, &m, MSG_DONTWAIT);
	char *end;

	if (n < 0 && errno == EAGAIN)
		return true;
	if (n <= 0)
		return false;
	close_gift(&m);
	c->n += (size_t)n;
	while ((end = memchr(c->text, '\n', c->n))) {
		judge(c->text, (size_t)(end - c->text));
		c->answers++;
		c->n -= (size_t)(end + 1 - c->text);
		memmove(c->text, end + 1, c->n);
	}
	expect(c->n < ROOM);
	return true;
}

static struct client call(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct client c = { .fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0) };

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	c.text = malloc(ROOM);
	expect(c.text && c.fd >= 0 && !connect(c.fd, (struct sockaddr *)&a, sizeof(a)));
	return c;
}

static void lines(const uint8_t *data, size_t size)
{
	char folder[] = "/tmp/fuzz.XXXXXX", path[40];
	struct client c;
	size_t sent = 0;
	ssize_t n;

	expect(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/s", folder);
	fix.cfg.socket = path;
	expect(!ctlserve_open(s) && !ctlserve_watch(s));
	c = call(path);
	do {
		n = sent < size ? send(c.fd, data + sent, size - sent, MSG_NOSIGNAL) : 0;
		sent += n > 0 ? (size_t)n : 0;
		if (sent == size)
			shutdown(c.fd, SHUT_WR);
		turn();
	} while (listen_to(&c));
	expect(c.answers == count_lines(data, size));
	close(c.fd);
	free(c.text);
	ctlserve_done(s);
	expect(!rmdir(folder));
}

/* ---- a recording that nothing was recorded of: it writes no snapshot anywhere ---- */

static void begin(void)
{
	static const uint8_t trace[1000] = { 1, 2, 3 };

	expect(!flightfix_begin(&fix));
	s->on_ns = 0;
	expect(!watch_init(&s->watch));
	for (size_t i = 0; i < FLIGHTFIX_CPUS; i++)
		expect(fake_put_aux(s->set.place[i].ring.fd, trace, sizeof(trace)));
}

static void end(void)
{
	expect(!control_enable(s, NULL));
	for (size_t i = 0; i < fake_nr_events(); i++)
		expect(fake_event(i)->enabled && !fake_event(i)->stuck);
	watch_done(&s->watch);
	expect(!flightfix_end(&fix));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int before;

	if (!size)
		return 0;
	prepare();
	before = open_descriptors();
	begin();
	if (data[0] & 1)
		words(data + 1, size - 1);
	else
		lines(data + 1, size - 1);
	end();
	expect(open_descriptors() == before);
	return 0;
}
