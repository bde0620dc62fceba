/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of tasks. Beside single cases there is a property: whatever happens, and however
 * often the horizon has moved, a reader who is told the table and what waits ends up with the
 * same processes and mappings as one who is told everything from the beginning. The reader
 * here is a picture of its own: an array of pages per process.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <cmocka.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/record.h"
#include "recorder/tasktable.h"

enum { PIDS = 12, PAGES = 48 };

struct picture {
	struct {
		bool alive;
		char comm[16];
		char page[PAGES]; /* whose mapping it belongs to, 0: none */
		unsigned threads;
	} p[PIDS];
	size_t records, timed;
	uint64_t last;
};

static struct tasktable *table;
static struct fmt_buf b;

static int setup(void **state)
{
	(void)state;
	b = (struct fmt_buf){ 0 };
	return tasktable_new(&table, 1 << 20);
}

static int teardown(void **state)
{
	(void)state;
	tasktable_free(table);
	fmt_buf_done(&b);
	return 0;
}

/* ---- the reader ---- */

static void see_map(struct picture *s, const uint8_t *r)
{
	uint32_t pid = le_get32(r + FMT_MMAP_AT_PID);
	uint64_t at = le_get(r + FMT_MMAP_AT_ADDR, 8), n = le_get(r + FMT_MMAP_AT_LEN, 8);

	assert_true(pid < PIDS && at + n <= PAGES);
	memset(s->p[pid].page + at, r[FMT_MMAP2_AT_NAME], n);
}

static void see_fork(struct picture *s, const uint8_t *r)
{
	uint32_t pid = le_get32(r + 8), ppid = le_get32(r + 12), tid = le_get32(r + 16);
	bool found = le_get16(r + FMT_REC_AT_MISC) & FMT_MISC_FORK_EXEC;

	assert_true(pid < PIDS);
	s->p[pid].alive = true;
	s->p[pid].threads++;
	if (pid != tid || found)
		return;
	memcpy(s->p[pid].page, s->p[ppid].page, PAGES);
	memcpy(s->p[pid].comm, s->p[ppid].comm, 16);
}

static void see_exit(struct picture *s, const uint8_t *r)
{
	uint32_t pid = le_get32(r + 8);

	if (s->p[pid].alive && !--s->p[pid].threads)
		memset(&s->p[pid], 0, sizeof(s->p[pid]));
}

static void see_comm(struct picture *s, const uint8_t *r)
{
	uint32_t pid = le_get32(r + 8);

	if (le_get16(r + FMT_REC_AT_MISC) & FMT_MISC_COMM_EXEC) {
		memset(s->p[pid].page, 0, PAGES);
		s->p[pid].threads = 1;
	}
	if (pid == le_get32(r + 12))
		snprintf(s->p[pid].comm, 16, "%s", (const char *)r + 16);
}

static int see(void *ctx, const uint8_t *r, size_t n)
{
	struct picture *s = ctx;
	uint64_t time = le_get(r + n - 24, 8);

	assert_int_equal(le_get16(r + FMT_REC_AT_SIZE), n);
	assert_true(time >= s->last); /* in order, the table first */
	s->last = time;
	s->records++;
	s->timed += time != 0;
	switch (le_get32(r)) {
	case FMT_REC_MMAP2: see_map(s, r); break;
	case FMT_REC_FORK: see_fork(s, r); break;
	case FMT_REC_EXIT: see_exit(s, r); break;
	case FMT_REC_COMM: see_comm(s, r); break;
	}
	return 0;
}

static void look(struct picture *s)
{
	memset(s, 0, sizeof(*s));
	assert_int_equal(tasktable_emit(table, NULL, see, s), 0);
}

/* ---- records ---- */

static void feed(struct picture *all)
{
	assert_int_equal(b.err, 0);
	assert_int_equal(tasktable_add(table, b.data, b.len), 0);
	if (all)
		see(all, b.data, b.len);
	fmt_buf_reset(&b);
}

static struct fmt_trailer at(uint64_t time)
{
	return (struct fmt_trailer){ .time = time, .id = 7 };
}

static void map(struct picture *all, uint64_t time, uint32_t pid, uint64_t page, uint64_t n,
		char name)
{
	const char s[2] = { name };
	struct fmt_mmap2 m = { .pid = pid, .tid = pid, .addr = page, .len = n, .name = s,
			       .misc = FMT_MISC_USER };
	struct fmt_trailer t = at(time);

	fmt_put_mmap2(&b, &m, &t);
	feed(all);
}

static void task(struct picture *all, uint64_t time, uint32_t type, uint32_t pid, uint32_t ppid,
		 uint32_t tid)
{
	struct fmt_trailer t = at(time);

	fmt_put_task(&b, type, pid, ppid, tid, ppid, time, &t);
	feed(all);
}

static void comm(struct picture *all, uint64_t time, bool exec, uint32_t pid, const char *name)
{
	struct fmt_trailer t = at(time);

	fmt_put_comm(&b, exec, pid, pid, name, &t);
	feed(all);
}

/* ---- cases ---- */

static void what_ended_after_the_horizon_is_told_and_then_forgotten(void **state)
{
	struct tasktable_stats st;
	struct picture s;

	(void)state;
	task(NULL, 10, FMT_REC_FORK, 3, 1, 3);
	comm(NULL, 11, true, 3, "short");
	map(NULL, 12, 3, 0, 4, 'a');
	task(NULL, 20, FMT_REC_EXIT, 3, 1, 3);
	look(&s);
	assert_int_equal(s.timed, 4);
	assert_int_equal(tasktable_forget(table, 15), 0);
	look(&s); /* found running, then the exit */
	assert_int_equal(s.timed, 1);
	assert_int_equal(s.records, 4);
	assert_int_equal(tasktable_forget(table, 21), 0);
	look(&s);
	assert_int_equal(s.records, 0);
	tasktable_stats(table, &st);
	assert_int_equal(st.processes + st.threads + st.maps + st.waiting, 0);
}

static void a_child_keeps_what_its_parent_gave_up(void **state)
{
	struct picture s;

	(void)state;
	comm(NULL, 1, true, 1, "parent");
	map(NULL, 2, 1, 0, 4, 'a');
	task(NULL, 3, FMT_REC_FORK, 2, 1, 2);
	comm(NULL, 4, true, 1, "other");
	map(NULL, 5, 1, 8, 4, 'b');
	assert_int_equal(tasktable_forget(table, 100), 0);
	look(&s);
	assert_int_equal(s.timed, 0);
	assert_string_equal(s.p[2].comm, "parent");
	assert_int_equal(s.p[2].page[0], 'a');
	assert_int_equal(s.p[2].page[8], 0);
	assert_string_equal(s.p[1].comm, "other");
	assert_int_equal(s.p[1].page[0], 0);
	assert_int_equal(s.p[1].page[8], 'b');
}

static void synthesised_records_are_older_than_any_horizon(void **state)
{
	struct picture s;

	(void)state;
	comm(NULL, 50, true, 1, "old");
	task(NULL, 0, FMT_REC_FORK, 4, 1, 4);
	comm(NULL, 0, false, 4, "found");
	look(&s);
	assert_string_equal(s.p[4].comm, "found");
	assert_int_equal(s.timed, 1);
}

static int see_stamp(void *ctx, const uint8_t *r, size_t n)
{
	assert_int_equal(le_get(r + n - 24, 8), 77);
	assert_int_equal(le_get(r + n - 8, 8), 9);
	assert_int_equal(le_get32(r + n - 32), 3);
	if (le_get32(r) == FMT_REC_FORK)
		assert_true(le_get16(r + FMT_REC_AT_MISC) & FMT_MISC_FORK_EXEC);
	++*(unsigned *)ctx;
	return 0;
}

static void the_table_can_be_told_as_of_a_moment(void **state)
{
	const struct fmt_trailer now = { .time = 77, .id = 9 };
	unsigned n = 0;

	(void)state;
	task(NULL, 10, FMT_REC_FORK, 3, 1, 3);
	comm(NULL, 11, true, 3, "short");
	map(NULL, 12, 3, 0, 4, 'a');
	assert_int_equal(tasktable_forget(table, 50), 0);
	assert_int_equal(tasktable_emit(table, &now, see_stamp, &n), 0);
	assert_int_equal(n, 3);
	tasktable_told(table, 9); /* before it was born */
	n = 0;
	assert_int_equal(tasktable_emit(table, &now, see_stamp, &n), 0);
	assert_int_equal(n, 3);
	tasktable_told(table, 10);
	n = 0;
	assert_int_equal(tasktable_emit(table, &now, see_stamp, &n), 0);
	assert_int_equal(n, 2);
}

static void kernel_code_is_remembered_by_its_address(void **state)
{
	struct fmt_trailer t = at(5);
	struct picture s;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		fmt_put_ksymbol(&b, 0x1000, 64, FMT_KSYMBOL_TYPE_BPF, 0, "prog", &t);
		feed(NULL);
	}
	fmt_put_ksymbol(&b, 0x2000, 64, FMT_KSYMBOL_TYPE_BPF, 0, "gone", &t);
	feed(NULL);
	fmt_put_ksymbol(&b, 0x2000, 64, FMT_KSYMBOL_TYPE_BPF, FMT_KSYMBOL_FLAGS_UNREGISTER, "gone",
			&t);
	feed(NULL);
	assert_int_equal(tasktable_forget(table, 6), 0);
	look(&s);
	assert_int_equal(s.records, 1);
}

static void records_of_other_kinds_are_passed_over(void **state)
{
	struct fmt_trailer t = at(5);
	struct picture s;

	(void)state;
	fmt_put_aux(&b, 0, 8, 0, &t);
	feed(NULL);
	assert_int_equal(tasktable_add(table, (const uint8_t *)"\3\0\0\0\0\0\x10\0", 8), 0);
	look(&s);
	assert_int_equal(s.records, 0);
}

/* A program that maps and forks without end: memory stays what it may be, and that is told. */
static void memory_stays_within_its_limit(void **state)
{
	struct tasktable_stats st;
	struct tasktable *all = table;

	(void)state;
	assert_int_equal(tasktable_new(&table, 40000), 0);
	for (uint64_t i = 1; i < 3000; i++) {
		task(NULL, 10 * i, FMT_REC_FORK, 3, 1, 3);
		map(NULL, 10 * i + 1, 3, i % PAGES, 1, 'x');
		task(NULL, 10 * i + 2, FMT_REC_EXIT, 3, 1, 3);
	}
	tasktable_stats(table, &st);
	assert_in_range(st.most_bytes, 1, 40000 + 24 * 4096); /* the list of what waits doubles */
	assert_true(st.forced > 1000);
	assert_int_equal(st.dropped, 0);
	for (uint64_t i = 0; i < 3000; i++) { /* nothing here ever ends */
		fmt_put_mmap2(&b, &(struct fmt_mmap2){ .pid = 5, .tid = 5, .addr = i << 12,
						      .len = 4096, .name = "y" },
			      &(struct fmt_trailer){ .time = 90000 + i });
		feed(NULL);
	}
	tasktable_stats(table, &st);
	assert_true(st.dropped > 1000);
	assert_in_range(st.bytes, 1, 40000 + 24 * 4096);
	tasktable_free(table);
	table = all;
}

/* ---- the property ---- */

static unsigned seed;

static unsigned any(unsigned n)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % n;
}

static void happen(struct picture *all, uint64_t time)
{
	uint32_t pid = 1 + any(PIDS - 1), other = 1 + any(PIDS - 1);
	char name[2] = { (char)('a' + any(26)) };

	switch (any(8)) {
	case 0:
		if (!all->p[pid].alive && all->p[other].alive)
			task(all, time, FMT_REC_FORK, pid, other, pid);
		break;
	case 1:
		if (all->p[pid].alive && all->p[pid].threads < 4)
			task(all, time, FMT_REC_FORK, pid, pid,
			     100 * pid + all->p[pid].threads);
		break;
	case 2:
		if (all->p[pid].threads > 1)
			task(all, time, FMT_REC_EXIT, pid, pid,
			     100 * pid + all->p[pid].threads - 1);
		else if (all->p[pid].alive)
			task(all, time, FMT_REC_EXIT, pid, 1, pid);
		break;
	case 3:
		if (all->p[pid].alive && !any(3))
			comm(all, time, true, pid, name);
		break;
	default:
		if (all->p[pid].alive)
			map(all, time, pid, any(PAGES - 8), 1 + any(8), name[0]);
	}
}

static void same(const struct picture *a, const struct picture *c)
{
	for (unsigned i = 0; i < PIDS; i++) {
		assert_int_equal(a->p[i].alive, c->p[i].alive);
		assert_int_equal(a->p[i].threads, c->p[i].threads);
		assert_string_equal(a->p[i].comm, c->p[i].comm);
		assert_memory_equal(a->p[i].page, c->p[i].page, PAGES);
	}
}

static void a_reader_ends_up_with_the_same_processes(void **state)
{
	(void)state;
	for (unsigned run = 1; run <= 200; run++) {
		struct picture all = { 0 }, told;
		uint64_t time = 1;

		seed = run;
		tasktable_free(table);
		assert_int_equal(tasktable_new(&table, 1 << 20), 0);
		task(&all, time, FMT_REC_FORK, 1, 0, 1);
		comm(&all, time, false, 1, "init");
		for (unsigned i = 0; i < 400; i++) {
			happen(&all, ++time);
			if (!any(20))
				assert_int_equal(tasktable_forget(table, time - any(30)), 0);
			if (any(10))
				continue;
			look(&told);
			same(&all, &told);
		}
	}
}

/* Rings are drained one by one: cpu 1's older records come behind cpu 0's newer ones. */
static void what_arrives_out_of_order_is_put_in_order(void **state)
{
	struct picture s;

	(void)state;
	comm(NULL, 30, true, 2, "late");
	map(NULL, 31, 2, 0, 4, 'b');
	task(NULL, 10, FMT_REC_FORK, 2, 1, 2);
	comm(NULL, 11, true, 2, "early");
	map(NULL, 12, 2, 0, 8, 'a');
	assert_int_equal(tasktable_forget(table, 20), 0);
	look(&s);
	assert_int_equal(s.timed, 2);
	assert_string_equal(s.p[2].comm, "late");
	assert_int_equal(s.p[2].page[0], 'b');
	assert_int_equal(s.p[2].page[4], 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_ended_after_the_horizon_is_told_and_then_forgotten),
		T(a_child_keeps_what_its_parent_gave_up),
		T(synthesised_records_are_older_than_any_horizon),
		T(the_table_can_be_told_as_of_a_moment),
		T(kernel_code_is_remembered_by_its_address),
		T(records_of_other_kinds_are_passed_over),
		T(memory_stays_within_its_limit),
		T(a_reader_ends_up_with_the_same_processes),
		T(what_arrives_out_of_order_is_put_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
