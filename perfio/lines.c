/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/lines.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Moves the begun line to the front and reads behind it. */
static int refill(struct pio_lines *l)
{
	size_t have = l->len - l->pos;
	ssize_t n;

	if (have == l->cap) {
		l->dropping = true;
		have = 0;
	} else if (have && l->pos) {
		memmove(l->buf, l->buf + l->pos, have);
	}
	l->pos = 0;
	l->len = have;
	do {
		n = read(l->fd, l->buf + have, l->cap - have);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	l->len += (size_t)n;
	l->eof = n == 0;
	return 0;
}

static int last_line(struct pio_lines *l, char **ret, size_t *ret_len)
{
	size_t n = l->len - l->pos;

	/* Without its newline a line may be cut: one that fills the buffer surely is. */
	if (!n || n == l->cap || l->dropping)
		return 0;
	*ret = l->buf + l->pos;
	*ret_len = n;
	(*ret)[n] = '\0';
	l->pos = l->len;
	return 1;
}

int pio_lines_next(struct pio_lines *l, char **ret, size_t *ret_len)
{
	char *at, *nl;
	int err;

	for (;;) {
		at = l->buf + l->pos;
		nl = memchr(at, '\n', l->len - l->pos);
		if (nl) {
			l->pos = (size_t)(nl + 1 - l->buf);
			if (!l->dropping)
				break;
			l->dropping = false;
			continue;
		}
		if (l->eof)
			return last_line(l, ret, ret_len);
		err = refill(l);
		if (err)
			return err;
	}
	*nl = '\0';
	*ret = at;
	*ret_len = (size_t)(nl - at);
	return 1;
}

uint64_t pio_scan_hex(const char **p)
{
	uint64_t v = 0;

	for (;; (*p)++) {
		unsigned d = (unsigned char)**p;

		if (d - '0' < 10)
			d -= '0';
		else if ((d | 0x20) - 'a' < 6)
			d = (d | 0x20) - 'a' + 10;
		else
			return v;
		v = v << 4 | d;
	}
}

uint64_t pio_scan_dec(const char **p)
{
	uint64_t v = 0;

	for (; (unsigned)(**p - '0') < 10; (*p)++)
		v = v * 10 + (uint64_t)(**p - '0');
	return v;
}
