/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lay in a process's memory at a given time, by the records of a perf.data file:
 * MMAP2 (newest first), COMM of an exec (empties the process), FORK (the parent's image
 * of then).
 */
#ifndef TESTS_TOOLS_IMAGE_H
#define TESTS_TOOLS_IMAGE_H

#include <sys/auxv.h>

#include "tests/tools/pdata.h"

enum image_kind { IMAGE_MAP, IMAGE_EXEC, IMAGE_FORK };

struct image_event {
	enum image_kind kind;
	uint32_t pid, ppid;
	uint64_t time, at; /* `at` keeps file order among equal times */
	uint64_t addr, end, off;
	const char *name;
};

struct image_file {
	const char *name;
	const uint8_t *v;
	uint64_t n;
};

struct image {
	struct image_event *ev;
	size_t nr_ev;
	struct image_thread {
		uint32_t tid, pid;
	} *thread;
	size_t nr_threads;
	struct image_file *file;
	size_t nr_files;
	/* Time of a TSC value, perf_event_mmap_page in <linux/perf_event.h>. */
	bool timeless;
	unsigned int shift;
	uint64_t mult, zero;
	/* For the decoder's configuration. */
	uint32_t ctc_n, ctc_d;
	uint8_t mtc_freq, ratio;
};

static inline void image_add(struct image *m, struct image_event e)
{
	m->ev = pd_grow(m->ev, m->nr_ev, sizeof(*m->ev));
	m->ev[m->nr_ev++] = e;
}

static inline void image_thread(struct image *m, uint32_t pid, uint32_t tid)
{
	m->thread = pd_grow(m->thread, m->nr_threads, sizeof(*m->thread));
	m->thread[m->nr_threads++] = (struct image_thread){ tid, pid };
}

/* The process of a thread, by the last record that names it; the thread's own number when
 * no record does. */
static inline uint32_t image_pid(const struct image *m, uint32_t tid)
{
	for (size_t i = m->nr_threads; i--;)
		if (m->thread[i].tid == tid)
			return m->thread[i].pid;
	return tid;
}

static inline void image_take_mmap2(struct image *m, const struct pd_file *f,
				    const struct pd_record *r)
{
	struct image_event e = { .kind = IMAGE_MAP, .at = r->at, .time = pd_time(f, r) };

	if (r->size < 80 || !memchr(r->body + 64, 0, (size_t)r->size - 72))
		pd_give_up("MMAP2 at %#llx is cut", (unsigned long long)r->at);
	e.pid = pd_32(r->body);
	e.addr = pd_64(r->body + 8);
	e.end = e.addr + pd_64(r->body + 16);
	e.off = pd_64(r->body + 24);
	e.name = (const char *)r->body + 64;
	image_add(m, e);
}

static inline void image_take_task(struct image *m, const struct pd_file *f,
				   const struct pd_record *r)
{
	struct image_event e = { .at = r->at, .time = pd_time(f, r),
				 .pid = pd_32(r->body) };
	bool fork = r->type == PERF_RECORD_FORK;

	if (r->size < (fork ? 32 : 16))
		pd_give_up("record at %#llx is cut", (unsigned long long)r->at);
	e.ppid = pd_32(r->body + 4);
	image_thread(m, e.pid, pd_32(r->body + (fork ? 8 : 4)));
	if (fork && e.pid != e.ppid)
		e.kind = IMAGE_FORK;
	else if (!fork && (r->misc & PERF_RECORD_MISC_COMM_EXEC))
		e.kind = IMAGE_EXEC;
	else
		return;
	image_add(m, e);
}

/* priv words of Intel PT: tools/perf/util/intel-pt.h (Linux 6.1). */
static inline void image_take_info(struct image *m, const struct pd_file *f,
				   const struct pd_record *r)
{
	const uint8_t *w = r->body + 8;
	uint64_t config = pd_64(f->v + f->attrs + 8), bits;

	if (r->size < 16 + 16 * 8 || pd_32(r->body) != 1)
		pd_give_up("AUXTRACE_INFO is not of Intel PT");
	m->shift = (unsigned int)pd_64(w + 8) & 63;
	m->mult = pd_64(w + 16);
	m->zero = pd_64(w + 24);
	m->timeless = !pd_64(w + 32) || !(config & pd_64(w + 40));
	bits = pd_64(w + 11 * 8);
	m->mtc_freq = (uint8_t)(bits ? (config & bits) / (bits & -bits) : 0);
	m->ctc_n = (uint32_t)pd_64(w + 12 * 8);
	m->ctc_d = (uint32_t)pd_64(w + 13 * 8);
	m->ratio = (uint8_t)pd_64(w + 15 * 8);
}

static inline int image_order(const void *a, const void *b)
{
	const struct image_event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static inline void image_load(struct image *ret, const struct pd_file *f)
{
	struct image m = { .timeless = true };
	struct pd_record r;

	for (uint64_t pos = f->begin; pd_next(f, &pos, &r);) {
		if (r.type == PERF_RECORD_MMAP2)
			image_take_mmap2(&m, f, &r);
		else if (r.type == PERF_RECORD_COMM || r.type == PERF_RECORD_FORK)
			image_take_task(&m, f, &r);
		else if (r.type == PD_AUXTRACE_INFO)
			image_take_info(&m, f, &r);
	}
	if (m.nr_ev)
		qsort(m.ev, m.nr_ev, sizeof(*m.ev), image_order);
	*ret = m;
}

static inline uint64_t image_time(const struct image *m, uint64_t tsc)
{
	uint64_t rest = tsc & (((uint64_t)1 << m->shift) - 1);

	if (m->timeless)
		return UINT64_MAX;
	return m->zero + (tsc >> m->shift) * m->mult + ((rest * m->mult) >> m->shift);
}

/* The kernel gives every process the same vdso: ours serves for all. */
static inline void image_vdso(struct image_file *x)
{
	uint64_t at = getauxval(AT_SYSINFO_EHDR), begin, end;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx", &begin, &end) != 2 || begin != at)
			continue;
		x->v = (const uint8_t *)at; /* NOLINT: the kernel gives a number */
		x->n = end - begin;
	}
	if (maps)
		fclose(maps);
}

static inline const struct image_file *image_file(struct image *m, const char *name)
{
	struct image_file x = { .name = name };
	struct stat st;
	int fd;

	for (size_t i = 0; i < m->nr_files; i++)
		if (!strcmp(m->file[i].name, name))
			return &m->file[i];
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (!strcmp(name, "[vdso]")) {
		image_vdso(&x);
	} else if (fd >= 0 && !fstat(fd, &st) && st.st_size) {
		void *v = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (v != MAP_FAILED) {
			x.v = v;
			x.n = (uint64_t)st.st_size;
		}
	}
	if (fd >= 0)
		close(fd);
	m->file = pd_grow(m->file, m->nr_files, sizeof(*m->file));
	m->file[m->nr_files] = x;
	return &m->file[m->nr_files++];
}

static inline const struct image_event *image_find(const struct image *m, uint32_t pid,
						   uint64_t time, uint64_t ip)
{
	for (size_t i = m->nr_ev; i--;) {
		const struct image_event *e = &m->ev[i];

		if (e->time > time || e->pid != pid)
			continue;
		if (e->kind == IMAGE_EXEC)
			return NULL;
		if (e->kind == IMAGE_MAP && ip >= e->addr && ip < e->end)
			return e;
		if (e->kind == IMAGE_FORK) {
			pid = e->ppid;
			time = e->time;
		}
	}
	return NULL;
}

/* Bytes of mapping e at ip: how many of `n` could be had. */
static inline size_t image_read(struct image *m, const struct image_event *e, uint64_t ip,
				uint8_t *ret, size_t n)
{
	const struct image_file *x = image_file(m, e->name);
	uint64_t off = ip - e->addr + e->off;

	if (off >= x->n)
		return 0;
	if (n > e->end - ip)
		n = e->end - ip;
	if (n > x->n - off)
		n = x->n - off;
	memcpy(ret, x->v + off, n);
	return n;
}

#endif
