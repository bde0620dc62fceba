/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest ELF files that have a build id. */
#ifndef TESTS_UNIT_SMALLELF_H
#define TESTS_UNIT_SMALLELF_H

#include <stddef.h>
#include <stdint.h>

/* Writes a 64-bit little-endian ELF file whose one program header (or section, for an
 * object file) holds another note, then NT_GNU_BUILD_ID with `id`. Returns its size
 * (under 512). */
size_t small_elf(uint8_t buf[512], const uint8_t *id, size_t id_size, int object);
/* The same as a file. */
void small_elf_file(const char *path, const uint8_t *id, size_t id_size, int object);
/* Just the notes; the size. */
size_t small_notes(uint8_t *buf, const uint8_t *id, size_t id_size);

#endif
