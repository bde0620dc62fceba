/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that is a directory: the files beside `data`.
 *
 * kcore_dir/kcore is an ELF file of the kernel's code (elf(5)); its head is looked at and
 * its segments are held against the size of the file.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/le.h"
#include "recorder/check_priv.h"

enum { SEGMENTS_MAX = 4096 };

static void bad_kcore(struct check *c, uint64_t at, const char *expected,
		      const char *found)
{
	check_find(c, CHECK_KCORE, at, expected, "kcore_dir/kcore: %s", found);
}

static void segment(struct check *c, const uint8_t *p, uint64_t at, uint64_t size)
{
	uint64_t from = le_get64(p + offsetof(Elf64_Phdr, p_offset));
	uint64_t len = le_get64(p + offsetof(Elf64_Phdr, p_filesz));
	char found[100];

	if (le_get32(p) != PT_LOAD || (from <= size && len <= size - from))
		return;
	snprintf(found, sizeof(found),
		 "%" PRIu64 " bytes from byte %" PRIu64 " on, in a file of %" PRIu64, len,
		 from, size);
	bad_kcore(c, at, "segments within the file", found);
}

static void segments(struct check *c, int fd, const uint8_t *head, uint64_t size)
{
	uint64_t at = le_get64(head + offsetof(Elf64_Ehdr, e_phoff));
	size_t n = le_get16(head + offsetof(Elf64_Ehdr, e_phnum));
	const size_t step = sizeof(Elf64_Phdr);
	uint8_t p[sizeof(Elf64_Phdr)];

	if (!n || le_get16(head + offsetof(Elf64_Ehdr, e_phentsize)) != step)
		bad_kcore(c, offsetof(Elf64_Ehdr, e_phentsize), "program headers",
			  "none");
	for (size_t i = 0; i < n && i < SEGMENTS_MAX; i++, at += step) {
		if (at > INT64_MAX || pread(fd, p, step, (off_t)at) != (ssize_t)step) {
			bad_kcore(c, at, "a whole program header", "the end of the file");
			return;
		}
		segment(c, p, at, size);
	}
}

static void kcore(struct check *c, int dir)
{
	int fd = openat(dir, "kcore_dir/kcore", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t head[sizeof(Elf64_Ehdr)];
	struct stat st;

	if (fd < 0) {
		bad_kcore(c, CHECK_NOWHERE, "the kernel's code", strerror(errno));
		return;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    read(fd, head, sizeof(head)) != (ssize_t)sizeof(head) ||
	    memcmp(head, ELFMAG, SELFMAG) || head[EI_CLASS] != ELFCLASS64 ||
	    head[EI_DATA] != ELFDATA2LSB)
		bad_kcore(c, 0, "a little-endian ELF file of 64 bits", "something else");
	else
		segments(c, fd, head, (uint64_t)st.st_size);
	close(fd);
}

static void beside(struct check *c, int dir, const char *name)
{
	struct stat st;

	if (fstatat(dir, name, &st, 0))
		check_find(c, CHECK_KCORE, CHECK_NOWHERE,
			   "a copy of what the kernel says", "%s: %s", name,
			   strerror(errno));
	else if (!S_ISREG(st.st_mode) || !st.st_size)
		check_find(c, CHECK_KCORE, CHECK_NOWHERE, "a file with something in it",
			   "%s", name);
}

static void parts(struct check *c, int dir)
{
	const uint8_t *p;
	uint64_t len;
	bool in_parts = !fmt_reader_feature(c->r, FMT_FEAT_DIR_FORMAT, &p, &len);

	if (in_parts && !c->in->nr_parts)
		check_find(c, CHECK_PART_MISSING, CHECK_NOWHERE,
			   "files data.N with the records", "none in the directory");
	else if (in_parts)
		check_parts(c);
	else if (!in_parts && !faccessat(dir, "data.0", F_OK, 0))
		check_find(c, CHECK_PARTS, CHECK_NOWHERE,
			   "the feature 'dir format', or perf reads none",
			   "a file data.0");
}

void check_dir(struct check *c)
{
	struct stat st;
	int dir;

	if (!c->in->dir)
		return;
	dir = open(c->in->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0) {
		check_find(c, CHECK_PARTS, CHECK_NOWHERE, "a directory that can be read",
			   "%s", strerror(errno));
		return;
	}
	if (!fstatat(dir, "kcore_dir", &st, 0)) {
		kcore(c, dir);
		beside(c, dir, "kcore_dir/kallsyms");
		beside(c, dir, "kcore_dir/modules");
	}
	parts(c, dir);
	close(dir);
}
