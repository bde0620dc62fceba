/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/view.h"
#include "perfio/soft/mem.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { PAGE = 4096, WAYS = 2, SETS = 128, SLOTS = SETS * WAYS };
/* Pages that are fetched in one call. */
enum { TOGETHER = 64 };
/* Stretches of written bytes that are written back in one call. */
enum { PIECES = 64 };

struct page {
	uint64_t addr;
	bool there, written;
	bool used; /* among soft_view.used */
	uint8_t v[PAGE];
	uint64_t changed[PAGE / 64]; /* set of bytes */
};

struct soft_view {
	struct soft_mem *mem;
	pid_t tid, *dirty;
	bool alone, still;
	struct page page[SLOTS];
	uint8_t latest[SETS]; /* the way that was asked for last */
	uint8_t used[SLOTS]; /* slots that are or were `there` since it was empty */
	int nr_used;
	/* The latest of them, when it was emptied: likely to be wanted again. */
	uint8_t last[TOGETHER];
	int nr_last;
	uint64_t last_of; /* soft_mem.serial */
	int err; /* of the first failure to write back */
};

struct soft_view *soft_view_new(pid_t *dirty)
{
	struct soft_view *v = calloc(1, sizeof(*v));

	if (v)
		v->dirty = dirty;
	return v;
}

void soft_view_free(struct soft_view *v)
{
	free(v);
}

void soft_view_open(struct soft_view *v, struct soft_mem *m, pid_t tid, bool alone, bool still)
{
	v->mem = m;
	v->tid = tid;
	v->alone = alone;
	v->still = still;
	v->err = 0;
}

static bool load(const struct soft_view *v, uint64_t addr, void *to, size_t n)
{
	struct iovec here = { to, n }, there = { (void *)addr, n };

	return process_vm_readv(v->tid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

static void tell(const struct soft_view *v)
{
	if (v->dirty)
		__atomic_store_n(v->dirty, v->tid, __ATOMIC_SEQ_CST);
}

static bool store(const struct soft_view *v, uint64_t addr, const void *from, size_t n)
{
	struct iovec here = { (void *)from, n }, there = { (void *)addr, n };

	tell(v);
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
	ssize_t put;

	if (p->nr)
		tell(v);
	put = p->nr ? process_vm_writev(v->tid, p->here, p->nr, p->there, p->nr, 0) : 0;
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
	for (int k = 0; k < v->nr_used; k++) {
		forget(&v->page[v->used[k]]);
		v->page[v->used[k]].used = false;
	}
	v->nr_last = v->nr_used < TOGETHER ? v->nr_used : TOGETHER;
	memcpy(v->last, v->used + v->nr_used - v->nr_last, (size_t)v->nr_last);
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
}

static void use(struct soft_view *v, struct page *g)
{
	if (g->used)
		return;
	g->used = true;
	v->used[v->nr_used++] = (uint8_t)(g - v->page);
}

/* Its slot is wanted for another. */
static void give_up(struct soft_view *v, struct page *g)
{
	struct pieces p;

	p.nr = p.bytes = 0;
	write_back(v, g, &p);
	send(v, &p);
	forget(g);
}

/* Most calls that read one page are as dear as those that read some. */
static void load_last(struct soft_view *v)
{
	struct iovec here[TOGETHER], there[TOGETHER];
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
		use(v, g);
	}
}

static bool has(const struct page *g, uint64_t base)
{
	return g->there && g->addr == base;
}

static size_t set_of(uint64_t base)
{
	return (base / PAGE ^ base / PAGE / SETS) % SETS;
}

/* The page or NULL. */
static struct page *find(struct soft_view *v, uint64_t base)
{
	const size_t set = set_of(base);
	struct page *g = &v->page[set * WAYS];

	if (has(g + v->latest[set], base))
		return g + v->latest[set];
	if (!has(g + !v->latest[set], base))
		return NULL;
	v->latest[set] = !v->latest[set];
	return g + v->latest[set];
}

/* The slot of its set that was not asked for last. */
static struct page *take_slot(struct soft_view *v, uint64_t base)
{
	const size_t set = set_of(base);

	v->latest[set] = !v->latest[set];
	return &v->page[set * WAYS + v->latest[set]];
}

static struct page *fill(struct soft_view *v, uint64_t base)
{
	struct page *g;

	if (!v->nr_used)
		load_last(v);
	g = find(v, base);
	if (g)
		return g;
	g = take_slot(v, base);
	if (g->there)
		give_up(v, g);
	use(v, g);
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
	const struct soft_area *a;
	struct page *g = find(v, base);

	if (addr + n - 1 > base + PAGE - 1)
		return NULL;
	if (g && (!write || g->written))
		return g;
	a = soft_mem_private(v->mem, addr);
	if (!kept(v, a, write))
		return NULL;
	return fill(v, base);
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

bool soft_view_owned(void *arg, uint64_t addr, size_t n, bool write, bool locked)
{
	struct soft_view *v = arg;

	return (v->still || !locked) && page_of(v, addr, n, write);
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
