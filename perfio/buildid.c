/* SPDX-License-Identifier: Apache-2.0 */
#include "perfio/buildid.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTES_MAX (1u << 20)

/* Longer ids exist (--build-id=0x...); perf and its readers take the first 20 bytes. */
static int take_id(const void *desc, size_t size, uint8_t ret[PIO_BUILD_ID_MAX])
{
	if (size > PIO_BUILD_ID_MAX)
		size = PIO_BUILD_ID_MAX;
	memcpy(ret, desc, size);
	return (int)size;
}

static bool is_build_id(uint32_t type, const char *name, size_t namesz, size_t descsz)
{
	return type == NT_GNU_BUILD_ID && namesz == sizeof("GNU") &&
	       !memcmp(name, "GNU", sizeof("GNU")) && descsz;
}

/* Notes as the running kernel and the vdso have them: native words, aligned to 4
 * (elf(5)). */
static int id_in_notes(const uint8_t *p, size_t left, uint8_t ret[PIO_BUILD_ID_MAX])
{
	ElfW(Nhdr) h;
	size_t name, desc;

	while (left >= sizeof(h)) {
		memcpy(&h, p, sizeof(h));
		p += sizeof(h);
		left -= sizeof(h);
		if (h.n_namesz > left)
			break;
		name = ((size_t)h.n_namesz + 3) & ~(size_t)3;
		if (name > left || h.n_descsz > left - name)
			break;
		if (is_build_id(h.n_type, (const char *)p, h.n_namesz, h.n_descsz))
			return take_id(p + name, h.n_descsz, ret);
		desc = ((size_t)h.n_descsz + 3) & ~(size_t)3;
		if (desc > left - name)
			break;
		p += name + desc;
		left -= name + desc;
	}
	return -ENODATA;
}

static int id_in_data(Elf_Data *data, uint8_t ret[PIO_BUILD_ID_MAX])
{
	size_t at = 0, name, desc;
	const char *bytes;
	GElf_Nhdr h;

	if (!data || !data->d_buf)
		return -ENODATA;
	bytes = data->d_buf;
	while ((at = gelf_getnote(data, at, &h, &name, &desc)) > 0)
		if (is_build_id(h.n_type, bytes + name, h.n_namesz, h.n_descsz))
			return take_id(bytes + desc, h.n_descsz, ret);
	return -ENODATA;
}

static int id_in_segments(Elf *elf, uint8_t ret[PIO_BUILD_ID_MAX])
{
	Elf_Type type;
	GElf_Phdr ph;
	size_t n = 0;
	int size;

	if (elf_getphdrnum(elf, &n))
		return -ENODATA;
	for (size_t i = 0; i < n && i < INT_MAX; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_NOTE)
			continue;
		if (ph.p_offset > INT64_MAX || ph.p_filesz > NOTES_MAX)
			continue;
		type = ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
		size = id_in_data(elf_getdata_rawchunk(elf, (int64_t)ph.p_offset,
						       ph.p_filesz, type),
				  ret);
		if (size > 0)
			return size;
	}
	return -ENODATA;
}

/* Object files, kernel modules among them, have sections only. */
static int id_in_sections(Elf *elf, uint8_t ret[PIO_BUILD_ID_MAX])
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	int size;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_NOTE ||
		    sh.sh_size > NOTES_MAX)
			continue;
		size = id_in_data(elf_getdata(scn, NULL), ret);
		if (size > 0)
			return size;
	}
	return -ENODATA;
}

int pio_build_id_fd(int fd, uint8_t ret[PIO_BUILD_ID_MAX])
{
	int size = -ENODATA;
	Elf *elf;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	/* Not through mmap: a file that shrinks meanwhile would be SIGBUS. */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return -ENODATA;
	if (elf_kind(elf) == ELF_K_ELF) {
		size = id_in_segments(elf, ret);
		if (size < 0)
			size = id_in_sections(elf, ret);
	}
	elf_end(elf);
	return size;
}

/* Only regular files are opened: opening a device or a FIFO may do things, or block. */
int pio_build_id_file(const char *path, uint8_t ret[PIO_BUILD_ID_MAX])
{
	struct stat st;
	int fd, size;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENODATA;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	size = pio_build_id_fd(fd, ret);
	close(fd);
	return size;
}

static int id_in_note_file(const char *dir, const char *name,
			   uint8_t ret[PIO_BUILD_ID_MAX])
{
	char *text;
	size_t len;
	int err = pio_read_file(&text, &len, NOTES_MAX, "%s/%s", dir, name);

	if (err == -ENOENT)
		return -ENODATA;
	if (err)
		return err;
	err = id_in_notes((const uint8_t *)text, len, ret);
	free(text);
	return err;
}

int pio_build_id_kernel(const struct pio_sys *sys, uint8_t ret[PIO_BUILD_ID_MAX])
{
	return id_in_note_file(sys->sysfs, "kernel/notes", ret);
}

int pio_build_id_module(const struct pio_sys *sys, const char *name,
			uint8_t ret[PIO_BUILD_ID_MAX])
{
	char path[PATH_MAX];

	if (strchr(name, '/') || strlen(name) > NAME_MAX)
		return -ENODATA;
	snprintf(path, sizeof(path), "module/%s/notes/.note.gnu.build-id", name);
	return id_in_note_file(sys->sysfs, path, ret);
}

/* The kernel maps the whole image at AT_SYSINFO_EHDR (vdso(7)), so that file offsets are
 * offsets in memory. */
int pio_build_id_vdso(uint8_t ret[PIO_BUILD_ID_MAX])
{
	const uint8_t *base = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	ElfW(Ehdr) eh;
	ElfW(Phdr) ph;
	int size;

	if (!base)
		return -ENODATA;
	memcpy(&eh, base, sizeof(eh));
	for (size_t i = 0; i < eh.e_phnum; i++) {
		memcpy(&ph, base + eh.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type != PT_NOTE)
			continue;
		size = id_in_notes(base + ph.p_offset, ph.p_filesz, ret);
		if (size > 0)
			return size;
	}
	return -ENODATA;
}
