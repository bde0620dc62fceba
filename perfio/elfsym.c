/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols tell virtual addresses; the kernel compares offsets in the file (a mapping's
 * pgoff). The file's own PT_LOAD headers lead from one to the other: those of a debug file
 * describe bytes that it does not have.
 */
#include "perfio/symtab.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfio/buildid.h"

#define SYMBOLS_MAX (1u << 30) /* bytes of a table: a sanity bound */

struct elf_file {
	int fd;
	Elf *elf;
};
#define ELF_FILE_INIT (struct elf_file){ .fd = -1 }

static void elf_done(struct elf_file *f)
{
	elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	*f = ELF_FILE_INIT;
}

/* Only regular files are opened: opening a device or a FIFO may do things, or block. */
static int elf_load(struct elf_file *ret, const char *path, uint64_t *ret_size)
{
	struct elf_file f = ELF_FILE_INIT;
	struct stat st;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	f.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (f.fd < 0)
		return -errno;
	/* Not through mmap: a file that shrinks meanwhile would be SIGBUS. */
	f.elf = elf_begin(f.fd, ELF_C_READ, NULL);
	if (!f.elf || elf_kind(f.elf) != ELF_K_ELF) {
		elf_done(&f);
		return -ENOEXEC;
	}
	*ret = f;
	*ret_size = (uint64_t)st.st_size;
	return 0;
}

/* The segment that holds a virtual address in bytes of the file. */
static bool find_segment(Elf *elf, uint64_t addr, GElf_Phdr *ret)
{
	size_t n = 0;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n && i < INT_MAX; i++)
		if (gelf_getphdr(elf, (int)i, ret) && ret->p_type == PT_LOAD &&
		    addr >= ret->p_vaddr && addr - ret->p_vaddr < ret->p_filesz)
			return true;
	return false;
}

static bool in_code(Elf *elf, uint16_t section)
{
	Elf_Scn *scn = elf_getscn(elf, section);
	GElf_Shdr sh;

	return scn && gelf_getshdr(scn, &sh) && sh.sh_flags & SHF_EXECINSTR;
}

/* Assembler code may give its entry points no type. */
static bool is_function(Elf *elf, const GElf_Sym *s)
{
	int type = GELF_ST_TYPE(s->st_info);

	if (!s->st_name || s->st_shndx == SHN_UNDEF)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && s->st_shndx < SHN_LORESERVE && in_code(elf, s->st_shndx);
}

static char kind_of(const GElf_Sym *s)
{
	switch (GELF_ST_BIND(s->st_info)) {
	case STB_LOCAL: return 'l';
	case STB_WEAK: return 'w';
	}
	return 'g';
}

static bool make_symbol(Elf *image, const GElf_Sym *s, const char *name, struct pio_sym *ret)
{
	const char *version = strstr(name, "@@");
	GElf_Phdr ph;

	if (!find_segment(image, s->st_value, &ph))
		return false;
	*ret = (struct pio_sym){
		.at = s->st_value - ph.p_vaddr + ph.p_offset,
		.size = s->st_size,
		.name = version ? strndup(name, (size_t)(version - name)) : strdup(name),
		.kind = kind_of(s),
		.global = GELF_ST_BIND(s->st_info) == STB_GLOBAL,
	};
	return true;
}

/* Where the file's bytes of the segment around offset `at` end. */
static uint64_t segment_end(Elf *elf, uint64_t at)
{
	GElf_Phdr ph;
	size_t n = 0;

	if (elf_getphdrnum(elf, &n))
		return at;
	for (size_t i = 0; i < n && i < INT_MAX; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD &&
		    at >= ph.p_offset && at - ph.p_offset < ph.p_filesz)
			return ph.p_offset + ph.p_filesz;
	return at;
}

static void set_sizes(struct pio_symtab *t, Elf *image)
{
	uint64_t next = UINT64_MAX, end;

	for (size_t i = t->n; i--;) {
		if (i + 1 < t->n && t->sym[i + 1].at > t->sym[i].at)
			next = t->sym[i + 1].at;
		if (t->sym[i].size)
			continue;
		end = segment_end(image, t->sym[i].at);
		t->sym[i].size = (next < end ? next : end) - t->sym[i].at;
	}
}

static Elf_Scn *find_table(Elf *elf, uint32_t type, GElf_Shdr *ret)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, ret) && ret->sh_type == type && ret->sh_entsize &&
		    ret->sh_size && ret->sh_size <= SYMBOLS_MAX)
			return scn;
	return NULL;
}

/* Symbols of one table of `elf`, placed as `image` is laid out. 1 when there is a table. */
static int read_table(struct pio_symtab *t, Elf *elf, Elf *image, uint32_t type)
{
	GElf_Shdr sh;
	Elf_Scn *scn = find_table(elf, type, &sh);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	size_t cap = 0, n;

	if (!data)
		return 0;
	n = sh.sh_size / sh.sh_entsize;
	for (size_t i = 0; i < n && i < INT_MAX; i++) {
		struct pio_sym out;
		const char *name;
		GElf_Sym s;

		if (!gelf_getsym(data, (int)i, &s) || !is_function(elf, &s))
			continue;
		name = elf_strptr(elf, sh.sh_link, s.st_name);
		if (!name || !make_symbol(image, &s, name, &out))
			continue;
		if (pio_symtab_add(t, &cap, &out))
			return -ENOMEM;
	}
	return 1;
}

static bool debug_path(char *buf, size_t size, int fd, const char *dir)
{
	uint8_t id[PIO_BUILD_ID_MAX];
	int len = pio_build_id_fd(fd, id), at;

	if (len < 2)
		return false;
	at = snprintf(buf, size, "%s/.build-id/%02x/", dir ? dir : "/usr/lib/debug", id[0]);
	if (at < 0 || (size_t)at + 2 * (size_t)len + sizeof(".debug") > size)
		return false;
	for (int i = 1; i < len; i++)
		at += sprintf(buf + at, "%02x", id[i]);
	strcpy(buf + at, ".debug");
	return true;
}

static int read_debug_file(struct pio_symtab *t, const struct elf_file *f, const char *dir)
{
	struct elf_file d = ELF_FILE_INIT;
	char path[PATH_MAX];
	uint64_t size;
	int err;

	if (!debug_path(path, sizeof(path), f->fd, dir) || elf_load(&d, path, &size))
		return 0;
	err = read_table(t, d.elf, f->elf, SHT_SYMTAB);
	elf_done(&d);
	return err;
}

int pio_symtab_elf(struct pio_symtab *ret, const char *path, const char *debug)
{
	struct elf_file f = ELF_FILE_INIT;
	struct pio_symtab t = { 0 };
	int err = elf_load(&f, path, &t.end);

	if (err)
		return err;
	err = read_table(&t, f.elf, f.elf, SHT_SYMTAB);
	if (!err)
		err = read_debug_file(&t, &f, debug);
	if (!err)
		err = read_table(&t, f.elf, f.elf, SHT_DYNSYM);
	if (err < 0)
		goto out;
	pio_symtab_sort(&t);
	set_sizes(&t, f.elf);
	*ret = t;
	elf_done(&f);
	return 0;
out:
	pio_symtab_done(&t);
	elf_done(&f);
	return err;
}
