/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/view.h"
#include "perfio/soft/mem.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { PAGE = 4096, SLOTS = 64 };
/* Stretches of written bytes that are written back in one call. */
enum { PIECES = 64 };

struct page {
	uint64_t addr;
	bool there, written;
	uint8_t v[PAGE];
	uint64_t changed[PAGE / 64]; /* set of bytes */
};

struct soft_view {
	struct soft_mem *mem;
	pid_t tid;
	bool alone;
	struct page page[SLOTS];
	uint8_t used[SLOTS]; /* slots that are `there` */
	int nr_used;
	uint8_t last[SLOTS]; /* those that were, when it was emptied: likely to be wanted again */
	int nr_last;
	uint64_t last_of; /* soft_mem.serial */
	int err; /* of the first failure to write back */
};

struct soft_view *soft_view_new(void)
{
	return calloc(1, sizeof(struct soft_view));
}

void soft_view_free(struct soft_view *v)
{
	free(v);
}

void soft_view_open(struct soft_view *v, struct soft_mem *m, pid_t tid, bool alone)
{
	v->mem = m;
	v->tid = tid;
	v->alone = alone;
	v->err = 0;
}

static bool load(const struct soft_view *v, uint64_t addr, void *to, size_t n)
{
	struct iovec here = { to, n }, there = { (void *)addr, n };

	return process_vm_readv(v->tid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

static bool store(const struct soft_view *v, uint64_t addr, const void *from, size_t n)
{
	struct iovec here = { (void *)from, n }, there = { (void *)addr, n };

	return process_vm_writev(v->tid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

static bool in(const uint64_t *set, size_t i)
{
	return set[i / 64] >> (i % 64) & 1;
}

/* The next stretch of changed bytes from *at on. */
static bool next_piece(const struct page *p, size_t *at, size_t *end)
{
	size_t i = *at;

	while (i < PAGE && !in(p->changed, i))
		i = p->changed[i / 64] >> (i % 64) ? i + 1 : (i / 64 + 1) * 64;
	*at = i;
	while (i < PAGE && in(p->changed, i))
		i++;
	*end = i;
	return *at < PAGE;
}

struct pieces {
	struct iovec here[PIECES], there[PIECES];
	size_t nr, bytes;
};

static void send(struct soft_view *v, struct pieces *p)
{
	ssize_t put = p->nr ? process_vm_writev(v->tid, p->here, p->nr, p->there, p->nr, 0) : 0;

	if (put != (ssize_t)p->bytes && !v->err)
		v->err = put < 0 ? -errno : -EFAULT;
	p->nr = p->bytes = 0;
}

static void write_back(struct soft_view *v, struct page *g, struct pieces *p)
{
	size_t end;

	for (size_t at = 0; g->written && next_piece(g, &at, &end); at = end) {
		if (p->nr == PIECES)
			send(v, p);
		p->here[p->nr] = (struct iovec){ g->v + at, end - at };
		p->there[p->nr++] = (struct iovec){ (void *)(g->addr + at), end - at };
		p->bytes += end - at;
	}
}

static void forget(struct page *g)
{
	if (g->written)
		memset(g->changed, 0, sizeof(g->changed));
	g->there = g->written = false;
}

static void empty(struct soft_view *v)
{
	struct pieces p;

	if (!v->nr_used)
		return;
	p.nr = p.bytes = 0;
	for (int k = 0; k < v->nr_used; k++)
		write_back(v, &v->page[v->used[k]], &p);
	send(v, &p);
	for (int k = 0; k < v->nr_used; k++)
		forget(&v->page[v->used[k]]);
	memcpy(v->last, v->used, sizeof(v->last));
	v->nr_last = v->nr_used;
	v->last_of = v->mem->serial;
	v->nr_used = 0;
}

int soft_view_close(struct soft_view *v)
{
	empty(v);
	return v->err;
}

static void is_there(struct soft_view *v, struct page *g, uint64_t base)
{
	soft_plants_overlay(&v->mem->plants, base, g->v, PAGE);
	g->addr = base;
	g->there = true;
	v->used[v->nr_used++] = (uint8_t)(g - v->page);
}

/* Most calls that read one page are as dear as those that read some. */
static void load_last(struct soft_view *v)
{
	struct iovec here[SLOTS], there[SLOTS];
	size_t nr = 0;
	ssize_t got;

	for (int k = 0; v->last_of == v->mem->serial && k < v->nr_last; k++) {
		struct page *g = &v->page[v->last[k]];

		here[nr] = (struct iovec){ g->v, PAGE };
		there[nr++] = (struct iovec){ (void *)g->addr, PAGE };
	}
	v->nr_last = 0;
	got = nr ? process_vm_readv(v->tid, here, nr, there, nr, 0) : 0;
	for (size_t k = 0; got >= (ssize_t)((k + 1) * PAGE); k++) {
		struct page *g = (struct page *)((char *)here[k].iov_base -
						 offsetof(struct page, v));

		is_there(v, g, g->addr);
	}
}

static struct page *fill(struct soft_view *v, struct page *g, uint64_t base)
{
	if (!v->nr_used)
		load_last(v);
	if (g->there && g->addr == base)
		return g;
	if (g->there)
		empty(v);
	if (!load(v, base, g->v, PAGE))
		return NULL;
	is_there(v, g, base);
	return g;
}

/* Is addr part of what is kept here? What can run is not, where it can be written: it is fetched
 * from memory. */
static bool kept(const struct soft_view *v, const struct soft_area *a, bool write)
{
	if (!a || !a->readable || !v->alone)
		return false;
	return a->writable ? !a->executable : !write;
}

/* The page, if all n bytes lie in it and nobody else has it, or NULL. */
static struct page *page_of(struct soft_view *v, uint64_t addr, size_t n, bool write)
{
	const uint64_t base = addr & ~(uint64_t)(PAGE - 1);
	const size_t slot = (base / PAGE ^ base / PAGE / SLOTS) % SLOTS;
	const struct soft_area *a;
	struct page *g = &v->page[slot];

	if (addr + n - 1 > base + PAGE - 1)
		return NULL;
	if (g->there && g->addr == base && (!write || g->written))
		return g;
	a = soft_mem_private(v->mem, addr);
	if (!kept(v, a, write))
		return NULL;
	return fill(v, g, base);
}

bool soft_view_read(void *arg, uint64_t addr, void *to, size_t n)
{
	struct soft_view *v = arg;
	const struct page *g = page_of(v, addr, n, false);

	if (g) {
		memcpy(to, g->v + addr % PAGE, n);
		return true;
	}
	/* Whoever shares it may tell of what else has changed. */
	empty(v);
	if (!load(v, addr, to, n))
		return false;
	soft_plants_overlay(&v->mem->plants, addr, to, n);
	return true;
}

bool soft_view_write(void *arg, uint64_t addr, const void *from, size_t n)
{
	struct soft_view *v = arg;
	struct page *g = page_of(v, addr, n, true);

	if (!g) {
		empty(v);
		/* Over the end of a page, the first half must not be written alone. */
		return addr % PAGE + n <= PAGE && store(v, addr, from, n);
	}
	memcpy(g->v + addr % PAGE, from, n);
	for (size_t i = addr % PAGE, k = 0; k < n; i++, k++)
		g->changed[i / 64] |= (uint64_t)1 << (i % 64);
	g->written = true;
	return true;
}
