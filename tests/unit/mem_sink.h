/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink of fmt_writer that is a file made of memory. It notes each call, can fail at the
 * n-th one, and knows what a sound file looks like.
 */
#ifndef TESTS_MEM_SINK_H
#define TESTS_MEM_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/writer.h"

enum mem_fault {
	MEM_FAULT_CLEAN, /* the failing call does nothing */
	MEM_FAULT_TORN,	 /* an append writes half of its bytes, a patch all of them */
};

enum { MEM_SEEN_MAX = 8 };

struct mem_sink {
	uint8_t bytes[1 << 18];
	size_t len;
	char log[64]; /* a append, s patch of data.size, b patch of the bitmap, p another
			 patch, c cut, y sync */
	unsigned calls, fail_at; /* 0: never; counts from 1 */
	int err;		 /* what the failing call returns */
	enum mem_fault fault;
	bool check_each; /* mem_check_file() after every call, as if killed there */
	void (*on_append)(const struct mem_sink *m); /* or NULL; before each append */
	const void *seen[MEM_SEEN_MAX]; /* where the spans of the last append were */
	int nr_seen;
};

/* A sink with all calls over an emptied m. */
struct fmt_sink mem_sink(struct mem_sink *m);
/* The same without clearing what is not used: for many files, one after the other. */
struct fmt_sink mem_sink_again(struct mem_sink *m);

/* Fails the test unless m is a file that can be read: no tracepoint without TRACING_DATA,
 * its header claims no byte that is not there, its data section is a row of whole records,
 * the feature table and what it points at lie in the file, each index entry points at an
 * AUXTRACE record and all of them are named. Returns the number of records. A file without
 * its header yet counts as 0. */
unsigned mem_check_file(const struct mem_sink *m);

/* Number of AUXTRACE records seen by the last mem_check_file(). */
extern unsigned mem_traces;

#endif
