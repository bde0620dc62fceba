/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "perfio/soft/insn.h"
#include "perfio/soft/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define I(...) { __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ })

/* clang-format off */
static const struct {
	const char *words;
	uint8_t v[15];
	uint8_t len;
	enum soft_class cls;
	int32_t rel;
} known[] = {
	{ "nop", I(0x90), SOFT_OTHER, 0 },
	{ "endbr64", I(0xf3, 0x0f, 0x1e, 0xfa), SOFT_OTHER, 0 },
	{ "pause", I(0xf3, 0x90), SOFT_OTHER, 0 },
	{ "mov rax,[rip+0x10]", I(0x48, 0x8b, 0x05, 0x10, 0, 0, 0), SOFT_OTHER, 0 },
	{ "movabs", I(0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8), SOFT_OTHER, 0 },
	{ "vaddps zmm", I(0x62, 0xf1, 0x74, 0x48, 0x58, 0xc2), SOFT_OTHER, 0 },
	{ "movsb", I(0xa4), SOFT_OTHER, 0 },
	{ "rep movsb", I(0xf3, 0xa4), SOFT_REP, 0 },
	{ "rep stosq", I(0xf3, 0x48, 0xab), SOFT_REP, 0 },
	{ "repne scasb", I(0xf2, 0xae), SOFT_REP, 0 },
	{ "repe cmpsb", I(0xf3, 0xa6), SOFT_REP, 0 },
	{ "je +5", I(0x74, 0x05), SOFT_JCC, 5 },
	{ "jne -3", I(0x75, 0xfd), SOFT_JCC, -3 },
	{ "jg far away", I(0x0f, 0x8f, 0, 0, 0, 0x80), SOFT_JCC, INT32_MIN },
	{ "bnd jne", I(0xf2, 0x75, 0x10), SOFT_JCC, 16 },
	{ "loop", I(0xe2, 0xfe), SOFT_JCC, -2 },
	{ "loopne", I(0xe0, 0x01), SOFT_JCC, 1 },
	{ "jrcxz", I(0xe3, 0x7f), SOFT_JCC, 127 },
	{ "jecxz", I(0x67, 0xe3, 0x01), SOFT_JCC, 1 },
	{ "jmp short", I(0xeb, 0x80), SOFT_JMP, -128 },
	{ "jmp near", I(0xe9, 0x78, 0x56, 0x34, 0x12), SOFT_JMP, 0x12345678 },
	{ "call", I(0xe8, 0xff, 0xff, 0xff, 0xff), SOFT_CALL, -1 },
	{ "addr32 call", I(0x67, 0xe8, 4, 0, 0, 0), SOFT_CALL, 4 },
	{ "jmp rax", I(0xff, 0xe0), SOFT_JMP_IND, 0 },
	{ "ptwrite rax", I(0xf3, 0x48, 0x0f, 0xae, 0xe0), SOFT_PTWRITE, 0 },
	{ "ptwrite [rip+8]", I(0xf3, 0x0f, 0xae, 0x25, 8, 0, 0, 0), SOFT_PTWRITE, 0 },
	{ "xsave [rax], no ptwrite", I(0x0f, 0xae, 0x20), SOFT_OTHER, 0 },
	{ "notrack jmp rax", I(0x3e, 0xff, 0xe0), SOFT_JMP_IND, 0 },
	{ "bnd jmp [rip+8]", I(0xf2, 0xff, 0x25, 8, 0, 0, 0), SOFT_JMP_IND, 0 },
	{ "call [r12+8]", I(0x41, 0xff, 0x54, 0x24, 0x08), SOFT_CALL_IND, 0 },
	{ "call fs:[0]", I(0x64, 0xff, 0x14, 0x25, 0, 0, 0, 0), SOFT_CALL_IND, 0 },
	{ "ret", I(0xc3), SOFT_RET, 0 },
	{ "rep ret", I(0xf3, 0xc3), SOFT_RET, 0 },
	{ "ret 16", I(0xc2, 0x10, 0x00), SOFT_RET, 0 },
	{ "retf", I(0xcb), SOFT_FAR, 0 },
	{ "iretq", I(0x48, 0xcf), SOFT_FAR, 0 },
	{ "ljmp [rax]", I(0xff, 0x28), SOFT_FAR, 0 },
	{ "lcall [rax]", I(0xff, 0x18), SOFT_FAR, 0 },
	{ "syscall", I(0x0f, 0x05), SOFT_SYSCALL, 0 },
	{ "sysenter", I(0x0f, 0x34), SOFT_SYSCALL, 0 },
	{ "int 0x80", I(0xcd, 0x80), SOFT_SYSCALL, 0 },
	{ "int 0x21", I(0xcd, 0x21), SOFT_INT, 0 },
	{ "int3", I(0xcc), SOFT_INT, 0 },
	{ "int1", I(0xf1), SOFT_INT, 0 },
	{ "ud2", I(0x0f, 0x0b), SOFT_ALONE, 0 },
	{ "hlt", I(0xf4), SOFT_ALONE, 0 },
	{ "cpuid", I(0x0f, 0xa2), SOFT_SHADOW, 0 },
	{ "mov ss,eax", I(0x8e, 0xd0), SOFT_SHADOW, 0 },
	{ "mov ds,eax", I(0x8e, 0xd8), SOFT_OTHER, 0 },
	{ "pushfq", I(0x9c), SOFT_PUSHF, 0 },
	{ "pushf", I(0x66, 0x9c), SOFT_PUSHF, 0 },
	{ "popfq", I(0x9d), SOFT_OTHER, 0 },
	{ "push rax", I(0x50), SOFT_OTHER, 0 },
	{ "xbegin", I(0xc7, 0xf8, 4, 0, 0, 0), SOFT_ALONE, 4 },
	{ "xabort", I(0xc6, 0xf8, 1), SOFT_OTHER, 0 },
};
/* clang-format on */

static void every_kind_of_instruction_has_its_class_and_length(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
		struct soft_insn i;
		uint8_t b[15];

		memset(b, 0xcc, sizeof(b));
		memcpy(b, known[k].v, known[k].len);
		soft_insn_decode(&i, 0x1000, b, sizeof(b));
		if (i.cls != known[k].cls || i.len != known[k].len || i.rel != known[k].rel)
			fail_msg("'%s': class %d, length %d, distance %d", known[k].words,
				 i.cls, i.len, i.rel);
	}
}

static void a_cut_instruction_is_bad(void **state)
{
	struct soft_insn i;

	(void)state;
	for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
		for (size_t n = 0; n + 1 < known[k].len; n++) {
			soft_insn_decode(&i, 0, known[k].v, n);
			assert_true(i.len <= n);
			assert_true((i.cls == SOFT_BAD) == !i.len);
		}
	}
	soft_insn_decode(&i, 0, (const uint8_t[]){ 0x06 }, 1); /* push es: not in 64 bits */
	assert_int_equal(i.cls, SOFT_BAD);
}

static void targets_wrap_as_addresses_do(void **state)
{
	struct soft_insn i;

	(void)state;
	soft_insn_decode(&i, 0x10, (const uint8_t[]){ 0xeb, 0x80 }, 2);
	assert_true(soft_insn_end(&i) == 0x12);
	assert_true(soft_insn_target(&i) == 0x12 - (uint64_t)128);
}

static int open_own(void **state)
{
	return soft_mem_open((struct soft_mem **)state, getpid());
}

static int close_own(void **state)
{
	soft_mem_put(*state);
	return 0;
}

static void code_of_files_is_fixed_and_data_is_not(void **state)
{
	struct soft_mem *m = *state;
	static const uint8_t data[] = { 0x90 };

	assert_true(soft_mem_is_fixed(m, (uint64_t)(uintptr_t)&soft_insn_at));
	assert_true(soft_mem_is_fixed(m, (uint64_t)(uintptr_t)&memcpy));
	assert_false(soft_mem_is_fixed(m, (uint64_t)(uintptr_t)data));
	assert_false(soft_mem_is_fixed(m, (uint64_t)(uintptr_t)m));
}

static void generated_code_is_read_each_time(void **state)
{
	struct soft_mem *m = *state;
	struct soft_insn i;
	uint8_t *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	p[0] = 0xc3;
	soft_insn_at(&i, m, (uint64_t)(uintptr_t)p);
	assert_int_equal(i.cls, SOFT_RET);
	p[0] = 0x90;
	soft_insn_at(&i, m, (uint64_t)(uintptr_t)p);
	assert_int_equal(i.cls, SOFT_OTHER);
	munmap(p, 4096);
	soft_insn_at(&i, m, (uint64_t)(uintptr_t)p);
	assert_int_equal(i.cls, SOFT_BAD);
}

/* Behind our back on purpose: whoever changes mappings must say so. */
static void fixed_code_is_read_again_after_a_change_of_mappings(void **state)
{
	struct soft_mem *m = *state;
	char path[] = "/tmp/test_insn.XXXXXX";
	int fd = mkstemp(path);
	struct soft_insn i;
	uint64_t ip;
	void *p;

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, "\xc3", 1), 1);
	p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(p != MAP_FAILED);
	ip = (uint64_t)(uintptr_t)p;
	soft_insn_at(&i, m, ip);
	assert_int_equal(i.cls, SOFT_RET);
	assert_int_equal(pwrite(fd, "\x90", 1, 0), 1);
	soft_insn_at(&i, m, ip);
	assert_int_equal(i.cls, SOFT_RET);
	soft_insn_fresh(&i, m, ip);
	assert_int_equal(i.cls, SOFT_OTHER);
	soft_mem_changed(m, 0, UINT64_MAX, true, 0);
	soft_insn_at(&i, m, ip);
	assert_int_equal(i.cls, SOFT_OTHER);
	assert_true(soft_mem_is_fixed(m, ip));
	assert_int_equal(mprotect(p, 4096, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	soft_mem_changed(m, 0, UINT64_MAX, true, 0);
	assert_false(soft_mem_is_fixed(m, ip));
	munmap(p, 4096);
	close(fd);
}

static void an_instruction_at_the_end_of_memory_is_read(void **state)
{
	struct soft_mem *m = *state;
	struct soft_insn i;
	uint8_t *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	assert_true(p != MAP_FAILED);
	munmap(p + 4096, 4096);
	p[4094] = 0x74;
	p[4095] = 0x05;
	soft_insn_at(&i, m, (uint64_t)(uintptr_t)p + 4094);
	assert_int_equal(i.cls, SOFT_JCC);
	soft_insn_at(&i, m, (uint64_t)(uintptr_t)p + 4095);
	assert_int_equal(i.cls, SOFT_BAD);
	munmap(p, 4096);
}

#define T(f) cmocka_unit_test_setup_teardown(f, open_own, close_own)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_instruction_has_its_class_and_length),
		cmocka_unit_test(a_cut_instruction_is_bad),
		cmocka_unit_test(targets_wrap_as_addresses_do),
		T(code_of_files_is_fixed_and_data_is_not),
		T(generated_code_is_read_each_time),
		T(fixed_code_is_read_again_after_a_change_of_mappings),
		T(an_instruction_at_the_end_of_memory_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
