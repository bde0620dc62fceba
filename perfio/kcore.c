/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/kcore.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfio/lines.h"

#define PAGE_MASK (~(uint64_t)(PIO_KCORE_PAGE - 1))
/* Between two modules lie guard pages and what the allocator left: so small a hole is filled
 * rather than told. */
#define HOLE (64u << 10)

static int read_at(int fd, void *buf, size_t len, uint64_t at)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, (char *)buf + done, len - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EFAULT;
		done += (size_t)n;
	}
	return 0;
}

static bool is_core(const Elf64_Ehdr *e)
{
	const int data = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

	return !memcmp(e->e_ident, ELFMAG, SELFMAG) && e->e_ident[EI_CLASS] == ELFCLASS64 &&
	       e->e_ident[EI_DATA] == data && e->e_type == ET_CORE &&
	       e->e_phentsize == sizeof(Elf64_Phdr);
}

static int read_segments(struct pio_kcore *k, const Elf64_Ehdr *e)
{
	Elf64_Phdr *p = calloc(e->e_phnum + 1u, sizeof(*p));
	int err = p ? read_at(k->fd, p, e->e_phnum * sizeof(*p), e->e_phoff) : -ENOMEM;

	k->seg = err ? NULL : calloc(e->e_phnum + 1u, sizeof(*k->seg));
	if (!err && !k->seg)
		err = -ENOMEM;
	for (size_t i = 0; i < e->e_phnum && !err; i++)
		if (p[i].p_type == PT_LOAD && p[i].p_vaddr + p[i].p_memsz > p[i].p_vaddr)
			k->seg[k->nr_seg++] = (struct pio_kcore_segment){
				p[i].p_vaddr, p[i].p_memsz, p[i].p_offset,
			};
	free(p);
	return err == -EFAULT ? -EBADMSG : err;
}

int pio_kcore_open(struct pio_kcore *ret, const struct pio_sys *sys)
{
	struct pio_kcore k = PIO_KCORE_INIT;
	char path[PATH_MAX];
	Elf64_Ehdr e;
	int err;

	snprintf(path, sizeof(path), "%s/kcore", sys->proc);
	k.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (k.fd < 0)
		return -errno;
	err = read_at(k.fd, &e, sizeof(e), 0);
	if (err || !is_core(&e)) {
		err = err && err != -EFAULT ? err : -EBADMSG;
		goto out;
	}
	k.machine = e.e_machine;
	err = read_segments(&k, &e);
	if (err)
		goto out;
	*ret = k;
	return 0;
out:
	pio_kcore_done(&k);
	return err;
}

void pio_kcore_done(struct pio_kcore *k)
{
	if (k->fd >= 0)
		close(k->fd);
	free(k->seg);
	*k = PIO_KCORE_INIT;
}

/* The segment that shows addr. The kernel's text is a part of no other on x86; where segments
 * overlap, all show the same. */
static const struct pio_kcore_segment *segment_of(const struct pio_kcore *k, uint64_t addr)
{
	for (size_t i = 0; i < k->nr_seg; i++)
		if (addr >= k->seg[i].addr && addr - k->seg[i].addr < k->seg[i].len)
			return &k->seg[i];
	return NULL;
}

int pio_kcore_read(const struct pio_kcore *k, uint64_t addr, void *buf, size_t len)
{
	const struct pio_kcore_segment *s = segment_of(k, addr);

	if (!s || len > s->len - (addr - s->addr))
		return -EFAULT;
	return read_at(k->fd, buf, len, s->offset + (addr - s->addr));
}

/* ---- where code lies ---- */

struct areas {
	struct pio_kcore_area *a;
	size_t n, cap;
	uint64_t text, stext, etext, last; /* symbols of the kernel; last: the highest */
	uint64_t made;	/* symbols of modules and the like; a run of them */
	uint64_t made_end;
};

static int add(struct areas *s, uint64_t start, uint64_t end)
{
	start &= PAGE_MASK;
	end = (end + PIO_KCORE_PAGE - 1) & PAGE_MASK;
	if (end <= start)
		return 0;
	if (s->n == s->cap) {
		size_t cap = 2 * s->cap + 64;
		struct pio_kcore_area *a = reallocarray(s->a, cap, sizeof(*a));

		if (!a)
			return -ENOMEM;
		s->a = a;
		s->cap = cap;
	}
	s->a[s->n++] = (struct pio_kcore_area){ start, end - start };
	return 0;
}

/* A symbol does not say how long its code is: to the end of the page behind it, at least.
 * Neighbours are gathered here, so that a large table does not become a large list. */
static int see_made(struct areas *s, uint64_t addr)
{
	int err = 0;

	if (s->made_end && addr >= s->made && addr <= s->made_end + HOLE) {
		if (addr + PIO_KCORE_PAGE > s->made_end)
			s->made_end = addr + PIO_KCORE_PAGE;
		return 0;
	}
	if (s->made_end)
		err = add(s, s->made, s->made_end);
	s->made = addr;
	s->made_end = addr + PIO_KCORE_PAGE;
	return err;
}

static bool same(const char *name, size_t len, const char *want)
{
	return len == strlen(want) && !memcmp(name, want, len);
}

/* One line of /proc/kallsyms: "ffffffff81000000 T _text", "\t[module]" behind the name. */
static int see_symbol(struct areas *s, uint64_t addr, char type, const char *name, size_t len)
{
	if (!strchr("tTwW", type) || !addr)
		return 0;
	if (memchr(name, '[', len))
		return see_made(s, addr);
	if (same(name, len, "__entry_SYSCALL_64_trampoline"))
		return add(s, addr, addr + PIO_KCORE_PAGE);
	if (same(name, len, "_text"))
		s->text = addr;
	else if (same(name, len, "_stext"))
		s->stext = addr;
	else if (same(name, len, "_etext"))
		s->etext = addr;
	if (addr > s->last)
		s->last = addr;
	return 0;
}

static int read_symbols(struct areas *s, const char *text)
{
	int err = 0;

	for (const char *line = text, *end; *line && !err; line = *end ? end + 1 : end) {
		const char *p = line;
		uint64_t addr = pio_scan_hex(&p);

		end = strchrnul(line, '\n');
		if (end - p > 3 && p[0] == ' ' && p[2] == ' ')
			err = see_symbol(s, addr, p[1], p + 3, (size_t)(end - p - 3));
	}
	if (!err && s->made_end)
		err = add(s, s->made, s->made_end);
	return err;
}

/* "kvm_intel 376832 0 - Live 0xffffffffc0a00000 (OE)" */
static int read_modules(struct areas *s, const char *text)
{
	int err = 0;

	for (const char *line = text, *end; *line && !err; line = *end ? end + 1 : end) {
		const char *size = strchr(line, ' '), *addr = strstr(line, " 0x");
		uint64_t len, start;

		end = strchrnul(line, '\n');
		if (!size || !addr || addr > end)
			continue;
		size++;
		len = pio_scan_dec(&size);
		addr += strlen(" 0x");
		start = pio_scan_hex(&addr);
		if (start)
			err = add(s, start, start + len);
	}
	return err;
}

static int add_text(struct areas *s)
{
	uint64_t start = s->text ? s->text : s->stext, end = s->etext;

	if (!start)
		return s->last ? -ENOENT : -EACCES;
	if (end <= start) /* the kernel has no such symbol: perf does the same */
		end = s->last + PIO_KCORE_PAGE;
	return add(s, start, end);
}

static int by_addr(const void *a, const void *b)
{
	const struct pio_kcore_area *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static bool one_segment(const struct pio_kcore *k, uint64_t a, uint64_t b)
{
	const struct pio_kcore_segment *s = segment_of(k, a);

	return s && s == segment_of(k, b);
}

static void merge(struct areas *s, const struct pio_kcore *k)
{
	size_t n = 0;

	if (s->n)
		qsort(s->a, s->n, sizeof(*s->a), by_addr);
	for (size_t i = 0; i < s->n; i++) {
		struct pio_kcore_area *last = n ? &s->a[n - 1] : NULL, a = s->a[i];
		uint64_t end = a.addr + a.len;

		if (last && a.addr - last->addr <= last->len + HOLE &&
		    (a.addr - last->addr <= last->len ||
		     one_segment(k, last->addr, a.addr))) {
			if (end - last->addr > last->len)
				last->len = end - last->addr;
			continue;
		}
		s->a[n++] = a;
	}
	s->n = n;
}

/* What lies outside of the file's segments cannot be copied. */
static void cut(struct areas *s, const struct pio_kcore *k)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct pio_kcore_area a = s->a[i];
		const struct pio_kcore_segment *seg = segment_of(k, a.addr);
		uint64_t most;

		if (!seg)
			continue;
		most = (seg->len - (a.addr - seg->addr)) & PAGE_MASK;
		if (a.len > most)
			a.len = most;
		if (a.len)
			s->a[n++] = a;
	}
	s->n = n;
}

int pio_kcore_areas(struct pio_kcore_area **ret, size_t *ret_n, const struct pio_kcore *k,
		    const char *kallsyms, const char *modules)
{
	struct areas s = { 0 };
	int err = read_symbols(&s, kallsyms);

	if (!err)
		err = add_text(&s);
	if (!err)
		err = read_modules(&s, modules);
	if (!err && !segment_of(k, s.text ? s.text : s.stext))
		err = -ENXIO;
	if (err) {
		free(s.a);
		return err;
	}
	merge(&s, k);
	cut(&s, k);
	*ret = s.a;
	*ret_n = s.n;
	return 0;
}
