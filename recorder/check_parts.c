/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are the data.N of a directory all there?
 *
 * perf record makes one for each of its threads, from data.0 on, also where a thread has
 * nothing to write: a number that is left out is a file that went missing. Behind the last
 * one nothing shows that there were more, unless the command line says that each cpu had a
 * thread of its own (tools/perf/builtin-record.c, record__parse_threads, Linux 6.1).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/feature.h"
#include "recorder/check_priv.h"

enum { ARGS_MAX = 4096 };

/* N of data.N, or CHECK_NOWHERE. */
static uint64_t number_of(const struct input_part *p)
{
	const char *dot = strrchr(p->path, '.');
	uint64_t n;
	char *end;

	if (!dot || dot[1] < '0' || dot[1] > '9')
		return CHECK_NOWHERE;
	errno = 0;
	n = strtoull(dot + 1, &end, 10);
	return errno || *end ? CHECK_NOWHERE : n;
}

static void missing(struct check *c, uint64_t n, const char *expected, const char *found)
{
	check_find(c, CHECK_PART_MISSING, CHECK_NOWHERE, expected, "%s", found);
	check_sum(c, CHECK_PART_MISSING, n);
}

/* Parts stand in the order of their numbers. Returns how many files there should be. */
static uint64_t look_for_gaps(struct check *c)
{
	uint64_t next = 0, n;
	char found[CHECK_FOUND_MAX];

	for (size_t i = 0; i < c->in->nr_parts; i++) {
		n = number_of(&c->in->parts[i]);
		if (n == CHECK_NOWHERE || n < next)
			continue;
		snprintf(found, sizeof(found), "no data.%" PRIu64 ", but data.%" PRIu64, next, n);
		if (n > next)
			missing(c, n - next, "a file for each number from 0 on", found);
		next = n + 1;
	}
	return next;
}

/* Does the command line say that there was a thread for each cpu? */
static bool thread_for_each_cpu(const struct fmt_reader *r)
{
	const char *s;

	for (uint32_t i = 0; i < ARGS_MAX; i++) {
		s = fmt_reader_feature_list(r, FMT_FEAT_CMDLINE, i);
		if (!s || !strcmp(s, "--"))
			break;
		if (!strncmp(s, "--threads", 9))
			return !s[9] || !strcmp(s + 9, "=cpu");
	}
	return false;
}

/* Cpus that have events, as far as ID_INDEX tells. */
static uint64_t count_cpus(struct check *c)
{
	struct check_map cpus = { .size = sizeof(uint64_t) };
	uint64_t n;

	for (size_t i = 0; i < c->ids.n && !c->err; i++) {
		const struct check_id *id = check_map_at(&c->ids, i);

		if (id->cpu != UINT64_MAX)
			(void)check_row(c, &cpus, id->cpu);
	}
	n = cpus.n;
	check_map_done(&cpus);
	return n;
}

void check_parts(struct check *c)
{
	char expected[CHECK_EXPECTED_MAX], found[CHECK_FOUND_MAX];
	uint64_t there = look_for_gaps(c), cpus;

	if (!thread_for_each_cpu(&c->in->r))
		return;
	cpus = count_cpus(c);
	if (there >= cpus)
		return;
	snprintf(expected, sizeof(expected), "one for each of %" PRIu64 " cpus", cpus);
	snprintf(found, sizeof(found), "%s data.%" PRIu64, there ? "none behind" : "not even",
		 there ? there - 1 : 0);
	missing(c, cpus - there, expected, found);
}
