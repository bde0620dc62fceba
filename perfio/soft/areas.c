/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/soft/areas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void soft_areas_done(struct soft_areas *a)
{
	free(a->v);
	*a = (struct soft_areas){ 0 };
}

static bool add(struct soft_areas *a, const struct soft_area *area)
{
	if (a->nr == a->cap) {
		size_t cap = a->cap ? a->cap * 2 : 32;
		struct soft_area *v = reallocarray(a->v, cap, sizeof(*v));

		if (!v)
			return false;
		a->v = v;
		a->cap = cap;
	}
	a->v[a->nr++] = *area;
	return true;
}

/* Where a JIT compiler writes a jitdump it maps it, so that profilers see its name: linux
 * tools/perf/Documentation/jitdump-specification.txt, jit_detect() in tools/perf/util/jitdump.c. */
static bool is_jitdump(const char *line)
{
	const char *name = strrchr(line, '/');
	int end = 0;

	return name && sscanf(name, "/jit-%*u.dump%n", &end) == 0 && end && name[end] == '\n';
}

/* Of a memfd: in no file that a reader could find, and written by whoever has it. */
static bool is_memfd(const char *line)
{
	const char *name = strchr(line, '/');

	return name && !strncmp(name, "/memfd:", strlen("/memfd:"));
}

/* Format of a line: proc(5). */
static void take_line(void *arg, char *line)
{
	struct soft_areas *a = arg;
	unsigned long begin, end, inode;
	struct soft_area area;
	char perm[5];

	a->jitdump |= is_jitdump(line);
	if (sscanf(line, "%lx-%lx %4s %*s %*s %lu", &begin, &end, perm, &inode) != 4 ||
	    perm[3] != 'p')
		return;
	area = (struct soft_area){ begin, end, perm[0] == 'r', perm[1] == 'w', perm[2] == 'x',
				   false };
	area.fixed = area.executable && !area.writable &&
		     (inode ? !is_memfd(line) : !!strstr(line, "[vdso]"));
	add(a, &area);
}

bool soft_maps_each(int fd, void (*take)(void *arg, char *line), void *arg)
{
	char *line = NULL;
	size_t cap = 0;
	bool all;
	FILE *f;

	fd = dup(fd);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	/* A duplicate shares the position. */
	rewind(f);
	while (getline(&line, &cap, f) > 0)
		take(arg, line);
	all = !ferror(f);
	free(line);
	fclose(f);
	return all;
}

void soft_areas_read(struct soft_areas *a, int fd)
{
	a->nr = 0;
	(void)soft_maps_each(fd, take_line, a);
}

const struct soft_area *soft_areas_find(const struct soft_areas *a, uint64_t addr)
{
	size_t low = 0, high = a->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (addr >= a->v[mid].end)
			low = mid + 1;
		else
			high = mid;
	}
	return low < a->nr && addr >= a->v[low].begin ? &a->v[low] : NULL;
}
