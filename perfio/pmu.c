/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/pmu.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES "bus/event_source/devices"

/* Drivers under the names that they register (drivers/perf, drivers/hwtracing,
 * arch/x86/events/intel, arch/s390/kernel/perf_cpum_sf.c; Linux 6.1). */
static bool known_aux(const char *name)
{
	static const char *const kinds[] = {
		"intel_pt", "intel_bts", "cs_etm", "arm_spe_*", "hisi_ptt*", "cpum_sf",
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!fnmatch(kinds[i], name, 0))
			return true;
	return false;
}

typedef int entry_fn(void *ctx, const char *path, const char *name);

/* Calls fn for each entry of a directory that is not hidden; stops at the first error. */
static int each_entry(const char *path, entry_fn *fn, void *ctx)
{
	DIR *d = opendir(path);
	struct dirent *e;
	int err = 0;

	if (!d)
		return -errno;
	while (!err && (errno = 0, e = readdir(d)))
		if (e->d_name[0] != '.')
			err = fn(ctx, path, e->d_name);
	if (!err && errno)
		err = -errno;
	closedir(d);
	return err;
}

static int parse_number(unsigned *ret, const char **at, unsigned limit)
{
	char *end;
	unsigned long v;

	if (**at < '0' || **at > '9')
		return -EINVAL;
	v = strtoul(*at, &end, 10);
	if (v >= limit)
		return -EINVAL;
	*at = end;
	*ret = (unsigned)v;
	return 0;
}

static int parse_bits(uint64_t *mask, const char **at)
{
	unsigned lo, hi;
	int err = parse_number(&lo, at, 64);

	if (err)
		return err;
	hi = lo;
	if (**at == '-') {
		++*at;
		err = parse_number(&hi, at, 64);
	}
	if (err || hi < lo)
		return -EINVAL;
	*mask |= (UINT64_MAX >> (63 - hi)) & (UINT64_MAX << lo);
	return 0;
}

/* "config:14-17" or "config1:0-7,32"; word 3 and up is left to the caller to skip. */
static int parse_format(struct pio_term *t, const char *s)
{
	int err;

	if (strncmp(s, "config", 6))
		return -EINVAL;
	s += 6;
	if (*s != ':' && parse_number(&t->word, &s, 10))
		return -EINVAL;
	do {
		s++; /* over ':' or ',' */
		err = parse_bits(&t->mask, &s);
	} while (!err && *s == ',');
	return err || *s ? -EINVAL : 0;
}

static void *grown(void *array, size_t n, size_t size)
{
	return n & (n - 1) ? array : realloc(array, (n ? 2 * n : 1) * size);
}

static int add_term(void *ctx, const char *path, const char *name)
{
	struct pio_pmu *p = ctx;
	struct pio_term *more, t = { 0 };
	char line[256];
	ssize_t n = pio_read_line(line, sizeof(line), "%s/%s", path, name);
	int err;

	if (n < 0)
		return (int)n;
	err = parse_format(&t, line);
	if (err)
		return err;
	if (t.word > 2) /* config3 (Linux 6.3) lies beyond the attr that files hold */
		return 0;
	more = grown(p->terms, p->nr_terms, sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->terms = more;
	t.name = strdup(name);
	if (!t.name)
		return -ENOMEM;
	p->terms[p->nr_terms++] = t;
	return 0;
}

static int add_cap(void *ctx, const char *path, const char *name)
{
	struct pio_pmu *p = ctx;
	struct pio_cap *more, c;
	char line[256];
	ssize_t n = pio_read_line(line, sizeof(line), "%s/%s", path, name);

	if (n < 0)
		return (int)n;
	more = grown(p->caps, p->nr_caps, sizeof(*more));
	if (!more)
		return -ENOMEM;
	p->caps = more;
	c = (struct pio_cap){ .name = strdup(name), .value = strdup(line) };
	p->caps[p->nr_caps++] = c;
	return c.name && c.value ? 0 : -ENOMEM;
}

static int by_term(const void *a, const void *b)
{
	const struct pio_term *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int by_cap(const void *a, const void *b)
{
	const struct pio_cap *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* A folder that a PMU does without is an empty one. */
static int each_in(struct pio_pmu *p, const char *dir, const char *sub, entry_fn *fn)
{
	char path[PATH_MAX];
	int err;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, sub) >= sizeof(path))
		return -ENAMETOOLONG;
	err = each_entry(path, fn, p);
	return err == -ENOENT ? 0 : err;
}

/* Only Intel PT has these; the ratio is "EBX:EAX" of CPUID leaf 0x15. */
static void load_timing(struct pio_pmu *p, const char *dir)
{
	unsigned n, d;
	char line[64];

	if (pio_read_u64(&p->max_nonturbo_ratio, "%s/max_nonturbo_ratio", dir))
		p->max_nonturbo_ratio = 0;
	if (pio_read_line(line, sizeof(line), "%s/tsc_art_ratio", dir) < 0)
		return;
	if (sscanf(line, "%u:%u", &n, &d) != 2)
		return;
	p->tsc_art_n = n;
	p->tsc_art_d = d;
}

static int load(struct pio_pmu *p, const char *dir)
{
	uint64_t type = 0;
	int err = pio_read_u64(&type, "%s/type", dir);

	if (err)
		return err;
	if (type > UINT32_MAX)
		return -EINVAL;
	p->type = (uint32_t)type;
	err = each_in(p, dir, "format", add_term);
	if (!err)
		err = each_in(p, dir, "caps", add_cap);
	if (err)
		return err;
	load_timing(p, dir);
	if (p->nr_terms)
		qsort(p->terms, p->nr_terms, sizeof(*p->terms), by_term);
	if (p->nr_caps)
		qsort(p->caps, p->nr_caps, sizeof(*p->caps), by_cap);
	return 0;
}

int pio_pmu_load(struct pio_pmu *ret, const struct pio_sys *sys, const char *name)
{
	struct pio_pmu p = { .has_aux = known_aux(name) };
	char dir[PATH_MAX];
	int err;

	if (!*name || *name == '.' || strchr(name, '/'))
		return -ENOENT;
	if ((size_t)snprintf(dir, sizeof(dir), "%s/" DEVICES "/%s", sys->sysfs, name) >=
	    sizeof(dir))
		return -ENOENT;
	p.name = strdup(name);
	err = p.name ? load(&p, dir) : -ENOMEM;
	if (err) {
		pio_pmu_done(&p);
		return err;
	}
	*ret = p;
	return 0;
}

void pio_pmu_done(struct pio_pmu *p)
{
	for (size_t i = 0; i < p->nr_terms; i++)
		free(p->terms[i].name);
	for (size_t i = 0; i < p->nr_caps; i++) {
		free(p->caps[i].name);
		free(p->caps[i].value);
	}
	free(p->terms);
	free(p->caps);
	free(p->name);
	*p = (struct pio_pmu){ 0 };
}

static int add_pmu(void *ctx, const char *path, const char *name)
{
	struct pio_pmu_list *l = ctx;
	struct pio_pmu_name *more;
	uint64_t type;
	int err = pio_read_u64(&type, "%s/%s/type", path, name);

	if (err == -ENOENT || err == -ENOTDIR || err == -ENODEV) /* unloaded meanwhile */
		return 0;
	if (err)
		return err;
	more = grown(l->pmu, l->n, sizeof(*more));
	if (!more)
		return -ENOMEM;
	l->pmu = more;
	more[l->n] = (struct pio_pmu_name){ strdup(name), (uint32_t)type };
	if (!more[l->n].name)
		return -ENOMEM;
	l->n++;
	return 0;
}

static int by_type(const void *a, const void *b)
{
	const struct pio_pmu_name *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return strcmp(x->name, y->name);
}

int pio_pmu_list(struct pio_pmu_list *ret, const struct pio_sys *sys)
{
	struct pio_pmu_list l = { 0 };
	char dir[PATH_MAX];
	int err;

	if ((size_t)snprintf(dir, sizeof(dir), "%s/" DEVICES, sys->sysfs) >= sizeof(dir))
		return -ENAMETOOLONG;
	err = each_entry(dir, add_pmu, &l);
	if (err) {
		pio_pmu_list_done(&l);
		return err;
	}
	if (l.n)
		qsort(l.pmu, l.n, sizeof(*l.pmu), by_type);
	*ret = l;
	return 0;
}

void pio_pmu_list_done(struct pio_pmu_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->pmu[i].name);
	free(l->pmu);
	*l = (struct pio_pmu_list){ 0 };
}

uint64_t pio_pmu_mask(const struct pio_pmu *p, const char *term)
{
	for (size_t i = 0; i < p->nr_terms; i++)
		if (!p->terms[i].word && !strcmp(p->terms[i].name, term))
			return p->terms[i].mask;
	return 0;
}

/* Intel's drivers print caps with %x and no 0x (arch/x86/events/intel/pt.c,
 * pt_cap_show(), Linux 6.1); the others print %u or 0x%x. */
bool pio_pmu_cap(const struct pio_pmu *p, const char *cap, uint64_t *ret)
{
	const bool bare_hex = !strncmp(p->name, "intel_", 6);

	for (size_t i = 0; i < p->nr_caps; i++) {
		const char *s = p->caps[i].value;
		char *end;
		unsigned long long v;

		if (strcmp(p->caps[i].name, cap))
			continue;
		errno = 0;
		v = strtoull(s, &end, bare_hex || !strncmp(s, "0x", 2) ? 16 : 10);
		if (errno || *end || end == s || *s == '-')
			return false;
		*ret = v;
		return true;
	}
	return false;
}
