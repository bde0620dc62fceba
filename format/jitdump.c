/* SPDX-License-Identifier: Apache-2.0 */
#include "format/jitdump.h"

#include <elf.h>
#include <string.h>

/* "JiTD"; the version of the records that are written; times are a TSC's. */
enum { MAGIC = 0x4A695444, VERSION = 1, ARCH_TIMESTAMP = 1 };
enum { HEADER_SIZE = 40, CODE_LOAD = 0, LOAD_SIZE = 56, CODE_MOVE = 1, MOVE_SIZE = 64 };

void fmt_put_jit_header(struct fmt_buf *b, uint32_t pid, uint64_t ticks)
{
	fmt_put_le(b, MAGIC, 4);
	fmt_put_le(b, VERSION, 4);
	fmt_put_le(b, HEADER_SIZE, 4);
	fmt_put_le(b, EM_X86_64, 4);
	fmt_put_le(b, 0, 4);
	fmt_put_le(b, pid, 4);
	fmt_put_le(b, ticks, 8);
	fmt_put_le(b, ARCH_TIMESTAMP, 8);
}

void fmt_put_jit_load(struct fmt_buf *b, const struct fmt_jit_load *l)
{
	size_t name = strlen(l->name) + 1;

	fmt_put_le(b, CODE_LOAD, 4);
	fmt_put_le(b, LOAD_SIZE + name + l->size, 4);
	fmt_put_le(b, l->ticks, 8);
	fmt_put_le(b, l->pid, 4);
	fmt_put_le(b, l->tid, 4);
	fmt_put_le(b, l->addr, 8);
	fmt_put_le(b, l->addr, 8);
	fmt_put_le(b, l->size, 8);
	fmt_put_le(b, l->index, 8);
	fmt_put(b, l->name, name);
	fmt_put(b, l->bytes, l->size);
}

/* A move from where it is to where it is. */
void fmt_put_jit_again(struct fmt_buf *b, const struct fmt_jit_load *l)
{
	fmt_put_le(b, CODE_MOVE, 4);
	fmt_put_le(b, MOVE_SIZE, 4);
	fmt_put_le(b, l->ticks, 8);
	fmt_put_le(b, l->pid, 4);
	fmt_put_le(b, l->tid, 4);
	fmt_put_le(b, l->addr, 8);
	fmt_put_le(b, l->addr, 8);
	fmt_put_le(b, l->addr, 8);
	fmt_put_le(b, l->size, 8);
	fmt_put_le(b, l->index, 8);
}

/* Names of sections, and where they are in there. */
static const char names[] = "\0.text\0.dynsym\0.dynstr";
enum { TEXT = 1, DYNSYM = 7, DYNSTR = 15, STRTAB = 3, SECTIONS = 4 };
enum { AT_SECTIONS = sizeof(Elf64_Ehdr), AT_NAMES = AT_SECTIONS + SECTIONS * sizeof(Elf64_Shdr),
       AT_SYMBOLS = AT_NAMES + 24 };

static void put_header(struct fmt_buf *b)
{
	static const uint8_t ident[EI_NIDENT] = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
						  ELFDATA2LSB, EV_CURRENT };

	fmt_put(b, ident, sizeof(ident));
	fmt_put_le(b, ET_DYN, 2);
	fmt_put_le(b, EM_X86_64, 2);
	fmt_put_le(b, EV_CURRENT, 4);
	fmt_put_zero(b, 16); /* entry, program headers */
	fmt_put_le(b, AT_SECTIONS, 8);
	fmt_put_zero(b, 4);
	fmt_put_le(b, sizeof(Elf64_Ehdr), 2);
	fmt_put_zero(b, 4);
	fmt_put_le(b, sizeof(Elf64_Shdr), 2);
	fmt_put_le(b, SECTIONS, 2);
	fmt_put_le(b, STRTAB, 2);
}

static void put_section(struct fmt_buf *b, uint32_t name, uint32_t type, uint64_t offset,
			uint64_t size, uint64_t entry)
{
	fmt_put_le(b, name, 4);
	fmt_put_le(b, type, 4);
	fmt_put_zero(b, 16); /* flags, address */
	fmt_put_le(b, offset, 8);
	fmt_put_le(b, size, 8);
	fmt_put_le(b, type == SHT_DYNSYM ? STRTAB : 0, 4);
	fmt_put_le(b, type == SHT_DYNSYM, 4); /* the null symbol is the only one */
	fmt_put_le(b, 8, 8);
	fmt_put_le(b, entry, 8);
}

/* perf takes an ELF file for that of a 64-bit program only if it has a table of symbols
 * (symsrc__possibly_runtime(), tools/perf/util/symbol-elf.c, Linux 6.1). */
void fmt_put_code_file(struct fmt_buf *b)
{
	const size_t at = b->len;

	put_header(b);
	fmt_put_zero(b, sizeof(Elf64_Shdr));
	put_section(b, TEXT, SHT_PROGBITS, FMT_CODE_BEGIN, 0, 0);
	put_section(b, DYNSYM, SHT_DYNSYM, AT_SYMBOLS, sizeof(Elf64_Sym), sizeof(Elf64_Sym));
	put_section(b, DYNSTR, SHT_STRTAB, AT_NAMES, sizeof(names), 0);
	fmt_put(b, names, sizeof(names));
	if (!b->err)
		fmt_put_zero(b, FMT_CODE_BEGIN - (b->len - at));
}
