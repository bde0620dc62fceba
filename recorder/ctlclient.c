/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/ctlclient.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 16 << 20, PIECE = 64 << 10 };

int ctlclient_open(struct ctlclient *ret, const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct ctlclient c = CTLCLIENT_INIT;

	if (strlen(path) >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	strcpy(a.sun_path, path);
	c.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c.fd < 0)
		return -errno;
	if (connect(c.fd, (const struct sockaddr *)&a, sizeof(a))) {
		int err = -errno;

		(void)close(c.fd);
		return err;
	}
	*ret = c;
	return 0;
}

void ctlclient_done(struct ctlclient *c)
{
	if (c->fd >= 0)
		(void)close(c->fd);
	if (c->file >= 0)
		(void)close(c->file);
	free(c->line);
	*c = CTLCLIENT_INIT;
}

static int send_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = send(fd, p, n, MSG_NOSIGNAL);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return errno == ECONNRESET ? -EPIPE : -errno;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

static int make_room(struct ctlclient *c)
{
	char *more;

	if (c->cap - c->n > PIECE)
		return 0;
	if (c->cap >= LINE_MAX_BYTES)
		return -EMSGSIZE;
	more = realloc(c->line, c->cap + 2 * PIECE);
	if (!more)
		return -ENOMEM;
	c->line = more;
	c->cap += 2 * PIECE;
	return 0;
}

static void take_file(struct ctlclient *c, struct msghdr *m)
{
	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
			continue;
		if (c->file >= 0)
			(void)close(c->file);
		memcpy(&c->file, CMSG_DATA(h), sizeof(c->file));
	}
}

/* More of the answer: 0 or -errno. */
static int receive(struct ctlclient *c)
{
	char room[CMSG_SPACE(sizeof(int))];
	int err = make_room(c);
	struct iovec v = { c->line + c->n, PIECE };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = room,
			    .msg_controllen = sizeof(room) };
	ssize_t n;

	if (err)
		return err;
	do
		n = recvmsg(c->fd, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n && errno != ECONNRESET ? -errno : -EPIPE;
	take_file(c, &m);
	c->n += (size_t)n;
	return 0;
}

static int parse(struct ctlclient *c, json_t **ret)
{
	json_t *v;

	c->line[--c->n] = '\0';
	v = json_loadb(c->line, c->n, 0, NULL);
	if (!json_is_object(v)) {
		json_decref(v);
		return -EBADMSG;
	}
	*ret = v;
	return 0;
}

int ctlclient_ask(struct ctlclient *c, const json_t *request, json_t **ret)
{
	char *text = json_dumps(request, JSON_COMPACT);
	int err;

	if (!text)
		return -ENOMEM;
	c->n = 0;
	err = send_all(c->fd, text, strlen(text));
	free(text);
	if (!err)
		err = send_all(c->fd, "\n", 1);
	/* Who turns us away does so before it has read anything: look for words all the same. */
	if (err && err != -EPIPE)
		return err;
	do
		err = receive(c);
	while (!err && c->line[c->n - 1] != '\n'); /* one request, one line */
	return err ? err : parse(c, ret);
}

void ctlclient_wait_end(struct ctlclient *c)
{
	char byte;

	while (recv(c->fd, &byte, 1, 0) > 0 || errno == EINTR)
		errno = 0;
}
