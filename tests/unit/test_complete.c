/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/record.h"
#include "recorder/complete.h"
#include "recorder/ledger.h"
#include "tests/unit/fixture.h"
#include "tests/unit/smallelf.h"

static const uint8_t id_a[20] = { 0xaa, 1 };
static const struct fmt_trailer trailer = { .pid = 9, .tid = 9, .time = 77, .id = 5 };
static struct spans spans;
static struct complete c;
static struct fmt_buf as_read, completed; /* in the ring, and as it should be written */
static struct fmt_mmap2 m;
static char path[PATH_MAX];

/* m: a mapping of the file at path, by a process that is gone. */
static int setup(void **state)
{
	struct fixture *f;
	struct stat st;

	if (fixture_new(state) || fileids_new(&c.fileids) || dsos_new(&c.dsos))
		return -1;
	f = *state;
	c.sys = &f->sys;
	c.spans = &spans;
	snprintf(path, sizeof(path), "%s/prog", f->root);
	small_elf_file(path, id_a, 20, 0);
	if (stat(path, &st))
		return -1;
	m = (struct fmt_mmap2){ .pid = 9, .tid = 9, .addr = 0x400000, .len = 0x1000,
				.pgoff = 0x2000, .maj = major(st.st_dev),
				.min = minor(st.st_dev), .ino = st.st_ino, .prot = 5,
				.flags = 2, .misc = FMT_MISC_USER, .name = path };
	return 0;
}

static int teardown(void **state)
{
	fileids_free(c.fileids);
	dsos_free(c.dsos);
	spans_done(&spans);
	fmt_buf_done(&as_read);
	fmt_buf_done(&completed);
	return fixture_done(state);
}

/* as_read from m; completed from m with this id (none: size 0). */
static void make(const uint8_t *id, uint8_t size)
{
	struct fmt_mmap2 with = m;

	fmt_buf_reset(&as_read);
	fmt_buf_reset(&completed);
	assert_int_equal(fmt_put_mmap2(&as_read, &m, &trailer), 0);
	with.build_id_size = size;
	if (size)
		memcpy(with.build_id, id, size);
	assert_int_equal(fmt_put_mmap2(&completed, &with, &trailer), 0);
	assert_int_equal(as_read.len, completed.len);
}

/* The bytes of the list in one piece; their number. */
static size_t gather(uint8_t *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < spans.n; i++) {
		memcpy(ret + n, spans.v[i].iov_base, spans.v[i].iov_len);
		n += spans.v[i].iov_len;
	}
	return n;
}

/* As the drain does it, for every place where the ring may end. What the ring holds stays
 * what it is: it cannot be written. */
static void assert_completed(void)
{
	static uint8_t first[PATH_MAX + 256], second[PATH_MAX + 256], out[PATH_MAX + 256];
	struct ledger l = { 0 };
	struct ledger_row *row = ledger_row(&l, 0, -1, -1);
	const struct ledger_visit visit = complete_visit(&c);
	size_t n = as_read.len;

	for (size_t cut = 0; cut <= n; cut += 8) {
		struct iovec v[2] = { { first, cut }, { second, n - cut } };

		memcpy(first, as_read.data, cut);
		memcpy(second, as_read.data + cut, n - cut);
		spans_reset(&spans);
		spans_ring(&spans, v, 2);
		assert_int_equal(ledger_walk(&l, row, v, 2, &visit), 0);
		assert_int_equal(spans_ring_end(&spans), 0);
		assert_int_equal(gather(out), n);
		assert_memory_equal(out, completed.data, n);
		assert_memory_equal(first, as_read.data, cut);
		assert_memory_equal(second, as_read.data + cut, n - cut);
	}
	assert_int_equal(l.records, n / 8 + 1);
	ledger_done(&l);
}

/* One record, as a walk shows it. */
static int see(const uint8_t *rec, size_t size, size_t pos)
{
	const struct ledger_visit visit = complete_visit(&c);

	return visit.fn(visit.ctx, rec, size, pos);
}

static void set_flag(void)
{
	le_put(as_read.data + 4, FMT_MISC_USER | FMT_MISC_MMAP_BUILD_ID, 2);
}

static size_t rows(const struct fmt_build_id **ret)
{
	size_t n;

	assert_int_equal(dsos_rows(c.dsos, c.sys, ret, &n), 0);
	return n;
}

static void the_file_gets_its_id(void **state)
{
	const struct fmt_build_id *row;

	(void)state;
	make(id_a, 20);
	assert_completed();
	remove(path); /* it was learnt from the record */
	assert_int_equal(rows(&row), 1);
	assert_string_equal(row->name, path);
	assert_memory_equal(row->id, id_a, 20);
}

static void a_short_id_is_filled_up_with_zeros(void **state)
{
	(void)state;
	small_elf_file(path, id_a, 8, 0);
	make(id_a, 8);
	assert_completed();
}

/* Another recorder's build_id makes the kernel say what is not so. */
static void a_flag_that_nobody_asked_for_is_taken_away(void **state)
{
	(void)state;
	m.name = "/does/not/exist";
	make(NULL, 0);
	set_flag();
	assert_completed();
}

static void a_flag_that_nobody_asked_for_does_not_hide_the_file(void **state)
{
	(void)state;
	make(id_a, 20);
	set_flag();
	assert_completed();
}

static void an_unknown_file_is_left_alone(void **state)
{
	const struct fmt_build_id *row;

	(void)state;
	m.name = "/does/not/exist";
	make(NULL, 0);
	assert_completed();
	assert_int_equal(rows(&row), 0);
}

static void another_inode_is_left_alone(void **state)
{
	const struct fmt_build_id *row;

	(void)state;
	m.ino++;
	make(NULL, 0);
	assert_completed();
	assert_int_equal(rows(&row), 0);
}

static void another_device_is_left_alone(void **state)
{
	(void)state;
	m.min++;
	make(NULL, 0);
	assert_completed();
}

static void memory_is_left_alone(void **state)
{
	(void)state;
	m.name = "//anon";
	m.ino = 0;
	make(NULL, 0);
	assert_completed();
}

static void the_vdso_gets_ours(void **state)
{
	uint8_t id[20];
	int size = pio_build_id_vdso(id);

	(void)state;
	if (size <= 0)
		skip();
	m.name = "[vdso]";
	m.maj = m.min = 0x01020304; /* nothing is left of it */
	m.ino = 0;
	make(NULL, 0);
	assert_completed(); /* of a 32-bit process */
	m.addr = 0x7ffd00000000;
	make(id, (uint8_t)size);
	assert_completed();
}

static void what_is_malformed_is_left_alone(void **state)
{
	uint8_t copy[PATH_MAX + 256];

	(void)state;
	make(id_a, 20);
	set_flag();
	memcpy(copy, as_read.data, as_read.len);
	for (size_t cut = 8; cut <= 72 + strlen(path); cut++)
		assert_int_equal(see(copy, cut, 0), 0);
	le_put(copy, FMT_REC_COMM, 4);
	assert_int_equal(see(copy, as_read.len, 0), 0);
	memset(copy + 72, 'x', as_read.len - 72); /* a name without an end */
	le_put(copy, FMT_REC_MMAP2, 4);
	assert_int_equal(see(copy, as_read.len, 0), 0);
	assert_int_equal(spans.n, 0);
}

/* The cpu had been away: its AUX area began anew, the stream of its queue goes on. */
static void an_aux_record_gets_its_place_in_the_stream(void **state)
{
	(void)state;
	for (c.aux_base = 0; c.aux_base <= 5000; c.aux_base += 5000) {
		fmt_buf_reset(&as_read);
		fmt_buf_reset(&completed);
		assert_int_equal(fmt_put_aux(&as_read, 24, 640, 1, &trailer), 0);
		assert_int_equal(fmt_put_aux(&completed, 24 + c.aux_base, 640, 1, &trailer), 0);
		assert_completed();
	}
	for (size_t cut = 8; cut < 32; cut++)
		assert_int_equal(see(as_read.data, cut, 0), 0);
}

static int gather_record(void *ctx, const uint8_t *rec, size_t n)
{
	struct fmt_buf *b = ctx;

	fmt_put(b, rec, n);
	return b->err;
}

/* What goes on in another file begins with the tasks as they are: with the ids, too. */
static void the_table_of_tasks_learns_what_is_written(void **state)
{
	struct fmt_buf told = { 0 };

	(void)state;
	assert_int_equal(tasktable_new(&c.table, 1 << 20), 0);
	make(id_a, 20);
	assert_int_equal(see(as_read.data, as_read.len, 0), 0);
	fmt_buf_reset(&as_read);
	assert_int_equal(fmt_put_task(&as_read, FMT_REC_FORK, 7, 1, 7, 1, 70, &trailer), 0);
	assert_int_equal(see(as_read.data, as_read.len, 0), 0);
	assert_int_equal(tasktable_emit(c.table, NULL, gather_record, &told), 0);
	assert_int_equal(told.len, completed.len + as_read.len);
	assert_memory_equal(told.data, completed.data, completed.len);
	assert_memory_equal(told.data + completed.len, as_read.data, as_read.len);
	fmt_buf_done(&told);
	tasktable_free(c.table);
	c.table = NULL;
}

static void put_switch(uint32_t type, bool out, uint32_t tid, uint64_t time)
{
	size_t wide = type == FMT_REC_SWITCH_CPU_WIDE ? 8 : 0;

	fmt_buf_reset(&as_read);
	fmt_put_le(&as_read, type, 4);
	fmt_put_le(&as_read, out ? FMT_MISC_SWITCH_OUT : 0, 2);
	fmt_put_le(&as_read, 40 + wide, 2);
	if (wide) {
		fmt_put_le(&as_read, 1000, 4);
		fmt_put_le(&as_read, 1001, 4);
	}
	fmt_put_le(&as_read, 100, 4);
	fmt_put_le(&as_read, tid, 4);
	fmt_put_le(&as_read, time, 8);
	fmt_put_zero(&as_read, 16);
	assert_int_equal(see(as_read.data, as_read.len, 0), 0);
}

static void switches_tell_who_runs_on_the_cpu(void **state)
{
	struct oncpu on = { 0 };

	(void)state;
	assert_false(complete_visit(&c).types & ONCPU_TYPES);
	c.on = &on;
	assert_int_equal(complete_visit(&c).types & ONCPU_TYPES, ONCPU_TYPES);
	put_switch(FMT_REC_SWITCH_CPU_WIDE, false, 101, 5);
	assert_true(on.known && on.pid == 100 && on.tid == 101 && on.since == 5);
	put_switch(FMT_REC_SWITCH_CPU_WIDE, true, 101, 6);
	assert_true(on.known && on.pid == 1000 && on.tid == 1001 && on.since == 6);
	put_switch(FMT_REC_SWITCH, false, 102, 7);
	assert_true(on.known && on.pid == 100 && on.tid == 102 && on.since == 7);
	put_switch(FMT_REC_SWITCH, true, 102, 8);
	assert_false(on.known);
	put_switch(FMT_REC_SWITCH, false, 103, 9);
	for (size_t cut = 8; cut < 40; cut++)
		assert_int_equal(see(as_read.data, cut, 0), 0);
	assert_true(on.known && on.tid == 103);
	c.on = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(the_file_gets_its_id),
		T(a_short_id_is_filled_up_with_zeros),
		T(a_flag_that_nobody_asked_for_is_taken_away),
		T(a_flag_that_nobody_asked_for_does_not_hide_the_file),
		T(an_unknown_file_is_left_alone),
		T(another_inode_is_left_alone),
		T(another_device_is_left_alone),
		T(memory_is_left_alone),
		T(the_vdso_gets_ours),
		T(what_is_malformed_is_left_alone),
		T(an_aux_record_gets_its_place_in_the_stream),
		T(the_table_of_tasks_learns_what_is_written),
		T(switches_tell_who_runs_on_the_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
