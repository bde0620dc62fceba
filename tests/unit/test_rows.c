/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "recorder/rows.h"

struct row {
	uint64_t key, n;
};

enum { MANY = 5000 };

static uint64_t key_of(uint64_t i)
{
	return i * UINT64_C(0x9e3779b97f4a7c15) >> (i % 3 ? 0 : 40);
}

static void each_key_has_one_row(void **state)
{
	struct rows t = ROWS_INIT(struct row, MANY);
	struct row *r;

	(void)state;
	assert_null(rows_find(&t, 7));
	for (unsigned pass = 0; pass < 3; pass++)
		for (uint64_t i = 0; i < MANY; i++) {
			r = rows_get(&t, key_of(i));
			assert_non_null(r);
			assert_int_equal(r->key, key_of(i));
			assert_int_equal(r->n, pass);
			r->n++;
		}
	assert_int_equal(t.nr, MANY);
	assert_null(rows_rest(&t));
	assert_null(rows_find(&t, 1));
	r = rows_find(&t, key_of(17));
	assert_int_equal(r->n, 3);
	rows_done(&t);
	rows_done(&t);
}

static void what_finds_no_room_shares_the_rest(void **state)
{
	struct rows t = ROWS_INIT(struct row, 10);
	struct row *r;

	(void)state;
	for (uint64_t i = 0; i < 25; i++) {
		r = rows_get(&t, i);
		r->n++;
	}
	assert_int_equal(t.nr, 10);
	r = rows_rest(&t);
	assert_int_equal(r->key, ROWS_REST);
	assert_int_equal(r->n, 15);
	r = rows_get(&t, 9);
	assert_int_equal(r->n, 1);
	assert_null(rows_find(&t, 10));
	rows_done(&t);
}

static void rows_can_be_found_when_they_are_in_order(void **state)
{
	struct rows t = ROWS_INIT(struct row, MANY);

	(void)state;
	rows_sort(&t);
	for (uint64_t i = 0; i < MANY; i++)
		rows_get(&t, key_of(i));
	rows_sort(&t);
	for (size_t i = 0; i < MANY; i++) {
		const struct row *r = rows_at(&t, i);

		assert_ptr_equal(rows_find(&t, key_of(i)), rows_get(&t, key_of(i)));
		if (i)
			assert_true(((const struct row *)rows_at(&t, i - 1))->key < r->key);
	}
	rows_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_key_has_one_row),
		cmocka_unit_test(what_finds_no_room_shares_the_rest),
		cmocka_unit_test(rows_can_be_found_when_they_are_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
