/* SPDX-License-Identifier: Apache-2.0 */
/* Where the bytes of an image lie on this machine. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/abi.h"
#include "perfio/buildid.h"
#include "recorder/decode/images_priv.h"
#include "recorder/dsos.h"

enum { VDSO_MAX = 1 << 20, HEX_MAX = 2 * IMAGE_ID_MAX + 1 };
#define DELETED " (deleted)"

static void hex_of(const struct image *i, char ret[HEX_MAX])
{
	for (size_t k = 0; k < i->id_size; k++)
		snprintf(ret + 2 * k, 3, "%02x", i->id[k]);
}

static bool same_id(const struct image *i, const uint8_t *id, int size)
{
	return size == i->id_size && !memcmp(i->id, id, (size_t)size);
}

/* Takes path over. Its file is the image's: 1; not: 0. */
static int take_if_same(struct image_row *r, char *path)
{
	struct image *i = &r->image;
	uint8_t id[PIO_BUILD_ID_MAX];
	struct stat st;
	int size = -ENODATA;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || access(path, R_OK)) {
		free(path);
		return 0;
	}
	if (i->id_size)
		size = pio_build_id_file(path, id);
	if (!i->id_size || same_id(i, id, size)) {
		i->state = IMAGE_FOUND;
		i->checked = i->id_size;
		i->path = r->path = path;
		return 1;
	}
	if (r->other_path) {
		free(path);
		return 0;
	}
	i->state = IMAGE_OTHER_ID;
	i->other_path = r->other_path = path;
	i->other_id_size = size > 0 ? (uint8_t)size : 0;
	memcpy(i->other_id, id, i->other_id_size);
	return 0;
}

/* dir/.build-id/xx/yyy is the file itself, or a directory of perf's cache. */
static int try_by_id(struct image_row *r, const char *dir)
{
	static const char *const tails[] = { "", "/elf", "/vdso" };
	char hex[HEX_MAX] = "", *path;
	int got = 0;

	if (r->image.id_size < 2)
		return 0;
	hex_of(&r->image, hex);
	for (size_t k = 0; !got && k < sizeof(tails) / sizeof(*tails); k++) {
		if (asprintf(&path, "%s/.build-id/%.2s/%s%s", dir, hex, hex + 2,
			     tails[k]) < 0)
			return -ENOMEM;
		got = take_if_same(r, path);
	}
	return got;
}

/* A file that was replaced while it ran is shown as deleted; by its id it can be told from
 * what came in its place. */
static int try_by_name(struct image_row *r, const char *dir)
{
	const char *name = r->image.name;
	size_t len = strlen(name), tail = sizeof(DELETED) - 1;
	char *path;

	if (name[0] != '/')
		return 0;
	if (r->image.id_size && len > tail && !strcmp(name + len - tail, DELETED))
		len -= tail;
	if (asprintf(&path, "%s%.*s", dir, (int)len, name) < 0)
		return -ENOMEM;
	return take_if_same(r, path);
}

/* OUTPUT.jit/code-PID, the end of its name (recorder/softcode.h), or NULL. */
static const char *kept_code(const char *name)
{
	const char *base = strrchr(name, '/'), *dir = base;

	if (!base || strncmp(base, "/code-", 6) || base - name < 5 || strncmp(base - 4, ".jit", 4))
		return NULL;
	while (dir > name && dir[-1] != '/')
		dir--;
	return dir;
}

/* The same beside a recording that has another name now, as OUTPUT.old. */
static int try_renamed(const struct images *v, struct image_row *r)
{
	const char *tail = kept_code(r->image.name);
	char *path;

	if (!tail || !v->file)
		return 0;
	if (asprintf(&path, "%s.jit%s", v->file, strchr(tail, '/')) < 0)
		return -ENOMEM;
	return take_if_same(r, path);
}

static int try_beside(const struct images *v, struct image_row *r)
{
	const char *tail = kept_code(r->image.name);
	const char *slash = v->file ? strrchr(v->file, '/') : NULL;
	char *path;

	if (!tail || !v->file)
		return 0;
	if (asprintf(&path, "%.*s%s", slash ? (int)(slash + 1 - v->file) : 0, v->file, tail) < 0)
		return -ENOMEM;
	return take_if_same(r, path);
}

static int try_home(struct image_row *r)
{
	const char *home = getenv("HOME");
	char *dir;
	int got;

	if (!home || asprintf(&dir, "%s/.debug", home) < 0)
		return home ? -ENOMEM : 0;
	got = try_by_id(r, dir);
	free(dir);
	return got;
}

/* Bytes of an ELF image in memory: up to what its headers name last. */
static size_t vdso_size(const uint8_t *p)
{
	Elf64_Ehdr e;
	size_t n;

	memcpy(&e, p, sizeof(e));
	n = e.e_shoff + (size_t)e.e_shnum * e.e_shentsize;
	for (size_t i = 0; i < e.e_phnum; i++) {
		Elf64_Phdr h;

		memcpy(&h, p + e.e_phoff + i * sizeof(h), sizeof(h));
		if (n < h.p_offset + h.p_filesz)
			n = h.p_offset + h.p_filesz;
	}
	return n < VDSO_MAX ? n : 0;
}

/* libipt reads files only. */
static int copy_vdso(struct images *v)
{
	unsigned long at = getauxval(AT_SYSINFO_EHDR);
	const uint8_t *p = (const uint8_t *)at;
	size_t n = at ? vdso_size(p) : 0;

	if (!n || v->vdso >= 0)
		return v->vdso;
	v->vdso = memfd_create("vdso", MFD_CLOEXEC);
	if (v->vdso >= 0 && write(v->vdso, p, n) != (ssize_t)n) {
		close(v->vdso);
		v->vdso = -1;
	}
	return v->vdso;
}

static int try_vdso(struct images *v, struct image_row *r)
{
	char *path;

	if (strcmp(r->image.name, "[vdso]") || copy_vdso(v) < 0)
		return 0;
	if (asprintf(&path, "/proc/self/fd/%d", v->vdso) < 0)
		return -ENOMEM;
	return take_if_same(r, path);
}

static int find_user(struct images *v, struct image_row *r)
{
	int got = 0;

	if (v->dir)
		got = try_by_name(r, v->dir);
	if (!got && v->dir)
		got = try_by_id(r, v->dir);
	if (!got)
		got = try_renamed(v, r); /* where it was, another recording's may be */
	if (!got)
		got = try_by_name(r, "");
	if (!got)
		got = try_beside(v, r);
	if (!got)
		got = try_home(r);
	if (!got)
		got = try_by_id(r, "/usr/lib/debug");
	if (!got)
		got = try_vdso(v, r);
	return got < 0 ? got : 0;
}

int image_find(struct images *v, struct image_row *r)
{
	struct image *i = &r->image;

	if (i->kernel) {
		i->state = v->nr_kcore ? IMAGE_FOUND : IMAGE_NO_KCORE;
		i->path = v->kcore_path;
		return 0;
	}
	i->state = IMAGE_NO_FILE;
	if (!i->id_size && !dsos_is_file(FMT_MISC_USER, i->name)) {
		i->state = IMAGE_NO_CODE;
		return 0;
	}
	return find_user(v, r);
}

static bool pread_all(int fd, void *buf, size_t n, uint64_t at)
{
	return at <= INT64_MAX && pread(fd, buf, n, (off_t)at) == (ssize_t)n;
}

static int read_segments(struct images *v, int fd, const Elf64_Ehdr *e, uint64_t size)
{
	v->kcore = calloc(e->e_phnum + 1u, sizeof(*v->kcore));
	if (!v->kcore)
		return -ENOMEM;
	for (size_t i = 0; i < e->e_phnum; i++) {
		Elf64_Phdr h;

		if (!pread_all(fd, &h, sizeof(h), e->e_phoff + i * sizeof(h)))
			break;
		if (h.p_type != PT_LOAD || !h.p_filesz ||
		    h.p_offset >= size || h.p_filesz > size - h.p_offset)
			continue;
		v->kcore[v->nr_kcore++] = (struct image_kcore){
			.addr = h.p_vaddr, .size = h.p_filesz, .offset = h.p_offset,
		};
	}
	return 0;
}

static bool is_core(const Elf64_Ehdr *e)
{
	return !memcmp(e->e_ident, ELFMAG, SELFMAG) &&
	       e->e_ident[EI_CLASS] == ELFCLASS64 &&
	       e->e_ident[EI_DATA] == ELFDATA2LSB && e->e_machine == EM_X86_64 &&
	       e->e_phentsize == sizeof(Elf64_Phdr);
}

int image_kcore_open(struct images *v)
{
	Elf64_Ehdr e;
	struct stat st;
	int fd, err = 0;

	if (!v->recording)
		return 0;
	if (asprintf(&v->kcore_path, "%s/kcore_dir/kcore", v->recording) < 0) {
		v->kcore_path = NULL;
		return -ENOMEM;
	}
	fd = open(v->kcore_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && pread_all(fd, &e, sizeof(e), 0) &&
	    is_core(&e))
		err = read_segments(v, fd, &e, (uint64_t)st.st_size);
	close(fd);
	return err;
}
