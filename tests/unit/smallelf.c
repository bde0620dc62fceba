/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/smallelf.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

static size_t put_note(uint8_t *p, uint32_t type, const char *name, const void *desc,
		       size_t size)
{
	Elf64_Nhdr h = { (uint32_t)strlen(name) + 1, (uint32_t)size, type };
	size_t at = sizeof(h), name_room = (h.n_namesz + 3) & ~3u;

	memcpy(p, &h, sizeof(h));
	memset(p + at, 0, name_room + ((size + 3) & ~(size_t)3));
	memcpy(p + at, name, h.n_namesz);
	at += name_room;
	memcpy(p + at, desc, size);
	return at + ((size + 3) & ~(size_t)3);
}

size_t small_notes(uint8_t *buf, const uint8_t *id, size_t id_size)
{
	/* Another type and another name first: neither alone makes a build id. */
	size_t n = put_note(buf, 1, "GNU", "\1\2\3\4\5", 5);

	n += put_note(buf + n, NT_GNU_BUILD_ID, "GNX", "\7\7\7\7", 4);
	if (id_size)
		n += put_note(buf + n, NT_GNU_BUILD_ID, "GNU", id, id_size);
	return n;
}

static size_t put_object(uint8_t *buf, Elf64_Ehdr *eh, size_t at, size_t notes)
{
	static const char names[] = "\0.note.x\0.shstrtab";
	Elf64_Shdr sh[3] = { { 0 } };

	memcpy(buf + at + notes, names, sizeof(names));
	sh[1] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_NOTE, .sh_offset = at,
			      .sh_size = notes, .sh_addralign = 4 };
	sh[2] = (Elf64_Shdr){ .sh_name = 9, .sh_type = SHT_STRTAB,
			      .sh_offset = at + notes, .sh_size = sizeof(names),
			      .sh_addralign = 1 };
	eh->e_type = ET_REL;
	eh->e_shoff = (at + notes + sizeof(names) + 7) & ~7u;
	eh->e_shentsize = sizeof(*sh);
	eh->e_shnum = 3;
	eh->e_shstrndx = 2;
	memcpy(buf + eh->e_shoff, sh, sizeof(sh));
	return eh->e_shoff + sizeof(sh);
}

size_t small_elf(uint8_t buf[512], const uint8_t *id, size_t id_size, int object)
{
	Elf64_Ehdr eh = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
				       EV_CURRENT },
			  .e_type = ET_DYN, .e_machine = EM_X86_64,
			  .e_version = EV_CURRENT, .e_ehsize = sizeof(eh) };
	Elf64_Phdr ph = { .p_type = PT_NOTE, .p_align = 4 };
	size_t at = sizeof(eh) + sizeof(ph), notes, end;

	memset(buf, 0, 512);
	notes = small_notes(buf + at, id, id_size);
	end = at + notes;
	if (object) {
		end = put_object(buf, &eh, at, notes);
	} else {
		ph.p_offset = at;
		ph.p_filesz = ph.p_memsz = notes;
		eh.e_phoff = sizeof(eh);
		eh.e_phentsize = sizeof(ph);
		eh.e_phnum = 1;
		memcpy(buf + sizeof(eh), &ph, sizeof(ph));
	}
	memcpy(buf, &eh, sizeof(eh));
	assert_true(end <= 512);
	return end;
}

void small_elf_file(const char *path, const uint8_t *id, size_t id_size, int object)
{
	uint8_t buf[512];
	size_t n = small_elf(buf, id, id_size, object);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(buf, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}
