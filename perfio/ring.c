/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Head and tail only ever grow; a position in the area is their low bits. The head is
 * loaded with acquire, so that the bytes below it are seen; the tail is stored with
 * release, so that no read of ours is still on its way when the kernel writes there again
 * (kernel/events/ring_buffer.c, perf_output_put_handle(), Linux 6.1).
 */
#include "perfio/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static bool whole_pages(size_t len)
{
	return len >= page_size() && !(len & (len - 1));
}

int pio_ring_map(struct pio_ring *ret, const struct pio_sys *sys, int fd, size_t data_len)
{
	struct pio_ring r = { .sys = sys, .fd = fd, .data_len = data_len };
	void *p = NULL;
	int err;

	if (!whole_pages(data_len))
		return -EINVAL;
	r.map_len = page_size() + data_len;
	err = sys->mmap(&p, r.map_len, PROT_READ | PROT_WRITE, fd, 0);
	if (err)
		return err;
	r.meta = p;
	r.data = (uint8_t *)p + page_size();
	*ret = r;
	return 0;
}

int pio_ring_map_aux(struct pio_ring *r, size_t aux_len, bool overwrite)
{
	int prot = overwrite ? PROT_READ : PROT_READ | PROT_WRITE;
	void *p = NULL;
	int err;

	if (!whole_pages(aux_len))
		return -EINVAL;
	r->meta->aux_offset = r->map_len;
	r->meta->aux_size = aux_len;
	/* Writable is what selects full-trace mode: the kernel stops at our tail. */
	err = r->sys->mmap(&p, aux_len, prot, r->fd, (off_t)r->map_len);
	if (err)
		return err;
	r->aux = p;
	r->aux_len = aux_len;
	r->overwrite = overwrite;
	return 0;
}

void pio_ring_done(struct pio_ring *r)
{
	if (r->aux)
		(void)r->sys->munmap(r->aux, r->aux_len);
	if (r->meta)
		(void)r->sys->munmap(r->meta, r->map_len);
	*r = PIO_RING_INIT;
}

/* The tail that the kernel is told. */
static uint64_t whole_tail(const struct pio_ring *r)
{
	return r->aux_tail & ~(uint64_t)(page_size() - 1);
}

static int spans(struct iovec v[2], uint8_t *area, size_t len, uint64_t tail,
		 uint64_t head)
{
	size_t at = (size_t)tail & (len - 1), n = (size_t)(head - tail);
	size_t first = len - at;

	if (n > len) /* never point outside the mapping, whatever the page says */
		n = len;
	if (!n)
		return 0;
	v[0] = (struct iovec){ .iov_base = area + at, .iov_len = n };
	if (n <= first)
		return 1;
	v[0].iov_len = first;
	v[1] = (struct iovec){ .iov_base = area, .iov_len = n - first };
	return 2;
}

int pio_ring_peek(struct pio_ring *r, struct iovec v[2])
{
	if (!r->meta)
		return 0;
	r->head = __atomic_load_n(&r->meta->data_head, __ATOMIC_ACQUIRE);
	return spans(v, r->data, r->data_len, r->tail, r->head);
}

int pio_ring_peek_aux(struct pio_ring *r, struct iovec v[2])
{
	if (!r->aux || r->overwrite)
		return 0;
	r->aux_head = __atomic_load_n(&r->meta->aux_head, __ATOMIC_ACQUIRE);
	r->aux_full = r->aux_head - whole_tail(r) + page_size() > r->aux_len;
	return spans(v, r->aux, r->aux_len, r->aux_tail, r->aux_head);
}

/* An area that was never full is still zero behind the head (the kernel hands out zeroed
 * pages); trace has no page of zeros. perf looks at the same place. */
static bool has_wrapped(const struct pio_ring *r, size_t at)
{
	enum { LOOK = 4096 };
	size_t from = r->aux_len - LOOK > at ? r->aux_len - LOOK : at;

	for (size_t i = from; i < r->aux_len; i++)
		if (r->aux[i])
			return true;
	return false;
}

int pio_ring_snapshot(struct pio_ring *r, struct iovec v[2], uint64_t *ret_offset)
{
	uint64_t head;
	size_t at, last, n;

	if (!r->aux || !r->overwrite)
		return 0;
	head = __atomic_load_n(&r->meta->aux_head, __ATOMIC_ACQUIRE);
	at = (size_t)head & (r->aux_len - 1);
	last = (size_t)r->aux_head & (r->aux_len - 1);
	r->aux_wrapped = r->aux_wrapped || at < last || has_wrapped(r, at);
	r->aux_head += at >= last ? at - last : r->aux_len - last + at;
	n = r->aux_wrapped ? r->aux_len : at;
	if (r->aux_head < n)
		r->aux_head += r->aux_len;
	*ret_offset = r->aux_head - n;
	return spans(v, r->aux, r->aux_len, *ret_offset, r->aux_head);
}

static bool any_trace(const struct pio_ring *r, size_t page)
{
	const uint8_t *p = r->aux + page * page_size();

	for (size_t i = 0; i < page_size(); i++)
		if (p[i])
			return true;
	return false;
}

/* The kernel tells the head only when the event stops; but before the first lap, trace ends
 * where pages of zeros begin. */
size_t pio_ring_fill(const struct pio_ring *r)
{
	size_t full = 0, empty = r->aux ? r->aux_len / page_size() : 0, mid;

	if (!r->aux || !r->overwrite)
		return 0;
	if (r->aux_wrapped)
		return r->aux_len;
	while (full < empty) {
		mid = full + (empty - full) / 2;
		if (any_trace(r, mid))
			full = mid + 1;
		else
			empty = mid;
	}
	return full * page_size();
}

void pio_ring_release(struct pio_ring *r)
{
	if (!r->meta)
		return;
	r->tail = r->head;
	__atomic_store_n(&r->meta->data_tail, r->tail, __ATOMIC_RELEASE);
}

void pio_ring_release_aux(struct pio_ring *r)
{
	if (!r->aux || r->overwrite)
		return;
	r->aux_tail = r->aux_head;
	__atomic_store_n(&r->meta->aux_tail, whole_tail(r), __ATOMIC_RELEASE);
}

size_t pio_ring_pending(const struct pio_ring *r)
{
	return (size_t)(r->head - r->tail);
}

/* A writer is in the middle of the page for a few instructions, with preemption off. One
 * that never leaves is no clock to trust. */
#define SEQLOCK_TRIES 10000

bool pio_ring_time_conv(const struct pio_ring *r, struct pio_time_conv *ret)
{
	const volatile struct perf_event_mmap_page *m = r->meta;

	for (unsigned i = 0; m && i < SEQLOCK_TRIES; i++) {
		uint32_t seq = __atomic_load_n(&r->meta->lock, __ATOMIC_ACQUIRE);
		struct pio_time_conv c = {
			.zero = m->time_zero,
			.cycles = m->time_cycles,
			.mask = m->time_mask,
			.mult = m->time_mult,
			.shift = m->time_shift,
			.cap_zero = m->cap_user_time_zero,
			.cap_short = m->cap_user_time_short,
		};

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (seq & 1 || seq != __atomic_load_n(&r->meta->lock, __ATOMIC_RELAXED))
			continue;
		if (!c.cap_zero || !c.mult)
			break;
		*ret = c;
		return true;
	}
	*ret = (struct pio_time_conv){ 0 };
	return false;
}
