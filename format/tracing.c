/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TRACING_DATA payload: what a reader needs to print raw tracepoint data, in the form
 * of trace-cmd's version 0.6 files. Order and widths: tools/perf/util/trace-event-info.c
 * and trace-event-read.c (Linux 6.1). Nothing in it is padded.
 */
#include <string.h>

#include "format/feature.h"

static void put_file(struct fmt_buf *b, const char *text, size_t len, unsigned len_bytes)
{
	fmt_put_le(b, len, len_bytes);
	fmt_put(b, text, len);
}

/* How many formats, from i on, belong to the system of format i. */
static size_t run_of(const struct fmt_tracing *t, size_t i)
{
	size_t n = 1;

	while (i + n < t->nr_formats &&
	       !strcmp(t->formats[i].system, t->formats[i + n].system))
		n++;
	return n;
}

static void put_systems(struct fmt_buf *b, const struct fmt_tracing *t)
{
	size_t n, systems = 0;

	for (size_t i = 0; i < t->nr_formats; i += run_of(t, i))
		systems++;
	fmt_put_le(b, systems, 4);
	for (size_t i = 0; i < t->nr_formats; i += n) {
		n = run_of(t, i);
		fmt_put_str(b, t->formats[i].system, 1);
		fmt_put_le(b, n, 4);
		for (size_t j = i; j < i + n; j++)
			put_file(b, t->formats[j].text, t->formats[j].len, 8);
	}
}

int fmt_put_tracing_data(struct fmt_buf *b, const struct fmt_tracing *t)
{
	static const uint8_t magic[] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };

	fmt_put(b, magic, sizeof(magic));
	fmt_put_str(b, "0.6", 1);
	fmt_put_le(b, 0, 1); /* little-endian */
	fmt_put_le(b, 8, 1); /* sizeof(long) of the kernel */
	fmt_put_le(b, t->page_size, 4);
	fmt_put_str(b, "header_page", 1);
	put_file(b, t->header_page, t->header_page_len, 8);
	fmt_put_str(b, "header_event", 1);
	put_file(b, t->header_event, t->header_event_len, 8);
	fmt_put_le(b, 0, 4); /* formats of ftrace itself: never recorded as events */
	put_systems(b, t);
	fmt_put_le(b, 0, 4); /* kallsyms: perf leaves it empty, too */
	put_file(b, t->printk_formats, t->printk_len, 4);
	put_file(b, t->cmdlines, t->cmdlines_len, 8);
	return b->err;
}
