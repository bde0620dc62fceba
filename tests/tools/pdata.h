/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second, small reader of perf.data for the checkers in this folder. On purpose it
 * shares nothing with format/: a witness that uses the code it judges proves nothing.
 *
 * Header form, little-endian. Layout: tools/perf/util/header.h and
 * tools/lib/perf/include/perf/event.h (Linux 6.1).
 */
#ifndef TESTS_TOOLS_PDATA_H
#define TESTS_TOOLS_PDATA_H

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "tests/tools/brief.h"

enum {
	PD_AUXTRACE_INFO = 70,
	PD_AUXTRACE = 71,
	PD_COMPRESSED = 81,
	PD_COMPRESSED2 = 83,
};

struct pd_file {
	uint8_t *v;
	size_t n;
	uint64_t begin, end;	/* data section */
	uint64_t attrs, nr_attrs, attr_step;
	uint64_t sample_type;	/* of the first event; perf wants the same for all */
};

struct pd_record {
	uint32_t type;
	uint16_t misc, size;
	const uint8_t *body;	/* after the 8-byte header */
	uint64_t at;		/* file offset of the header */
	uint64_t payload;	/* AUXTRACE: bytes that follow the record */
};

/* One PERF_RECORD_AUXTRACE; `used` bytes of its payload belong to the stream. */
struct pd_chunk {
	uint64_t at, size, used, offset, reference;
};

/* A queue's stream: the payloads of one idx in file order, without alignment padding. */
struct pd_queue {
	uint32_t idx, tid;
	struct pd_chunk *chunk;
	size_t nr_chunks;
	uint8_t *v;
	size_t n;
	unsigned int gaps;	/* where, by the offsets, bytes are lost or doubled */
};

static inline uint16_t pd_16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t pd_32(const uint8_t *p)
{
	return pd_16(p) | (uint32_t)pd_16(p + 2) << 16;
}

static inline uint64_t pd_64(const uint8_t *p)
{
	return pd_32(p) | (uint64_t)pd_32(p + 4) << 32;
}

/* Checkers are short programs: what cannot go on ends here, as "nothing was compared". */
__attribute__((format(printf, 1, 2), noreturn))
static inline void pd_give_up(const char *fmt, ...)
{
	__builtin_va_list ap;

	__builtin_va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	__builtin_va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

static inline void *pd_grow(void *v, size_t n, size_t each)
{
	/* A power of two is reached: double. Cheap, and no capacity to carry about. */
	if (n & (n - 1))
		return v;
	v = realloc(v, (n ? 2 * n : 1) * each);
	if (!v)
		pd_give_up("out of memory");
	return v;
}

static inline bool pd_inside(const struct pd_file *f, uint64_t off, uint64_t len)
{
	return off <= f->n && len <= f->n - off;
}

static inline void pd_open(struct pd_file *ret, const char *path)
{
	struct pd_file f = { 0 };
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		pd_give_up("%s: cannot be read", path);
	f.n = (size_t)st.st_size;
	f.v = mmap(NULL, f.n, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	if (f.v == MAP_FAILED || f.n < 104 || memcmp(f.v, "PERFILE2", 8) ||
	    pd_64(f.v + 8) != 104)
		pd_give_up("%s: no perf.data in header form", path);
	f.attr_step = pd_64(f.v + 16);
	f.attrs = pd_64(f.v + 24);
	f.begin = pd_64(f.v + 40);
	f.end = f.begin + pd_64(f.v + 48);
	if (f.attr_step < 80 || !pd_inside(&f, f.attrs, pd_64(f.v + 32)) ||
	    !pd_inside(&f, f.begin, pd_64(f.v + 48)) || pd_64(f.v + 32) < f.attr_step)
		pd_give_up("%s: sections lie outside the file", path);
	f.nr_attrs = pd_64(f.v + 32) / f.attr_step;
	f.sample_type = pd_64(f.v + f.attrs + 24);
	*ret = f;
}

/* As pd_next(), COMPRESSED records included. */
static inline bool pd_next_raw(const struct pd_file *f, uint64_t *pos, struct pd_record *ret)
{
	const uint8_t *p = f->v + *pos;
	struct pd_record r = { .at = *pos };

	if (*pos == f->end)
		return false;
	if (f->end - *pos < 8)
		pd_give_up("record at %#llx is cut", (unsigned long long)*pos);
	r.type = pd_32(p);
	r.misc = pd_16(p + 4);
	r.size = pd_16(p + 6);
	r.body = p + 8;
	if (r.size < (r.type == PD_AUXTRACE ? 48 : 8) || r.size > f->end - *pos)
		pd_give_up("record at %#llx has size %u", (unsigned long long)*pos,
			   r.size);
	if (r.type == PD_AUXTRACE)
		r.payload = pd_64(r.body);
	if (r.payload > f->end - *pos - r.size)
		pd_give_up("trace bytes at %#llx are cut", (unsigned long long)*pos);
	*pos += r.size + r.payload;
	*ret = r;
	return true;
}

/* false at the end of the data. A record that does not fit ends the program. */
static inline bool pd_next(const struct pd_file *f, uint64_t *pos, struct pd_record *ret)
{
	if (!pd_next_raw(f, pos, ret))
		return false;
	if (ret->type == PD_COMPRESSED || ret->type == PD_COMPRESSED2)
		pd_give_up("compressed records: not understood");
	return true;
}

/* Room for n bytes more behind what is there. */
static inline void pd_reserve(struct pd_file *f, size_t *room, size_t n)
{
	if (*room - f->n >= n)
		return;
	*room = 2 * *room + n;
	f->v = realloc(f->v, *room);
	if (!f->v)
		pd_give_up("out of memory");
}

/* One zstd stream may run through all COMPRESSED records, as perf's does, or begin anew in
 * each of them. */
static inline void pd_inflate_one(struct pd_file *to, size_t *room, ZSTD_DStream *z,
				  const uint8_t *p, size_t n)
{
	ZSTD_inBuffer in = { p, n, 0 };
	ZSTD_outBuffer out = { 0 };
	size_t before;

	do {
		pd_reserve(to, room, 1 << 20);
		before = to->n;
		out = (ZSTD_outBuffer){ to->v, *room, to->n };
		if (ZSTD_isError(ZSTD_decompressStream(z, &out, &in)))
			pd_give_up("a COMPRESSED record does not inflate");
		to->n = out.pos;
	} while (in.pos < n || to->n > before);
}

/* f becomes a copy in which the content of COMPRESSED records stands in their place: same
 * header and attrs, other offsets. */
static inline void pd_inflate(struct pd_file *f)
{
	struct pd_file to = *f;
	ZSTD_DStream *z = ZSTD_createDStream();
	struct pd_record r;
	size_t room = 0;

	to.v = NULL;
	to.n = 0;
	pd_reserve(&to, &room, f->begin);
	memcpy(to.v, f->v, f->begin);
	to.n = f->begin;
	if (!z || !pd_inside(&to, f->attrs, f->nr_attrs * f->attr_step))
		pd_give_up("out of memory, or attrs behind the data");
	for (uint64_t pos = f->begin; pd_next_raw(f, &pos, &r);) {
		if (r.type == PD_COMPRESSED) {
			pd_inflate_one(&to, &room, z, r.body, r.size - 8u);
			continue;
		}
		pd_reserve(&to, &room, r.size + r.payload);
		memcpy(to.v + to.n, f->v + r.at, r.size + r.payload);
		to.n += r.size + r.payload;
	}
	to.end = to.n;
	ZSTD_freeDStream(z);
	*f = to;
}

/* Time of a kernel record, from its trailer. 0 when events carry none. */
static inline uint64_t pd_time(const struct pd_file *f, const struct pd_record *r)
{
	static const uint64_t after[] = { PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID,
					  PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER };
	unsigned int back = 8;

	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++)
		if (f->sample_type & after[i])
			back += 8;
	if (!(f->sample_type & PERF_SAMPLE_TIME) || r->size < back + 8)
		return 0;
	return pd_64(r->body - 8 + r->size - back);
}

static inline struct pd_queue *pd_queue_of(struct pd_queue **q, size_t *n, uint32_t idx)
{
	for (size_t i = 0; i < *n; i++)
		if ((*q)[i].idx == idx)
			return &(*q)[i];
	*q = pd_grow(*q, *n, sizeof(**q));
	(*q)[*n] = (struct pd_queue){ .idx = idx };
	return &(*q)[(*n)++];
}

/* A chunk is padded to 8 bytes; the next one's offset tells how many of them are real. */
static inline void pd_join(const struct pd_file *f, struct pd_queue *q)
{
	for (size_t i = 0; i < q->nr_chunks; i++) {
		struct pd_chunk *c = &q->chunk[i];
		uint64_t step = c->size;

		if (i + 1 < q->nr_chunks)
			step = c[1].offset - c->offset;
		if (step > c->size || c->size - step > 7) {
			q->gaps++;
			step = c->size;
		}
		c->used = step;
		q->n += step;
	}
	q->v = malloc(q->n + 1);
	if (!q->v)
		pd_give_up("out of memory");
	q->n = 0;
	for (size_t i = 0; i < q->nr_chunks; i++) {
		memcpy(q->v + q->n, f->v + q->chunk[i].at, q->chunk[i].used);
		q->n += q->chunk[i].used;
	}
}

static inline size_t pd_queues(const struct pd_file *f, struct pd_queue **ret)
{
	struct pd_queue *v = NULL;
	struct pd_record r;
	size_t n = 0;

	for (uint64_t pos = f->begin; pd_next(f, &pos, &r);) {
		struct pd_queue *q;

		if (r.type != PD_AUXTRACE)
			continue;
		q = pd_queue_of(&v, &n, pd_32(r.body + 24));
		if (!q->nr_chunks)
			q->tid = pd_32(r.body + 28);
		q->chunk = pd_grow(q->chunk, q->nr_chunks, sizeof(*q->chunk));
		q->chunk[q->nr_chunks++] = (struct pd_chunk){ .at = r.at + r.size,
			.size = r.payload, .offset = pd_64(r.body + 8),
			.reference = pd_64(r.body + 16) };
	}
	for (size_t i = 0; i < n; i++)
		pd_join(f, &v[i]);
	*ret = v;
	return n;
}

/* File offset of byte `at` of a queue's stream. */
static inline uint64_t pd_file_offset(const struct pd_queue *q, uint64_t at)
{
	size_t i = 0;

	while (i + 1 < q->nr_chunks && at >= q->chunk[i].used)
		at -= q->chunk[i++].used;
	return q->chunk[i].at + at;
}

#endif
