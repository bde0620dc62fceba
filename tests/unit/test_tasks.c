/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/decode/tasks.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/abi.h"
#include "format/le.h"
#include "format/record.h"

#define ST (FMT_SAMPLE_IP | FMT_SAMPLE_TID | FMT_SAMPLE_TIME | FMT_SAMPLE_CPU | \
	    FMT_SAMPLE_IDENTIFIER)

struct world {
	struct tasks *t;
	struct fmt_reader r;
	struct fmt_buf b;
	struct image image;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w || fmt_reader_open_bare(&w->r, ST, "", 0))
		return -1;
	*state = w;
	return tasks_new(&w->t);
}

static int teardown(void **state)
{
	struct world *w = *state;

	tasks_free(w->t);
	fmt_reader_done(&w->r);
	fmt_buf_done(&w->b);
	free(w);
	return 0;
}

static void take_at(struct world *w, const struct image *image, uint16_t size)
{
	uint8_t *copy = malloc(size); /* a sanitizer sees what is read behind it */
	struct fmt_rec rec = { .p = copy, .type = le_get32(w->b.data),
			       .misc = le_get16(w->b.data + 4), .size = size };

	assert_int_equal(w->b.err, 0);
	assert_non_null(copy);
	memcpy(copy, w->b.data, size);
	assert_int_equal(tasks_take(w->t, &w->r, &rec, image), 0);
	free(copy);
}

static void take(struct world *w, const struct image *image)
{
	take_at(w, image, (uint16_t)w->b.len);
	fmt_buf_reset(&w->b);
}

static struct fmt_trailer when(uint64_t time, uint32_t cpu, uint32_t pid, uint32_t tid)
{
	return (struct fmt_trailer){ .time = time, .cpu = cpu, .pid = pid, .tid = tid,
				     .id = time ? 1 : 0 };
}

static void map(struct world *w, uint64_t time, uint32_t pid, uint64_t addr, uint64_t off)
{
	struct fmt_mmap2 m = { .pid = pid, .tid = pid, .addr = addr, .len = 0x1000,
			       .pgoff = off, .prot = 5, .misc = FMT_MISC_USER,
			       .name = "/x" };
	struct fmt_trailer t = when(time, 0, pid, pid);

	fmt_put_mmap2(&w->b, &m, &t);
	take(w, &w->image);
}

static void comm(struct world *w, uint64_t time, uint32_t pid, uint32_t tid,
		 const char *name, bool exec)
{
	struct fmt_trailer t = when(time, 0, pid, tid);

	fmt_put_comm(&w->b, exec, pid, tid, name, &t);
	take(w, NULL);
}

static void born(struct world *w, uint64_t time, uint32_t pid, uint32_t ppid, uint32_t tid,
		 uint32_t ptid)
{
	struct fmt_trailer t = when(time, 0, ppid, ptid);

	fmt_put_task(&w->b, FMT_REC_FORK, pid, ppid, tid, ptid, time, &t);
	take(w, NULL);
}

static void trailer(struct world *w, const struct fmt_trailer *t)
{
	fmt_put_le(&w->b, t->pid, 4);
	fmt_put_le(&w->b, t->tid, 4);
	fmt_put_le(&w->b, t->time, 8);
	fmt_put_le(&w->b, t->cpu, 4);
	fmt_put_le(&w->b, 0, 4);
	fmt_put_le(&w->b, t->id, 8);
}

/* tid switches out for `other`, or in after it; pids are 10 times the tids. */
static void switched(struct world *w, uint64_t time, uint32_t cpu, uint32_t tid, bool out,
		     uint32_t other)
{
	struct fmt_trailer t = when(time, cpu, 10 * tid, tid);
	size_t at = fmt_record_begin(&w->b, FMT_REC_SWITCH_CPU_WIDE,
				     out ? FMT_MISC_SWITCH_OUT : 0);

	fmt_put_le(&w->b, 10 * other, 4);
	fmt_put_le(&w->b, other, 4);
	trailer(w, &t);
	assert_int_equal(fmt_record_end(&w->b, at), 0);
	take(w, NULL);
}

static void own_switch(struct world *w, uint64_t time, uint32_t cpu, uint32_t tid, bool out)
{
	struct fmt_trailer t = when(time, cpu, 10 * tid, tid);
	size_t at = fmt_record_begin(&w->b, FMT_REC_SWITCH, out ? FMT_MISC_SWITCH_OUT : 0);

	trailer(w, &t);
	assert_int_equal(fmt_record_end(&w->b, at), 0);
	take(w, NULL);
}

static int note(void *ctx, const struct tasks_event *e)
{
	char *out = ctx;

	snprintf(out + strlen(out), 200 - strlen(out), "%llx+%llx ",
		 (unsigned long long)e->addr, (unsigned long long)e->off);
	return 0;
}

/* "ADDR+OFF ADDR+OFF " of the mappings that made the space at a time. */
static const char *space(struct world *w, uint32_t pid, uint64_t time)
{
	static char out[200];
	struct tasks_cursor c;

	out[0] = '\0';
	assert_int_equal(tasks_begin(w->t, &c, pid, time, note, out), 0);
	return out;
}

static uint32_t on(struct world *w, uint32_t cpu, uint64_t time, uint64_t *until)
{
	struct tasks_who who = tasks_on_cpu(w->t, cpu, time, until);

	if (who.tid != TASKS_NONE)
		assert_int_equal(who.pid, 10 * who.tid);
	return who.tid;
}

static void mappings_are_those_of_the_time(void **state)
{
	struct world *w = *state;

	map(w, 0, 7, 0x1000, 1);
	map(w, 300, 7, 0x3000, 3); /* of another cpu's ring: later in time, earlier here */
	map(w, 200, 7, 0x2000, 2);
	map(w, 200, 8, 0x9000, 9);
	tasks_sort(w->t);
	assert_string_equal(space(w, 7, 0), "1000+1 ");
	assert_string_equal(space(w, 7, 199), "1000+1 ");
	assert_string_equal(space(w, 7, 200), "1000+1 2000+2 ");
	assert_string_equal(space(w, 7, UINT64_MAX), "1000+1 2000+2 3000+3 ");
	assert_string_equal(space(w, 6, UINT64_MAX), "");
}

static void an_exec_begins_with_nothing(void **state)
{
	struct world *w = *state;

	map(w, 0, 7, 0x1000, 1);
	comm(w, 100, 7, 7, "new", true);
	map(w, 110, 7, 0x2000, 2);
	comm(w, 120, 7, 7, "renamed", false);
	tasks_sort(w->t);
	assert_string_equal(space(w, 7, 99), "1000+1 ");
	assert_string_equal(space(w, 7, 105), "");
	assert_string_equal(space(w, 7, 130), "2000+2 ");
}

static void a_fork_has_what_its_parent_had_then(void **state)
{
	struct world *w = *state;

	map(w, 0, 7, 0x1000, 1);
	born(w, 100, 8, 7, 8, 7);
	map(w, 150, 7, 0x2000, 2); /* the parent's, later */
	map(w, 160, 8, 0x3000, 3);
	born(w, 200, 9, 8, 9, 8);
	born(w, 210, 7, 7, 70, 7); /* a thread: the process stays as it is */
	tasks_sort(w->t);
	assert_string_equal(space(w, 8, 120), "1000+1 ");
	assert_string_equal(space(w, 8, 170), "1000+1 3000+3 ");
	assert_string_equal(space(w, 9, 300), "1000+1 3000+3 ");
	assert_string_equal(space(w, 7, 300), "1000+1 2000+2 ");
}

static void a_number_used_again_is_another_process(void **state)
{
	struct world *w = *state;

	map(w, 10, 8, 0x1000, 1);
	map(w, 20, 9, 0x2000, 2);
	born(w, 100, 8, 9, 8, 9);
	tasks_sort(w->t);
	assert_string_equal(space(w, 8, 50), "1000+1 ");
	assert_string_equal(space(w, 8, 150), "2000+2 ");
}

/* What the recorder found running is told with its own mappings. */
static void a_process_found_running_inherits_nothing(void **state)
{
	struct world *w = *state;

	map(w, 0, 7, 0x1000, 1);
	born(w, 0, 8, 7, 8, 7); /* id 0: marked */
	map(w, 0, 8, 0x2000, 2);
	tasks_sort(w->t);
	assert_string_equal(space(w, 8, 10), "2000+2 ");
}

static void forks_in_a_ring_end(void **state)
{
	struct world *w = *state;

	for (int k = 0; k < 2000; k++) {
		born(w, 100, 8, 9, 8, 9);
		born(w, 100, 9, 8, 9, 8);
	}
	map(w, 100, 9, 0x1000, 1);
	tasks_sort(w->t);
	assert_string_equal(space(w, 9, 100), "1000+1 ");
	assert_string_equal(space(w, 8, 100), "");
}

static void a_cursor_follows_the_time(void **state)
{
	struct world *w = *state;
	const struct tasks_event *e;
	struct tasks_cursor c;
	char out[200] = "";
	uint64_t until;

	map(w, 0, 7, 0x1000, 1);
	map(w, 100, 7, 0x2000, 2);
	comm(w, 200, 7, 7, "x", true);
	tasks_sort(w->t);
	assert_int_equal(tasks_begin(w->t, &c, 7, 50, note, out), 0);
	assert_null(tasks_next(w->t, &c, 99, &until));
	assert_int_equal(until, 100);
	e = tasks_next(w->t, &c, 100, &until);
	assert_non_null(e);
	assert_int_equal(e->addr, 0x2000);
	e = tasks_next(w->t, &c, 500, &until);
	assert_non_null(e);
	assert_int_equal(e->kind, TASKS_EXEC);
	assert_null(tasks_next(w->t, &c, 500, &until));
	assert_true(until == UINT64_MAX);
}

static void switches_tell_who_runs_until_when(void **state)
{
	struct world *w = *state;
	uint64_t until;

	switched(w, 100, 3, 1, true, 2);
	switched(w, 101, 3, 2, false, 1);
	switched(w, 200, 3, 2, true, 5);
	switched(w, 150, 4, 9, false, 8);
	tasks_sort(w->t);
	assert_int_equal(on(w, 3, 50, &until), 1); /* it left at 100, so it was there */
	assert_int_equal(until, 100);
	assert_int_equal(on(w, 3, 100, &until), 2);
	assert_int_equal(until, 200);
	assert_int_equal(on(w, 3, 10000, &until), 5);
	assert_true(until == UINT64_MAX);
	assert_int_equal(on(w, 4, 0, &until), 8);
	assert_int_equal(on(w, 4, 150, &until), 9);
	assert_true(on(w, 5, 150, &until) == TASKS_NONE);
}

/* A switch that was lost shows by the next one's other side. */
static void rings_read_late_are_put_in_order(void **state)
{
	struct world *w = *state;
	uint64_t until;

	switched(w, 300, 0, 3, false, 2);
	switched(w, 100, 0, 1, false, 9);
	switched(w, 200, 0, 2, false, 1);
	tasks_sort(w->t);
	assert_int_equal(on(w, 0, 150, &until), 1);
	assert_int_equal(on(w, 0, 250, &until), 2);
	assert_int_equal(until, 300);
}

static void a_tasks_own_switches_count_when_it_comes(void **state)
{
	struct world *w = *state;
	uint64_t until;

	own_switch(w, 100, 0, 1, false);
	own_switch(w, 200, 0, 1, true); /* the end of its trace is still its own */
	own_switch(w, 300, 0, 2, false);
	tasks_sort(w->t);
	assert_true(on(w, 0, 50, &until) == TASKS_NONE);
	assert_int_equal(on(w, 0, 250, &until), 1);
	assert_int_equal(on(w, 0, 300, &until), 2);
}

static void the_start_of_tracing_names_a_thread(void **state)
{
	struct world *w = *state;
	struct fmt_trailer t = when(100, 2, 10, 1);
	uint64_t until;

	fmt_put_itrace_start(&w->b, 10, 1, &t);
	take(w, NULL);
	tasks_sort(w->t);
	assert_int_equal(on(w, 2, 100, &until), 1);
}

static void threads_have_processes_and_names(void **state)
{
	struct world *w = *state;
	char name[16];

	born(w, 10, 7, 7, 71, 7);
	comm(w, 20, 7, 7, "main", false);
	born(w, 30, 7, 7, 72, 7);
	comm(w, 40, 7, 72, "worker", false);
	comm(w, 50, 7, 72, "renamed", false);
	born(w, 100, 8, 7, 71, 7); /* the number again, in another process */
	tasks_sort(w->t);
	assert_int_equal(tasks_pid(w->t, 71, 50), 7);
	assert_int_equal(tasks_pid(w->t, 71, 150), 8);
	assert_int_equal(tasks_pid(w->t, 71, 5), 7); /* before it is told */
	assert_int_equal(tasks_pid(w->t, 99, 50), 99);
	tasks_comm(w->t, 7, 72, name);
	assert_string_equal(name, "renamed");
	tasks_comm(w->t, 8, 71, name);
	assert_string_equal(name, "main"); /* of the one it came from */
	tasks_comm(w->t, 7, 99, name);
	assert_string_equal(name, "");
}

static void cut_records_are_passed_over(void **state)
{
	struct world *w = *state;
	struct fmt_trailer t = when(100, 0, 7, 7);
	uint64_t until;

	fmt_put_task(&w->b, FMT_REC_FORK, 8, 7, 8, 7, 100, &t);
	for (uint16_t n = 8; n < w->b.len; n++)
		take_at(w, NULL, n);
	fmt_buf_reset(&w->b);
	fmt_put_comm(&w->b, true, 8, 8, "x", &t);
	for (uint16_t n = 8; n < w->b.len; n++)
		take_at(w, NULL, n);
	fmt_buf_reset(&w->b);
	fmt_put_itrace_start(&w->b, 10, 1, &t);
	for (uint16_t n = 8; n < w->b.len; n++)
		take_at(w, NULL, n);
	tasks_sort(w->t);
	on(w, 0, 0, &until);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(mappings_are_those_of_the_time),
		TEST(an_exec_begins_with_nothing),
		TEST(a_fork_has_what_its_parent_had_then),
		TEST(a_number_used_again_is_another_process),
		TEST(a_process_found_running_inherits_nothing),
		TEST(forks_in_a_ring_end),
		TEST(a_cursor_follows_the_time),
		TEST(switches_tell_who_runs_until_when),
		TEST(rings_read_late_are_put_in_order),
		TEST(a_tasks_own_switches_count_when_it_comes),
		TEST(the_start_of_tracing_names_a_thread),
		TEST(threads_have_processes_and_names),
		TEST(cut_records_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
