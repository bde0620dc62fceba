/* SPDX-License-Identifier: Apache-2.0 */
/* Straight runs in code of a file, and what system calls do to mappings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "perfio/soft/mem.h"
#include "perfio/soft/remap.h"
#include "perfio/soft/runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct world {
	struct soft_mem *m;
	uint8_t *code;
	uint64_t at;
};

enum { PAGE = 4096, SIZE = 2 * PAGE };

static int begin(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	return soft_mem_open(&w->m, getpid());
}

static int end(void **state)
{
	struct world *w = *state;

	soft_mem_put(w->m);
	if (w->code)
		munmap(w->code, SIZE);
	free(w);
	return 0;
}

static void map(struct world *w, const void *code, size_t n)
{
	char path[] = "/tmp/test_runs.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(ftruncate(fd, SIZE), 0);
	assert_int_equal(pwrite(fd, code, n, 0), n);
	w->code = mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(w->code != MAP_FAILED);
	close(fd);
	w->at = (uint64_t)(uintptr_t)w->code;
}

/* The run from `from` ends at `to`, in this way. */
static void run(struct world *w, unsigned from, unsigned to, enum soft_run_end how)
{
	struct soft_insn i;
	struct soft_run r;

	for (int k = 0; k < 2; k++) { /* once more: by then it is known */
		soft_insn_at(&i, w->m, w->at + from);
		soft_run_at(&r, w->m, &i);
		assert_int_equal(r.begin - w->at, from);
		assert_int_equal(r.end - w->at, to);
		assert_int_equal(r.how, how);
	}
}

static void a_run_ends_at_what_decides_or_stops(void **state)
{
	/* nop; jne +0; cpuid; syscall; pushf; rep movsb; ret; nop; int3; nop; ud2; ret */
	static const uint8_t code[] = { 0x90, 0x75, 0, 0x0f, 0xa2, 0x0f, 5, 0x9c, 0xf3, 0xa4,
					0xc3, 0x90, 0xcc, 0x90, 0x0f, 0x0b, 0xc3 };

	map(*state, code, sizeof(code));
	run(*state, 0, 1, SOFT_RUN_PLANT);
	run(*state, 1, 1, SOFT_RUN_NONE);
	run(*state, 3, 5, SOFT_RUN_STOPS);
	run(*state, 5, 5, SOFT_RUN_NONE);
	run(*state, 7, 10, SOFT_RUN_PLANT);
	run(*state, 11, 12, SOFT_RUN_STOPS);
	run(*state, 13, 14, SOFT_RUN_PLANT);
}

static void a_run_follows_jumps_and_calls_but_not_in_a_circle(void **state)
{
	/* 0: jmp 4; 2: ret; 3: int3; 4: call 11; 9: jmp 0; 11: nop; jmp 2
	 * 14: jmp 14; 16: nop; jmp 16; 19: data16 jmp */
	static const uint8_t code[] = { 0xeb, 2, 0xc3, 0xcc, 0xe8, 2, 0, 0, 0, 0xeb, 0xf5, 0x90,
					0xeb, 0xf4, 0xeb, 0xfe, 0x90, 0xeb, 0xfd,
					0x66, 0xe9, 0, 0, 0, 0 };

	map(*state, code, sizeof(code));
	run(*state, 0, 2, SOFT_RUN_PLANT);
	run(*state, 9, 2, SOFT_RUN_PLANT);
	run(*state, 14, 14, SOFT_RUN_NONE);
	run(*state, 16, 17, SOFT_RUN_PLANT);
	run(*state, 19, 19, SOFT_RUN_NONE);
}

static void a_long_chain_of_jumps_is_cut(void **state)
{
	uint8_t code[100];

	for (int i = 0; i < 100; i += 2)
		memcpy(code + i, "\xeb", 2);
	map(*state, code, sizeof(code));
	run(*state, 0, 32, SOFT_RUN_PLANT);
}

static void a_run_ends_where_something_is_planted_or_code_can_change(void **state)
{
	static const uint8_t code[] = { 0x90, 0x90, 0x90, 0x90, 0xc3 };
	struct world *w = *state;

	map(w, code, sizeof(code));
	assert_true(soft_plants_put(&w->m->plants, w->at + 2));
	run(w, 0, 2, SOFT_RUN_PLANT);
	run(w, 2, 2, SOFT_RUN_NONE);
	run(w, 3, 4, SOFT_RUN_PLANT);
	assert_int_equal(mprotect(w->code, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	soft_mem_changed(w->m, w->at, w->at + PAGE, true, 0);
	assert_memory_equal(w->code, code, sizeof(code));
	run(w, 0, 0, SOFT_RUN_NONE);
}

static void an_instruction_over_a_plant_is_no_part_of_a_run(void **state)
{
	/* nop; mov $0x909090c3, %eax; ret */
	static const uint8_t code[] = { 0x90, 0xb8, 0xc3, 0x90, 0x90, 0x90, 0xc3 };
	struct world *w = *state;

	map(w, code, sizeof(code));
	assert_true(soft_plants_put(&w->m->plants, w->at + 2));
	run(w, 0, 1, SOFT_RUN_PLANT);
	run(w, 1, 1, SOFT_RUN_NONE);
}

static uint8_t class_at(struct world *w, unsigned at, bool loose)
{
	struct soft_insn i;

	soft_insn_at(&i, w->m, w->at + at);
	assert_int_equal(i.loose, loose);
	return i.cls;
}

static void an_instruction_is_as_fixed_as_its_end(void **state)
{
	static const uint8_t none[PAGE + 1], two[] = { 0x0f, 0x05 }; /* syscall */
	struct world *w = *state;

	map(w, none, sizeof(none));
	assert_int_equal(pwrite(w->m->mem_fd, two, 2, (off_t)w->at + PAGE - 1), 2);
	assert_int_equal(class_at(w, PAGE - 1, false), SOFT_SYSCALL);
	assert_int_equal(mprotect(w->code + PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	soft_mem_changed(w->m, w->at + PAGE, w->at + 2 * PAGE, true, 0);
	assert_int_equal(class_at(w, PAGE - 1, true), SOFT_SYSCALL);
	assert_int_equal(class_at(w, PAGE - 3, false), SOFT_OTHER); /* add %al, (%rax) */
	w->code[PAGE] = 0x0b; /* ud2 */
	assert_int_equal(class_at(w, PAGE - 1, true), SOFT_ALONE);
}

static struct soft_remap of(long nr, uint64_t rax, uint64_t rdi, uint64_t rsi, uint64_t rdx)
{
	const struct user_regs_struct r = { .orig_rax = (uint64_t)nr, .rax = rax, .rdi = rdi,
					    .rsi = rsi, .rdx = rdx };
	struct soft_remap m;

	soft_remap(&m, &r, false);
	return m;
}

static void mapping_calls_say_what_they_change(void **state)
{
	struct soft_remap m = of(SYS_mmap, 0x7000, 0x1000, 0x2000, PROT_READ | PROT_EXEC);

	(void)state;
	assert_true(m.nr == 1 && m.code && m.v[0].begin == 0x7000 && m.v[0].end == 0x9000);
	m = of(SYS_mmap, (uint64_t)-ENOMEM, 0x1000, 0x2000, PROT_READ);
	assert_true(m.nr == 1 && !m.code && m.v[0].begin == 0x1000 && m.v[0].end == 0x3000);
	m = of(SYS_munmap, 0, 0x1000, UINT64_MAX, 0);
	assert_true(m.nr == 1 && m.v[0].begin == 0x1000 && m.v[0].end == UINT64_MAX);
	m = of(SYS_mprotect, 0, 0x1000, 0x1000, PROT_EXEC);
	assert_true(m.nr == 1 && m.code && m.v[0].end == 0x2000);
	m = of(SYS_mprotect | SOFT_X32_BIT, 0, 0x1000, 0x1000, PROT_WRITE);
	assert_true(m.nr == 1 && !m.code);
	m = of(SYS_madvise, 0, 0x1000, 0x1000, MADV_DONTNEED);
	assert_int_equal(m.nr, 1);
	m = of(SYS_madvise, 0, 0x1000, 0x1000, MADV_WILLNEED);
	assert_int_equal(m.nr, 0);
	m = of(SYS_read, 0x7000, 3, 0x1000, 0x1000);
	assert_int_equal(m.nr, 0);
}

static void calls_say_where_code_is_not_as_records_tell(void **state)
{
	struct soft_remap m = of(SYS_mmap, 0x7000, 0x1000, 0x2000, PROT_READ | PROT_EXEC);

	(void)state;
	assert_true(m.fresh && !m.loose);
	m = of(SYS_mmap, 0x7000, 0x1000, 0x2000, PROT_READ | PROT_WRITE);
	assert_true(m.fresh && m.loose);
	m = of(SYS_mmap, (uint64_t)-ENOMEM, 0x1000, 0x2000, PROT_READ);
	assert_false(m.fresh);
	m = of(SYS_munmap, 0, 0x1000, 0x1000, 0);
	assert_true(m.fresh && !m.loose);
	m = of(SYS_munmap, (uint64_t)-EINVAL, 0x1001, 0x1000, 0);
	assert_false(m.fresh);
	m = of(SYS_mprotect, 0, 0x1000, 0x1000, PROT_READ | PROT_EXEC);
	assert_false(m.fresh || m.loose);
	m = of(SYS_mprotect, 0, 0x1000, 0x1000, PROT_READ | PROT_WRITE);
	assert_true(!m.fresh && m.loose);
	m = of(SYS_mremap, 0x5000, 0x8000, 0x1000, 0x2000);
	assert_true(!m.fresh && m.loose);
	m = of(SYS_madvise, 0, 0x1000, 0x1000, MADV_DONTNEED);
	assert_false(m.fresh || m.loose);
}

static void what_moves_is_told_with_its_distance(void **state)
{
	struct soft_remap m = of(SYS_mremap, 0x5000, 0x8000, 0x1000, 0x2000);

	(void)state;
	assert_int_equal(m.nr, 2);
	assert_true(m.v[0].begin == 0x8000 && m.v[0].end == 0x9000);
	assert_true(m.v[0].begin + m.v[0].by == 0x5000);
	assert_true(m.v[1].begin == 0x5000 && m.v[1].end == 0x7000 && !m.v[1].by);
	m = of(SYS_mremap, (uint64_t)-EFAULT, 0x8000, 0x1000, 0x2000);
	assert_true(m.v[0].by == 0);
}

static void calls_of_unknown_numbers_may_change_all(void **state)
{
	const struct user_regs_struct r = { .orig_rax = 1 };
	struct soft_remap m;

	(void)state;
	soft_remap(&m, &r, true);
	assert_true(m.nr == 1 && m.code && !m.v[0].begin && m.v[0].end == UINT64_MAX);
}

#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_run_ends_at_what_decides_or_stops),
		T(a_run_follows_jumps_and_calls_but_not_in_a_circle),
		T(a_long_chain_of_jumps_is_cut),
		T(a_run_ends_where_something_is_planted_or_code_can_change),
		T(an_instruction_is_as_fixed_as_its_end),
		T(an_instruction_over_a_plant_is_no_part_of_a_run),
		cmocka_unit_test(mapping_calls_say_what_they_change),
		cmocka_unit_test(calls_say_where_code_is_not_as_records_tell),
		cmocka_unit_test(what_moves_is_told_with_its_distance),
		cmocka_unit_test(calls_of_unknown_numbers_may_change_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
