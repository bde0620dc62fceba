/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/mem.h"
#include "perfio/soft/code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int open_proc(pid_t pid, const char *name, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void free_mem(struct soft_mem *m)
{
	if (m->mem_fd >= 0)
		close(m->mem_fd);
	if (m->maps_fd >= 0)
		close(m->maps_fd);
	soft_plants_done(&m->plants);
	soft_areas_done(&m->areas);
	soft_ranges_done(&m->altered);
	free(m->cache);
	free(m->runs);
	soft_code_free(m->pages);
	soft_sites_done(&m->sites);
	free(m);
}

int soft_mem_open(struct soft_mem **ret, pid_t pid)
{
	static uint64_t opened;
	struct soft_mem *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	m->refs = 1;
	m->serial = ++opened;
	m->code_gen = 1;
	m->maps_fd = -1;
	err = m->mem_fd = open_proc(pid, "mem", O_RDWR);
	if (err < 0)
		goto out;
	err = m->maps_fd = open_proc(pid, "maps", O_RDONLY);
	if (err < 0)
		goto out;
	m->plants.fd = m->mem_fd;
	*ret = m;
	return 0;
out:
	free_mem(m);
	return err;
}

struct soft_mem *soft_mem_get(struct soft_mem *m)
{
	m->refs++;
	return m;
}

void soft_mem_put(struct soft_mem *m)
{
	if (m && !--m->refs)
		free_mem(m);
}

size_t soft_mem_read(const struct soft_mem *m, uint64_t addr, void *p, size_t n)
{
	ssize_t got = pread(m->mem_fd, p, n, (off_t)addr);

	if (got <= 0)
		return 0;
	soft_plants_overlay(&m->plants, addr, p, (size_t)got);
	return (size_t)got;
}

size_t soft_mem_write(const struct soft_mem *m, uint64_t addr, const void *p, size_t n)
{
	ssize_t put = pwrite(m->mem_fd, p, n, (off_t)addr);

	return put < 0 ? 0 : (size_t)put;
}

int soft_mem_inherit(struct soft_mem *m, const struct soft_mem *parent, bool shared)
{
	m->stepped = parent->stepped;
	soft_ranges_copy(&m->altered, &parent->altered);
	return soft_plants_fork(&m->plants, &parent->plants, shared);
}

bool soft_mem_holds_code(const struct soft_mem *m, uint64_t begin, uint64_t end)
{
	if (m->areas_code_gen != m->code_gen)
		return true;
	for (size_t i = 0; i < m->areas.nr; i++) {
		const struct soft_area *a = &m->areas.v[i];

		if (a->fixed && a->begin < end && a->end > begin)
			return true;
	}
	return false;
}

void soft_mem_renew(struct soft_mem *m)
{
	/* 0 marks entries of the caches that were never used. */
	if (!++m->code_gen)
		m->code_gen = 1;
}

void soft_mem_changed(struct soft_mem *m, uint64_t begin, uint64_t end, bool code, uint64_t by)
{
	m->gen++;
	if (!code && !soft_mem_holds_code(m, begin, end))
		return;
	soft_plants_withdraw(&m->plants, begin, end, by);
	soft_mem_renew(m);
	m->code_time = 0;
	soft_code_changed(m->pages, begin, end);
}

static void read_areas(struct soft_mem *m)
{
	m->areas_gen = m->gen;
	m->areas_code_gen = m->code_gen;
	soft_areas_read(&m->areas, m->maps_fd);
	for (size_t i = 0; i < m->areas.nr; i++)
		if (m->areas.v[i].writable)
			soft_ranges_add(&m->altered, m->areas.v[i].begin, m->areas.v[i].end);
}

bool soft_mem_is_fixed(struct soft_mem *m, uint64_t addr)
{
	const struct soft_area *a;

	if (m->areas_code_gen != m->code_gen)
		read_areas(m);
	a = soft_areas_find(&m->areas, addr);
	return a && a->fixed && !soft_ranges_meet(&m->altered, addr, addr + 1);
}

const struct soft_area *soft_mem_private(struct soft_mem *m, uint64_t addr)
{
	if (m->areas_gen != m->gen || m->areas_code_gen != m->code_gen)
		read_areas(m);
	return soft_areas_find(&m->areas, addr);
}
