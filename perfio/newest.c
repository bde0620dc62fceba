/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head counts down from 0 (kernel/events/ring_buffer.c, __perf_output_begin() with
 * backward set, Linux 6.1): -head bytes have been written, the newest record lies at head.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perfio/ring.h"

int pio_newest_map(struct pio_newest *ret, const struct pio_sys *sys, int fd, size_t data_len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct pio_newest r = { .sys = sys, .fd = fd, .data_len = data_len };
	void *p = NULL;
	int err;

	if (data_len < page || (data_len & (data_len - 1)))
		return -EINVAL;
	r.map_len = page + data_len;
	err = sys->mmap(&p, r.map_len, PROT_READ, fd, 0);
	if (err)
		return err;
	r.meta = p;
	r.data = (const uint8_t *)p + page;
	*ret = r;
	return 0;
}

void pio_newest_done(struct pio_newest *r)
{
	if (r->meta)
		(void)r->sys->munmap(r->meta, r->map_len);
	*r = PIO_NEWEST_INIT;
}

uint64_t pio_newest_head(const struct pio_newest *r)
{
	return r->meta ? __atomic_load_n(&r->meta->data_head, __ATOMIC_ACQUIRE) : 0;
}

bool pio_newest_any(const struct pio_newest *r)
{
	return pio_newest_head(r) != r->seen;
}

int pio_newest_peek(const struct pio_newest *r, struct iovec v[2], bool *ret_more)
{
	uint64_t head = pio_newest_head(r), n = r->seen - head;
	size_t at, first;

	*ret_more = n > r->data_len;
	if (*ret_more)
		n = r->data_len;
	if (!n)
		return 0;
	at = (size_t)head & (r->data_len - 1);
	first = r->data_len - at;
	v[0] = (struct iovec){ (uint8_t *)(uintptr_t)r->data + at, n < first ? n : first };
	if (n <= first)
		return 1;
	v[1] = (struct iovec){ (uint8_t *)(uintptr_t)r->data, n - first };
	return 2;
}

void pio_newest_taken(struct pio_newest *r)
{
	r->seen = pio_newest_head(r);
}
