/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the describing files share: fields.c the visit and the kernel's records,
 * fields_sample.c SAMPLE and READ, fields_attr.c perf_event_attr, fields_user.c the records
 * of perf itself, fields_aux.c AUXTRACE_INFO, fields_names.c words.
 *
 * As in format/buf.h the first failure sticks: once `missing` is set every take is a no-op
 * that gives 0, so describing code needs no tests of its own.
 */
#ifndef FORMAT_FIELDS_PRIV_H
#define FORMAT_FIELDS_PRIV_H

#include <string.h>

#include "format/fields.h"
#include "format/le.h"

struct fmt_visit {
	fmt_field_fn *fn;
	void *ctx;
	const struct fmt_reader *r;
	const struct fmt_rec *rec;
	const uint8_t *p; /* what is not yet taken */
	size_t left;
	const char *missing;
	const uint8_t *attr; /* of the record's event, or NULL */
	size_t attr_size;
};

static inline void fmt_give(struct fmt_visit *v, const struct fmt_field *f)
{
	v->fn(v->ctx, f);
}

static inline uint64_t fmt_load(const uint8_t *p, unsigned n)
{
	uint64_t v;

	if (n == 4)
		return le_get32(p);
	if (n != 8)
		return le_get(p, n);
	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

/* The next n bytes, or NULL. */
static inline const uint8_t *fmt_take(struct fmt_visit *v, const char *name, size_t n)
{
	const uint8_t *p = v->p;

	if (v->missing)
		return NULL;
	if (n > v->left) {
		v->missing = name;
		return NULL;
	}
	v->p += n;
	v->left -= n;
	return p;
}

static inline uint64_t fmt_take_num(struct fmt_visit *v, const char *name, unsigned n)
{
	const uint8_t *p = fmt_take(v, name, n);

	return p ? fmt_load(p, n) : 0;
}

/* Takes and visits a number of n bytes, and returns it. */
uint64_t fmt_visit_num(struct fmt_visit *v, const char *name, enum fmt_kind kind, unsigned n);
/* The same inside a list, under the name `of` when it is missing. */
uint64_t fmt_visit_item(struct fmt_visit *v, const char *of, enum fmt_kind kind, unsigned n);
uint64_t fmt_visit_flags(struct fmt_visit *v, const char *name, const struct fmt_flag *flags,
			 unsigned n);
/* words[0 .. nr) name the values; a NULL among them has none. */
uint64_t fmt_visit_word(struct fmt_visit *v, const char *name, const char *const *words,
			size_t nr, unsigned n);
void fmt_visit_reserved(struct fmt_visit *v, unsigned n);
/* A text that ends with a NUL somewhere in the next n bytes, all of which are taken. */
void fmt_visit_text(struct fmt_visit *v, const char *name, size_t n);
/* The same, of char[n]: it may fill them all. */
void fmt_visit_chars(struct fmt_visit *v, const char *name, size_t n);
void fmt_visit_bytes(struct fmt_visit *v, const char *name, size_t n);
void fmt_visit_open(struct fmt_visit *v, const char *name, enum fmt_kind kind);
void fmt_visit_close(struct fmt_visit *v);
/* Opens a list of nr elements of `each` bytes or more; false: they cannot be there. Then
 * nothing was opened. */
bool fmt_visit_list(struct fmt_visit *v, const char *name, uint64_t nr, size_t each);
/* A list of nr numbers. */
void fmt_visit_nums(struct fmt_visit *v, const char *name, enum fmt_kind kind, uint64_t nr,
		    unsigned n);
/* Zeros that fill a word up: what is left, when that is less than 8 bytes. */
void fmt_visit_padding(struct fmt_visit *v);
/* A value that was taken before, as part of another. */
void fmt_give_num(struct fmt_visit *v, const char *name, enum fmt_kind kind, uint64_t n);

void fmt_visit_sample(struct fmt_visit *v);
void fmt_visit_read(struct fmt_visit *v);
/* The attr in the next `size` bytes. */
void fmt_visit_attr(struct fmt_visit *v, size_t size);
/* A record of type 64 and up; false when there is no description. */
bool fmt_visit_user(struct fmt_visit *v);
void fmt_visit_auxtrace_info(struct fmt_visit *v);

extern const struct fmt_flag fmt_sample_type_flags[], fmt_read_format_flags[],
	fmt_branch_type_flags[], fmt_attr_flag_names[], fmt_aux_action_flags[],
	fmt_aux_flags[], fmt_ksymbol_flags[], fmt_txn_flags[], fmt_branch_flags[];

#endif
