/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/readfix.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

int readfix_setup(void **state)
{
	*state = calloc(1, sizeof(struct readfix));
	return *state ? 0 : 1;
}

int readfix_teardown(void **state)
{
	struct readfix *f = *state;

	fmt_reader_done(&f->r);
	fmt_buf_done(&f->h.b);
	free(f->copy);
	free(f);
	return 0;
}

int readfix_open_cut(struct readfix *f, size_t n)
{
	fmt_reader_done(&f->r);
	free(f->copy);
	f->copy = malloc(n ? n : 1);
	assert_non_null(f->copy);
	if (n)
		memcpy(f->copy, f->h.b.data, n);
	return fmt_reader_open(&f->r, f->copy, n);
}

int readfix_open(struct readfix *f)
{
	assert_int_equal(f->h.b.err, 0);
	return readfix_open_cut(f, f->h.b.len);
}

int readfix_walk(struct fmt_reader *r, size_t *ret_n)
{
	struct fmt_rec rec;
	int got;

	for (*ret_n = 0; (got = fmt_reader_next(r, &rec)) > 0; ++*ret_n)
		assert_true(*ret_n < r->len / 8);
	return got;
}
