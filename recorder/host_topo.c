/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cpu list that one cpu names stands for all cpus in it: they are not asked again. On a
 * machine with 128 cpus that saves two thirds of some 4000 files.
 */
#include "recorder/host_topo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPU_DIR "devices/system/cpu/cpu%d"

/* Caches of a cpu that perf looks at (tools/perf/util/header.c, MAX_CACHE_LVL, 6.1). */
#define CACHES_PER_CPU 4

#define LIST_MAX 4096 /* a sysfs file is at most a page */

#define UNKNOWN_ID (-1) /* as perf stores it for a cpu that is offline */

/* Which of the online cpus are covered by a list that was seen. */
static int cover(bool *seen, const struct pio_cpus *online, const char *list)
{
	struct pio_cpus in;
	int err = pio_cpus_parse(&in, list, NULL);

	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < online->n; i++)
		seen[i] = seen[i] || pio_cpus_has(&in, online->cpu[i]);
	pio_cpus_done(&in);
	return 0;
}

static int add_list(struct host *h, const char **lists, size_t *n, const char *list)
{
	for (size_t i = 0; i < *n; i++)
		if (!strcmp(lists[i], list))
			return 0;
	lists[*n] = host_str(h, list);
	return lists[(*n)++] ? 0 : -ENOMEM;
}

struct lists {
	const char *file, *old; /* in topology/; the name before Linux 5.2, or NULL */
	const char *const **ret;
	size_t *ret_n;
};

static int each_cpu_list(struct host *h, const struct pio_sys *sys,
			 const struct pio_cpus *online, const struct lists *l, bool *seen)
{
	const char **lists = host_alloc(h, online->n, sizeof(*lists));
	char list[LIST_MAX];
	int err = 0;
	ssize_t len;

	if (!lists)
		return -ENOMEM;
	for (size_t i = 0; !err && i < online->n; i++) {
		if (seen[i])
			continue;
		seen[i] = true;
		len = pio_read_line(list, sizeof(list), "%s/" CPU_DIR "/topology/%s",
				    sys->sysfs, online->cpu[i], l->file);
		if (len == -ENOENT && l->old)
			len = pio_read_line(list, sizeof(list),
					    "%s/" CPU_DIR "/topology/%s", sys->sysfs,
					    online->cpu[i], l->old);
		if (len <= 0)
			continue;
		err = add_list(h, lists, l->ret_n, list);
		if (!err)
			err = cover(seen, online, list);
	}
	*l->ret = lists;
	return err;
}

static int cpu_lists(struct host *h, const struct pio_sys *sys,
		     const struct pio_cpus *online, const struct lists *l)
{
	bool *seen = calloc(online->n + 1, sizeof(*seen));
	int err = seen ? each_cpu_list(h, sys, online, l, seen) : -ENOMEM;

	free(seen);
	return err;
}

static int32_t topo_id(const struct pio_sys *sys, int cpu, const char *file)
{
	uint64_t v;

	if (pio_read_u64(&v, "%s/" CPU_DIR "/topology/%s", sys->sysfs, cpu, file) ||
	    v > INT32_MAX)
		return UNKNOWN_ID;
	return (int32_t)v;
}

/* The die lists go with cpu0 having one, however many dies there are: so does perf
 * (tools/perf/util/cputopo.c, has_die_topology, Linux 6.1). */
int host_cpu_topo(struct host *h, const struct pio_sys *sys,
		  const struct pio_cpus *online)
{
	struct fmt_features *f = &h->f;
	const struct lists all[] = {
		{ "package_cpus_list", "core_siblings_list", &f->core_siblings,
		  &f->nr_core_siblings },
		{ "core_cpus_list", "thread_siblings_list", &f->thread_siblings,
		  &f->nr_thread_siblings },
		{ "die_cpus_list", NULL, &f->die_siblings, &f->nr_die_siblings },
	};
	struct fmt_cpu_topo *t;
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(all) / sizeof(*all); i++)
		err = cpu_lists(h, sys, online, &all[i]);
	if (err || !f->nr_core_siblings)
		return err;
	t = host_alloc(h, f->nr_cpus_avail, sizeof(*t));
	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < f->nr_cpus_avail; i++) {
		t[i].core_id = topo_id(sys, (int)i, "core_id");
		t[i].socket_id = topo_id(sys, (int)i, "physical_package_id");
		t[i].die_id = topo_id(sys, (int)i, "die_id");
	}
	f->cpu_topo = t;
	return 0;
}

/* "Node 0 MemTotal:       12334432 kB" */
static uint64_t node_kb(const char *text, const char *key)
{
	const char *p = strstr(text, key);

	return p ? strtoull(p + strlen(key), NULL, 10) : 0;
}

static int node(struct host *h, const struct pio_sys *sys, int nr,
		struct fmt_numa_node *n)
{
	char list[LIST_MAX], *text;
	size_t len;
	int err;

	if (pio_read_line(list, sizeof(list), "%s/devices/system/node/node%d/cpulist",
			  sys->sysfs, nr) < 0)
		list[0] = '\0';
	err = pio_read_file(&text, &len, 1u << 16,
			    "%s/devices/system/node/node%d/meminfo", sys->sysfs, nr);
	if (err)
		return err;
	n->node = (uint32_t)nr;
	n->total_kb = node_kb(text, "MemTotal:");
	n->free_kb = node_kb(text, "MemFree:");
	n->cpulist = host_str(h, list);
	free(text);
	return n->cpulist ? 0 : -ENOMEM;
}

int host_numa(struct host *h, const struct pio_sys *sys)
{
	struct fmt_numa_node *nodes;
	struct pio_cpus online; /* of nodes, which are listed as cpus are */
	char list[LIST_MAX];
	int err = 0;

	if (pio_read_line(list, sizeof(list), "%s/devices/system/node/online",
			  sys->sysfs) <= 0 ||
	    pio_cpus_parse(&online, list, NULL))
		return 0;
	nodes = host_alloc(h, online.n, sizeof(*nodes));
	if (!nodes)
		err = -ENOMEM;
	for (size_t i = 0; err != -ENOMEM && i < online.n; i++) {
		err = node(h, sys, online.cpu[i], &nodes[h->f.nr_numa]);
		if (!err)
			h->f.nr_numa++;
	}
	h->f.numa = nodes;
	pio_cpus_done(&online);
	return err == -ENOMEM ? err : 0;
}

static int cache_u32(const struct pio_sys *sys, int cpu, int index, const char *file,
		     uint32_t *ret)
{
	uint64_t v;

	if (pio_read_u64(&v, "%s/" CPU_DIR "/cache/index%d/%s", sys->sysfs, cpu, index,
			 file) ||
	    v > UINT32_MAX)
		return -ENODATA;
	*ret = (uint32_t)v;
	return 0;
}

static int cache_str(struct host *h, const struct pio_sys *sys, int cpu, int index,
		     const char *file, const char **ret)
{
	char text[LIST_MAX];
	ssize_t n = pio_read_line(text, sizeof(text), "%s/" CPU_DIR "/cache/index%d/%s",
				  sys->sysfs, cpu, index, file);

	if (n < 0)
		return -ENODATA;
	*ret = host_str(h, text);
	return *ret ? 0 : -ENOMEM;
}

/* 0, -ENODATA when a part of it is missing, -ENOMEM. */
static int read_cache(struct host *h, const struct pio_sys *sys, int cpu, int index,
		      struct fmt_cache *c)
{
	int err;

	if (cache_u32(sys, cpu, index, "level", &c->level) ||
	    cache_u32(sys, cpu, index, "coherency_line_size", &c->line) ||
	    cache_u32(sys, cpu, index, "number_of_sets", &c->sets) ||
	    cache_u32(sys, cpu, index, "ways_of_associativity", &c->ways))
		return -ENODATA;
	err = cache_str(h, sys, cpu, index, "type", &c->type);
	if (!err)
		err = cache_str(h, sys, cpu, index, "size", &c->size);
	if (!err)
		err = cache_str(h, sys, cpu, index, "shared_cpu_list", &c->cpu_map);
	return err;
}

/* Cheap to insert: caches come sorted by level from each cpu. Equal levels keep the
 * order. */
static void insert_cache(struct fmt_cache *all, size_t n, const struct fmt_cache *c)
{
	for (; n && all[n - 1].level > c->level; n--)
		all[n] = all[n - 1];
	all[n] = *c;
}

/* `seen` marks the online cpus whose cache of that index is known. */
static int add_cache(struct host *h, const struct pio_sys *sys,
		     const struct pio_cpus *online, size_t i, int index,
		     struct fmt_cache *all, bool *seen)
{
	struct fmt_cache c = { 0 };
	int err;

	if (seen[i])
		return 0;
	err = read_cache(h, sys, online->cpu[i], index, &c);
	if (err)
		return err == -ENODATA ? 0 : err;
	insert_cache(all, h->f.nr_caches++, &c);
	return cover(seen, online, c.cpu_map);
}

int host_caches(struct host *h, const struct pio_sys *sys, const struct pio_cpus *online)
{
	size_t n = online->n * CACHES_PER_CPU;
	struct fmt_cache *all = host_alloc(h, n, sizeof(*all));
	bool *seen = calloc(n + 1, sizeof(*seen));
	int err = all && seen ? 0 : -ENOMEM;

	for (size_t i = 0; i < online->n; i++)
		for (int index = 0; !err && index < CACHES_PER_CPU; index++)
			err = add_cache(h, sys, online, i, index, all,
					seen + (size_t)index * online->n);
	h->f.caches = all;
	free(seen);
	return err;
}
