/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings cut at every byte, with bytes changed, taken out and put in at random: what is
 * recovered is a sound file, and each of its records is one of the recording. With TORTURE
 * in the environment each file is written, too, not only walked over.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/le.h"
#include "tests/unit/recfix.h"

enum { CUTS = 64 << 10, RANDOM_CUTS = 2000, FLIPS = 20000 };

static struct mem_sink out;
static struct recfix good, got;

static int setup(void **state)
{
	(void)state;
	mem_sink(&out);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	recfix_done(&good);
	recfix_done(&got);
	return 0;
}

static uint32_t random_below(uint32_t n)
{
	static uint64_t x = 88172645463325252u; /* xorshift64, Marsaglia 2003 */

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)((x >> 16) % n);
}

/* Does it go to the data section of a file? */
static bool is_data(const struct recfix *f, size_t i)
{
	uint32_t type = le_get32(f->b.data + f->at[i]);

	return type != FMT_REC_HEADER_ATTR && type != FMT_REC_HEADER_FEATURE &&
	       type != FMT_REC_HEADER_BUILD_ID;
}

/* Each record that ends before byte n is there, and nothing else but the start of trace. */
static void check_cut(size_t n)
{
	struct recover c;
	size_t i, k = 0;
	bool shorter = false;
	int err = recfix_recover(&c, good.b.data, n, &out);

	if (err) {
		/* Before the first whole record: nothing is written. */
		assert_int_equal(out.len, 0);
		for (i = 0; i < good.n && good.at[i + 1] <= n; i++)
			assert_false(is_data(&good, i));
	} else {
		recfix_read(&got, &out);
		for (i = 0; i < good.n && good.at[i + 1] <= n; i++) {
			if (!is_data(&good, i))
				continue;
			if (k >= got.n || !recfix_same(&good, i, &got, k, &shorter) || shorter)
				fail_msg("cut at %zu: record %zu is not there", n, i);
			k++;
		}
		if (k != got.n && !(k + 1 == got.n &&
				    recfix_same(&good, i, &got, k, &shorter) && shorter))
			fail_msg("cut at %zu: %zu records, not %zu", n, got.n, k);
		assert_true(recover_lost(&c) || n == good.at[k] || n >= good.data_end || c.r.pipe);
	}
	recover_done(&c);
}

/* The same without writing: what the walk gives lies where the recording has it. */
static void check_walk(size_t n)
{
	struct fmt_salvage s;
	struct fmt_reader r;
	struct fmt_rec rec;
	struct fmt_gap gap;
	size_t i = 0;
	int more;

	if (!fmt_reader_open(&r, good.b.data, n)) {
		fmt_salvage_begin(&s, &r);
		while ((more = fmt_salvage_next(&s, &rec, &gap)) > 0) {
			if (more != FMT_SALVAGE_REC)
				continue;
			assert_true(rec.at == good.at[i]);
			i++;
			assert_true(rec.at + rec.size + rec.payload_len <= good.at[i]);
		}
		assert_int_equal(more, 0);
	}
	if (n >= good.data_at)
		assert_true(good.at[i] <= n ? i == good.n || good.at[i + 1] > n :
					      good.at[i - 1] + 48 < n);
	fmt_reader_done(&r);
}

static void cut_everywhere(bool pipe)
{
	size_t step = getenv("TORTURE") ? 1 : 29;

	recfix_make(&good, pipe, RECFIX_ROUNDS);
	assert_true(good.b.len > CUTS);
	for (size_t n = 0; n <= CUTS; n += pipe && step > 1 ? 5 : 1)
		check_walk(n);
	for (size_t n = 0; n <= CUTS; n += step)
		check_cut(n);
	for (int i = 0; i < RANDOM_CUTS; i++)
		check_cut(random_below((uint32_t)good.b.len + 1));
}

static void a_file_cut_at_every_byte_keeps_its_whole_records(void **state)
{
	(void)state;
	cut_everywhere(false);
}

static void a_pipe_cut_at_every_byte_keeps_its_whole_records(void **state)
{
	(void)state;
	cut_everywhere(true);
}

/* A recorder that was killed: it had announced its features and stored no size. */
static void a_killed_file_keeps_its_whole_records_too(void **state)
{
	(void)state;
	recfix_make(&good, false, RECFIX_ROUNDS);
	le_put(good.b.data + FMT_HDR_DATA_SIZE, 0, 8);
	for (size_t n = good.data_at; n < good.data_end; n += 61)
		check_cut(n);
	for (size_t i = 0; i <= good.n; i++)
		check_cut(good.at[i]);
}

/* Whatever is done to the bytes: what comes out is sound. */
static void recover_whatever(const uint8_t *p, size_t n)
{
	struct recover c;

	if (!recfix_recover(&c, p, n, &out))
		recfix_read(&got, &out);
	else
		assert_int_equal(out.len, 0);
	recover_done(&c);
}

static void flip(struct recfix *f, size_t *at, uint8_t *was)
{
	*at = random_below((uint32_t)f->b.len);
	*was = f->b.data[*at];
	f->b.data[*at] ^= (uint8_t)(1 + random_below(255));
}

static void bytes_may_change_anywhere(void **state)
{
	uint8_t was[4];
	size_t at[4];

	(void)state;
	for (int pipe = 0; pipe < 2; pipe++) {
		recfix_make(&good, pipe, 8);
		for (int i = 0; i < FLIPS / 2; i++) {
			int n = i % 3 ? 1 : 4;

			for (int k = 0; k < n; k++)
				flip(&good, &at[k], &was[k]);
			recover_whatever(good.b.data, good.b.len);
			while (n--)
				good.b.data[at[n]] = was[n];
		}
		recfix_done(&good);
	}
}

/* The header and the feature table, where a byte does the most. */
static void bytes_of_the_header_may_change(void **state)
{
	struct recfix f;
	uint64_t table;

	(void)state;
	recfix_make(&f, false, 4);
	table = f.data_end;
	for (size_t at = 0; at < f.b.len; at++) {
		uint8_t was = f.b.data[at];

		if (at == f.data_at)
			at = table;
		was = f.b.data[at];
		for (unsigned bit = at % 4; bit < 8; bit += 4) {
			f.b.data[at] ^= (uint8_t)(1u << bit);
			recover_whatever(f.b.data, f.b.len);
			f.b.data[at] = was;
		}
	}
	recfix_done(&f);
}

/* Record i of the recording was hit. What stands in its place may be the same but for values
 * that nobody can check, or trace, or be of a type that might be a new one. */
static bool is_altered(size_t i, size_t k)
{
	const uint8_t *p = good.b.data + good.at[i], *q = got.b.data + got.at[k];

	return le_get16(p + 6) == le_get16(q + 6);
}

/* Which record of the recording, from i on, is record k of what we got? good.n: none. */
static size_t find(size_t i, size_t k, uint64_t from, uint64_t to)
{
	bool shorter;

	for (size_t n = i; n < good.n; n++)
		if (recfix_same(&good, n, &got, k, &shorter))
			return n;
	for (; i < good.n && good.at[i] < to; i++)
		if (good.at[i + 1] > from && is_altered(i, k))
			return i;
	return good.n;
}

/* Bytes `from` to `to` were lost, or others put in: the records outside of them stay, and no
 * other appears. */
static void check_blocks(const struct fmt_buf *b, uint64_t from, uint64_t to)
{
	struct recover c;
	size_t i = 0, lost = 0, k, n;

	if (recfix_recover(&c, b->data, b->len, &out)) {
		recover_done(&c);
		return;
	}
	recfix_read(&got, &out);
	for (k = 0; k < got.n; k++) {
		n = find(i, k, from, to);
		if (n == good.n)
			fail_msg("record %zu of %zu, at %zu, is none of the recording", k,
				 got.n, (size_t)got.at[k]);
		for (; i < n; i++)
			lost += good.at[i + 1] <= from || good.at[i] >= to;
		i++;
	}
	for (; i < good.n; i++)
		lost += good.at[i + 1] <= from || good.at[i] >= to;
	/* One without an id that runs into the damage. */
	if (lost > 1)
		fail_msg("bytes %zu to %zu: %zu whole records are lost", (size_t)from,
			 (size_t)to, lost);
	assert_true(recover_lost(&c) || got.n == good.n);
	recover_done(&c);
}

/* With n bytes from `at` on lost, the record there ends where another begins: then nothing
 * shows that it is not whole. */
static bool hides_itself(uint64_t at, uint64_t n)
{
	size_t i = 0, k;

	while (good.at[i + 1] <= at)
		i++;
	for (k = i + 1; k <= good.n; k++)
		if (good.at[k] == good.at[i + 1] + n)
			return true;
	return false;
}

static void a_lost_or_foreign_block_costs_what_it_hits(void **state)
{
	static uint8_t noise[4096];
	struct fmt_buf b = { 0 };

	(void)state;
	recfix_make(&good, false, RECFIX_ROUNDS);
	for (int i = 0; i < 3000; i++) {
		uint64_t n = 1 + random_below(i & 1 ? 4096 : 64);
		uint64_t at = good.data_at + random_below((uint32_t)(good.data_end -
								     good.data_at - n));

		if (i % 3 == 0 && hides_itself(at, n))
			continue;
		for (size_t k = 0; k < n; k++)
			noise[k] = i % 5 ? (uint8_t)random_below(256) : 0;
		fmt_buf_reset(&b);
		fmt_put(&b, good.b.data, at);
		if (i % 3)
			fmt_put(&b, noise, n);
		fmt_put(&b, good.b.data + at + (i % 3 == 2 ? 0 : n),
			good.b.len - at - (i % 3 == 2 ? 0 : n));
		check_blocks(&b, at, i % 3 == 2 ? at + 1 : at + n);
	}
	fmt_buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_file_cut_at_every_byte_keeps_its_whole_records, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_pipe_cut_at_every_byte_keeps_its_whole_records, setup, teardown),
		cmocka_unit_test_setup_teardown(a_killed_file_keeps_its_whole_records_too,
						setup, teardown),
		cmocka_unit_test_setup_teardown(bytes_may_change_anywhere, setup, teardown),
		cmocka_unit_test_setup_teardown(bytes_of_the_header_may_change, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_lost_or_foreign_block_costs_what_it_hits,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
