/* SPDX-License-Identifier: Apache-2.0 */
/* Golden bytes of TRACING_DATA: tools/perf/util/trace-event-read.c (Linux 6.1). */
#include "format/feature.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/hex.h"

static struct fmt_buf b;

static int done(void **state)
{
	(void)state;
	fmt_buf_done(&b);
	return 0;
}

#define MAGIC "17 08 44 'tracing' '0.6' 00"

static void formats_are_grouped_by_system(void **state)
{
	const struct fmt_trace_format formats[] = {
		{ "irq", "fmt-a", 5 },
		{ "sched", "fmt-b1", 6 },
		{ "sched", "fmt-b2!", 7 },
	};
	const struct fmt_tracing t = {
		.header_page = "page",
		.header_page_len = 4,
		.header_event = "event",
		.header_event_len = 5,
		.printk_formats = "p",
		.printk_len = 1,
		.cmdlines = "1 init\n",
		.cmdlines_len = 7,
		.formats = formats,
		.nr_formats = 3,
		.page_size = 4096,
	};

	(void)state;
	assert_int_equal(fmt_put_tracing_data(&b, &t), 0);
	hex_expect(b.data, b.len,
		   MAGIC
		   "00 08 00100000" /* little-endian, sizeof(long), page size */
		   "'header_page' 00 0400000000000000 'page'"
		   "'header_event' 00 0500000000000000 'event'"
		   "00000000" /* no ftrace formats */
		   "02000000" /* systems */
		   "'irq' 00 01000000 0500000000000000 'fmt-a'"
		   "'sched' 00 02000000 0600000000000000 'fmt-b1'"
		   "0700000000000000 'fmt-b2!'"
		   "00000000" /* kallsyms */
		   "01000000 'p'" /* printk_formats: its size is a u32 */
		   "0700000000000000 '1 init' 0a"); /* saved_cmdlines */
}

static void missing_files_are_empty(void **state)
{
	const struct fmt_tracing t = { .page_size = 4096 };

	(void)state;
	assert_int_equal(fmt_put_tracing_data(&b, &t), 0);
	hex_expect(b.data, b.len,
		   MAGIC
		   "00 08 00100000"
		   "'header_page' 00 00[8] 'header_event' 00 00[8]"
		   "00000000 00000000 00000000 00000000 00[8]");
}

static void an_earlier_error_is_reported(void **state)
{
	const struct fmt_tracing t = { .page_size = 4096 };

	(void)state;
	b.err = -ENOMEM;
	assert_int_equal(fmt_put_tracing_data(&b, &t), -ENOMEM);
}

#define TEST(f) cmocka_unit_test_teardown(f, done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(formats_are_grouped_by_system),
		TEST(missing_files_are_empty),
		TEST(an_earlier_error_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
