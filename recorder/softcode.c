/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/softcode.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/abi.h"
#include "format/jitdump.h"
#include "format/record.h"
#include "recorder/log.h"
#include "recorder/session.h"

/* A bound for all files of a recording. */
#define BYTES_MAX (UINT64_C(512) << 20)
/* The record that leads perf to jit-PID.dump tells a mapping, where no program can have one:
 * below vm.mmap_min_addr. */
#define MARKER_ADDR 0x1000u

enum { PIECE = SOFT_CODE_PAGE + SOFT_CODE_TAIL };

/* OUTPUT.jit, as an absolute name: whoever reads the recording stands elsewhere. */
static int name_dir(struct softcode *c, const char *output)
{
	char *parent = strdup(output), *slash = parent ? strrchr(parent, '/') : NULL, *whole;
	const char *base = slash ? slash + 1 : output;

	if (!parent)
		return -ENOMEM;
	base = slash ? output + (slash + 1 - parent) : output;
	if (slash)
		slash[slash == parent] = '\0';
	whole = realpath(slash ? parent : ".", NULL);
	free(parent);
	if (!whole)
		return -errno;
	if (asprintf(&c->dir, "%s/%s.jit", strcmp(whole, "/") ? whole : "", base) < 0)
		c->dir = NULL;
	free(whole);
	return c->dir ? 0 : -ENOMEM;
}

static int make_dir(struct softcode *c, struct session *s)
{
	int err;

	if (c->dir)
		return 0;
	if (s->out.stream)
		return -ESPIPE;
	err = name_dir(c, s->cfg->output);
	if (!err && mkdir(c->dir, 0700) && errno != EEXIST)
		err = -errno;
	s->out.has_code = !err;
	return err;
}

static int write_all(int fd, const struct fmt_buf *b)
{
	for (size_t done = 0; done < b->len;) {
		ssize_t n = write(fd, b->data + done, b->len - done);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* Onto the end of a file; `anew`: what an older recording left there goes. */
static int append(const struct softcode *c, const char *kind, const char *tail, pid_t pid,
		  const struct fmt_buf *b, bool anew)
{
	char *path;
	int fd, err;

	if (b->err || asprintf(&path, "%s/%s%d%s", c->dir, kind, (int)pid, tail) < 0)
		return -ENOMEM;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (anew ? O_TRUNC : 0), 0600);
	free(path);
	if (fd < 0)
		return -errno;
	err = write_all(fd, b);
	if (close(fd) && !err)
		err = -errno;
	return err;
}

/* A moment before those that jit-PID.dump tells, which are to count where both are read. */
static int put_mapping(struct softcode *c, const struct session *s, const struct soft_code *k,
		       const struct fmt_mmap2 *where, const char *kind, const char *tail)
{
	const struct fmt_trailer t = { .pid = (uint32_t)k->pid, .tid = (uint32_t)k->tid,
				       .time = session_time(s, k->ticks) - 1, .id = s->pt_id };
	struct fmt_mmap2 m = *where;
	char *name;
	int err;

	if (asprintf(&name, "%s/%s%d%s", c->dir, kind, (int)k->pid, tail) < 0)
		return -ENOMEM;
	m.pid = t.pid;
	m.tid = t.tid;
	m.prot = PROT_READ | PROT_EXEC;
	m.flags = MAP_PRIVATE;
	m.misc = FMT_MISC_USER;
	m.name = name;
	err = fmt_put_mmap2(&c->records, &m, &t);
	free(name);
	return err;
}

static struct softcode_file *file_of(struct softcode *c, pid_t pid)
{
	size_t room = c->room ? 2 * c->room : 16;
	struct softcode_file *all;

	for (size_t i = 0; i < c->nr; i++)
		if (c->file[i].pid == pid)
			return &c->file[i];
	if (c->nr == c->room) {
		all = reallocarray(c->file, room, sizeof(*all));
		if (!all)
			return NULL;
		c->file = all;
		c->room = room;
	}
	c->file[c->nr] = (struct softcode_file){ .pid = pid };
	return &c->file[c->nr++];
}

static struct softcode_page *page_of(const struct softcode_file *f, uint64_t addr)
{
	for (size_t i = 0; i < f->nr; i++)
		if (f->page[i].addr == addr)
			return &f->page[i];
	return NULL;
}

static int note_page(struct softcode_file *f, const struct softcode_page *p)
{
	struct softcode_page *at = page_of(f, p->addr), *all;
	size_t room = f->room ? 2 * f->room : 64;

	if (!at && f->nr == f->room) {
		all = reallocarray(f->page, room, sizeof(*all));
		if (!all)
			return -ENOMEM;
		f->page = all;
		f->room = room;
	}
	if (!at)
		at = &f->page[f->nr++];
	*at = *p;
	return 0;
}

/* What was loaded with its tail, since an instruction is read from one file, covers the beginning
 * of the next page, too: that is given back. */
static void put_again(struct fmt_buf *b, const struct soft_code *k, const struct softcode_page *p,
		      uint64_t ticks)
{
	const struct fmt_jit_load l = { .pid = (uint32_t)k->pid, .tid = (uint32_t)k->tid,
					.ticks = ticks, .addr = p->addr, .size = SOFT_CODE_PAGE,
					.index = p->index };

	fmt_put_jit_again(b, &l);
}

static void put_piece(struct fmt_buf *b, const struct softcode_file *f, const struct soft_code *k,
		      uint64_t index)
{
	const struct softcode_page here = { .addr = k->addr, .index = index };
	const struct softcode_page *next = page_of(f, k->addr + SOFT_CODE_PAGE);
	const struct softcode_page *last = page_of(f, k->addr - SOFT_CODE_PAGE);
	char name[64];

	snprintf(name, sizeof(name), "code-%llx.%llu", (unsigned long long)k->addr,
		 (unsigned long long)index);
	if (k->bytes)
		fmt_put_jit_load(b, &(struct fmt_jit_load){
			.pid = (uint32_t)k->pid, .tid = (uint32_t)k->tid, .ticks = k->ticks,
			.addr = k->addr, .size = PIECE, .index = index, .name = name,
			.bytes = k->bytes });
	else
		put_again(b, k, &here, k->ticks);
	if (last && last->loaded >= k->ticks)
		put_again(b, k, &here, last->loaded);
	if (next && k->bytes)
		put_again(b, k, next, k->ticks > next->told ? k->ticks : next->told);
}

/* Onto jit-PID.dump, whose first record leads perf to it. `number`: of the piece. */
static int dump(struct softcode *c, const struct session *s, struct softcode_file *f,
		const struct soft_code *k, uint64_t number)
{
	const struct fmt_mmap2 marker = { .addr = MARKER_ADDR, .len = SOFT_CODE_PAGE };
	const struct softcode_page *old = page_of(f, k->addr);
	const struct softcode_page page = {
		.addr = k->addr,
		.index = (number - FMT_CODE_BEGIN) / PIECE,
		.loaded = k->bytes || !old ? k->ticks : old->loaded,
		.told = k->ticks,
	};
	const bool first = !f->nr;
	struct fmt_buf b = { 0 };
	int err;

	if (first)
		fmt_put_jit_header(&b, (uint32_t)k->pid, k->ticks);
	put_piece(&b, f, k, page.index);
	err = append(c, "jit-", ".dump", k->pid, &b, first);
	c->bytes += b.len;
	fmt_buf_done(&b);
	if (!err)
		err = note_page(f, &page);
	if (!err && first)
		err = put_mapping(c, s, k, &marker, "jit-", ".dump");
	return err;
}

/* Onto code-PID, behind what is there: *ret is where. */
static int add_piece(struct softcode *c, struct softcode_file *f, const struct soft_code *k,
		     uint64_t *ret)
{
	struct fmt_buf b = { 0 };
	int err;

	if (!f->size)
		fmt_put_code_file(&b);
	*ret = f->size + b.len;
	fmt_put(&b, k->bytes, PIECE);
	err = append(c, "code-", "", k->pid, &b, !f->size);
	f->size += b.len;
	c->bytes += b.len;
	fmt_buf_done(&b);
	return err;
}

/* The number of a piece is its place in code-PID. */
static int keep(struct softcode *c, struct session *s, const struct soft_code *k,
		uint64_t *ret)
{
	struct softcode_file *f = file_of(c, k->pid);
	struct fmt_mmap2 where = { .addr = k->addr, .len = SOFT_CODE_PAGE, .pgoff = k->number };
	int err = f ? make_dir(c, s) : -ENOMEM;

	if (!err && k->bytes)
		err = add_piece(c, f, k, &where.pgoff);
	if (!err)
		err = dump(c, s, f, k, where.pgoff);
	*ret = where.pgoff;
	return err ? err : put_mapping(c, s, k, &where, "code-", "");
}

uint64_t softcode_keep(void *arg, const struct soft_code *k)
{
	struct session *s = arg;
	struct softcode *c = &s->code;
	uint64_t number = 0;

	if (c->err || (k->bytes && c->bytes >= BYTES_MAX))
		return 0;
	c->err = keep(c, s, k, &number);
	if (c->err && !s->out.stream)
		log_warn("code that the program makes cannot be kept in '%s': %s",
			 c->dir ? c->dir : s->cfg->output, strerror(-c->err));
	return c->err ? 0 : number;
}

int softcode_round(struct session *s)
{
	struct softcode *c = &s->code;
	struct tasktable *table = s->flight.table ? s->flight.table : s->rotation.table;
	struct iovec v = { c->records.data, c->records.len };
	int err = c->records.len && table ? tasktable_add_all(table, &c->records) : 0;

	if (err || !c->records.len || s->flight.table)
		return err;
	err = ledger_walk(&s->ledger, &s->ledger.row[0], &v, 1, NULL);
	return err ? err : spans_add(&s->spans, c->records.data, c->records.len);
}

void softcode_told(struct session *s)
{
	fmt_buf_reset(&s->code.records);
}

void softcode_done(struct session *s)
{
	fmt_buf_done(&s->code.records);
	for (size_t i = 0; i < s->code.nr; i++)
		free(s->code.file[i].page);
	free(s->code.file);
	free(s->code.dir);
	s->code = (struct softcode){ 0 };
}
