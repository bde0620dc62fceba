/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/symelf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { NOTE = 0x180, STRINGS = 0xa00, SYMBOLS = 0xc00, SECTIONS = 0xe00, NR_SECTIONS = 5 };

static void put_head(uint8_t *buf, const uint8_t *id)
{
	const Elf64_Ehdr eh = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_ehsize = sizeof(eh), .e_phoff = sizeof(eh), .e_phnum = 2,
		.e_phentsize = sizeof(Elf64_Phdr), .e_shoff = SECTIONS,
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = NR_SECTIONS, .e_shstrndx = 3,
	};
	const Elf64_Phdr ph[2] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = SYMELF_OFFSET,
		  .p_vaddr = SYMELF_VADDR, .p_filesz = SYMELF_SIZE,
		  .p_memsz = 2 * SYMELF_SIZE, .p_align = 0x1000 },
		{ .p_type = id ? PT_NOTE : PT_NULL, .p_offset = NOTE, .p_filesz = 36,
		  .p_align = 4 },
	};
	const Elf64_Nhdr note = { 4, 20, NT_GNU_BUILD_ID };

	memcpy(buf, &eh, sizeof(eh));
	memcpy(buf + sizeof(eh), ph, sizeof(ph));
	if (!id)
		return;
	memcpy(buf + NOTE, &note, sizeof(note));
	memcpy(buf + NOTE + 12, "GNU", 4);
	memcpy(buf + NOTE + 16, id, 20);
}

static void put_sections(uint8_t *buf, size_t nr_sym, size_t strings, uint32_t table)
{
	const Elf64_Shdr sh[NR_SECTIONS] = {
		[SYMELF_TEXT] = { .sh_name = 0, .sh_type = SHT_PROGBITS,
				  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				  .sh_addr = SYMELF_VADDR, .sh_offset = SYMELF_OFFSET,
				  .sh_size = SYMELF_SIZE },
		[SYMELF_DATA] = { .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_WRITE,
				  .sh_addr = SYMELF_VADDR, .sh_offset = SYMELF_OFFSET,
				  .sh_size = SYMELF_SIZE },
		[3] = { .sh_type = SHT_STRTAB, .sh_offset = STRINGS, .sh_size = strings,
			.sh_addralign = 1 },
		[4] = { .sh_type = table ? table : SHT_NULL, .sh_offset = SYMBOLS,
			.sh_size = nr_sym * sizeof(Elf64_Sym), .sh_link = 3,
			.sh_entsize = sizeof(Elf64_Sym), .sh_addralign = 8 },
	};

	memcpy(buf + SECTIONS, sh, sizeof(sh));
}

void symelf_file(const char *path, const struct symelf_sym *sym, size_t n, uint32_t table,
		 const uint8_t *id)
{
	uint8_t buf[SYMELF_BYTES] = { 0 };
	size_t strings = 1;
	FILE *f;

	put_head(buf, id);
	for (size_t i = 0; i < n; i++) {
		const Elf64_Sym s = {
			.st_name = (uint32_t)strings,
			.st_info = (unsigned char)ELF64_ST_INFO(sym[i].bind, sym[i].type),
			.st_shndx = sym[i].section,
			.st_value = sym[i].value,
			.st_size = sym[i].size,
		};

		assert_true(STRINGS + strings + strlen(sym[i].name) < SYMBOLS);
		assert_true(SYMBOLS + (i + 2) * sizeof(s) <= SECTIONS);
		strcpy((char *)buf + STRINGS + strings, sym[i].name);
		strings += strlen(sym[i].name) + 1;
		memcpy(buf + SYMBOLS + (i + 1) * sizeof(s), &s, sizeof(s));
	}
	put_sections(buf, n + 1, strings, table);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(buf, 1, sizeof(buf), f), sizeof(buf));
	assert_int_equal(fclose(f), 0);
}
