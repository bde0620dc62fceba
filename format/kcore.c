/* SPDX-License-Identifier: Apache-2.0 */
#include "format/kcore.h"

#include <errno.h>

/* Sizes and values from elf(5): 64-bit, little-endian, ET_CORE. */
enum {
	EHDR_SIZE = 64,
	PHDR_SIZE = 56,
	PHNUM_MAX = 0xfffe, /* 0xffff, PN_XNUM, means something else */
	ELFCLASS64 = 2,
	ELFDATA2LSB = 1,
	EV_CURRENT = 1,
	ET_CORE = 4,
	PT_LOAD = 1,
	PF_RWX = 7, /* perf takes executable segments as code */
};

uint64_t fmt_kcore_head_size(size_t nr_segments)
{
	uint64_t size = EHDR_SIZE + (uint64_t)nr_segments * PHDR_SIZE;

	return size + (-size & (FMT_KCORE_PAGE - 1));
}

static int check(const struct fmt_kcore_segment *s, size_t n)
{
	if (n > PHNUM_MAX)
		return -EOVERFLOW;
	for (size_t i = 0; i < n; i++)
		if (!s[i].len || s[i].addr % FMT_KCORE_PAGE || s[i].len % FMT_KCORE_PAGE)
			return -EINVAL;
	return 0;
}

static void put_ehdr(struct fmt_buf *b, uint16_t machine, size_t n)
{
	fmt_put(b, "\177ELF", 4);
	fmt_put_le(b, ELFCLASS64, 1);
	fmt_put_le(b, ELFDATA2LSB, 1);
	fmt_put_le(b, EV_CURRENT, 1);
	fmt_put_zero(b, 9); /* no ABI of an operating system, padding */
	fmt_put_le(b, ET_CORE, 2);
	fmt_put_le(b, machine, 2);
	fmt_put_le(b, EV_CURRENT, 4);
	fmt_put_le(b, 0, 8);	     /* e_entry */
	fmt_put_le(b, EHDR_SIZE, 8); /* e_phoff */
	fmt_put_le(b, 0, 8);	     /* e_shoff */
	fmt_put_le(b, 0, 4);	     /* e_flags */
	fmt_put_le(b, EHDR_SIZE, 2);
	fmt_put_le(b, PHDR_SIZE, 2);
	fmt_put_le(b, n, 2);
	fmt_put_zero(b, 6); /* no sections */
}

static void put_phdr(struct fmt_buf *b, const struct fmt_kcore_segment *s, uint64_t offset)
{
	fmt_put_le(b, PT_LOAD, 4);
	fmt_put_le(b, PF_RWX, 4);
	fmt_put_le(b, offset, 8);
	fmt_put_le(b, s->addr, 8); /* p_vaddr */
	fmt_put_le(b, 0, 8);	   /* p_paddr: nobody asks */
	fmt_put_le(b, s->len, 8);  /* p_filesz */
	fmt_put_le(b, s->len, 8);  /* p_memsz */
	fmt_put_le(b, FMT_KCORE_PAGE, 8);
}

int fmt_put_kcore_head(struct fmt_buf *b, uint16_t machine, const struct fmt_kcore_segment *s,
		       size_t n)
{
	uint64_t head = fmt_kcore_head_size(n), offset = head;
	int err = check(s, n);

	if (err)
		return err;
	put_ehdr(b, machine, n);
	for (size_t i = 0; i < n; i++) {
		put_phdr(b, &s[i], offset);
		offset += s[i].len;
	}
	fmt_put_zero(b, (size_t)(head - EHDR_SIZE - n * PHDR_SIZE));
	return b->err;
}
