/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/tepfields.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/feature.h"
#include "recorder/tepclean.h"
#include "tests/unit/hex.h"

/* As /sys/kernel/tracing/events has them. */
#define COMMON                                                                          \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"          \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
static const char plain[] =
	"name: plain\nID: 300\nformat:\n" COMMON
	"\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:short prio;\toffset:16;\tsize:2;\tsigned:1;\n"
	"\tfield:void * where;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:__u32 all[2];\toffset:32;\tsize:8;\tsigned:0;\n"
	"\nprint fmt: \"%s\", REC->comm\n";
static const char dynamic[] =
	"name: dynamic\nID: 301\nformat:\n" COMMON
	"\tfield:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc char[] rel;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"%s\", __get_str(name)\n";
/* What is no format, and one whose name would break a line. */
static const char no_format[] = "name: none\nID: 302\nformat:\n\tfield:\n";
static const char bad_name[] = "name: bad\nID: 303\nformat:\n"
			       "\tfield:int x\";\toffset:0;\tsize:4;\tsigned:1;\n"
			       "\nprint fmt: \"\"\n";

struct page {
	char s[1024];
	size_t n;
};

static void note(void *ctx, const struct fmt_field *f)
{
	struct page *p = ctx;
	char *to = p->s + p->n;
	size_t room = sizeof(p->s) - p->n;

	if (f->kind == FMT_AS_END)
		p->n += (size_t)snprintf(to, room, ">");
	else if (f->kind == FMT_AS_GROUP || f->kind == FMT_AS_LIST)
		p->n += (size_t)snprintf(to, room, "%s<", f->name);
	else if (f->kind == FMT_AS_TEXT)
		p->n += (size_t)snprintf(to, room, "%s='%.*s' ", f->name, (int)f->len,
					 (const char *)f->p);
	else if (f->kind == FMT_AS_WORD)
		p->n += (size_t)snprintf(to, room, "%s=%s", f->name, f->word);
	else if (f->kind == FMT_AS_HEX)
		p->n += (size_t)snprintf(to, room, "%s=0x%" PRIx64 " ", f->name, f->v);
	else
		p->n += (size_t)snprintf(to, room, "%s=%" PRId64 " ", f->name ? f->name : "",
					 (int64_t)f->v);
	assert_true(p->n < sizeof(p->s));
}

static void make(struct fmt_buf *b)
{
	static const struct fmt_trace_format formats[] = {
		{ "one", plain, sizeof(plain) - 1 },
		{ "one", no_format, sizeof(no_format) - 1 },
		{ "two", bad_name, sizeof(bad_name) - 1 },
		{ "two", dynamic, sizeof(dynamic) - 1 },
	};
	const struct fmt_tracing t = { .header_page = "page", .header_page_len = 4,
				       .header_event = "event", .header_event_len = 5,
				       .formats = formats, .nr_formats = 4,
				       .page_size = 4096 };

	*b = (struct fmt_buf){ 0 };
	assert_int_equal(fmt_put_tracing_data(b, &t), 0);
}

static void expect(const struct tepfields *t, uint64_t id, const char *hex, const char *want)
{
	uint8_t bytes[128], *exact;
	size_t n = hex_bytes(bytes, sizeof(bytes), hex);
	struct page p = { 0 };

	exact = malloc(n);
	assert_non_null(exact);
	memcpy(exact, bytes, n);
	if (tepfields_visit(t, id, exact, n, note, &p) != (want != NULL))
		fail_msg("%" PRIu64 ": '%s'", id, p.s);
	assert_string_equal(p.s, want ? want : "");
	free(exact);
}

static void fields_are_found_by_their_format(void **state)
{
	struct tepfields *t;
	struct fmt_buf b;

	(void)state;
	make(&b);
	assert_int_equal(tepfields_new(&t, b.data, b.len), 0);
	fmt_buf_done(&b);
	expect(t, 300,
	       "2c01 0000 07000000 'spin' 00[4] ffff 00[6] 000010ffffffffff 01000000 ffffffff",
	       "fields<common_type=300 common_pid=7 comm='spin' prio=-1 where=0xffffffffff100000 "
	       "all<=1 =4294967295 >>");
	expect(t, 301, "2d01 0000 07000000 1000 0400 0400 0300 'abc' 00 'de' 00",
	       "fields<common_type=301 common_pid=7 name='abc' rel='de' >");
	expect(t, 302, "00[64]", NULL);
	expect(t, 303, "00[64]", NULL);
	expect(t, 304, "00[64]", NULL);
	tepfields_free(t);
	expect(NULL, 300, "00[64]", NULL);
	tepfields_free(NULL);
}

static void a_sample_may_be_too_short(void **state)
{
	struct tepfields *t;
	struct fmt_buf b;

	(void)state;
	make(&b);
	assert_int_equal(tepfields_new(&t, b.data, b.len), 0);
	fmt_buf_done(&b);
	expect(t, 300, "2c01 0000 07000000 'spin'",
	       "fields<common_type=300 common_pid=7 short=comm>");
	expect(t, 300, "", "fields<short=common_type>");
	/* Places that a word of the sample names. */
	expect(t, 301, "2d01 0000 07000000 1000 ffff 0000 0000",
	       "fields<common_type=301 common_pid=7 short=name>");
	expect(t, 301, "2d01 0000 07000000 ffff 0000 0000 0000",
	       "fields<common_type=301 common_pid=7 short=name>");
	expect(t, 301, "2d01 0000 07000000 1000 0000 ffff ffff",
	       "fields<common_type=301 common_pid=7 name='' short=rel>");
	tepfields_free(t);
}

static void every_cut_of_the_payload_is_stood(void **state)
{
	struct tepfields *t;
	struct fmt_buf b;
	uint8_t *exact;
	int err;

	(void)state;
	make(&b);
	for (size_t n = 0; n < b.len; n++) {
		exact = malloc(n ? n : 1);
		assert_non_null(exact);
		memcpy(exact, b.data, n);
		err = tepfields_new(&t, exact, n);
		assert_true(err == 0 || err == -EBADMSG);
		tepfields_free(t);
		free(exact);
	}
	fmt_buf_done(&b);
}

/* As many different ones as there will ever be in one place. */
static void the_running_kernels_formats_are_all_taken(void **state)
{
	static uint8_t text[1 << 16];
	struct fmt_buf b = { 0 };
	glob_t g;
	FILE *f;
	size_t n;
	int id;

	(void)state;
	if (glob("/sys/kernel/tracing/events/*/*/format", 0, NULL, &g))
		skip();
	for (size_t i = 0; i < g.gl_pathc; i++) {
		f = fopen(g.gl_pathv[i], "r");
		n = f ? fread(text, 1, sizeof(text), f) : 0;
		if (f)
			fclose(f);
		fmt_buf_reset(&b);
		if (n && tepclean(&b, text, n, &id))
			fail_msg("%s", g.gl_pathv[i]);
	}
	globfree(&g);
	fmt_buf_done(&b);
}

static void what_is_no_list_of_fields_is_refused(void **state)
{
	static const char *const bad[] = {
		"", "ID: 1\n", "format:\n", "ID: x\nformat:\n", "ID: 1\nformat:\n",
		"ID: 1\nformat:\nfield:int;offset:0;size:4;\n",
		"ID: 1\nformat:\nfield:int *;offset:0;size:4;\n",
		"ID: 1\nformat:\nfield:* a;offset:0;size:4;\n",
		"ID: 1\nformat:\nfield:int a[;offset:0;size:4;\n",
		"ID: 1\nformat:\nfield:int a[1]b;offset:0;size:4;\n",
		"ID: 1\nformat:\nfield:int a[\"];offset:0;size:4;\n",
		"ID: 1\nformat:\nfield:int a;offset:0;\n",
		"ID: 1\nformat:\nfield:int a;offset:-1;size:4;\n",
		"ID: 1\nformat:\nfield:int a;offset:4294967296;size:4;\n",
		"ID: 1\nformat:\nfield:int a;offset:0;size:4;x\n",
		"ID: 1\nformat:\nfield:int 1a;offset:0;size:4;\n",
		"ID: 1\nformat:\nfield:__data_loc char[];offset:0;size:4;\n",
	};
	struct fmt_buf b = { 0 };
	int id;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (tepclean(&b, (const uint8_t *)bad[i], strlen(bad[i]), &id) != -EBADMSG)
			fail_msg("taken: %s", bad[i]);
	fmt_buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_found_by_their_format),
		cmocka_unit_test(a_sample_may_be_too_short),
		cmocka_unit_test(every_cut_of_the_payload_is_stood),
		cmocka_unit_test(the_running_kernels_formats_are_all_taken),
		cmocka_unit_test(what_is_no_list_of_fields_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
