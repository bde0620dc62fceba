/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/ctlsock.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* What may wait to be sent: one answer, and room for some more. */
enum { OUT_MAX = 1 << 20 };

struct client {
	int fd; /* -1: free */
	char *in;
	size_t nr_in;
	char *out;
	size_t nr_out, sent;
	int give;	/* descriptor to go with the next byte, or -1 */
	bool ending;	/* nothing more is read: close when all is sent */
};

struct ctlsock {
	int listen, epoll;
	char *path;
	struct client client[CTLSOCK_CLIENTS];
};

/* ---- the file ---- */

const char *ctlsock_default(void)
{
	static char path[sizeof(((struct sockaddr_un *)NULL)->sun_path) + 1];
	const char *dir = getenv("XDG_RUNTIME_DIR");

	snprintf(path, sizeof(path), "%s/auxrec.sock", dir && *dir == '/' ? dir : "/run");
	return path;
}

static int address(struct sockaddr_un *ret, const char *path)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(ret->sun_path))
		return -ENAMETOOLONG;
	strcpy(ret->sun_path, path);
	return 0;
}

/* A socket that nobody listens on is a dead recorder's. */
static int clear_way(const char *path, const struct sockaddr_un *a)
{
	struct stat st;
	int fd, err;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	err = connect(fd, (const struct sockaddr *)a, sizeof(*a)) ? -errno : -EADDRINUSE;
	close(fd);
	if (err == -EAGAIN) /* it listens, and its queue is full */
		return -EADDRINUSE;
	if (err != -ECONNREFUSED)
		return err;
	return unlink(path) ? -errno : 0;
}

static int listen_at(const char *path)
{
	struct sockaddr_un a;
	mode_t mask;
	int fd, err = address(&a, path);

	if (!err)
		err = clear_way(path, &a);
	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	mask = umask(0177); /* the file appears with mode 0600, never wider */
	err = bind(fd, (const struct sockaddr *)&a, sizeof(a)) ? -errno : 0;
	umask(mask);
	if (!err && listen(fd, CTLSOCK_CLIENTS))
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

static int watch(const struct ctlsock *s, int op, int fd, uint32_t events, uint32_t nr)
{
	struct epoll_event e = { .events = events, .data.u32 = nr };

	return epoll_ctl(s->epoll, op, fd, &e) ? -errno : 0;
}

int ctlsock_open(struct ctlsock **ret, const char *path)
{
	struct ctlsock *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	for (size_t i = 0; i < CTLSOCK_CLIENTS; i++)
		s->client[i] = (struct client){ .fd = -1, .give = -1 };
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->listen = s->epoll < 0 ? -errno : listen_at(path);
	err = s->listen < 0 ? s->listen : 0;
	if (!err) {
		s->path = strdup(path);
		err = s->path ? watch(s, EPOLL_CTL_ADD, s->listen, EPOLLIN, CTLSOCK_CLIENTS)
			      : -ENOMEM;
	}
	if (err) {
		ctlsock_close(s);
		return err;
	}
	*ret = s;
	return 0;
}

static void drop(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	if (c->give >= 0)
		close(c->give);
	free(c->in);
	free(c->out);
	*c = (struct client){ .fd = -1, .give = -1 };
}

void ctlsock_close(struct ctlsock *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < CTLSOCK_CLIENTS; i++)
		drop(&s->client[i]);
	if (s->listen >= 0)
		close(s->listen);
	if (s->epoll >= 0)
		close(s->epoll);
	if (s->path)
		(void)unlink(s->path);
	free(s->path);
	free(s);
}

int ctlsock_fd(const struct ctlsock *s)
{
	return s->epoll;
}

/* ---- sending ---- */

/* One byte at least must go with a descriptor: it is the answer's first. */
static ssize_t send_some(struct client *c)
{
	char room[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec v = { c->out + c->sent, c->nr_out - c->sent };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	struct cmsghdr *h;

	if (c->give >= 0) {
		m.msg_control = room;
		m.msg_controllen = sizeof(room);
		h = CMSG_FIRSTHDR(&m);
		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(h), &c->give, sizeof(int));
	}
	return sendmsg(c->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* False: the client is gone, or done with. */
static bool flush(struct client *c)
{
	while (c->sent < c->nr_out) {
		ssize_t n = send_some(c);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		if (c->give >= 0)
			close(c->give);
		c->give = -1;
		c->sent += (size_t)n;
	}
	c->sent = c->nr_out = 0;
	return !c->ending;
}

static bool queue(struct client *c, json_t *answer)
{
	char *text = answer ? json_dumps(answer, JSON_COMPACT) : NULL, *more;
	size_t n = text ? strlen(text) : 0;

	json_decref(answer);
	more = text && c->nr_out + n < OUT_MAX ? realloc(c->out, c->nr_out + n + 1) : NULL;
	if (more) {
		c->out = more;
		memcpy(more + c->nr_out, text, n);
		more[c->nr_out + n] = '\n';
		c->nr_out += n + 1;
	}
	free(text);
	return more;
}

/* ---- requests ---- */

json_t *ctlsock_refuse(const char *fmt, ...)
{
	char text[512];
	va_list ap;
	json_t *o;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	o = json_pack("{s:b, s:s}", "ok", 0, "error", text);
	return o ? o : json_pack("{s:b, s:s}", "ok", 0, "error", "words that are not UTF-8");
}

static json_t *answer_line(const char *line, size_t n, ctlsock_answer_fn *answer, void *ctx,
			   int *give)
{
	json_error_t why;
	json_t *q = json_loadb(line, n, JSON_REJECT_DUPLICATES, &why), *a, *id;

	if (!q)
		return ctlsock_refuse("not a JSON object: %s", why.text);
	if (json_is_object(q))
		a = answer(ctx, q, give);
	else
		a = ctlsock_refuse("a request is a JSON object");
	id = json_object_get(q, "id");
	if (a && id && json_object_set(a, "id", id)) {
		json_decref(a);
		a = NULL;
	}
	json_decref(q);
	return a;
}

static char *line_end(const struct client *c)
{
	return memchr(c->in, '\n', c->nr_in);
}

/* A line that is whole: one, so that a client who has many waits like others. False: drop the
 * client. */
static bool serve(struct client *c, ctlsock_answer_fn *answer, void *ctx)
{
	char *end = c->nr_out ? NULL : line_end(c);
	size_t n;

	if (end) {
		n = (size_t)(end - c->in);
		if (n && !queue(c, answer_line(c->in, n, answer, ctx, &c->give)))
			return false;
		c->nr_in -= n + 1;
		memmove(c->in, end + 1, c->nr_in);
		return flush(c);
	}
	if (c->nr_in < CTLSOCK_LINE || c->nr_out)
		return true;
	c->ending = true;
	return queue(c, ctlsock_refuse("a line of more than %d bytes", CTLSOCK_LINE)) && flush(c);
}

static bool receive(struct client *c)
{
	ssize_t n = recv(c->fd, c->in + c->nr_in, CTLSOCK_LINE - c->nr_in, MSG_DONTWAIT);

	if (n > 0)
		c->nr_in += (size_t)n;
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void work(struct ctlsock *s, uint32_t nr, uint32_t events, ctlsock_answer_fn *answer,
		 void *ctx)
{
	struct client *c = &s->client[nr];
	bool good = flush(c);

	if (good && !c->nr_out && !line_end(c) && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
		good = receive(c);
	if (good)
		good = serve(c, answer, ctx);
	/* Who does not read is not read from; who can be written to has his next turn at once. */
	if (good)
		good = !watch(s, EPOLL_CTL_MOD, c->fd,
			      c->nr_out || line_end(c) ? EPOLLOUT : EPOLLIN, nr);
	if (!good)
		drop(c);
}

static bool welcome(int fd)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n))
		return false;
	return peer.uid == geteuid() || peer.uid == 0;
}

/* Words for somebody who is not let in: if they do not fit at once, none. */
static void turn_away(int fd, const char *why)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "{\"ok\":false,\"error\":\"%s\"}\n", why);

	(void)send(fd, line, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
}

static void accept_one(struct ctlsock *s)
{
	int fd = accept4(s->listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	uint32_t i = 0;

	if (fd < 0)
		return;
	while (i < CTLSOCK_CLIENTS && s->client[i].fd >= 0)
		i++;
	if (!welcome(fd)) {
		turn_away(fd, "this recording belongs to another user");
		return;
	}
	if (i == CTLSOCK_CLIENTS) {
		turn_away(fd, "too many clients");
		return;
	}
	s->client[i].fd = fd;
	s->client[i].in = malloc(CTLSOCK_LINE);
	if (!s->client[i].in || watch(s, EPOLL_CTL_ADD, fd, EPOLLIN, i))
		drop(&s->client[i]);
}

void ctlsock_work(struct ctlsock *s, ctlsock_answer_fn *answer, void *ctx)
{
	struct epoll_event e[CTLSOCK_CLIENTS + 1];
	int n = epoll_wait(s->epoll, e, CTLSOCK_CLIENTS + 1, 0);

	for (int i = 0; i < n; i++)
		if (e[i].data.u32 == CTLSOCK_CLIENTS)
			accept_one(s);
		else if (s->client[e[i].data.u32].fd >= 0)
			work(s, e[i].data.u32, e[i].events, answer, ctx);
}
