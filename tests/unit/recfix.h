/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording to be damaged: two cpus, rounds of switches and trace, names, build ids and
 * features, made by the project's writer; and what a recovery makes of it.
 */
#ifndef TESTS_UNIT_RECFIX_H
#define TESTS_UNIT_RECFIX_H

#include "recorder/recover.h"
#include "tests/unit/mem_sink.h"

/* Bytes of a file and where its records are. */
struct recfix {
	struct fmt_buf b; /* owned */
	uint64_t data_at, data_end;
	size_t n;	 /* records */
	uint64_t *at;	 /* n + 1 of them, owned: of each record, payload included */
};

enum { RECFIX_ROUNDS = 40 };

/* The recording, in header form or pipe form. */
void recfix_make(struct recfix *f, bool pipe, unsigned rounds);
/* The places of the records of any file: a plain walk. */
void recfix_index(struct recfix *f);
void recfix_done(struct recfix *f);

/* Recovers n bytes, which are copied into memory of that size, into *out (mem_sink(out) must
 * have been called once; it is emptied). What recover_scan or recover_write returned; *c is
 * what was found, and recover_done() is needed. */
int recfix_recover(struct recover *c, const uint8_t *bytes, size_t n, struct mem_sink *out);
/* The file in out is sound by the project's own reader and by mem_check_file(). Its records,
 * as with recfix_index(). */
void recfix_read(struct recfix *ret, const struct mem_sink *out);
/* Is record i of a the same as record k of b, but for an AUXTRACE that may be shorter? */
bool recfix_same(const struct recfix *a, size_t i, const struct recfix *b, size_t k,
		 bool *ret_shorter);

#endif
