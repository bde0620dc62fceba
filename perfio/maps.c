/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mappings, asked for one by one where the kernel can (PROCMAP_QUERY, Linux 6.11), else
 * read as text. The kernel writes the text of all mappings for the few executable ones:
 * 60 us for a shell against 16 us of questions (Linux 6.18), and far more for a program
 * with thousands.
 */
#include "perfio/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perfio/lines.h"

/* A line of maps: a path of PATH_MAX, each byte of which may be an escaped newline. */
#define MAPS_BUF (32 * 1024)

/* include/uapi/linux/fs.h, Linux 6.11; newer than the headers of Debian 12. */
struct map_query {
	uint64_t size, flags, addr;
	uint64_t start, end, vma_flags, page_size, offset, ino;
	uint32_t maj, min, name_size, build_id_size;
	uint64_t name, build_id;
};
#define MAP_QUERY	  _IOWR('f', 17, struct map_query)
#define MAP_QUERY_READ	  0x01u
#define MAP_QUERY_WRITE	  0x02u
#define MAP_QUERY_EXEC	  0x04u
#define MAP_QUERY_SHARED  0x08u
#define MAP_QUERY_OR_NEXT 0x10u

struct maps {
	int fd;
	bool data;
	uint64_t from; /* mappings below it are done */
	pio_map_fn *fn;
	void *ctx;
};

/* The kernel escapes newlines alone (fs/proc/task_mmu.c, show_map_vma). The name is cut
 * at PATH_MAX, as readers of the record have no more room. */
static const char *map_name(char *s)
{
	char *from, *to;

	if (!*s)
		return "//anon";
	from = to = strstr(s, "\\012");
	while (from && *from) {
		if (!strncmp(from, "\\012", 4)) {
			*to++ = '\n';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	if (to)
		*to = '\0';
	if (strlen(s) >= PATH_MAX)
		s[PATH_MAX - 1] = '\0';
	return s;
}

/* "00400000-0040c000 r-xp 00000000 fe:01 41038      /bin/cat"; false: leave it out. */
static bool parse_map(char *line, bool data, uint64_t from, struct pio_map *m)
{
	const char *p = line, *perm;
	uint64_t end;

	m->start = pio_scan_hex(&p);
	if (*p++ != '-')
		return false;
	end = pio_scan_hex(&p);
	perm = p + 1;
	if (*p != ' ' || strnlen(perm, 5) < 5 || perm[4] != ' ' || end < m->start)
		return false;
	if ((perm[2] != 'x' && !data) || m->start < from)
		return false;
	m->len = end - m->start;
	m->prot = (perm[0] == 'r' ? PROT_READ : 0u) | (perm[1] == 'w' ? PROT_WRITE : 0u) |
		  (perm[2] == 'x' ? PROT_EXEC : 0u);
	m->flags = perm[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	p = perm + 5;
	m->pgoff = pio_scan_hex(&p);
	p += *p == ' ';
	m->maj = (uint32_t)pio_scan_hex(&p);
	if (*p++ != ':')
		return false;
	m->min = (uint32_t)pio_scan_hex(&p);
	p += *p == ' ';
	m->ino = pio_scan_dec(&p);
	p += strspn(p, " ");
	m->name = map_name(line + (p - line));
	return true;
}

static int read_text(struct maps *s)
{
	char buf[MAPS_BUF], *line;
	struct pio_lines l = PIO_LINES(s->fd, buf);
	struct pio_map m;
	size_t len;
	int err;

	while ((err = pio_lines_next(&l, &line, &len)) > 0) {
		if (!parse_map(line, s->data, s->from, &m))
			continue;
		err = s->fn(s->ctx, &m);
		if (err)
			return err;
	}
	return err == -ENOENT ? -ESRCH : err;
}

/* x86 shows a page at the top that is no mapping of the process: none is found there. */
#define VSYSCALL UINT64_C(0xffffffffff600000)

static int is_vsyscall(void *ctx, const struct pio_map *m)
{
	(void)ctx;
	return m->start == VSYSCALL && !strcmp(m->name, "[vsyscall]") ? (int)m->prot : 0;
}

/* Its protection on this machine, from our own text, which is read once; 0: none. */
static unsigned vsyscall_prot(void)
{
	static int known = -1;
	struct maps s = { .data = true, .from = VSYSCALL, .fn = is_vsyscall };
	int prot = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (prot >= 0)
		return (unsigned)prot;
	s.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	prot = s.fd < 0 ? 0 : read_text(&s);
	if (s.fd >= 0)
		close(s.fd);
	prot = prot < 0 ? 0 : prot;
	__atomic_store_n(&known, prot, __ATOMIC_RELAXED);
	return (unsigned)prot;
}

/* Processes of 64 bits have it; those of 32 have nothing above 4 GiB. */
static int tell_vsyscall(const struct maps *s)
{
	struct pio_map m = { .start = VSYSCALL, .len = 4096, .flags = MAP_PRIVATE };

	m.name = "[vsyscall]";
	m.prot = s->from >> 32 ? vsyscall_prot() : 0;
	if (!m.prot || (!s->data && !(m.prot & PROT_EXEC)))
		return 0;
	return s->fn(s->ctx, &m);
}

static int tell_answer(const struct maps *s, const struct map_query *q, const char *name)
{
	struct pio_map m = {
		.start = q->start,
		.len = q->end - q->start,
		.pgoff = q->offset,
		.ino = q->ino,
		.maj = q->maj,
		.min = q->min,
		.name = q->name_size && *name ? name : "//anon",
	};

	m.prot = (q->vma_flags & MAP_QUERY_READ ? PROT_READ : 0u) |
		 (q->vma_flags & MAP_QUERY_WRITE ? PROT_WRITE : 0u) |
		 (q->vma_flags & MAP_QUERY_EXEC ? PROT_EXEC : 0u);
	m.flags = q->vma_flags & MAP_QUERY_SHARED ? MAP_SHARED : MAP_PRIVATE;
	return s->fn(s->ctx, &m);
}

/* Whatever it cannot answer (an old kernel, a name beyond PATH_MAX) is left to the text,
 * from there on. */
static int ask(struct maps *s, bool *ret_rest)
{
	char name[PATH_MAX];
	struct map_query q;
	int err;

	for (;;) {
		q = (struct map_query){ .size = sizeof(q), .addr = s->from };
		q.flags = MAP_QUERY_OR_NEXT | (s->data ? 0 : MAP_QUERY_EXEC);
		q.name = (uintptr_t)name;
		q.name_size = sizeof(name);
		if (ioctl(s->fd, MAP_QUERY, &q)) {
			if (errno == ENOENT) /* no further mapping */
				return tell_vsyscall(s);
			*ret_rest = errno != ESRCH; /* a task without memory */
			return 0;
		}
		s->from = q.end;
		err = tell_answer(s, &q, name);
		if (err)
			return err;
	}
}

int pio_proc_maps(const struct pio_sys *sys, pid_t pid, bool data, pio_map_fn *fn,
		  void *ctx)
{
	struct maps s = { .data = data, .fn = fn, .ctx = ctx };
	char path[PATH_MAX];
	bool rest = false;
	int err;

	snprintf(path, sizeof(path), "%s/%d/maps", sys->proc, pid);
	s.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (s.fd < 0) {
		err = -errno;
		return err == -ENOENT ? -ESRCH : err == -EPERM ? -EACCES : err;
	}
	err = ask(&s, &rest);
	if (rest)
		err = read_text(&s);
	close(s.fd);
	return err;
}
