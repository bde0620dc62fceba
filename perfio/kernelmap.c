/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the kernel's text and its modules lie.
 *
 * /proc/kallsyms is read only up to the reference symbol, which stands near its start.
 * Its other end, _etext, stands behind every function of the kernel (70 ms away on a
 * kernel with 120,000 symbols), so the length is taken from /proc/iomem when that says
 * it: "Kernel code" is _text.._etext there (arch/x86/kernel/setup.c).
 */
#include "perfio/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfio/lines.h"

#define TABLE_MAX (64u << 20) /* of /proc/modules and modules.dep: a sanity bound */
/* Physical and virtual address of the text agree below this (CONFIG_PHYSICAL_ALIGN). */
#define TEXT_ALIGN (2u << 20)

static int open_proc(const struct pio_sys *sys, const char *name)
{
	char path[PATH_MAX];
	size_t n = strlen(sys->proc);
	int fd;

	if (n + strlen(name) >= sizeof(path))
		return -ENAMETOOLONG;
	strcpy(stpcpy(path, sys->proc), name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* "ffffffff81000000 T _text", a module's symbols have "\t[module]" behind the name. */
static const char *parse_symbol(const char *line, uint64_t *addr)
{
	*addr = pio_scan_hex(&line);
	if (line[0] != ' ' || !line[1] || line[2] != ' ')
		return "";
	return line + 3;
}

/* _text is preferred, as perf prefers it. The table is sorted by address, so that behind
 * an address above _stext no _text can follow. */
static int find_ref(struct pio_lines *l, struct pio_kernel_map *k)
{
	const char *name;
	uint64_t addr;
	char *line;
	size_t len;
	int err;

	while ((err = pio_lines_next(l, &line, &len)) > 0) {
		name = parse_symbol(line, &addr);
		if (k->ref_name[0] && addr > k->ref)
			return 0;
		if (strcmp(name, "_text") && strcmp(name, "_stext"))
			continue;
		if (!addr)
			return -EACCES;
		k->ref = addr;
		strcpy(k->ref_name, name);
		if (!strcmp(name, "_text"))
			return 0;
	}
	if (err < 0)
		return err;
	return k->ref_name[0] ? 0 : -ENOENT;
}

/* "  01000000-02276f47 : Kernel code"; zeros for those who may not see it. */
static uint64_t text_length(const struct pio_sys *sys, uint64_t text)
{
	int fd = open_proc(sys, "/iomem");
	char buf[8192], *line;
	struct pio_lines l = PIO_LINES(fd, buf);
	uint64_t start, end, ret = 0;
	const char *p;
	size_t len;

	if (fd < 0)
		return 0;
	while (!ret && pio_lines_next(&l, &line, &len) > 0) {
		p = line + strspn(line, " ");
		start = pio_scan_hex(&p);
		if (*p++ != '-')
			continue;
		end = pio_scan_hex(&p);
		if (!strcmp(p, " : Kernel code") && end > start &&
		    start % TEXT_ALIGN == text % TEXT_ALIGN)
			ret = end - start + 1;
	}
	close(fd);
	return ret;
}

static uint64_t find_etext(struct pio_lines *l)
{
	uint64_t addr;
	char *line;
	size_t len;

	while (pio_lines_next(l, &line, &len) > 0)
		if (!strcmp(parse_symbol(line, &addr), "_etext"))
			return addr;
	return 0;
}

int pio_proc_kernel(const struct pio_sys *sys, struct pio_kernel_map *ret)
{
	int err, fd = open_proc(sys, "/kallsyms");
	char buf[32 * 1024];
	struct pio_lines l = PIO_LINES(fd, buf);
	struct pio_kernel_map k = { 0 };
	uint64_t len = 0;

	if (fd < 0)
		return fd;
	err = find_ref(&l, &k);
	if (err)
		goto out;
	k.start = k.ref;
	if (!strcmp(k.ref_name, "_text"))
		len = text_length(sys, k.ref);
	k.end = len ? k.start + len : find_etext(&l);
	if (k.end <= k.start)
		k.end = UINT64_MAX; /* no _etext: as perf has it, up to the end */
	*ret = k;
out:
	close(fd);
	return err;
}

struct modules {
	struct pio_module *m;
	size_t n;
	char *text, *dep; /* /proc/modules and modules.dep, which the names point into */
};

/* "kvm_intel 376832 0 - Live 0xffffffffc0a00000 (OE)" */
static bool parse_module(char *line, struct pio_module *m)
{
	char *size = strchr(line, ' '), *addr = strstr(line, " 0x");
	const char *p;

	if (!size || !addr || addr < size)
		return false;
	*size++ = '\0';
	p = size;
	m->len = pio_scan_dec(&p);
	p = addr + strlen(" 0x");
	m->start = pio_scan_hex(&p);
	m->name = line;
	m->path = NULL;
	return m->start && m->len && *line;
}

static int parse_modules(struct modules *s)
{
	size_t cap = 0;
	char *next;

	for (char *line = s->text; *line; line = next) {
		next = strchrnul(line, '\n');
		if (*next)
			*next++ = '\0';
		if (s->n == cap) {
			struct pio_module *m;

			cap = cap * 2 + 64;
			m = reallocarray(s->m, cap, sizeof(*m));
			if (!m)
				return -ENOMEM;
			s->m = m;
		}
		if (parse_module(line, &s->m[s->n]))
			s->n++;
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct pio_module *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int by_start(const void *a, const void *b)
{
	const struct pio_module *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* "kernel/drivers/net/virtio-net.ko.xz: ..." is of the module virtio_net: file names may
 * have a dash where the module has an underscore. */
static struct pio_module *module_of(const struct modules *s, const char *path)
{
	const char *base = strrchr(path, '/'), *ext;
	struct pio_module key = { 0 };
	char name[64]; /* MODULE_NAME_LEN, include/linux/moduleparam.h */
	size_t n;

	base = base ? base + 1 : path;
	ext = strstr(base, ".ko");
	n = ext ? (size_t)(ext - base) : 0;
	if (!n || n >= sizeof(name) || (ext[3] && ext[3] != '.'))
		return NULL;
	for (size_t i = 0; i < n; i++)
		name[i] = base[i] == '-' ? '_' : base[i];
	name[n] = '\0';
	key.name = name;
	return s->n ? bsearch(&key, s->m, s->n, sizeof(*s->m), by_name) : NULL;
}

/* Leaves the paths relative, as the text has them. */
static void find_paths(struct modules *s)
{
	struct pio_module *m;
	char *next, *colon;

	qsort(s->m, s->n, sizeof(*s->m), by_name);
	for (char *line = s->dep; line && *line; line = next) {
		next = strchrnul(line, '\n');
		if (*next)
			*next++ = '\0';
		colon = strchr(line, ':');
		if (!colon)
			continue;
		*colon = '\0';
		m = module_of(s, line);
		if (m)
			m->path = line;
	}
}

static int tell_module(const struct pio_module *m, const char *dir, pio_module_fn *fn,
		       void *ctx)
{
	struct pio_module out = *m;
	char path[PATH_MAX];
	int n;

	if (!m->path)
		n = snprintf(path, sizeof(path), "[%s]", m->name);
	else if (m->path[0] == '/')
		n = snprintf(path, sizeof(path), "%s", m->path);
	else
		n = snprintf(path, sizeof(path), "%s/%s", dir, m->path);
	if (n < 0 || (size_t)n >= sizeof(path))
		snprintf(path, sizeof(path), "[%.64s]", m->name);
	out.path = path;
	return fn(ctx, &out);
}

int pio_proc_modules(const struct pio_sys *sys, pio_module_fn *fn, void *ctx)
{
	const char *root = sys->modules ? sys->modules : "/lib/modules";
	char release[128], dir[PATH_MAX / 2] = "";
	struct modules s = { 0 };
	size_t len;
	int n, err;

	err = pio_read_file(&s.text, &len, TABLE_MAX, "%s/modules", sys->proc);
	if (err == -ENOENT)
		return 0; /* a kernel without modules */
	if (err)
		return err;
	err = parse_modules(&s);
	if (err)
		goto out;
	if (s.n && pio_read_line(release, sizeof(release), "%s/sys/kernel/osrelease",
				 sys->proc) > 0) {
		n = snprintf(dir, sizeof(dir), "%s/%s", root, release);
		if (n > 0 && (size_t)n < sizeof(dir))
			err = pio_read_file(&s.dep, &len, TABLE_MAX, "%s/modules.dep",
					    dir);
	}
	if (err == -ENOMEM)
		goto out;
	find_paths(&s);
	qsort(s.m, s.n, sizeof(*s.m), by_start);
	err = 0;
	for (size_t i = 0; !err && i < s.n; i++)
		err = tell_module(&s.m[i], dir, fn, ctx);
out:
	free(s.m);
	free(s.text);
	free(s.dep);
	return err;
}
