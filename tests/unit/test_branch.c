/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branches carried out from registers, held against the CPU: a child runs each of them for one
 * step with registers that we chose, and both must come to the same registers and stack.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "perfio/soft/branch.h"
#include "perfio/soft/insn.h"
#include "tests/unit/onestep.h"
#include "tests/unit/softrun.h"

#include <stdio.h>
#include <string.h>

enum { ARITHMETIC = 0x8d5 }; /* of, sf, zf, af, pf, cf: SDM vol. 1, 3.4.3 */

static bool peek(void *arg, uint64_t addr, void *to, size_t n)
{
	return onestep_data(addr, n) && onestep_read(arg, addr, to, n);
}

static bool poke(void *arg, uint64_t addr, const void *from, size_t n)
{
	return onestep_data(addr, n) && onestep_write(arg, addr, from, n);
}

/* Run `code` from the registers r, both ways. False: it is none that we carry out. */
static bool both(struct onestep *w, const char *words, const uint8_t *code, size_t n,
		 const struct user_regs_struct *r)
{
	const struct soft_access m = { .read = peek, .write = poke, .arg = w };
	struct user_regs_struct ours = *r, cpus = *r;
	uint64_t top = 0, pushed = 0, word[2] = { 0 };
	struct soft_insn i;
	bool done, there = peek(w, r->rsp - 8, &top, 8);

	memcpy(word, code, n);
	assert_true(onestep_write(w, r->rip, word, sizeof(word)));
	soft_insn_decode(&i, r->rip, code, n);
	assert_int_equal(i.len, n);
	done = soft_branch(&i, &ours, &m);
	if (there) {
		peek(w, r->rsp - 8, &pushed, 8);
		poke(w, r->rsp - 8, &top, 8);
	}
	if (!done) {
		assert_memory_equal(&ours, r, sizeof(ours));
		return false;
	}
	if (!onestep_run(w, &cpus))
		fail_msg("%s: the cpu faults", words);
	onestep_same(words, &ours, &cpus);
	if (there) {
		peek(w, r->rsp - 8, &top, 8);
		assert_true(top == pushed);
	}
	return true;
}

static struct user_regs_struct regs(const struct onestep *w)
{
	struct user_regs_struct r = w->first;

	r.orig_rax = UINT64_MAX;
	r.rip = ONESTEP_CODE + 1024;
	r.rsp = ONESTEP_MIDDLE;
	r.rax = r.rbx = r.rcx = r.rdx = r.rsi = r.rdi = r.rbp = ONESTEP_MIDDLE;
	r.r8 = r.r9 = r.r10 = r.r11 = r.r12 = r.r13 = r.r14 = r.r15 = ONESTEP_MIDDLE;
	r.eflags = 0x202;
	return r;
}

static void every_condition_under_all_flags(void **state)
{
	struct user_regs_struct r = regs(*state);
	unsigned n = 0;

	for (unsigned f = 0; f <= ARITHMETIC; f++) {
		if (f & ~(unsigned)ARITHMETIC)
			continue;
		r.eflags = 0x202 | f;
		for (unsigned cond = 0; cond < 16; cond++, n++) {
			const uint8_t near[] = { 0x70 | (uint8_t)cond, 0x90 };
			const uint8_t far[] = { 0x0f, 0x80 | (uint8_t)cond, 4, 3, 0, 0 };

			assert_true(both(*state, "jcc", near, sizeof(near), &r));
			if (!(f & 0x10))
				assert_true(both(*state, "jcc far", far, sizeof(far), &r));
		}
	}
	assert_int_equal(n, 64 * 16);
}

static void every_loop_at_every_count(void **state)
{
	static const uint64_t counts[] = { 0, 1, 2, UINT64_MAX, 1ull << 32, (1ull << 32) + 1 };
	struct user_regs_struct r = regs(*state);

	for (unsigned op = 0xe0; op <= 0xe3; op++)
		for (unsigned k = 0; k < sizeof(counts) / sizeof(counts[0]); k++)
			for (unsigned zf = 0; zf < 2; zf++) {
				const uint8_t code[] = { (uint8_t)op, 0x20 };

				r.rcx = counts[k];
				r.eflags = 0x202 | zf << 6;
				assert_true(both(*state, "loop", code, 2, &r));
			}
}

static void direct_jumps_calls_and_returns(void **state)
{
	const struct user_regs_struct r = regs(*state);

	assert_true(both(*state, "jmp", (uint8_t[]){ 0xeb, 0x40 }, 2, &r));
	assert_true(both(*state, "jmp back", (uint8_t[]){ 0xe9, 0, 0xfe, 0xff, 0xff }, 5, &r));
	assert_true(both(*state, "call", (uint8_t[]){ 0xe8, 0, 1, 0, 0 }, 5, &r));
	assert_true(both(*state, "ret", (uint8_t[]){ 0xc3 }, 1, &r));
	assert_true(both(*state, "rep ret", (uint8_t[]){ 0xf3, 0xc3 }, 2, &r));
	assert_true(both(*state, "bnd ret", (uint8_t[]){ 0xf2, 0xc3 }, 2, &r));
	assert_true(both(*state, "ret 24", (uint8_t[]){ 0xc2, 24, 0 }, 3, &r));
	assert_true(both(*state, "ret 65528", (uint8_t[]){ 0xc2, 0xf8, 0xff }, 3, &r));
	assert_true(both(*state, "notrack jmp", (uint8_t[]){ 0x3e, 0xff, 0x20 }, 3, &r));
	assert_true(both(*state, "bnd call", (uint8_t[]){ 0xf2, 0xff, 0x10 }, 3, &r));
}

/* Registers with which any base, scaled index and displacement still lie within the data. */
static struct user_regs_struct spread(const struct onestep *w, unsigned seed)
{
	struct user_regs_struct r = regs(w);
	unsigned long long *v[] = { &r.rax, &r.rcx, &r.rdx, &r.rbx, &r.rbp, &r.rsi, &r.rdi,
				    &r.r8, &r.r9, &r.r10, &r.r11, &r.r12, &r.r13, &r.r14, &r.r15 };

	for (unsigned k = 0; k < sizeof(v) / sizeof(v[0]); k++)
		*v[k] = ONESTEP_MIDDLE + 8 * ((k * 7 + seed * 5) % 61);
	return r;
}

/* Builds ff /2 or ff /4 with the mod, rm, sib and rex bits asked for. */
static size_t form(uint8_t *to, unsigned rex, unsigned digit, unsigned mod, unsigned rm,
		   unsigned sib, int32_t disp)
{
	size_t n = 0;

	if (rex)
		to[n++] = (uint8_t)(0x40 | rex);
	to[n++] = 0xff;
	to[n++] = (uint8_t)(mod << 6 | digit << 3 | rm);
	if (mod != 3 && rm == 4)
		to[n++] = (uint8_t)sib;
	if (mod == 1)
		to[n++] = (uint8_t)disp;
	else if (mod == 2 || (!mod && (rm == 5 || (rm == 4 && (sib & 7) == 5)))) {
		memcpy(to + n, &disp, 4);
		n += 4;
	}
	return n;
}

static unsigned number(const struct user_regs_struct *r, unsigned k, uint64_t v,
		       struct user_regs_struct *ret)
{
	unsigned long long *p[] = { &ret->rax, &ret->rcx, &ret->rdx, &ret->rbx, NULL, &ret->rbp,
				    &ret->rsi, &ret->rdi, &ret->r8, &ret->r9, &ret->r10,
				    &ret->r11, &ret->r12, &ret->r13, &ret->r14, &ret->r15 };

	*ret = *r;
	if (p[k])
		*p[k] = v;
	return p[k] != NULL;
}

static void every_register_as_target(void **state)
{
	for (unsigned k = 0; k < 16; k++)
		for (unsigned digit = 2; digit <= 4; digit += 2) {
			struct user_regs_struct r = spread(*state, k);
			uint8_t code[15];
			size_t n = form(code, k >> 3, digit, 3, k & 7, 0, 0);

			number(&r, k, ONESTEP_CODE + 8 * k, &r);
			assert_true(both(*state, "by register", code, n, &r));
		}
}

static void every_base_and_displacement(void **state)
{
	for (unsigned k = 0; k < 16; k++)
		for (unsigned mod = 0; mod < 3; mod++)
			for (int32_t d = -120; d <= 120; d += 80) {
				struct user_regs_struct r = spread(*state, k);
				uint8_t code[15];
				int32_t disp = d;
				size_t n;

				if (!mod && (k & 7) == 5) /* rip */
					disp += (int32_t)(ONESTEP_MIDDLE - r.rip);
				n = form(code, k >> 3, 2 + (k & 2), mod, k & 7, 0x24, disp);
				assert_true(both(*state, "base", code, n, &r));
			}
}

static void every_index_and_scale(void **state)
{
	struct onestep *w = *state;

	for (unsigned sib = 0; sib < 256; sib++)
		for (unsigned rex = 0; rex < 4; rex++)
			for (unsigned mod = 0; mod < 3; mod++) {
				const unsigned x = (rex & 2) << 2 | (sib >> 3 & 7);
				const unsigned b = (rex & 1) << 3 | (sib & 7);
				struct user_regs_struct r = spread(w, sib);
				uint8_t code[15];
				int32_t disp = -64;
				size_t n;

				/* Index small, unless it is the base, too: then nothing. */
				if (x != 4 && x == b && (mod || (b & 7) != 5))
					continue;
				if (x != 4)
					number(&r, x, 8u * (sib % 13), &r);
				if (!mod && (sib & 7) == 5)
					disp = (int32_t)ONESTEP_MIDDLE;
				n = form(code, rex, 4, mod, 4, sib, disp);
				assert_true(both(w, "sib", code, n, &r));
			}
}

static void segments_have_their_bases(void **state)
{
	static const uint8_t fs[] = { 0x64, 0xff, 0x14, 0x25, 0x20, 0, 0, 0 };
	static const uint8_t gs[] = { 0x65, 0xff, 0x63, 0x08 };
	struct user_regs_struct r = regs(*state);

	r.fs_base = ONESTEP_MIDDLE + 512;
	r.gs_base = 64;
	assert_true(both(*state, "call fs", fs, sizeof(fs), &r));
	assert_true(both(*state, "jmp gs", gs, sizeof(gs), &r));
}

static void the_stack_pointer_counts_before_the_push(void **state)
{
	const struct user_regs_struct r = regs(*state);

	assert_true(both(*state, "call [rsp+8]", (uint8_t[]){ 0xff, 0x54, 0x24, 8 }, 4, &r));
	assert_true(both(*state, "call [rsp-8]", (uint8_t[]){ 0xff, 0x54, 0x24, 0xf8 }, 4, &r));
}

static void what_faults_or_traps_is_left_to_the_cpu(void **state)
{
	const struct user_regs_struct good = regs(*state);
	struct user_regs_struct r = good;

	r.rsp = ONESTEP_DATA; /* no room */
	assert_false(both(*state, "call", (uint8_t[]){ 0xe8, 0, 0, 0, 0 }, 5, &r));
	r.rsp = ONESTEP_DATA + ONESTEP_SIZE;
	assert_false(both(*state, "ret", (uint8_t[]){ 0xc3 }, 1, &r));
	r = good;
	r.rax = 1ull << 47; /* no address of a program's */
	assert_false(both(*state, "jmp rax", (uint8_t[]){ 0xff, 0xe0 }, 2, &r));
	assert_false(both(*state, "jmp [rax]", (uint8_t[]){ 0xff, 0x20 }, 2, &r));
	r = good;
	r.eflags |= 0x100; /* its own trap flag */
	assert_false(both(*state, "jmp", (uint8_t[]){ 0xeb, 0 }, 2, &r));
}

static void what_is_no_plain_near_branch_is_left_to_the_cpu(void **state)
{
	const struct user_regs_struct r = regs(*state);

	assert_false(both(*state, "nop", (uint8_t[]){ 0x90 }, 1, &r));
	assert_false(both(*state, "jecxz", (uint8_t[]){ 0x67, 0xe3, 0 }, 3, &r));
	assert_false(both(*state, "data16 jmp", (uint8_t[]){ 0x66, 0xff, 0xe0 }, 3, &r));
	assert_false(both(*state, "jmp [eax]", (uint8_t[]){ 0x67, 0xff, 0x20 }, 3, &r));
	assert_false(both(*state, "lret", (uint8_t[]){ 0xcb }, 1, &r));
	assert_false(both(*state, "syscall", (uint8_t[]){ 0x0f, 0x05 }, 2, &r));
	assert_false(both(*state, "int3", (uint8_t[]){ 0xcc }, 1, &r));
}

#define T(f) cmocka_unit_test_setup_teardown(f, onestep_begin, onestep_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(every_condition_under_all_flags),
		T(every_loop_at_every_count),
		T(direct_jumps_calls_and_returns),
		T(every_register_as_target),
		T(every_base_and_displacement),
		T(every_index_and_scale),
		T(segments_have_their_bases),
		T(the_stack_pointer_counts_before_the_push),
		T(what_faults_or_traps_is_left_to_the_cpu),
		T(what_is_no_plain_near_branch_is_left_to_the_cpu),
	};

	if (!softrun_permitted()) {
		puts("ptrace(2) is not permitted here");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
