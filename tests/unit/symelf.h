/* SPDX-License-Identifier: Apache-2.0 */
/* ELF files that have symbols and nothing else to speak of. */
#ifndef TESTS_UNIT_SYMELF_H
#define TESTS_UNIT_SYMELF_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/* One segment: virtual addresses from SYMELF_VADDR are offsets from SYMELF_OFFSET. */
#define SYMELF_VADDR 0x401000
#define SYMELF_OFFSET 0x200
#define SYMELF_SIZE 0x800

enum { SYMELF_UNDEF, SYMELF_TEXT, SYMELF_DATA }; /* sections */

struct symelf_sym {
	const char *name;
	uint64_t value, size;
	unsigned char bind, type; /* STB_*, STT_* */
	uint16_t section;
};

/* table: SHT_SYMTAB or SHT_DYNSYM, or 0 for none. id: 20 bytes of a build id, or NULL. The
 * file is SYMELF_BYTES long. */
#define SYMELF_BYTES 4096
void symelf_file(const char *path, const struct symelf_sym *sym, size_t n, uint32_t table,
		 const uint8_t *id);

#endif
