/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/evclock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "perfio/attrs.h"

enum {
	TIME_FROM_END = 24, /* in the trailer of PIO_SAMPLE_TYPE: time, cpu, id */
	COMM_MAX = 16,
};

int pio_evclock_open(struct pio_evclock *ret, const struct pio_sys *sys)
{
	const struct pio_attr_common common = { .clockid = -1 };
	struct perf_event_attr a = pio_attr_switch(&common);
	int err, fd;

	a.context_switch = 0;
	a.comm = 1;
	a.disabled = 0;
	fd = sys->open(&a, 0, -1, -1, 0);
	if (fd < 0)
		return fd;
	*ret = PIO_EVCLOCK_INIT;
	err = pio_ring_map(&ret->ring, sys, fd, (size_t)sysconf(_SC_PAGESIZE));
	if (err) {
		(void)sys->close(fd);
		*ret = PIO_EVCLOCK_INIT;
	}
	return err;
}

void pio_evclock_done(struct pio_evclock *c)
{
	const struct pio_sys *sys = c->ring.sys;
	int fd = c->ring.fd;

	if (!c->ring.meta)
		return;
	pio_ring_done(&c->ring);
	(void)sys->close(fd);
	*c = PIO_EVCLOCK_INIT;
}

static uint64_t time_of(const uint8_t *end)
{
	uint64_t t;

	memcpy(&t, end - TIME_FROM_END, sizeof(t));
	return t;
}

/* One record is in the ring, whose time never straddles the wrap: all is a multiple of 8. */
uint64_t pio_evclock_now(struct pio_evclock *c)
{
	char name[COMM_MAX];
	struct iovec v[2];
	uint64_t ns = 0;
	int n;

	if (!c->ring.meta || prctl(PR_GET_NAME, name) || prctl(PR_SET_NAME, name))
		return 0;
	n = pio_ring_peek(&c->ring, v);
	if (n && v[n - 1].iov_len >= TIME_FROM_END)
		ns = time_of((const uint8_t *)v[n - 1].iov_base + v[n - 1].iov_len);
	else if (n == 2) /* the last bytes of v[0] and the first of v[1] */
		ns = time_of((const uint8_t *)v[0].iov_base + v[0].iov_len + v[1].iov_len);
	if (n)
		pio_ring_release(&c->ring);
	return ns;
}
