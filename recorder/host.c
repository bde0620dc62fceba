/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/host.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "perfio/cpus.h"
#include "perfio/lines.h"
#include "perfio/pmu.h"
#include "recorder/host_topo.h"

struct block {
	struct block *next;
	_Alignas(16) char data[];
};

void *host_alloc(struct host *h, size_t n, size_t size)
{
	struct block *b;
	size_t len;

	if (__builtin_mul_overflow(n, size, &len) || len > SIZE_MAX - sizeof(*b))
		return NULL;
	b = calloc(1, sizeof(*b) + len);
	if (!b)
		return NULL;
	b->next = h->mem;
	h->mem = b;
	return b->data;
}

const char *host_str(struct host *h, const char *s)
{
	size_t n = strlen(s) + 1;
	char *p = host_alloc(h, n, 1);

	return p ? memcpy(p, s, n) : NULL;
}

void host_done(struct host *h)
{
	struct block *b, *next;

	for (b = h->mem; b; b = next) {
		next = b->next;
		free(b);
	}
	*h = (struct host){ 0 };
}

static int set_str(struct host *h, const char **ret, const char *s)
{
	*ret = host_str(h, s);
	return *ret ? 0 : -ENOMEM;
}

static int names(struct host *h, const char *version)
{
	struct utsname u;

	if (set_str(h, &h->f.version, version))
		return -ENOMEM;
	if (uname(&u))
		return 0;
	if (set_str(h, &h->f.hostname, u.nodename) ||
	    set_str(h, &h->f.osrelease, u.release) || set_str(h, &h->f.arch, u.machine))
		return -ENOMEM;
	return 0;
}

/* "model name\t: AMD  EPYC" -> "AMD EPYC", in place. */
static const char *squeeze(char *line)
{
	char *from = strchr(line, ':'), *to = line;

	if (!from)
		return NULL;
	for (from++; *from; from++) {
		if (!isspace((unsigned char)*from))
			*to++ = *from;
		else if (to > line && to[-1] != ' ')
			*to++ = ' ';
	}
	if (to > line && to[-1] == ' ')
		to--;
	*to = '\0';
	return *line ? line : NULL;
}

/* Only up to the line wanted: the kernel may have to wake a cpu to write of it. */
static int cpudesc(struct host *h, const struct pio_sys *sys)
{
	char path[PATH_MAX], buf[4096], *line;
	struct pio_lines l = PIO_LINES(-1, buf);
	const char *desc = NULL;
	size_t len;

	snprintf(path, sizeof(path), "%s/cpuinfo", sys->proc);
	l.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (l.fd < 0)
		return 0;
	while (!desc && pio_lines_next(&l, &line, &len) > 0)
		if (!strncmp(line, "model name", strlen("model name")))
			desc = squeeze(line);
	close(l.fd);
	return desc ? set_str(h, &h->f.cpudesc, desc) : 0;
}

/* VENDOR,family,model,stepping, with the extended parts added as SDM vol. 2, CPUID, leaf
 * 01H says (and as perf's readers compare it). */
static int cpuid(struct host *h)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned a, b, c, d, family, model;
	char vendor[13] = "", text[64];

	if (!__get_cpuid(0, &a, &b, &c, &d))
		return 0;
	memcpy(vendor, &b, 4);
	memcpy(vendor + 4, &d, 4);
	memcpy(vendor + 8, &c, 4);
	if (!__get_cpuid(1, &a, &b, &c, &d))
		return 0;
	family = a >> 8 & 0xf;
	model = a >> 4 & 0xf;
	if (family >= 6)
		model += (a >> 16 & 0xf) << 4;
	if (family == 0xf)
		family += a >> 20 & 0xff;
	snprintf(text, sizeof(text), "%s,%u,%u,%u", vendor, family, model, a & 0xf);
	return set_str(h, &h->f.cpuid, text);
#else
	(void)h;
	return 0;
#endif
}

static void total_mem(struct host *h, const struct pio_sys *sys)
{
	const char *p;
	char *text;
	size_t len;

	if (pio_read_file(&text, &len, 1u << 16, "%s/meminfo", sys->proc))
		return;
	p = strstr(text, "MemTotal:");
	if (p)
		h->f.total_mem_kb = strtoull(p + strlen("MemTotal:"), NULL, 10);
	free(text);
}

static int cmdline(struct host *h, const struct pio_sys *sys, int argc, char **argv)
{
	char path[PATH_MAX], exe[PATH_MAX];
	const char **v;
	ssize_t n;

	if (argc < 1)
		return 0;
	v = host_alloc(h, (size_t)argc, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (int i = 0; i < argc; i++)
		v[i] = argv[i];
	snprintf(path, sizeof(path), "%s/self/exe", sys->proc);
	n = readlink(path, exe, sizeof(exe) - 1);
	if (n > 0) {
		exe[n] = '\0';
		if (set_str(h, &v[0], exe))
			return -ENOMEM;
	}
	h->f.cmdline = v;
	h->f.nr_cmdline = (size_t)argc;
	return 0;
}

static int cpus(struct host *h, const struct pio_sys *sys)
{
	struct pio_cpus present, online;
	int err;

	if (!pio_cpus_present(&present, sys)) {
		if (present.n)
			h->f.nr_cpus_avail = (uint32_t)present.cpu[present.n - 1] + 1;
		pio_cpus_done(&present);
	}
	err = pio_cpus_online(&online, sys);
	if (err)
		return err == -ENOMEM ? err : 0;
	h->f.nr_cpus_online = (uint32_t)online.n;
	err = host_cpu_topo(h, sys, &online);
	if (!err)
		err = host_caches(h, sys, &online);
	pio_cpus_done(&online);
	return err;
}

static int pmu_caps(struct host *h, const struct pio_pmu *p, struct fmt_pmu_caps *ret)
{
	struct fmt_cap *caps = host_alloc(h, p->nr_caps, sizeof(*caps));

	if (!caps)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_caps; i++)
		if (set_str(h, &caps[i].name, p->caps[i].name) ||
		    set_str(h, &caps[i].value, p->caps[i].value))
			return -ENOMEM;
	ret->caps = caps;
	ret->nr_caps = p->nr_caps;
	return set_str(h, &ret->pmu, p->name);
}

/* PMU_CAPS is of all PMUs but "cpu", which has a feature of its own
 * (tools/perf/util/header.c, write_pmu_caps, Linux 6.1). Most PMUs have none: a look
 * first saves reading their formats. */
static int add_caps(struct host *h, const struct pio_sys *sys, const char *name,
		    struct fmt_pmu_caps *all)
{
	char path[PATH_MAX];
	struct pio_pmu p;
	int err;

	snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/caps", sys->sysfs,
		 name);
	if (!strcmp(name, "cpu") || access(path, F_OK))
		return 0;
	err = pio_pmu_load(&p, sys, name);
	if (err)
		return err == -ENOMEM ? err : 0;
	if (p.nr_caps) {
		err = pmu_caps(h, &p, &all[h->f.nr_pmu_caps]);
		if (!err)
			h->f.nr_pmu_caps++;
	}
	pio_pmu_done(&p);
	return err;
}

static int each_pmu(struct host *h, const struct pio_sys *sys,
		    const struct pio_pmu_list *l)
{
	struct fmt_pmu_type *pmus = host_alloc(h, l->n, sizeof(*pmus));
	struct fmt_pmu_caps *caps = host_alloc(h, l->n, sizeof(*caps));
	int err = 0;

	if (!pmus || !caps)
		return -ENOMEM;
	for (size_t i = 0; !err && i < l->n; i++) {
		pmus[i].type = l->pmu[i].type;
		err = set_str(h, &pmus[i].name, l->pmu[i].name);
		if (!err)
			err = add_caps(h, sys, l->pmu[i].name, caps);
	}
	h->f.pmus = pmus;
	h->f.nr_pmus = l->n;
	h->f.pmu_caps = caps;
	return err;
}

static int pmus(struct host *h, const struct pio_sys *sys)
{
	struct pio_pmu_list l;
	int err = pio_pmu_list(&l, sys);

	if (err)
		return err == -ENOMEM ? err : 0;
	err = each_pmu(h, sys, &l);
	pio_pmu_list_done(&l);
	return err;
}

int host_collect(struct host *ret, const struct pio_sys *sys, const char *version,
		 int argc, char **argv)
{
	struct host h = { 0 };

	total_mem(&h, sys);
	if (names(&h, version) || cpudesc(&h, sys) || cpuid(&h) ||
	    cmdline(&h, sys, argc, argv) || cpus(&h, sys) || host_numa(&h, sys) ||
	    pmus(&h, sys)) {
		host_done(&h);
		return -ENOMEM;
	}
	*ret = h;
	return 0;
}
