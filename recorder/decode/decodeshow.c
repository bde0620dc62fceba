/* SPDX-License-Identifier: Apache-2.0 */
/* A report as text and as JSON. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "recorder/decode/decode_priv.h"
#include "recorder/units.h"

enum { HEX_MAX = 2 * IMAGE_ID_MAX + 1 };

const char *decode_words(int code)
{
	if (code == DECODE_STUCK)
		return "code runs on and on without a packet";
	return pt_errstr((enum pt_error_code)code);
}

static const char *hex(const uint8_t *id, size_t n, char buf[HEX_MAX])
{
	buf[0] = '\0';
	for (size_t i = 0; i < n; i++)
		snprintf(buf + 2 * i, 3, "%02x", id[i]);
	return buf;
}

/* Text from a file may hold anything, and a terminal obeys some of it. */
static void put_safe(const char *s)
{
	for (; *s; s++)
		putchar(iscntrl((unsigned char)*s) ? '?' : *s);
}

static void put_id(uint32_t id, int width)
{
	if (id == DECODE_NONE)
		printf("%*s", width, "-");
	else
		printf("%*" PRIu32, width, id);
}

static void put_queues(const struct decode_report *r)
{
	puts("\n  queue    cpu        tid           bytes  undecodable       psb"
	     "    instructions    errors  overflows");
	for (size_t i = 0; i < r->nr_queues; i++) {
		const struct decode_queue *q = &r->queues[i];

		put_id(q->idx, 7);
		put_id(q->cpu, 7);
		put_id(q->tid, 11);
		printf("  %14" PRIu64 "  %11" PRIu64 "  %8" PRIu64 "  %14" PRIu64
		       "  %8" PRIu64 "  %9" PRIu64 "\n",
		       q->bytes, q->skipped, q->nr_psb, q->insns, q->errors,
		       q->overflows);
	}
}

static void put_threads(const struct decode_report *r)
{
	puts("\n        pid        tid    instructions  command");
	for (size_t i = 0; i < r->nr_threads; i++) {
		const struct decode_thread *t = &r->threads[i];

		put_id(t->pid, 11);
		put_id(t->tid, 11);
		printf("  %14" PRIu64 "  ", t->insns);
		put_safe(t->comm);
		putchar('\n');
	}
}

static void put_errors(const struct decode_report *r)
{
	if (r->nr_kinds)
		puts("\n    errors  kind");
	for (size_t i = 0; i < r->nr_kinds; i++) {
		const struct decode_error *e = &r->errors[i];

		printf("%10" PRIu64 "  %d %s\n", e->n, e->code, e->words);
		printf("            first in queue %" PRIu32 " at byte %" PRIu64, e->idx,
		       e->offset);
		if (e->file_at != UINT64_MAX)
			printf(" (file: %" PRIu64 ")", e->file_at);
		if (e->ip)
			printf(", ip 0x%" PRIx64, e->ip);
		if (e->tid != DECODE_NONE)
			printf(", tid %" PRIu32, e->tid);
		if (e->has_time)
			printf(", time %" PRIu64 ".%09" PRIu64, e->time / NS_PER_S,
			       e->time % NS_PER_S);
		putchar('\n');
	}
}

/* A file that was found and yet lacks the bytes is shorter than what was mapped. */
static const char *why(const struct image *i)
{
	return i->state == IMAGE_FOUND ? "a file that ends before" : image_words(i->state);
}

static void put_missing(const struct decode_report *r)
{
	char id[HEX_MAX];

	if (r->nr_missing)
		puts("\n    errors  missing code");
	for (size_t k = 0; k < r->nr_missing; k++) {
		const struct decode_missing *m = &r->missing[k];
		const struct image *i = m->image;

		printf("%10" PRIu64 "  ", m->errors);
		if (!i) {
			printf("addresses where nothing is mapped, from 0x%" PRIx64 "\n",
			       m->first_ip);
			continue;
		}
		put_safe(i->name);
		printf(": %s", why(i));
		if (i->id_size)
			printf(", build id %s", hex(i->id, i->id_size, id));
		if (i->other_id_size)
			printf(", found %s", hex(i->other_id, i->other_id_size, id));
		if (i->mappings)
			printf(", %" PRIu64 " bytes in %" PRIu64 " mappings", i->bytes,
			       i->mappings);
		putchar('\n');
	}
}

void decode_print_text(const struct decode_report *r)
{
	unsigned share = decode_share(r);

	if (!r->has_aux) {
		puts("decoded    no AUX trace");
		return;
	}
	if (!r->nr_queues) {
		puts("decoded    no Intel PT");
		return;
	}
	printf("decoded    %u.%02u %% of %" PRIu64 " bytes, %" PRIu64 " instructions, %" PRIu64
	       " errors%s\n",
	       share / 100, share % 100, r->bytes, r->insns, r->nr_errors,
	       r->timed ? "" : "; without times");
	put_queues(r);
	put_threads(r);
	put_errors(r);
	put_missing(r);
}

/* Absent where there is none. */
static void set_id(json_t *o, const char *key, uint32_t id, int *err)
{
	if (id != DECODE_NONE)
		jtree_set(o, key, jtree_number(id), err);
}

/* As text: an address of the kernel's half is no number to every reader of JSON. */
static void set_ip(json_t *o, uint64_t ip, int *err)
{
	char buf[20];

	snprintf(buf, sizeof(buf), "0x%" PRIx64, ip);
	jtree_set(o, "ip", json_string(buf), err);
}

static json_t *queue_json(const struct decode_queue *q, int *err)
{
	json_t *o = json_object();

	jtree_set(o, "queue", jtree_number(q->idx), err);
	set_id(o, "cpu", q->cpu, err);
	set_id(o, "tid", q->tid, err);
	jtree_set(o, "bytes", jtree_number(q->bytes), err);
	jtree_set(o, "undecodable", jtree_number(q->skipped), err);
	jtree_set(o, "psb", jtree_number(q->nr_psb), err);
	jtree_set(o, "gaps", jtree_number(q->gaps), err);
	jtree_set(o, "instructions", jtree_number(q->insns), err);
	jtree_set(o, "errors", jtree_number(q->errors), err);
	jtree_set(o, "overflows", jtree_number(q->overflows), err);
	if (q->has_time) {
		jtree_set(o, "first_ns", jtree_number(q->first_time), err);
		jtree_set(o, "last_ns", jtree_number(q->last_time), err);
	}
	return o;
}

static json_t *thread_json(const struct decode_thread *t, int *err)
{
	json_t *o = json_object();

	set_id(o, "pid", t->pid, err);
	set_id(o, "tid", t->tid, err);
	jtree_set(o, "command", jtree_text(t->comm), err);
	jtree_set(o, "instructions", jtree_number(t->insns), err);
	return o;
}

static json_t *error_json(const struct decode_error *e, int *err)
{
	json_t *o = json_object();

	jtree_set(o, "code", json_integer(e->code), err);
	jtree_set(o, "words", jtree_text(e->words), err);
	jtree_set(o, "count", jtree_number(e->n), err);
	jtree_set(o, "queue", jtree_number(e->idx), err);
	jtree_set(o, "offset", jtree_number(e->offset), err);
	if (e->file_at != UINT64_MAX)
		jtree_set(o, "file_offset", jtree_number(e->file_at), err);
	if (e->ip)
		set_ip(o, e->ip, err);
	set_id(o, "pid", e->pid, err);
	set_id(o, "tid", e->tid, err);
	if (e->has_time)
		jtree_set(o, "ns", jtree_number(e->time), err);
	return o;
}

static json_t *missing_json(const struct decode_missing *m, int *err)
{
	json_t *o = json_object();
	const struct image *i = m->image;
	char id[HEX_MAX];

	jtree_set(o, "errors", jtree_number(m->errors), err);
	set_ip(o, m->first_ip, err);
	if (!i)
		return o;
	jtree_set(o, "name", jtree_text(i->name), err);
	jtree_set(o, "why", jtree_text(why(i)), err);
	if (i->id_size)
		jtree_set(o, "build_id", json_string(hex(i->id, i->id_size, id)), err);
	if (i->other_id_size)
		jtree_set(o, "found_build_id",
			  json_string(hex(i->other_id, i->other_id_size, id)), err);
	jtree_set(o, "mappings", jtree_number(i->mappings), err);
	jtree_set(o, "bytes", jtree_number(i->bytes), err);
	return o;
}

json_t *decode_json(const struct decode_report *r, int *err)
{
	json_t *o = json_object(), *queues = json_array(), *threads = json_array();
	json_t *errors = json_array(), *missing = json_array();

	for (size_t i = 0; i < r->nr_queues; i++)
		jtree_append(queues, queue_json(&r->queues[i], err), err);
	for (size_t i = 0; i < r->nr_threads; i++)
		jtree_append(threads, thread_json(&r->threads[i], err), err);
	for (size_t i = 0; i < r->nr_kinds; i++)
		jtree_append(errors, error_json(&r->errors[i], err), err);
	for (size_t i = 0; i < r->nr_missing; i++)
		jtree_append(missing, missing_json(&r->missing[i], err), err);
	jtree_set(o, "instructions", jtree_number(r->insns), err);
	jtree_set(o, "bytes", jtree_number(r->bytes), err);
	jtree_set(o, "undecodable", jtree_number(r->skipped), err);
	jtree_set(o, "percent", json_real(decode_share(r) / 100.0), err);
	jtree_set(o, "timed", json_boolean(r->timed), err);
	jtree_set(o, "queues", queues, err);
	jtree_set(o, "threads", threads, err);
	jtree_set(o, "errors", errors, err);
	jtree_set(o, "missing", missing, err);
	return o;
}
