/* SPDX-License-Identifier: Apache-2.0 */
/* How dump writes numbers and texts, and which records it shows. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "recorder/dump_filter.h"
#include "recorder/dump_line.h"

static struct out o;

static int out_setup(void **state)
{
	(void)state;
	return out_init(&o);
}

/* What was put since the last call. Nothing reaches standard output. */
static void is(const char *want)
{
	char got[512];

	assert_true(o.n < sizeof(got));
	memcpy(got, o.p, o.n);
	got[o.n] = 0;
	o.n = 0;
	assert_string_equal(got, want);
}

static int out_teardown(void **state)
{
	(void)state;
	o.n = o.line = 0;
	return out_done(&o);
}

static void numbers_have_all_their_digits(void **state)
{
	static const uint64_t v[] = { 0, 9, 10, 99, 100, 101, 12345678, UINT32_MAX,
				      UINT64_C(10000000000000000000), UINT64_MAX };
	char want[32];

	(void)state;
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		snprintf(want, sizeof(want), "%" PRIu64, v[i]);
		out_dec(&o, v[i]);
		is(want);
		snprintf(want, sizeof(want), "%" PRId64, (int64_t)v[i]);
		out_int(&o, (int64_t)v[i]);
		is(want);
		snprintf(want, sizeof(want), "0x%" PRIx64, v[i]);
		out_hex(&o, v[i]);
		is(want);
		snprintf(want, sizeof(want), "%" PRIu64 ".%09" PRIu64, v[i] / 1000000000,
			 v[i] % 1000000000);
		out_time(&o, v[i]);
		is(want);
	}
	out_int(&o, INT64_MIN);
	is("-9223372036854775808");
}

static void quote(const char *s, bool json)
{
	out_quoted(&o, (const uint8_t *)s, strlen(s), json);
}

static void texts_are_escaped(void **state)
{
	(void)state;
	quote("a\"b\\c\b\f\n\r\t\001\033\177/", false);
	is("\"a\\\"b\\\\c\\b\\f\\n\\r\\t\\u0001\\u001b\\u007f/\"");
	/* UTF-8 of two, three and four bytes, and the last character. */
	quote("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf", false);
	is("\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf\"");
	/* A control character of two bytes, which a terminal would obey. */
	quote("\xc2\x9b", false);
	is("\"\\u009b\"");
	/* Overlong, a surrogate, too large, alone, cut. */
	quote("\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80\xff\x80\xe2\x82", false);
	is("\"\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\xff\\x80\\xe2\\x82\"");
	quote("a\xff", true);
	is("\"a\\ufffd\"");
	out_quoted(&o, (const uint8_t *)"a\0b", 3, true);
	is("\"a\\u0000b\"");
}

static void a_line_may_be_longer_than_the_buffer(void **state)
{
	size_t n = 3 << 20;
	uint8_t *p = malloc(n);

	(void)state;
	assert_non_null(p);
	memset(p, 0xff, n);
	out_quoted(&o, p, n, false);
	assert_int_equal(o.n, 4 * n + 2);
	assert_int_equal(o.p[4 * n], 'f');
	assert_int_equal(o.err, 0);
	free(p);
}

static void a_write_that_fails_sticks(void **state)
{
	int full = open("/dev/full", O_WRONLY), saved = dup(STDOUT_FILENO);

	(void)state;
	if (full < 0)
		skip();
	fflush(stdout);
	dup2(full, STDOUT_FILENO);
	for (int i = 0; i < 1 << 20; i++) {
		out_dec(&o, UINT64_MAX);
		out_end_line(&o);
	}
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(full);
	assert_int_equal(o.err, -ENOSPC);
	assert_true(o.room <= 1 << 20);
	o.err = 0;
}

static void lists_of_numbers(void **state)
{
	static const char *const bad[] = { "", ",", "1,", ",1", "a", "1-", "3-1", "1,,2", "1 ",
					   "99999999999999999999", "--1", "0x1" };
	struct number_set s = { 0 };

	(void)state;
	assert_int_equal(number_set_parse(&s, "0,2-3,-1,-9--8"), 0);
	for (int64_t i = -10; i < 5; i++)
		assert_int_equal(number_set_has(&s, i), i == 0 || i == 2 || i == 3 || i == -1 ||
								 i == -9 || i == -8);
	free(s.range);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		s = (struct number_set){ 0 };
		if (number_set_parse(&s, bad[i]) != -EINVAL)
			fail_msg("'%s' is taken for a list", bad[i]);
		free(s.range);
	}
}

static void lists_of_types(void **state)
{
	struct number_set s = { 0 };
	const char *bad;

	(void)state;
	assert_int_equal(dump_types_parse(&s, "mmap2,AUX,81,type90,4294967295", &bad), 0);
	assert_true(number_set_has(&s, 10) && number_set_has(&s, 11));
	assert_true(number_set_has(&s, 81) && number_set_has(&s, 90));
	assert_true(number_set_has(&s, UINT32_MAX));
	assert_false(number_set_has(&s, 1));
	assert_int_equal(dump_types_parse(&s, "AUX,MMAPP", &bad), -EINVAL);
	assert_string_equal(bad, "MMAPP");
	assert_int_equal(dump_types_parse(&s, "4294967296", &bad), -EINVAL);
	assert_int_equal(dump_types_parse(&s, "", &bad), -EINVAL);
	free(s.range);
}

#define WITH_OUT(t) cmocka_unit_test_setup_teardown(t, out_setup, out_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_OUT(numbers_have_all_their_digits),
		WITH_OUT(texts_are_escaped),
		WITH_OUT(a_line_may_be_longer_than_the_buffer),
		WITH_OUT(a_write_that_fails_sticks),
		cmocka_unit_test(lists_of_numbers),
		cmocka_unit_test(lists_of_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
